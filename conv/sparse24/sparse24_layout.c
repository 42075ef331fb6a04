/* sparse24_layout.c: the memory of the `sparse24` format. */
#include "conv/sparse24/sparse24_conv.h"

static int can_be_packed(const struct shunt_csr *a)
{
  const int64_t most = INT32_MAX - 1024;

  return (a->value_type == SHUNT_F16 || a->value_type == SHUNT_BF16 || a->value_type == SHUNT_I8) &&
         a->rows > 0 && a->cols > 0 && a->rows <= most && a->cols <= most;
}

static size_t tiles_bytes(const struct shunt_sparse24 *v)
{
  return (size_t)v->bands * (size_t)v->chunks *
         (size_t)shunt_sparse24_tile_bytes((int)shunt_type_size(v->value_type));
}

int shunt_sparse24_lay_out(const struct shunt_csr *a, void *memory, struct shunt_sparse24 *out)
{
  if (!can_be_packed(a)) return 0;
  int cols = shunt_sparse24_cols((int)shunt_type_size(a->value_type));
  *out = (struct shunt_sparse24){a->rows,
                                 a->cols,
                                 (a->rows + 2 * SHUNT_SPARSE24_ROWS - 1) /
                                     (2 * SHUNT_SPARSE24_ROWS) * 2,
                                 (a->cols + cols - 1) / cols,
                                 a->value_type,
                                 memory,
                                 NULL};
  if (memory && shunt_sparse24_full(a)) out->positions = (char *)memory + tiles_bytes(out);
  return 1;
}

size_t shunt_sparse24_bytes(const struct shunt_csr *a)
{
  struct shunt_sparse24 v;

  if (!shunt_sparse24_lay_out(a, NULL, &v)) return 0;
  if (!shunt_sparse24_full(a)) return tiles_bytes(&v);
  return tiles_bytes(&v) + (size_t)shunt_sparse24_position_bytes(shunt_sparse24_pieces(a));
}
