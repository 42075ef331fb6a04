#include "backend/graphblas/gpu/masked/masked_parts.h"

#include <stdlib.h>
#include <string.h>

#include "backend/graphblas/gpu/gpu_cut.h"
#include "backend/graphblas/gpu/masked/transfer.h"
#include "backend/graphblas/gpu/rows.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/fault.h"
#include "kernels/semiring/semiring_operands.h"

/* PARTS: at least, so that copies find something to run beside.  FEW: entries that are worth a
   launch. */
enum { PARTS = 8, FEW = 1 << 14 };

/* ---- the cut --------------------------------------------------------------------------------- */

static int64_t sum_bytes(const struct grb_gpu_parts *p, int64_t entries)
{
  return p->counted ? 0 : entries * (int64_t)shunt_type_size(p->x->semiring.type);
}

/* Are M's columns on the device? */
static bool has_columns(const struct grb_gpu_operands *o)
{
  return !o->of[GRB_GPU_M].in_parts;
}

/* What the kernel is asked to do with a part. */
static struct shunt_masked_device
dot(const struct grb_gpu_parts *p, const struct grb_gpu_mask_part *t, int64_t rows, int64_t entries)
{
  struct shunt_masked_device x = {
      .semiring = p->x->semiring,
      .m = {.rows = rows, .cols = p->x->m.cols, .nnz = entries},
      .a = grb_gpu_operand_rows(p->operands, GRB_GPU_A),
      .b = grb_gpu_operand_rows(p->operands, GRB_GPU_B),
      .counts = t->counts,
      .values = p->counted ? NULL : t->values,
  };
  x.m.offsets = t->offsets, x.m.columns = t->columns;
  x.a.rows = rows;
  x.a.offsets = x.a.offsets ? x.a.offsets + t->first : NULL;
  return x;
}

static int64_t workspace_bytes(const struct grb_gpu_parts *p, int64_t rows, int64_t entries)
{
  const struct shunt_masked_device x = {.m = {.rows = rows, .nnz = entries},
                                        .b = {.rows = p->x->b.rows},
                                        .values = p->counted ? NULL : p->values};
  return (int64_t)shunt_masked_dot_workspace(&x);
}

/* Offsets, columns, counts, sums, workspace, in this order. */
static int64_t part_bytes(const struct grb_gpu_parts *p, int64_t rows, int64_t entries)
{
  const int64_t columns = has_columns(p->operands) ? 0 : grb_gpu_round(entries * 4);
  return grb_gpu_round((rows + 1) * 4) + columns + grb_gpu_round(entries * 4) +
         grb_gpu_round(sum_bytes(p, entries)) + grb_gpu_round(workspace_bytes(p, rows, entries));
}

int64_t grb_gpu_parts_least(const struct shunt_masked_dot *x, const struct grb_gpu_operands *o,
                            bool counted)
{
  struct grb_gpu_operands without = *o;
  const struct grb_gpu_parts p = {.x = x, .operands = &without, .counted = counted};
  const int64_t entries = x->m.nnz < FEW ? x->m.nnz : FEW;
  without.of[GRB_GPU_M].in_parts = without.of[GRB_GPU_M].like == GRB_GPU_M;
  int64_t bytes = GRB_GPU_PART_BUFFERS * part_bytes(&p, x->m.rows < FEW ? x->m.rows : FEW, entries);
  for (int i = 0; i < GRB_GPU_OPERANDS; i++) bytes += grb_gpu_operand_bytes(&without, i);
  return bytes;
}

