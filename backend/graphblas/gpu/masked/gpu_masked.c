/* gpu_masked.c: see gpu_masked.h. */
#include "backend/graphblas/gpu/gpu_masked.h"

#include <stdlib.h>
#include <string.h>

#include "backend/graphblas/gpu/gpu_cut.h"
#include "backend/graphblas/gpu/hold.h"
#include "backend/graphblas/gpu/masked/masked_host.h"
#include "backend/graphblas/gpu/masked/masked_operands.h"
#include "backend/graphblas/gpu/masked/masked_parts.h"
#include "backend/graphblas/gpu/masked/masked_seconds.h"
#include "backend/graphblas/gpu/masked/transfer.h"
#include "backend/graphblas/gpu/rows.h"
#include "backend/options/options.h"
#include "backend/plan/cuda_call.h"
#include "kernels/semiring/semiring_operands.h"

/* Between the two steps, in device memory: T's columns, and counts or values behind them.  Of a
   product in parts all of M's counts and sums, in host memory.  */
struct grb_gpu_masked {
  shunt_type type;
  bool counted, uniform;
  uint64_t term; /* one, as the first bytes, where they are counted */
  int64_t entries;
  void *memory;
  int64_t bytes, columns_bytes;
  int threads;
  struct grb_gpu_host_counts host; /* counts NULL: not in parts */
  const uint64_t *offsets;
};

/* Memory of the product, offsets in bytes. */
struct layout {
  int64_t sums, offsets, workspace, bytes; /* the counts come first */
  size_t dot_bytes, compact_bytes;
};

static bool short_lines(const struct shunt_sparse *s)
{
  return s->rows > 0 && s->rows < GRB_GPU_MOST_INDEX && s->cols < GRB_GPU_MOST_INDEX && s->nnz > 0;
}

static bool small(const struct shunt_sparse *s)
{
  return short_lines(s) && s->nnz < GRB_GPU_MOST_INDEX;
}

static bool built(const struct shunt_masked_dot *x)
{
  uint64_t term;
  const enum shunt_multiplier by = x->semiring.multiplier;
  const shunt_type t = x->semiring.type;
  if (x->m.by_column || !short_lines(&x->m) || !small(&x->a) || !small(&x->b)) return false;
  if (grb_gpu_masked_counts_terms(x)) return shunt_masked_dot_term(x, &term);
  return x->semiring.monoid == SHUNT_PLUS && t != SHUNT_U8 && shunt_semiring_type(t) &&
         (by == SHUNT_TIMES || by == SHUNT_FIRST || by == SHUNT_SECOND);
}

/* ---- the estimate ---------------------------------------------------------------------------- */

struct question {
  const struct shunt_masked_dot *x;
  const struct grb_gpu_operands *operands;
  double reads, otherwise;
};

/* Operands, T and what makes it. */
static int64_t all_bytes(const struct shunt_masked_dot *x, const struct grb_gpu_operands *o,
                         bool counted)
{
  const bool turned = counted && !o->halved;
  const int64_t size = (int64_t)shunt_type_size(x->semiring.type);
  int64_t bytes = (4 + 8 + 16) * x->m.rows + (12 + 2 * (size > 4 ? size : 4)) * x->m.nnz;
  if (turned) bytes += 8 * x->m.nnz + 12 * x->b.rows;
  for (int i = 0; i < GRB_GPU_OPERANDS; i++) bytes += grb_gpu_operand_bytes(o, i);
  return bytes;
}

