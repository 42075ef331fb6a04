/* sorted.c: the launchers of sorted.  In the trace: S the order of rows, o a product.  */
#include "conv/sorted/sorted_conv.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/sorted/sorted_kernels.h"
#include "tests/unit/way/launchers/launchers.h"

struct to_sorted {
  struct shunt_csr a;
  struct shunt_sorted v;
};
static void to_sorted(const void *arguments)
{
  const struct to_sorted *x = arguments;
  shunt_csr_to_sorted_host(&x->a, &x->v);
}
shunt_status shunt_csr_to_sorted_cuda(const struct shunt_csr *a, const struct shunt_sorted *v,
                                      const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  return KERNEL('S', s, to_sorted, *a, *v);
}

bool shunt_sorted_spmm_fits(const struct shunt_spmm *p)
{
  return p->b.col_stride == 1;
}
size_t shunt_sorted_spmm_workspace(const struct shunt_spmm *p)
{
  (void)p;
  return 0;
}

/* Row by row, in the order that was kept; says so of rows that have grown since. */
struct by_places {
  struct shunt_spmm p;
  struct shunt_sorted v;
};
static void by_places(const void *arguments)
{
  const struct by_places *x = arguments;
  for (int64_t i = 0; i < x->v.rows && !device.no_sums; i++) {
    const int64_t row = x->v.order[i];
    struct shunt_spmm one = x->p;
    const int64_t *wide = x->p.a.row_offsets;
    const int32_t *narrow = x->p.a.row_offsets;
    const int64_t length =
        x->p.a.index_type == SHUNT_I64 ? wide[row + 1] - wide[row] : narrow[row + 1] - narrow[row];
    if (x->v.stale && shunt_sorted_kind(length) > x->v.kind[row]) *x->v.stale = 1;
    one.a.rows = one.c.rows = 1;
    one.a.row_offsets =
        (const char *)x->p.a.row_offsets + (size_t)row * shunt_type_size(x->p.a.index_type);
    one.c.values =
        (char *)x->p.c.values + (size_t)(row * x->p.c.row_stride) * shunt_type_size(x->p.c.type);
    shunt_csr_spmm_host(&one);
  }
}
shunt_status shunt_sorted_spmm_cuda(const struct shunt_spmm *p, const struct shunt_sorted *v,
                                    const struct shunt_sorted_counts *known,
                                    const struct shunt_sorted_shape *shape,
                                    const struct shunt_device *d, void *workspace,
                                    size_t workspace_bytes, shunt_stream s)
{
  (void)known, (void)shape, (void)d, (void)workspace, (void)workspace_bytes;
  return KERNEL('o', s, by_places, *p, *v);
}
