// csr_sddmm_operands.cuh: A and B^T as the SDDMM kernels want them.
//
// The kernels read rows of A and columns of B along the inner dimension, 16 bytes at
// a time.  An operand that stands the other way, or whose rows do not all begin at
// multiples of 16 bytes, is copied into the workspace first:
//
//   workspace   | copy of A, if needed | copy of B^T, if needed |   256-byte aligned
//
// Whether a copy is made depends on sizes, type and strides alone, so the workspace
// can be asked for before pointers are known.  A misaligned pointer to an operand
// that needs no copy is left as it is; `aligned` says so, and such calls take
// kernels that load element by element.
#pragma once
#include <string.h>

#include "kernels/common/device.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/csr/csr_sddmm_common.cuh"

namespace shunt
{
namespace csr::sddmm
{

// Element (r, k) of an operand is values[r * ld + k].
struct operand {
  const void *values;
  int64_t ld;
};

struct operands {
  operand a, b;
  bool aligned; // every 16-byte load of both is aligned
};

// Bytes of workspace that make_operands wants.
size_t operands_bytes(const struct shunt_sddmm *p);

// Enqueues the copies and describes the result.
shunt_status make_operands(const struct shunt_sddmm *p, const struct shunt_device *d,
                           void *workspace, size_t workspace_bytes, shunt_stream stream,
                           operands *out);

// alpha or beta as the kernels want it.
template <class T> scalar_arg<compute_t<T>> scalar_for(const struct shunt_scalar &s, bool wide)
{
  if constexpr (sizeof(T) == 1)
    if (wide) {
      const scalar_arg<float> f = make_scalar_arg<float>(s);
      scalar_arg<compute_t<T>> bits = {static_cast<const compute_t<T> *>(s.device), 0};
      memcpy(&bits.host, &f.host, sizeof f.host);
      return bits;
    }
  return make_scalar_arg<compute_t<T>>(s);
}

// The arguments of the kernels.
template <class T, class I> args<T, I> make_args(const struct shunt_sddmm *p, const operands &o)
{
  const bool wide = p->c.value_type == SHUNT_F32;
  args<T, I> a;
  a.a = (const T *)o.a.values;
  a.b = (const T *)o.b.values;
  a.lda = o.a.ld;
  a.ldb = o.b.ld;
  a.k = p->a.cols;
  a.c = pattern<I>{(const I *)p->c.row_offsets, (const I *)p->c.columns, p->c.rows, (I)p->c.nnz,
                   (I)p->c.base};
  a.out = output<T>{p->c.values, wide, scalar_for<T>(p->alpha, wide), scalar_for<T>(p->beta, wide)};
  return a;
}

// The rows kernel with operands that are ready (csr_sddmm_rows.cu), or the one for neighbouring
// rows of the same columns (csr_sddmm_alike.cuh).  `room`: as many bytes as panel_bytes says, or
// NULL where it says 0.
shunt_status rows_with(const struct shunt_sddmm *p, const operands &o,
                       struct shunt_csr_sddmm_pattern pattern, const struct shunt_device *d,
                       void *room, shunt_stream stream);

// What stands the other way copied, then rows_with.
shunt_status copied(const struct shunt_sddmm *p, struct shunt_csr_sddmm_pattern pattern,
                    const struct shunt_device *d, void *workspace, size_t workspace_bytes,
                    shunt_stream stream);

// All of A B in one launch, by tiles, of operands as they stand, B by rows (csr_sddmm_direct.cu).  No
// int8, no complex types.
shunt_status direct(const struct shunt_sddmm *p, const struct shunt_device *d, shunt_stream stream);

// The same as rows_with for dense patterns, where columns of B are worth keeping in L1
// (csr_sddmm_panel.cu); rows_with asks and hands over, unless entries crowd.
size_t panel_bytes(const struct shunt_sddmm *p, const struct shunt_device *d);
bool panel_pays(const struct shunt_sddmm *p, const operands &o, const struct shunt_device *d);
shunt_status panel_with(const struct shunt_sddmm *p, const operands &o,
                        const struct shunt_device *d, void *room, shunt_stream stream);

// What every launcher refuses: shapes that do not fit, types of which none is built.
shunt_status check_problem(const struct shunt_sddmm *p);

} // namespace csr::sddmm
} // namespace shunt