static bool worth(struct grb_gpu_placement *l, struct grb_gpu_devices *d, bool started,
                  const void *context)
{
  const struct question *q = context;
  const int64_t limit = started ? d->device[0].most : shunt_options()->cache_bytes;
  uint64_t term;
  const bool counted = shunt_masked_dot_term(q->x, &term);
  const bool whole = limit < 0 || all_bytes(q->x, q->operands, counted) <= limit;
  if (!whole && grb_gpu_parts_least(q->x, q->operands, counted) > limit) return false;
  /* Parts do not know of symmetry: S S' under S takes them twice as long, and where terms are
     summed the longer rows are read, too (graphs_gpu.md).  */
  const double reads = q->operands->halved && !whole ? (counted ? 2 : 5) * q->reads : q->reads;
  double upload = 0;
  if (!started) l->rates = grb_gpu_usual_rates();
  for (int i = 0; i < GRB_GPU_OPERANDS; i++)
    if (!started || !grb_gpu_operand_is_there(q->operands, i, &d->device[0]))
      upload += grb_gpu_masked_upload(q->operands->of[i].s, grb_gpu_operand_bytes(q->operands, i),
                                      &l->rates, q->operands->threads);
  const double all = upload + grb_gpu_masked_stream(q->x, reads, &l->rates);
  const double gain = q->otherwise - GRB_GPU_MARGIN * all;
  return started ? gain > 0 : grb_gpu_start_pays(l, gain);
}

bool grb_gpu_masked_wise(const struct shunt_masked_dot *x, const struct grb_masked_sources *from,
                         double reads, double otherwise)
{
  const double least =
      GRB_GPU_MARGIN * grb_gpu_masked_stream(x, 0, &(struct grb_gpu_rates){1e30, 1e30, 1e30});
  if (otherwise < least || !built(x)) return false;
  const struct grb_gpu_operands o = grb_gpu_operands_make(x, from);
  return grb_gpu_ask(worth, &(struct question){x, &o, reads, otherwise});
}

/* ---- the product ----------------------------------------------------------------------------- */

struct product {
  const struct shunt_masked_dot *x;
  uint64_t *offsets;
  struct grb_gpu_devices *devices;
  struct grb_gpu_device *device;
  struct grb_gpu_operands operands;
  struct grb_gpu_masked *work;
  struct layout at;
  char *scratch;
  bool in_parts;
  struct grb_gpu_parts parts;
  uint64_t down; /* bytes */
};

static struct shunt_masked_device dot(const struct product *p)
{
  const struct grb_gpu_operands *o = &p->operands;
  return (struct shunt_masked_device){
      .semiring = p->x->semiring,
      .m = grb_gpu_operand_rows(o, GRB_GPU_M),
      .a = grb_gpu_operand_rows(o, GRB_GPU_A),
      .b = grb_gpu_operand_rows(o, GRB_GPU_B),
      .one_matrix = o->halved,
      .counts = (uint32_t *)(void *)p->scratch,
      .values = p->work->counted ? NULL : p->scratch + p->at.sums,
  };
}

static struct shunt_masked_compact compact(const struct product *p)
{
  const struct grb_gpu_masked *w = p->work;
  return (struct shunt_masked_compact){
      .m = grb_gpu_operand_rows(&p->operands, GRB_GPU_M),
      .counts = (uint32_t *)(void *)p->scratch,
      .values = w->uniform ? NULL : p->scratch + p->at.sums,
      .size = w->counted ? 4 : shunt_type_size(w->type),
      .to_offsets = (int32_t *)(void *)(p->scratch + p->at.offsets),
      .to_columns = w->memory,
      .to_values = (char *)w->memory + w->columns_bytes,
  };
}

static void lay_out(struct product *p)
{
  struct grb_gpu_masked *w = p->work;
  const int64_t entries = p->x->m.nnz;
  const int64_t size = (int64_t)shunt_type_size(w->type);
  p->at.sums = w->counted ? 0 : grb_gpu_round(entries * 4); /* counts are T's values then */
  p->at.offsets =
      w->counted ? grb_gpu_round(entries * 4) : p->at.sums + grb_gpu_round(entries * size);
  p->at.workspace = p->at.offsets + grb_gpu_round((p->x->m.rows + 1) * 4);
  const struct shunt_masked_device d = dot(p);
  const struct shunt_masked_compact c = compact(p);
  p->at.dot_bytes = shunt_masked_dot_workspace(&d);
  p->at.compact_bytes = shunt_masked_compact_workspace(&c);
  const size_t larger =
      p->at.dot_bytes > p->at.compact_bytes ? p->at.dot_bytes : p->at.compact_bytes;
  p->at.bytes = p->at.workspace + grb_gpu_round((int64_t)larger);
  w->columns_bytes = grb_gpu_round(entries * 4);
  w->bytes = w->columns_bytes + (w->uniform ? 0 : grb_gpu_round(entries * (w->counted ? 4 : size)));
}

