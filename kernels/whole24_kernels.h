/* whole24_kernels.h: launchers of SpMM with A in the `whole24` format
   (kernels/spmm_whole24_wgmma.cu).

     C[m x n] = alpha A[m x k] B[k x n] + beta C,    A packed (kernels/whole24_format.h)

   The rules of kernels/shunt_kernels.h hold.  Types: f16 or bf16, into the same or f32;
   accumulation in f32.  */
#ifndef SHUNT_WHOLE24_KERNELS_H
#define SHUNT_WHOLE24_KERNELS_H

#include "kernels/shunt_kernels.h"
#include "kernels/whole24_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* C = alpha A B; of p->a nothing is read.  No workspace, no `only_if`; beta 0 and on the host.
   A zero that fills v up may have made NaN of a NaN or Inf of B.  So the launch writes witness,
   device memory: one of them is NaN if any sum of C became so, else all are 0, and C is right.
   (They are the `product` that a repair looks at, a row of SHUNT_WHOLE24_WITNESSES columns.)
   SHUNT_E_UNSUPPORTED, and nothing enqueued, for other types and scalars, other devices than
   compute capability 9.0, a B not on multiples of 16 bytes (address; from row to row, of a
   column-major B from column to column), and a build without sm_90a.  */
enum { SHUNT_WHOLE24_WITNESSES = 256 };
shunt_status shunt_spmm_whole24_cuda(const struct shunt_spmm *p, const struct shunt_whole24 *v,
                                     float *witness, const struct shunt_device *d,
                                     shunt_stream stream);
/* Columns of the tiles of C that it takes, 128 or 256; and the same with a given number. */
int shunt_spmm_whole24_columns(const struct shunt_spmm *p, const struct shunt_device *d);
shunt_status shunt_spmm_whole24_shaped_cuda(const struct shunt_spmm *p,
                                            const struct shunt_whole24 *v, int columns,
                                            float *witness, const struct shunt_device *d,
                                            shunt_stream stream);
/* The twin, for any beta: decodes values and metadata as the instruction does, and computes
   sums that are NaN again from p->a's entries.  */
shunt_status shunt_spmm_whole24_host(const struct shunt_spmm *p, const struct shunt_whole24 *v);

#ifdef __cplusplus
}
#endif
#endif
