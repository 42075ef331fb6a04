#include "backend/graphblas/gpu/masked/masked_operands.h"

#include "backend/graphblas/gpu/gpu_cut.h"
#include "backend/graphblas/gpu/masked/transfer.h"
#include "backend/graphblas/gpu/rows.h"
#include "backend/graphblas/semiring.h"
#include "backend/options/options.h"

bool grb_gpu_masked_counts_terms(const struct shunt_masked_dot *x)
{
  return x->a.iso && x->b.iso;
}

/* ---- which arrays ---------------------------------------------------------------------------- */

static bool same_pattern(const struct shunt_sparse *a, const struct shunt_sparse *b)
{
  return a->rows == b->rows && a->cols == b->cols && a->vectors == b->vectors && a->nnz == b->nnz &&
         a->by_column == b->by_column && a->ids == b->ids && a->offsets == b->offsets &&
         a->indices == b->indices;
}

/* Does a bring what b needs? */
static bool brings(const struct grb_gpu_operand *a, const struct grb_gpu_operand *b)
{
  const bool values =
      !b->values || (a->values && a->s->values == b->s->values && a->s->iso == b->s->iso);
  return same_pattern(a->s, b->s) && values;
}

static void make_key(struct grb_gpu_operand *x, shunt_type type, const struct grb_identity *id)
{
  enum { MASKED = 1 << 4 };
  const shunt_type of = x->values ? type : SHUNT_U64;
  x->keyed = grb_gpu_sparse_key(x->s, of, !x->values, id, shunt_options()->verify, &x->key);
  x->key.form |= MASKED;
}

