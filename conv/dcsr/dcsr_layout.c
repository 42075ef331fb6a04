/* dcsr_layout.c: sizes of a dcsr matrix and its arrays in one allocation. */
#include <string.h>

#include "conv/dcsr/dcsr_conv.h"
#include "conv/dcsr/dcsr_index.h"
#include "kernels/common/alignment.h"

int64_t shunt_dcsr_width(int64_t cols, const struct shunt_dcsr_layout *layout)
{
  return layout->width > 0 && layout->width < cols ? layout->width : cols;
}

int64_t shunt_dcsr_strips(int64_t cols, int64_t width)
{
  return cols > 0 && width > 0 ? (cols - 1) / width + 1 : 0;
}

int64_t shunt_dcsr_most_segments(const struct shunt_dcsr_source *a,
                                 const struct shunt_dcsr_layout *layout)
{
  int64_t strips = shunt_dcsr_strips(a->cols, shunt_dcsr_width(a->cols, layout));

  if (a->nnz <= 0 || a->rows <= 0 || strips == 0) return 0;
  return a->rows <= a->nnz / strips ? a->rows * strips : a->nnz;
}

static int can_be_made(const struct shunt_dcsr_source *a, const struct shunt_dcsr_layout *layout,
                       int64_t segments)
{
  const int64_t most = INT64_MAX / 128; /* bytes in all stay far below 2^63 */

  if (!is_index(a->index_type) || !is_index(layout->index_type)) return 0;
  if (layout->width < 0 || segments < 0 || a->rows < 0 || a->cols < 0 || a->nnz < 0) return 0;
  if (a->rows > most || a->cols > most || a->nnz > most || segments > most) return 0;
  return dcsr_index_holds(layout->index_type, a->rows) &&
         dcsr_index_holds(layout->index_type, a->cols) &&
         dcsr_index_holds(layout->index_type, a->nnz);
}

/* Bytes in all; pointers are set when there is memory. */
static size_t lay_out(const struct shunt_dcsr_source *a, const struct shunt_dcsr_layout *layout,
                      int64_t segments, char *memory, struct shunt_dcsr *d)
{
  size_t index = 0, nnz, at = 0;

  memset(d, 0, sizeof *d);
  if (!can_be_made(a, layout, segments)) return 0;
  index = shunt_type_size(layout->index_type);
  nnz = (size_t)a->nnz;
  d->rows = a->rows, d->cols = a->cols, d->nnz = a->nnz;
  d->width = shunt_dcsr_width(a->cols, layout);
  d->strips = shunt_dcsr_strips(a->cols, d->width);
  d->room = segments;
  d->index_type = layout->index_type;
  d->value_type = a->value_type;
  d->counts = shunt_place_in(memory, &at, sizeof *d->counts);
  d->strip_begin = shunt_place_in(memory, &at, ((size_t)d->strips + 1) * index);
  d->row_ids = shunt_place_in(memory, &at, (size_t)segments * index);
  d->offsets = shunt_place_in(memory, &at, ((size_t)segments + 1) * index);
  d->columns = shunt_place_in(memory, &at, nnz * index);
  d->values = shunt_place_in(memory, &at, nnz * shunt_type_size(a->value_type));
  return shunt_align_up(at, 256);
}

size_t shunt_dcsr_bytes(const struct shunt_dcsr_source *a, const struct shunt_dcsr_layout *layout,
                        int64_t segments)
{
  struct shunt_dcsr d;

  return lay_out(a, layout, segments, NULL, &d);
}

int shunt_dcsr_lay_out(const struct shunt_dcsr_source *a, const struct shunt_dcsr_layout *layout,
                       int64_t segments, void *memory, struct shunt_dcsr *out)
{
  return lay_out(a, layout, segments, memory, out) != 0;
}

/* ---- footprint --------------------------------------------------------------------------- */

static double entry_bytes(int64_t nnz, shunt_type index, shunt_type value)
{
  return (double)nnz * (double)(shunt_type_size(index) + shunt_type_size(value));
}

double shunt_csr_footprint(int64_t rows, int64_t nnz, shunt_type index, shunt_type value)
{
  return ((double)rows + 1) * (double)shunt_type_size(index) + entry_bytes(nnz, index, value);
}

double shunt_dcsr_footprint(int64_t strips, int64_t segments, int64_t nnz, shunt_type index,
                            shunt_type value)
{
  double indices = (double)strips + 1 + 2 * (double)segments + 1;

  return indices * (double)shunt_type_size(index) + entry_bytes(nnz, index, value);
}