/* Room for M and T as far as A and B leave some. */
static shunt_status allocate_parts(struct product *p)
{
  struct grb_gpu_operand *m = &p->operands.of[GRB_GPU_M];
  int64_t room = p->device->limit;
  m->in_parts = m->like == GRB_GPU_M && !m->kept;
  for (int i = 0; i < GRB_GPU_OPERANDS; i++) room -= grb_gpu_operand_bytes(&p->operands, i);
  if (room <= 0) return SHUNT_E_WORKSPACE;
  p->in_parts = true;
  p->work->bytes = p->at.bytes = 0;
  const shunt_status s = grb_gpu_operands_allocate(&p->operands, p->device);
  if (s != SHUNT_OK) return s;
  return grb_gpu_parts_make(&p->parts, p->x, &p->operands, p->work->counted, p->device, room);
}

/* SHUNT_E_WORKSPACE where it can't fit; residents are locked. */
static shunt_status allocate(struct product *p)
{
  int64_t bytes = p->at.bytes + p->work->bytes;
  void *scratch = NULL;
  for (int i = 0; i < GRB_GPU_OPERANDS; i++) bytes += grb_gpu_operand_bytes(&p->operands, i);
  if (bytes > p->device->limit || p->x->m.nnz >= GRB_GPU_MOST_INDEX) return allocate_parts(p);
  shunt_status s = grb_gpu_operands_allocate(&p->operands, p->device);
  if (s == SHUNT_OK) s = grb_gpu_allocate(p->device, p->work->bytes, &p->work->memory);
  if (s == SHUNT_OK) s = grb_gpu_allocate(p->device, p->at.bytes, &scratch);
  p->scratch = scratch;
  return s;
}

/* Memory is allocated in the order of the compute stream, and other streams are to wait for it. */
static shunt_status prepare(struct product *p)
{
  struct grb_gpu_device *d = p->device;
  grb_gpu_lock_residents(true);
  grb_gpu_operands_find(&p->operands, d);
  lay_out(p);
  shunt_status s = allocate(p);
  grb_gpu_lock_residents(false);
  if (s == SHUNT_OK) s = grb_gpu_events(d, 1);
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(d->events[0], d->compute));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamWaitEvent(d->up, d->events[0], 0));
  return s;
}

/* T's offsets of rows first .. first + count - 1 to those of M's vectors. */
static void take_offsets(const void *product, int64_t first, int64_t count, void *slot)
{
  const struct product *p = product;
  const struct shunt_sparse *m = &p->x->m;
  const int32_t *rows = slot;
  int64_t v = first;
  if (m->ids) {
    int64_t high = m->vectors;
    for (v = 0; v < high;) {
      const int64_t middle = v + (high - v) / 2;
      if (shunt_vector_id(m, middle) < first)
        v = middle + 1;
      else
        high = middle;
    }
  }
  for (; v < m->vectors && shunt_vector_id(m, v) < first + count; v++)
    p->offsets[v] = (uint64_t)rows[shunt_vector_id(m, v) - first];
  if (first + count > m->rows) p->offsets[m->vectors] = (uint64_t)rows[m->rows - first];
}

