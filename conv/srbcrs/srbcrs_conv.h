/* srbcrs_conv.h: CSR to the `srbcrs` format (kernels/srbcrs/srbcrs_format.h) and back.

   The rules of kernels/common/device.h.  Nothing waits for the device: the memory that a
   packed matrix takes is bounded by numbers the host knows, and a matrix that does not keep
   within them, or breaks the format's conditions, is called irregular.  */
#ifndef SHUNT_CONV_SRBCRS_H
#define SHUNT_CONV_SRBCRS_H

#include "kernels/common/device.h"
#include "kernels/srbcrs/srbcrs_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a matrix is to be packed.  height: V, 2, 4 or 8.  share: each vector of a group is expected
   to hold at least so many entries, 1 .. height; height where all rows of each group have the
   same columns.  It decides the memory only, not the result.  bits: of a packed value; 16 or 12 of
   a matrix of int16, 8 of one of int8 or uint8, 4 of one of int8; values of 12 bits are -2048 ..
   2047, of 4 bits -8 .. 7.  spread: as the format says, of 8 bits.  */
struct shunt_srbcrs_layout {
  int height, share, bits, spread;
};

/* Bytes of memory for packing `a`, of which sizes and types are read, no arrays; 0: cannot be
   packed (value type, bits, height or share none of the above, 2^31 slots or more).  */
size_t shunt_srbcrs_bytes(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout);

/* The arrays of a packed `a` in `memory` (256-byte aligned, at least that many bytes);
   only pointers are computed.  False when shunt_srbcrs_bytes says 0.  */
int shunt_srbcrs_lay_out(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout,
                         void *memory, struct shunt_srbcrs *out);

/* Packs a into v, laid out before for a matrix of the same sizes and the same layout.
   v->counts->irregular is SHUNT_IRREGULAR afterwards when a row's columns are not strictly
   ascending, an index or a value is out of range, or a group needs more strides than there is room
   for (rows that share less than planned); v then stands for some other matrix of the same sizes,
   so that a kernel may run on it before the host knows.  Otherwise 0.  Deterministic; of a matrix
   that is not irregular the two functions write the same bytes, and nothing behind a group's last
   stride.  */
shunt_status shunt_csr_to_srbcrs_cuda(const struct shunt_csr *a,
                                      const struct shunt_srbcrs_layout *layout,
                                      const struct shunt_srbcrs *v, const struct shunt_device *d,
                                      shunt_stream stream);
shunt_status shunt_csr_to_srbcrs_host(const struct shunt_csr *a,
                                      const struct shunt_srbcrs_layout *layout,
                                      const struct shunt_srbcrs *v);

/* Deals the vectors of group g out, which stand in ascending order (spread of the format). */
void shunt_srbcrs_spread_host(const struct shunt_srbcrs *v, int64_t g);

/* v as CSR: the very entries it was made from, stored zeros included, columns ascending.
   a's arrays are host memory with room for v->rows + 1 and v->nnz; a's index type and base
   are kept.  SHUNT_E_ARGUMENT when v is irregular.  Host only.  */
shunt_status shunt_srbcrs_to_csr_host(const struct shunt_srbcrs *v, struct shunt_csr *a);

/* Strides of all groups that there is memory for; 0: cannot be packed. */
int64_t shunt_srbcrs_strides(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout);

#ifdef __CUDACC__
#define SHUNT_SRBCRS_INLINE static __host__ __device__ __forceinline__
#else
#define SHUNT_SRBCRS_INLINE static inline
#endif

/* The first stride of group g, when the groups before it hold `before` entries.  A group of e
   entries has at most e / share vectors, so that those before never reach beyond it; the last
   group, which may have fewer rows, has room for every column.  */
SHUNT_SRBCRS_INLINE int64_t shunt_srbcrs_first_stride(int64_t before, int64_t g, int share)
{
  return before / (SHUNT_SRBCRS_STRIDE * (int64_t)share) + g;
}

/* Can x, a value of a matrix, be a value of v? */
SHUNT_SRBCRS_INLINE int shunt_srbcrs_holds(const struct shunt_srbcrs *v, int x)
{
  const int half = 1 << (v->bits - 1);
  return v->bits == 16 || v->bits == 8 || (x >= -half && x < half);
}

#ifdef __cplusplus
}
#endif
#endif
