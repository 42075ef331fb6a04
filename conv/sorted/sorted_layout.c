/* sorted_layout.c: sizes of an order of rows, and its arrays in one allocation. */
#include <string.h>

#include "conv/sorted/sorted_conv.h"
#include "kernels/common/alignment.h"

/* A run is a warp's work; of large matrices there are so many. */
enum { LEAST_RUN = 256, MOST_RUNS = 4096 };

static bool can_be_made(const struct shunt_csr *a)
{
  return (a->index_type == SHUNT_I32 || a->index_type == SHUNT_I64) && a->rows > 0 &&
         a->rows < INT64_C(1) << 30;
}

/* Bytes in all; pointers are set when there is memory. */
static size_t lay_out(const struct shunt_csr *a, char *memory, struct shunt_sorted *v)
{
  size_t at = 0;
  memset(v, 0, sizeof *v);
  if (!can_be_made(a)) return 0;
  const int64_t each = (a->rows + MOST_RUNS - 1) / MOST_RUNS;
  v->rows = a->rows;
  v->run = each > LEAST_RUN ? (each + 31) / 32 * 32 : LEAST_RUN;
  v->runs = (a->rows + v->run - 1) / v->run;
  const size_t counts = shunt_place(&at, sizeof *v->counts), order = shunt_place(&at, a->rows * 4),
               kind = shunt_place(&at, a->rows), all = shunt_place(&at, SHUNT_SORTED_KINDS * 4),
               places = shunt_place(&at, SHUNT_SORTED_KINDS * v->runs * 4);
  if (memory) {
    v->counts = (struct shunt_sorted_counts *)(void *)(memory + counts);
    v->order = (uint32_t *)(void *)(memory + order);
    v->kind = (uint8_t *)(memory + kind);
    v->all = (uint32_t *)(void *)(memory + all);
    v->places = (uint32_t *)(void *)(memory + places);
  }
  return shunt_align_up(at, 256);
}

size_t shunt_sorted_bytes(const struct shunt_csr *a)
{
  struct shunt_sorted v;
  return lay_out(a, NULL, &v);
}

bool shunt_sorted_lay_out(const struct shunt_csr *a, void *memory, struct shunt_sorted *out)
{
  return lay_out(a, memory, out) != 0;
}
