/* host_dcsr_sums.c: S, the matrix of ones that adds up segments (kernels/dcsr/dcsr_kernels.h): its
   memory, and its making on the host.  */
#include <string.h>

#include "kernels/common/alignment.h"
#include "kernels/common/host_element.h"
#include "kernels/dcsr/dcsr_kernels.h"

enum { MOST = 1 << 30 };

size_t shunt_dcsr_sums_bytes(int64_t rows, int64_t room, shunt_type value_type)
{
  if (rows < 0 || room < 0 || rows >= MOST || room >= MOST) return 0;
  if (value_type != SHUNT_F32 && value_type != SHUNT_F64) return 0;
  return shunt_align_up(((size_t)rows + 1) * 4, 256) + shunt_align_up((size_t)room * 4, 256) +
         shunt_align_up((size_t)room * shunt_type_size(value_type), 256);
}

int shunt_dcsr_sums_lay_out(int64_t rows, int64_t room, shunt_type value_type, void *memory,
                            struct shunt_dcsr_sums *out)
{
  char *at = memory;

  if (!shunt_dcsr_sums_bytes(rows, room, value_type)) return 0;
  *out = (struct shunt_dcsr_sums){rows, room, value_type, memory, NULL, NULL};
  at += shunt_align_up(((size_t)rows + 1) * 4, 256);
  out->segments = (int32_t *)at;
  out->ones = at + shunt_align_up((size_t)room * 4, 256);
  return 1;
}

/* offsets[i + 1] is where row i's next segment goes, until all have gone. */
shunt_status shunt_dcsr_sums_host(const struct shunt_dcsr *d, const struct shunt_dcsr_sums *out)
{
  int64_t segments = (int64_t)d->counts->segments;

  if (out->rows != d->rows || out->value_type != shunt_dcsr_sum_type(d->value_type))
    return SHUNT_E_ARGUMENT;
  if (d->counts->irregular) return SHUNT_E_ARGUMENT;
  if (out->room < segments) return SHUNT_E_WORKSPACE;
  memset(out->offsets, 0, ((size_t)out->rows + 1) * sizeof *out->offsets);
  for (int64_t g = 0; g < segments; g++) {
    int64_t row = shunt_index_at(d->row_ids, g, d->index_type);
    if (row + 2 <= out->rows) out->offsets[row + 2]++;
  }
  for (int64_t i = 1; i < out->rows; i++) out->offsets[i + 1] += out->offsets[i];
  for (int64_t g = 0; g < segments; g++) {
    out->segments[out->offsets[shunt_index_at(d->row_ids, g, d->index_type) + 1]++] = (int32_t)g;
    shunt_store(out->ones, g, out->value_type, 1);
  }
  return SHUNT_OK;
}
