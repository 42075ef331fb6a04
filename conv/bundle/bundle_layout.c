/* bundle_layout.c: sizes of the lists of row groups, and their arrays in one allocation. */
#include "conv/bundle/bundle_conv.h"
#include "kernels/common/alignment.h"

#include <string.h>

static int can_be_made(const struct shunt_csr *a)
{
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return 0;
  if (a->rows < 1 || a->cols < 1 || a->nnz < 0) return 0;
  return a->rows <= INT32_MAX - 64 && a->cols <= INT32_MAX - 1024 && a->nnz <= INT32_MAX - 1024;
}

/* Bytes in all; pointers are set when there is memory. */
static size_t lay_out(const struct shunt_csr *a, char *memory, struct shunt_bundle *g)
{
  size_t at = 0, counts, begin, count, columns, masks, longs;

  memset(g, 0, sizeof *g);
  if (!can_be_made(a)) return 0;
  g->rows = a->rows, g->cols = a->cols, g->nnz = a->nnz;
  g->groups = (a->rows + SHUNT_BUNDLE_ROWS - 1) / SHUNT_BUNDLE_ROWS;
  counts = shunt_place(&at, sizeof *g->counts);
  begin = shunt_place(&at, g->groups * 4);
  count = shunt_place(&at, g->groups * 4);
  columns = shunt_place(&at, a->nnz * 4);
  masks = shunt_place(&at, a->nnz);
  longs = shunt_place(&at, a->nnz / SHUNT_BUNDLE_LONG * 4);
  if (memory) {
    g->counts = (struct shunt_bundle_counts *)(void *)(memory + counts);
    g->begin = (uint32_t *)(void *)(memory + begin);
    g->count = (uint32_t *)(void *)(memory + count);
    g->columns = (uint32_t *)(void *)(memory + columns);
    g->masks = (uint8_t *)(memory + masks);
    g->long_list = (uint32_t *)(void *)(memory + longs);
  }
  return shunt_align_up(at, 256);
}

size_t shunt_bundle_bytes(const struct shunt_csr *a)
{
  struct shunt_bundle g;

  return lay_out(a, NULL, &g);
}

int shunt_bundle_lay_out(const struct shunt_csr *a, void *memory, struct shunt_bundle *out)
{
  return lay_out(a, memory, out) != 0;
}