struct grb_gpu_operands grb_gpu_operands_make(const struct shunt_masked_dot *x,
                                              const struct grb_masked_sources *from)
{
  const struct shunt_sparse *s[] = {&x->a, &x->b, &x->m};
  const struct grb_identity *id[] = {&from->a, &from->b, &from->m};
  const enum shunt_multiplier by = x->semiring.multiplier;
  const bool summed = !grb_gpu_masked_counts_terms(x);
  const bool values[] = {summed && grb_uses_first(by), summed && grb_uses_second(by), false};
  struct grb_gpu_operands o = {.type = x->semiring.type, .threads = x->threads};
  if (o.threads < 1) o.threads = 1;
  if (o.threads > GRB_GPU_MOST_LANES) o.threads = GRB_GPU_MOST_LANES;
  for (int i = 0; i < GRB_GPU_OPERANDS; i++) {
    struct grb_gpu_operand *mine = &o.of[i];
    *mine = (struct grb_gpu_operand){.s = s[i], .values = values[i], .like = i};
    for (int other = i - 1; other >= 0; other--)
      if (o.of[other].like == other && brings(&o.of[other], mine)) mine->like = other;
    if (mine->like == i) make_key(mine, o.type, id[i]);
  }
  o.halved = o.of[GRB_GPU_B].like == GRB_GPU_A && shunt_masked_seems_mirrored(&x->m);
  return o;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int64_t offset_bytes(const struct grb_gpu_operand *x)
{
  return grb_gpu_round((x->s->rows + 1) * 4);
}

static int64_t value_count(const struct grb_gpu_operand *x)
{
  return !x->values ? 0 : x->s->iso ? 1 : x->s->nnz;
}

int64_t grb_gpu_operand_bytes(const struct grb_gpu_operands *o, int i)
{
  const struct grb_gpu_operand *x = &o->of[i];
  if (x->like != i || x->in_parts) return 0;
  return offset_bytes(x) + grb_gpu_round(x->s->nnz * 4) +
         grb_gpu_round(value_count(x) * (int64_t)shunt_type_size(o->type));
}

static uint64_t hash_of(const struct grb_gpu_operands *o, const struct grb_gpu_operand *x)
{
  const shunt_type type = x->values ? o->type : SHUNT_U64;
  return grb_gpu_sparse_hash(x->s, type, shunt_options()->verify, o->threads);
}

bool grb_gpu_operand_is_there(const struct grb_gpu_operands *o, int i, struct grb_gpu_device *d)
{
  const struct grb_gpu_operand *x = &o->of[i];
  return x->like != i || (x->keyed && grb_gpu_resident_find(&d->residents, &x->key, true, 0, 0));
}

void grb_gpu_operands_find(struct grb_gpu_operands *o, struct grb_gpu_device *d)
{
  struct grb_gpu_resident *stale;
  for (int i = 0; i < GRB_GPU_OPERANDS; i++) {
    struct grb_gpu_operand *x = &o->of[i];
    if (x->like != i || !x->keyed) continue;
    x->kept = grb_gpu_resident_find(&d->residents, &x->key, true, 0, 0);
    if (x->kept) x->kept = grb_gpu_prove(d, x->kept, hash_of(o, x));
  }
  for (int i = 0; i < GRB_GPU_OPERANDS; i++)
    while (o->of[i].keyed && (stale = grb_gpu_resident_stale(&d->residents, &o->of[i].key)))
      grb_gpu_let_go(d, stale);
}

shunt_status grb_gpu_operands_allocate(struct grb_gpu_operands *o, struct grb_gpu_device *d)
{
  shunt_status s = SHUNT_OK;
  for (int i = 0; s == SHUNT_OK && i < GRB_GPU_OPERANDS; i++) {
    struct grb_gpu_operand *x = &o->of[i];
    if (x->like != i || x->kept || x->in_parts) continue;
    x->own = (struct grb_gpu_resident){.sparse = true, .bytes = grb_gpu_operand_bytes(o, i)};
    if ((s = grb_gpu_allocate(d, x->own.bytes, &x->own.memory)) != SHUNT_OK) break;
    x->own.offsets = x->own.memory;
    x->own.columns = (int32_t *)((char *)x->own.memory + offset_bytes(x));
    x->own.values = (char *)x->own.columns + grb_gpu_round(x->s->nnz * 4);
  }
  return s;
}

void grb_gpu_operands_keep(struct grb_gpu_operands *o, struct grb_gpu_device *d)
{
  for (int i = 0; i < GRB_GPU_OPERANDS; i++) {
    struct grb_gpu_operand *x = &o->of[i];
    if (x->own.memory && x->keyed && grb_gpu_keep(d, x->own, &x->key, hash_of(o, x)))
      x->own.memory = NULL;
  }
}

void grb_gpu_operands_release(struct grb_gpu_operands *o, struct grb_gpu_device *d)
{
  for (int i = 0; i < GRB_GPU_OPERANDS; i++) {
    struct grb_gpu_operand *x = &o->of[i];
    if (x->kept) x->kept->held = false;
    grb_gpu_release(d, x->own.memory, x->own.bytes);
  }
}

/* ---- sending --------------------------------------------------------------------------------- */

static void send_offsets(const void *rows, int64_t first, int64_t count, void *slot)
{
  const struct grb_gpu_rows *r = rows;
  for (int64_t i = 0; i < count; i++) ((int32_t *)slot)[i] = r->offsets[first + i];
}

static void send_columns(const void *rows, int64_t first, int64_t count, void *slot)
{
  grb_gpu_rows_columns(rows, first, count, slot);
}

static void send_values(const void *rows, int64_t first, int64_t count, void *slot)
{
  grb_gpu_rows_values(rows, first, count, slot);
}

static shunt_status send(struct grb_gpu_operands *o, struct grb_gpu_operand *x,
                         struct grb_gpu_devices *d)
{
  const size_t size = shunt_type_size(o->type);
  struct grb_gpu_rows rows;
  shunt_status s = grb_gpu_rows_order(&rows, x->s, size, x->values, o->threads);
  if (s != SHUNT_OK) return s;
  const struct grb_gpu_transfer parts[] = {
      {true, x->own.offsets, x->s->rows + 1, 4, send_offsets, &rows},
      {true, x->own.columns, x->s->nnz, 4, send_columns, &rows},
      {true, x->own.values, value_count(x), size, send_values, &rows}};
  for (int i = 0; s == SHUNT_OK && i < 3; i++) {
    s = grb_gpu_transfer(d, o->threads, &parts[i]);
    o->bytes_up += (uint64_t)parts[i].count * parts[i].size;
  }
  grb_gpu_rows_free(&rows);
  o->sent++;
  return s;
}

shunt_status grb_gpu_operands_send(struct grb_gpu_operands *o, struct grb_gpu_devices *d)
{
  shunt_status s = SHUNT_OK;
  for (int i = 0; s == SHUNT_OK && i < GRB_GPU_OPERANDS; i++)
    if (o->of[i].own.memory) s = send(o, &o->of[i], d);
  return s;
}

struct shunt_device_rows grb_gpu_operand_rows(const struct grb_gpu_operands *o, int i)
{
  const struct grb_gpu_operand *x = &o->of[i], *by = &o->of[x->like];
  const struct grb_gpu_resident *r = by->kept ? by->kept : &by->own;
  return (struct shunt_device_rows){.rows = x->s->rows,
                                    .cols = x->s->cols,
                                    .nnz = x->s->nnz,
                                    .offsets = r->offsets,
                                    .columns = r->columns,
                                    .values = x->values ? r->values : NULL,
                                    .iso = x->s->iso};
}
