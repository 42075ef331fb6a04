/* coo.c: offsets of rows from COO.  In the trace: o.  */
#include "conv/coo/coo_conv.h"
#include "tests/unit/way/launchers/launchers.h"

struct offsets {
  int64_t rows, nnz;
  const void *row_indices;
  shunt_type type;
  int base;
  void *offsets;
  uint32_t *irregular;
};
static void offsets(const void *arguments)
{
  const struct offsets *o = arguments;
  shunt_coo_to_csr_host(o->rows, o->nnz, o->row_indices, o->type, o->base, o->offsets,
                        o->irregular);
}
shunt_status shunt_coo_to_csr_cuda(int64_t rows, int64_t nnz, const void *row_indices,
                                   shunt_type type, int base, void *to, uint32_t *irregular,
                                   const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  return KERNEL('o', s, offsets, rows, nnz, row_indices, type, base, to, irregular);
}