/* The device is entered; operands are there. */
static shunt_status launch(struct product *p)
{
  struct grb_gpu_device *d = p->device;
  const struct shunt_masked_device x = dot(p);
  const struct shunt_masked_compact c = compact(p);
  void *workspace = p->scratch + p->at.workspace;
  shunt_status s =
      SHUNT_LAUNCH(shunt_masked_dot_cuda(&x, &d->about, workspace, p->at.dot_bytes, d->compute));
  if (s == SHUNT_OK)
    s = SHUNT_LAUNCH(shunt_masked_compact_cuda(&c, workspace, p->at.compact_bytes, d->compute));
  const shunt_status end = SHUNT_CUDA(cudaStreamSynchronize(d->compute));
  return s == SHUNT_OK ? end : s;
}

/* T stays in host memory, where the work has its arrays from now on. */
static shunt_status compute_parts(struct product *p)
{
  struct grb_gpu_masked *w = p->work;
  const shunt_status s = grb_gpu_parts_run(&p->parts, p->devices, &p->down);
  if (s != SHUNT_OK) return s;
  w->host = (struct grb_gpu_host_counts){p->x->m,  w->type,    p->parts.counts, p->parts.values,
                                         &w->term, w->uniform, w->threads};
  p->parts.counts = NULL, p->parts.values = NULL;
  w->offsets = p->offsets;
  grb_gpu_host_offsets(&w->host, p->offsets);
  return SHUNT_OK;
}

static shunt_status compute(struct product *p)
{
  CUcontext before;
  shunt_status s = grb_gpu_operands_send(&p->operands, p->devices);
  if (s == SHUNT_OK && p->in_parts) return compute_parts(p);
  if (s == SHUNT_OK) s = grb_gpu_enter(p->device, &before);
  if (s != SHUNT_OK) return s;
  s = launch(p);
  grb_gpu_leave(before);
  const struct grb_gpu_transfer offsets = {
      false, p->scratch + p->at.offsets, p->x->m.rows + 1, 4, take_offsets, p};
  if (s == SHUNT_OK) s = grb_gpu_transfer(p->devices, p->work->threads, &offsets);
  if (s == SHUNT_OK) p->work->entries = (int64_t)p->offsets[p->x->m.vectors];
  p->down = 4 * ((uint64_t)p->x->m.rows + 1);
  return s;
}

static void count(const struct product *p)
{
  struct grb_gpu_counts *counts = grb_gpu_held_counts();
  counts->products++;
  counts->sparse_uploads += p->operands.sent;
  counts->bytes_up += p->operands.bytes_up;
  counts->bytes_down += p->down;
}

static shunt_status multiply(struct product *p)
{
  CUcontext before;
  shunt_status s = grb_gpu_lanes(p->devices, p->work->threads);
  if (s == SHUNT_OK) s = grb_gpu_enter(p->device, &before);
  if (s != SHUNT_OK) return s;
  s = prepare(p);
  grb_gpu_leave(before);
  if (s == SHUNT_OK) s = compute(p);
  const bool entered = grb_gpu_enter(p->device, &before) == SHUNT_OK;
  grb_gpu_lock_residents(true);
  if (s == SHUNT_OK && entered) grb_gpu_operands_keep(&p->operands, p->device);
  grb_gpu_operands_release(&p->operands, p->device);
  grb_gpu_parts_free(&p->parts, p->device);
  grb_gpu_release(p->device, p->scratch, p->at.bytes);
  if (s != SHUNT_OK) grb_gpu_release(p->device, p->work->memory, p->work->bytes);
  grb_gpu_lock_residents(false);
  if (entered) grb_gpu_leave(before);
  if (s == SHUNT_OK) count(p);
  return s;
}

