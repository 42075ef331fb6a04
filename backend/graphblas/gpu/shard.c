#include "backend/graphblas/gpu/shard.h"

#include <stdlib.h>
#include <string.h>

#include "backend/graphblas/gpu/gpu_semiring.h"
#include "backend/graphblas/gpu/launch.h"
#include "backend/options/options.h"
#include "backend/plan/fault.h"
#include "kernels/csr/csr_kernels.h"

/* ---- before the product ---------------------------------------------------------------------- */

static size_t workspace(const struct shunt_host_spmm *p, int64_t width, const void *context)
{
  const struct grb_gpu_run *r = context;
  const shunt_type type = p->semiring.type;
  if (!grb_gpu_balanced(&r->s)) return 0;
  struct shunt_spmm x = {
      .a = {p->s.rows, p->s.cols, p->s.nnz, NULL, NULL, NULL, SHUNT_I32, type, 0},
      .b = {p->s.cols, width, width, 1, NULL, type},
      .c = {p->s.rows, width, width, 1, NULL, type},
      .compute = type};
  return shunt_csr_spmm_workspace(&x, &r->device->about);
}

/* Entries of the same matrices that can't come into use any more make room first. */
static void drop_stale(struct grb_gpu_view *v, struct grb_gpu_device *d)
{
  const struct grb_gpu_key *key[] = {v->s_keyed ? &v->s_key : NULL, v->b_keyed ? &v->b_key : NULL,
                                     v->c_keyed ? &v->c_key : NULL};
  struct grb_gpu_resident *stale;
  for (int i = 0; i < 3; i++)
    while (key[i] && (stale = grb_gpu_resident_stale(&d->residents, key[i])))
      grb_gpu_let_go(d, stale);
}

void grb_gpu_shard_find(struct grb_gpu_run *r, struct grb_gpu_view *v)
{
  struct grb_gpu_device *d = r->device;
  r->kept_s = grb_gpu_view_find_sparse(v, &d->residents, &r->part);
  if (r->kept_s) r->kept_s = grb_gpu_prove(d, r->kept_s, grb_gpu_view_sparse_hash(v));
  r->kept_b = grb_gpu_view_find_dense(v, &d->residents, &r->part);
  if (r->kept_b) r->kept_b = grb_gpu_prove(d, r->kept_b, grb_gpu_view_dense_hash(v));
  drop_stale(v, d); /* not before: B may be an earlier C */
}

static int64_t held_bytes(const struct grb_gpu_device *d)
{
  int64_t sum = 0;
  for (int i = 0; i < GRB_GPU_MOST_RESIDENT; i++)
    if (d->residents.entry[i].used && d->residents.entry[i].held)
      sum += d->residents.entry[i].bytes;
  return sum;
}

/* S takes its place before B and C: it is to stay. */
static shunt_status place_s(struct grb_gpu_run *r, const struct grb_gpu_rows *rows)
{
  if (r->kept_s) {
    r->s = *r->kept_s;
    return SHUNT_OK;
  }
  const struct shunt_sparse *s = &r->p->s;
  int64_t offsets = grb_gpu_round((s->rows + 1) * 4), columns = grb_gpu_round(s->nnz * 4);
  r->s = (struct grb_gpu_resident){.sparse = true,
                                   .first = r->part.row,
                                   .last = r->part.row_end,
                                   .longest = rows->longest,
                                   .chunks = rows->chunks};
  r->s.bytes =
      offsets + columns + grb_gpu_round(s->nnz * (int64_t)shunt_type_size(r->p->semiring.type));
  if (r->s.bytes > r->device->limit - held_bytes(r->device)) return SHUNT_E_UNSUPPORTED;
  shunt_status status = grb_gpu_allocate(r->device, r->s.bytes, &r->s.memory);
  if (status != SHUNT_OK) return status;
  r->s.offsets = r->s.memory;
  r->s.columns = (int32_t *)((char *)r->s.memory + offsets);
  r->s.values = (char *)r->s.memory + offsets + columns;
  r->rows = rows;
  return SHUNT_OK;
}

static bool cut(struct grb_gpu_view *v, struct grb_gpu_run *r, bool full_c)
{
  const struct grb_gpu_device *d = r->device;
  struct grb_gpu_wish wish = {
      .first = r->part.first,
      .last = r->part.last,
      .b = grb_gpu_constant_b(v->p) ? GRB_GPU_B_CONSTANT
           : r->kept_b              ? GRB_GPU_B_RESIDENT
                                    : GRB_GPU_B_HOST,
      .resident_width = r->kept_b ? r->kept_b->width : 0,
      .may_keep_b = v->b_keyed,
      /* A B of later products wants all rows. */
      .may_keep_c = v->c_keyed && full_c && grb_gpu_part_has_all_rows(v->p, &r->part),
      .available = d->limit - held_bytes(d) - (r->kept_s ? 0 : r->s.bytes),
      .s = &r->s,
      .workspace = workspace,
      .context = r,
  };
  if (grb_gpu_cut_make(&r->cut, r->p, &wish)) return true;
  if (!r->kept_b) return false;
  r->kept_b->held = false;
  r->kept_b = NULL;
  return cut(v, r, full_c);
}

