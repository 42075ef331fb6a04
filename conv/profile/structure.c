/* structure.c: the shares of structure that routes look for, counted exactly on
   the host in a few passes of O(nnz).  Values play no part: every stored position
   counts, once.

   fill[V]     positions / (V x aligned V x 1 vectors that hold one), V = 8, 4, 2

   strips      64 columns wide, all rows high; a segment is one row of one strip.
               strip_occupancy = segments with an entry / all segments  */
#include <stdlib.h>
#include <string.h>

#include "conv/common/index.h"
#include "conv/profile/profile.h"
#include "kernels/common/divide.h"

enum { STRIP_COLS = 64 };

static int64_t offset_at(const struct shunt_csr *a, int64_t i)
{
  return index_at(a->row_offsets, a->index_type, i) - a->base;
}

static int64_t column_at(const struct shunt_csr *a, int64_t p)
{
  return index_at(a->columns, a->index_type, p) - a->base;
}

/* Offsets and columns inside their arrays, so that the passes may trust them. */
static int is_sound(const struct shunt_csr *a)
{
  if (a->rows < 0 || a->cols < 0 || a->nnz < 0) return 0;
  for (int64_t i = 0; i < a->rows; i++) {
    int64_t begin = index_at(a->row_offsets, a->index_type, i);
    int64_t end = index_at(a->row_offsets, a->index_type, i + 1);
    if (begin < a->base || end < begin || end - a->base > a->nnz) return 0;
  }
  for (int64_t p = 0; p < a->nnz; p++) {
    int64_t column = index_at(a->columns, a->index_type, p);
    if (column < a->base || column - a->base >= a->cols) return 0;
  }
  return 1;
}

/* A table of marks, "seen in round r": no clearing between rounds. */
static int64_t *marks_new(int64_t count)
{
  return calloc((size_t)count + 1, sizeof(int64_t));
}

static int mark(int64_t *marks, int64_t i, int64_t round)
{
  int fresh = marks[i] != round + 1;

  marks[i] = round + 1;
  return fresh;
}

/* The number of aligned V x 1 vectors that hold an entry; V = 1 counts positions. */
static shunt_status count_vectors(const struct shunt_csr *a, int64_t v, int64_t *count)
{
  int64_t *seen = marks_new(a->cols);

  if (!seen) return SHUNT_E_MEMORY;
  *count = 0;
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t p = offset_at(a, i); p < offset_at(a, i + 1); p++)
      *count += mark(seen, column_at(a, p), i / v);
  free(seen);
  return SHUNT_OK;
}

static shunt_status count_strips(const struct shunt_csr *a, struct shunt_structure *out)
{
  int64_t strips = shunt_div_up(a->cols, STRIP_COLS), segments = 0;
  int64_t *seen = marks_new(strips);

  if (!seen) return SHUNT_E_MEMORY;
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t p = offset_at(a, i); p < offset_at(a, i + 1); p++)
      segments += mark(seen, column_at(a, p) / STRIP_COLS, i);
  out->strip_occupancy =
      a->rows && strips ? (double)segments / (double)strips / (double)a->rows : 0;
  free(seen);
  return SHUNT_OK;
}

shunt_status shunt_structure_csr_host(const struct shunt_csr *a, struct shunt_structure *out)
{
  int64_t positions, vectors;
  shunt_status status;

  memset(out, 0, sizeof *out);
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (!is_sound(a)) return SHUNT_E_ARGUMENT;
  status = count_vectors(a, 1, &positions);
  for (int v = 0; v < 3 && status == SHUNT_OK; v++) {
    status = count_vectors(a, 8 >> v, &vectors);
    if (status == SHUNT_OK && vectors)
      out->fill[v] = (double)positions / ((double)vectors * (8 >> v));
  }
  if (status == SHUNT_OK) status = count_strips(a, out);
  return status;
}