/* The row after the last of the part that begins with row `first`: one row at least. */
static int64_t part_end(const struct grb_gpu_parts *p, int64_t first)
{
  const struct shunt_sparse *m = &p->x->m;
  const int64_t share = m->nnz / PARTS, least = first + 1;
  const int64_t wanted = p->begin[first] + (share > FEW ? share : FEW);
  int64_t low = least, high = m->rows;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    const int64_t entries = p->begin[middle] - p->begin[first];
    if (p->begin[middle] <= wanted && part_bytes(p, middle - first, entries) <= p->room)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static shunt_status cut(struct grb_gpu_parts *p)
{
  for (int64_t first = 0, end; first < p->x->m.rows; first = end) {
    end = part_end(p, first);
    const int64_t entries = p->begin[end] - p->begin[first];
    const int64_t bytes = part_bytes(p, end - first, entries);
    if (bytes > p->room || entries >= GRB_GPU_MOST_INDEX) return SHUNT_E_WORKSPACE;
    if (bytes > p->bytes) p->bytes = bytes;
  }
  return SHUNT_OK;
}

/* Rows whose vectors are missing have no entries; the ids ascend. */
static void find_rows(struct grb_gpu_parts *p)
{
  const struct shunt_sparse *m = &p->x->m;
  int64_t row = 0;
  for (int64_t v = 0; v < m->vectors; v++)
    for (; row <= shunt_vector_id(m, v); row++) p->begin[row] = shunt_vector_begin(m, v);
  for (; row <= m->rows; row++) p->begin[row] = m->nnz;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void *allocate_host(int64_t bytes)
{
  return SHUNT_TRY_OR(NULL, malloc((size_t)(bytes > 0 ? bytes : 1)));
}

/* Where a part's arrays are in its buffer. */
static void place(const struct grb_gpu_parts *p, struct grb_gpu_mask_part *t, int number)
{
  const int64_t rows = t->end - t->first, entries = p->begin[t->end] - p->begin[t->first];
  char *at = p->memory + number * p->bytes;
  t->offsets = (int32_t *)(void *)at;
  at += grb_gpu_round((rows + 1) * 4);
  t->columns = (int32_t *)(void *)at;
  if (!has_columns(p->operands)) at += grb_gpu_round(entries * 4);
  t->counts = (uint32_t *)(void *)at;
  at += grb_gpu_round(entries * 4);
  t->values = at;
  t->workspace = at + grb_gpu_round(sum_bytes(p, entries));
}

shunt_status grb_gpu_parts_make(struct grb_gpu_parts *p, const struct shunt_masked_dot *x,
                                struct grb_gpu_operands *o, bool counted, struct grb_gpu_device *d,
                                int64_t bytes)
{
  void *memory = NULL;
  *p = (struct grb_gpu_parts){
      .x = x, .operands = o, .counted = counted, .room = bytes / GRB_GPU_PART_BUFFERS};
  p->begin = allocate_host((x->m.rows + 1) * (int64_t)sizeof *p->begin);
  p->counts = allocate_host(x->m.nnz * 4);
  p->values = counted ? NULL : allocate_host(sum_bytes(p, x->m.nnz));
  if (!p->begin || !p->counts || (!counted && !p->values)) return SHUNT_E_MEMORY;
  find_rows(p);
  shunt_status s = cut(p);
  if (s == SHUNT_OK) s = grb_gpu_allocate(d, GRB_GPU_PART_BUFFERS * p->bytes, &memory);
  p->memory = memory;
  return s;
}

void grb_gpu_parts_free(struct grb_gpu_parts *p, struct grb_gpu_device *d)
{
  grb_gpu_release(d, p->memory, GRB_GPU_PART_BUFFERS * p->bytes);
  free(p->begin);
  free(p->counts);
  free(p->values);
  *p = (struct grb_gpu_parts){.x = NULL};
}

/* ---- the way of a part ----------------------------------------------------------------------- */

struct copied {
  const struct grb_gpu_parts *p;
  const struct grb_gpu_mask_part *part;
};

static int64_t first_entry(const struct copied *c)
{
  return c->p->begin[c->part->first];
}

static void send_offsets(const void *context, int64_t first, int64_t count, void *slot)
{
  const struct copied *c = context;
  const int64_t *begin = c->p->begin + c->part->first;
  for (int64_t i = 0; i < count; i++) ((int32_t *)slot)[i] = (int32_t)(begin[first + i] - begin[0]);
}

static void send_columns(const void *context, int64_t first, int64_t count, void *slot)
{
  const struct copied *c = context;
  const int64_t at = first_entry(c) + first;
  for (int64_t e = 0; e < count; e++)
    ((int32_t *)slot)[e] = (int32_t)shunt_entry_index(&c->p->x->m, at + e);
}

static void take_counts(const void *context, int64_t first, int64_t count, void *slot)
{
  const struct copied *c = context;
  memcpy(c->p->counts + first_entry(c) + first, slot, (size_t)count * 4);
}

static void take_sums(const void *context, int64_t first, int64_t count, void *slot)
{
  const struct copied *c = context;
  const size_t size = shunt_type_size(c->p->x->semiring.type);
  memcpy(c->p->values + (size_t)(first_entry(c) + first) * size, slot, (size_t)count * size);
}

static shunt_status send(const struct grb_gpu_parts *p, struct grb_gpu_mask_part *t,
                         struct grb_gpu_devices *d)
{
  const struct copied c = {p, t};
  const int64_t entries = p->begin[t->end] - p->begin[t->first];
  const struct grb_gpu_transfer offsets = {true, t->offsets,   t->end - t->first + 1,
                                           4,    send_offsets, &c};
  const struct grb_gpu_transfer columns = {true, t->columns, entries, 4, send_columns, &c};
  const shunt_status s = grb_gpu_transfer(d, p->operands->threads, &offsets);
  if (s != SHUNT_OK) return s;
  if (!has_columns(p->operands)) return grb_gpu_transfer(d, p->operands->threads, &columns);
  const struct shunt_device_rows m = grb_gpu_operand_rows(p->operands, GRB_GPU_M);
  t->columns = (int32_t *)(uintptr_t)(m.columns + p->begin[t->first]);
  return SHUNT_OK;
}

/* In the background, up to the event. */
static shunt_status launch(const struct grb_gpu_parts *p, const struct grb_gpu_mask_part *t,
                           struct grb_gpu_device *d, cudaEvent_t done)
{
  CUcontext before;
  const int64_t rows = t->end - t->first, entries = p->begin[t->end] - p->begin[t->first];
  const struct shunt_masked_device x = dot(p, t, rows, entries);
  shunt_status s = grb_gpu_enter(d, &before);
  if (s != SHUNT_OK) return s;
  s = SHUNT_LAUNCH(shunt_masked_dot_cuda(&x, &d->about, t->workspace,
                                         shunt_masked_dot_workspace(&x), d->compute));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(done, d->compute));
  grb_gpu_leave(before);
  return s;
}

static shunt_status take(const struct grb_gpu_parts *p, const struct grb_gpu_mask_part *t,
                         struct grb_gpu_devices *d, cudaEvent_t done)
{
  CUcontext before;
  const struct copied c = {p, t};
  const int64_t entries = p->begin[t->end] - p->begin[t->first];
  const struct grb_gpu_transfer counts = {false, t->counts, entries, 4, take_counts, &c};
  const struct grb_gpu_transfer sums = {
      false,     t->values, p->counted ? 0 : entries, shunt_type_size(p->x->semiring.type),
      take_sums, &c};
  shunt_status s = grb_gpu_enter(&d->device[0], &before);
  if (s != SHUNT_OK) return s;
  s = SHUNT_CUDA(cudaEventSynchronize(done));
  grb_gpu_leave(before);
  if (s == SHUNT_OK) s = grb_gpu_transfer(d, p->operands->threads, &counts);
  if (s == SHUNT_OK) s = grb_gpu_transfer(d, p->operands->threads, &sums);
  return s;
}

/* While one part is computed the next is sent, and the one before comes back. */
static shunt_status run_parts(struct grb_gpu_parts *p, struct grb_gpu_devices *d)
{
  cudaEvent_t *done = d->device[0].events + 1;
  struct grb_gpu_mask_part *before = NULL;
  shunt_status s = SHUNT_OK;
  int number = 0;
  for (int64_t first = 0; s == SHUNT_OK && first < p->x->m.rows;
       number = (number + 1) % GRB_GPU_PART_BUFFERS) {
    struct grb_gpu_mask_part *t = &p->part[number];
    t->first = first;
    first = t->end = part_end(p, first);
    place(p, t, number);
    s = send(p, t, d);
    if (s == SHUNT_OK) s = launch(p, t, &d->device[0], done[number]);
    if (s == SHUNT_OK && before) s = take(p, before, d, done[before - p->part]);
    before = t;
  }
  return s == SHUNT_OK && before ? take(p, before, d, done[before - p->part]) : s;
}

shunt_status grb_gpu_parts_run(struct grb_gpu_parts *p, struct grb_gpu_devices *d, uint64_t *down)
{
  CUcontext before;
  shunt_status s = grb_gpu_enter(&d->device[0], &before);
  if (s != SHUNT_OK) return s;
  s = grb_gpu_events(&d->device[0], 1 + GRB_GPU_PART_BUFFERS);
  grb_gpu_leave(before);
  if (s == SHUNT_OK) s = run_parts(p, d);
  *down = (uint64_t)(p->x->m.nnz * 4 + sum_bytes(p, p->x->m.nnz));
  if (s == SHUNT_OK || grb_gpu_enter(&d->device[0], &before) != SHUNT_OK) return s;
  cudaStreamSynchronize(d->device[0].compute); /* what failed half-way */
  grb_gpu_leave(before);
  return s;
}