static shunt_status place_dense(struct grb_gpu_run *r)
{
  const struct grb_gpu_cut *cut = &r->cut;
  void *block, *b, *c;
  r->block_bytes = cut->block_bytes;
  r->b_bytes = cut->keep_b ? cut->strips * cut->b_strip : 0;
  r->c_bytes = cut->keep_c ? cut->strips * cut->c_strip : 0;
  shunt_status s = grb_gpu_allocate(r->device, r->block_bytes, &block);
  r->block = block;
  if (s != SHUNT_OK) return s;
  s = grb_gpu_allocate(r->device, r->b_bytes, &b);
  r->b = r->kept_b ? r->kept_b->memory : b;
  if (s != SHUNT_OK) return s;
  s = grb_gpu_allocate(r->device, r->c_bytes, &c);
  r->c = c;
  return s;
}

shunt_status grb_gpu_shard_make(struct grb_gpu_run *r, struct grb_gpu_view *v,
                                const struct grb_gpu_rows *rows, bool full_c)
{
  const struct grb_gpu_chunks *chunks = r->kept_s ? &r->kept_s->chunks : &rows->chunks;
  r->of_part = grb_gpu_part_product(v->p, &r->part, chunks->begin[GRB_GPU_CHUNKS]);
  r->p = &r->of_part;
  r->ones = grb_gpu_ones(v->p);
  shunt_status s = place_s(r, rows);
  if (s == SHUNT_OK && !cut(v, r, full_c)) s = SHUNT_E_UNSUPPORTED;
  return s == SHUNT_OK ? place_dense(r) : s;
}

/* ---- after the product ----------------------------------------------------------------------- */

static struct grb_gpu_resident kept_dense(const struct grb_gpu_cut *cut, void *memory,
                                          int64_t strip_bytes)
{
  return (struct grb_gpu_resident){.memory = memory,
                                   .bytes = cut->strips * strip_bytes,
                                   .first = cut->first,
                                   .last = cut->last,
                                   .width = cut->width,
                                   .strip_bytes = strip_bytes};
}

/* Moves what may stay from the shard to the list; what is left in the shard is released. */
void grb_gpu_shard_keep(struct grb_gpu_run *r, struct grb_gpu_view *v,
                        const struct grb_gpu_rows *rows)
{
  struct grb_gpu_device *d = r->device;
  if (!r->kept_s && v->s_keyed && r->s_stays) {
    r->s.empty_count = rows->empty_count;
    if (rows->empty_count > 0) {
      size_t bytes = (size_t)rows->empty_count * sizeof *rows->empty;
      r->s.empty = SHUNT_TRY_OR(NULL, malloc(bytes));
      if (r->s.empty) memcpy(r->s.empty, rows->empty, bytes);
    }
    if ((rows->empty_count == 0 || r->s.empty) &&
        grb_gpu_keep(d, r->s, &v->s_key, grb_gpu_view_sparse_hash(v)))
      r->s.memory = NULL;
    else
      free(r->s.empty);
  }
  if (r->cut.keep_b && grb_gpu_keep(d, kept_dense(&r->cut, r->b, r->cut.b_strip), &v->b_key,
                                    grb_gpu_view_dense_hash(v)))
    r->b = NULL;
  uint64_t hash = r->cut.keep_c ? grb_gpu_dense_hash(&v->p->c, v->p->semiring.type,
                                                     shunt_options()->verify, v->threads)
                                : 0;
  if (r->cut.keep_c && grb_gpu_keep(d, kept_dense(&r->cut, r->c, r->cut.c_strip), &v->c_key, hash))
    r->c = NULL;
}

void grb_gpu_shard_release(struct grb_gpu_run *r)
{
  if (r->kept_s)
    r->kept_s->held = false;
  else
    grb_gpu_release(r->device, r->s.memory, r->s.bytes);
  if (r->kept_b)
    r->kept_b->held = false;
  else
    grb_gpu_release(r->device, r->b, r->b_bytes);
  grb_gpu_release(r->device, r->c, r->c_bytes);
  grb_gpu_release(r->device, r->block, r->block_bytes);
  if (r->made) grb_gpu_run_free(r);
}