shunt_status grb_gpu_masked_begin(const struct shunt_masked_dot *x,
                                  const struct grb_masked_sources *from, uint64_t *offsets,
                                  struct grb_gpu_masked **work)
{
  *work = NULL;
  if (!built(x)) return SHUNT_E_UNSUPPORTED;
  struct grb_gpu_masked *w = SHUNT_TRY_OR(NULL, calloc(1, sizeof *w));
  if (!w) return SHUNT_E_MEMORY;
  struct product p = {.x = x, .offsets = offsets, .devices = grb_gpu_hold(), .work = w};
  if (!p.devices) {
    free(w);
    return SHUNT_E_UNSUPPORTED;
  }
  p.operands = grb_gpu_operands_make(x, from);
  p.device = &p.devices->device[0];
  w->type = x->semiring.type;
  w->counted = shunt_masked_dot_term(x, &w->term);
  w->uniform = shunt_masked_dot_uniform(x);
  w->threads = p.operands.threads;
  const shunt_status s = multiply(&p);
  grb_gpu_give(s);
  if (s == SHUNT_OK)
    *work = w;
  else
    free(w);
  return s;
}

/* ---- the second step ------------------------------------------------------------------------- */

struct taken {
  const struct grb_gpu_masked *work;
  uint64_t *indices;
  void *values;
};

static void take_columns(const void *context, int64_t first, int64_t count, void *slot)
{
  const struct taken *to = context;
  for (int64_t e = 0; e < count; e++) to->indices[first + e] = ((const uint32_t *)slot)[e];
}

static void take_values(const void *context, int64_t first, int64_t count, void *slot)
{
  const struct taken *to = context;
  const struct grb_gpu_masked *w = to->work;
  const size_t size = shunt_type_size(w->type);
  if (w->counted)
    shunt_store_counts(w->type, slot, &w->term, to->values, (uint64_t)first,
                       (uint64_t)(first + count));
  else
    memcpy((char *)to->values + (size_t)first * size, slot, (size_t)count * size);
}

static shunt_status fetch(struct grb_gpu_devices *d, const struct taken *to)
{
  const struct grb_gpu_masked *w = to->work;
  const size_t size = w->counted ? 4 : shunt_type_size(w->type);
  const struct grb_gpu_transfer columns = {false, w->memory, w->entries, 4, take_columns, to};
  const struct grb_gpu_transfer values = {
      false, (char *)w->memory + w->columns_bytes, w->uniform ? 0 : w->entries, size, take_values,
      to};
  if (w->uniform) memcpy(to->values, &w->term, shunt_type_size(w->type));
  shunt_status s = grb_gpu_transfer(d, w->threads, &columns);
  if (s == SHUNT_OK) s = grb_gpu_transfer(d, w->threads, &values);
  if (s == SHUNT_OK)
    grb_gpu_held_counts()->bytes_down += (uint64_t)(w->entries * 4) + (uint64_t)values.count * size;
  return s;
}

/* Of a product in parts; no device is needed. */
static void finish_parts(struct grb_gpu_masked *w, uint64_t *indices, void *values)
{
  if (indices && w->uniform) memcpy(values, &w->term, shunt_type_size(w->type));
  if (indices) grb_gpu_host_entries(&w->host, w->offsets, indices, values);
  free((void *)(uintptr_t)w->host.counts);
  free((void *)(uintptr_t)w->host.values);
  free(w);
}

shunt_status grb_gpu_masked_finish(struct grb_gpu_masked *w, uint64_t *indices, void *values)
{
  CUcontext before;
  if (w->host.counts) {
    finish_parts(w, indices, values);
    return SHUNT_OK;
  }
  struct grb_gpu_devices *devices = grb_gpu_hold();
  shunt_status s = devices ? SHUNT_OK : SHUNT_E_CUDA; /* given up since: so is the memory */
  const struct taken to = {w, indices, values};
  if (devices) {
    if (indices) s = fetch(devices, &to);
    const bool entered = grb_gpu_enter(&devices->device[0], &before) == SHUNT_OK;
    grb_gpu_release(&devices->device[0], w->memory, w->bytes);
    if (entered) grb_gpu_leave(before);
    grb_gpu_give(s);
  }
  free(w);
  return s;
}
