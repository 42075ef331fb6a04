/* srbcrs_layout.c: the sizes of a matrix in the `srbcrs` format, and where its arrays lie:

     counts | begin | end | columns | values | masks        each aligned to 256 bytes  */
#include <string.h>

#include "conv/srbcrs/srbcrs_conv.h"
#include "kernels/common/alignment.h"
#include "kernels/common/divide.h"

static int can_be_packed(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout)
{
  const int v = layout->height;
  if (layout->bits != 16 && layout->bits != 12 && layout->bits != 8 && layout->bits != 4) return 0;
  if (a->value_type != (layout->bits > 8 ? SHUNT_I16 : SHUNT_I8) &&
      !(a->value_type == SHUNT_U8 && layout->bits == 8))
    return 0;
  if (layout->spread && layout->bits != 8) return 0;
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return 0;
  if ((v != 2 && v != 4 && v != 8) || layout->share < 1 || layout->share > v) return 0;
  if (a->rows < 1 || a->cols < 1 || a->nnz < 0) return 0;
  return a->rows <= INT32_MAX - 64 && a->cols <= INT32_MAX - 64;
}

int64_t shunt_srbcrs_strides(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout)
{
  if (!can_be_packed(a, layout)) return 0;
  const int64_t groups = shunt_div_up(a->rows, layout->height);
  const int64_t strides = shunt_srbcrs_first_stride(a->nnz, groups, layout->share) +
                          shunt_div_up(a->cols, SHUNT_SRBCRS_STRIDE);
  return strides <= INT32_MAX / SHUNT_SRBCRS_STRIDE ? strides : 0;
}

/* Bytes in all; pointers are set when there is memory. */
static size_t lay_out(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout,
                      char *memory, struct shunt_srbcrs *v)
{
  const int64_t strides = shunt_srbcrs_strides(a, layout), slots = strides * SHUNT_SRBCRS_STRIDE;
  size_t at = 0;

  memset(v, 0, sizeof *v);
  if (strides == 0) return 0;
  v->rows = a->rows, v->cols = a->cols, v->nnz = a->nnz;
  v->groups = shunt_div_up(a->rows, layout->height);
  v->height = layout->height;
  v->bits = layout->bits;
  v->value_type = a->value_type;
  v->counts = shunt_place_in(memory, &at, sizeof *v->counts);
  v->begin = shunt_place_in(memory, &at, v->groups * 4);
  v->end = shunt_place_in(memory, &at, v->groups * 4);
  v->columns = shunt_place_in(memory, &at, slots * 4);
  v->values = shunt_place_in(memory, &at, slots * v->height * v->bits / 8);
  v->masks = shunt_place_in(memory, &at, slots);
  return shunt_align_up(at, 256);
}

size_t shunt_srbcrs_bytes(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout)
{
  struct shunt_srbcrs v;
  return lay_out(a, layout, NULL, &v);
}

int shunt_srbcrs_lay_out(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout,
                         void *memory, struct shunt_srbcrs *out)
{
  return lay_out(a, layout, memory, out) != 0;
}
