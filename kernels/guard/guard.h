/* guard.h: launchers of the guard.  It proves on the device that a packed copy still matches the
   caller's matrix A, and computes C from A itself where it does not.

     fingerprint   128 bits over A's arrays, taken when the copy is made
     repair        behind a product with the copy: takes the fingerprint again, compares, and if it
                   differs computes C row by row
     combine       C = alpha W + beta C, where the product went to W because C's old content counts

   The rules of kernels/common/device.h.  */
#ifndef SHUNT_GUARD_H
#define SHUNT_GUARD_H

#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When a repair's launch may begin.  In front of it in the stream is always one kernel, the
   product.  */
enum shunt_guard_start {
  SHUNT_GUARD_BEHIND,    /* when that kernel has ended */
  SHUNT_GUARD_EARLY,     /* when it lets the next one in (kernels/common/early_launch.cuh) */
  SHUNT_GUARD_OVERLAPPED /* when all its blocks have begun: where the caller ordered it so */
  /* The last two only where the product itself began behind everything else, so that nobody writes
     A any more: it is read while the product still runs.  */
};

enum {
  SHUNT_GUARD_SET_BYTES = 64,
  SHUNT_GUARD_WAIT_CYCLES = 100000 /* some 50 us: longer than blocks of a short launch are apart */
};

/* In a launch of milliseconds they are further apart, and those that leave too soon leave the
   repair to a few: so each waits for as long as the launch moves its bytes, at some 2 KiB a
   cycle.  */
static inline int64_t shunt_guard_wait_cycles(const struct shunt_spmm *s)
{
  enum { BYTES_A_CYCLE = 2048 };
  const double of_a = (double)s->a.nnz *
                      (double)(shunt_type_size(s->a.index_type) + shunt_type_size(s->a.value_type));
  const double of_c = (double)s->c.rows * (double)s->c.cols * (double)shunt_type_size(s->c.type);
  return SHUNT_GUARD_WAIT_CYCLES + (int64_t)((of_a + of_c) / BYTES_A_CYCLE);
}

/* What a repair says of A: it changed, or nobody knows as there was no set left. */
enum { SHUNT_GUARD_CHANGED = 1, SHUNT_GUARD_NO_SET = 2 };

/* How a repair finds out whether it is needed.  C is computed from A, B and C's old content if

     *p->only_if is not 0           (NULL: there is no such word)
     A's fingerprint is not *expected: A changed since it was copied.  (104 of its 128 bits are
     compared.)
     the first row of `product` holds a NaN or an Inf: B may (kernels/guard/agreement.cuh)

   and left alone otherwise.  product is C itself (when beta is 0) or the matrix that C is combined
   from later, f32, or f64 of f64.

   `sets` is memory in which the blocks of a launch add up what they found: device memory, aligned
   to SHUNT_GUARD_SET_BYTES, zero before the first launch that is given it, and written by nothing
   but repairs as long as one may still run.  Launches that may run at once must differ in `sets` or
   in `key`; the address of the call's private workspace is such a key.  Launches with the same key
   must be ordered, by a stream or by events.  Each key takes one of the set_count sets for good.  A
   launch that finds none left repairs and reports a change, so that its owner makes copy and sets
   anew.  */
struct shunt_guard {
  const struct shunt_dense *product;
  const struct shunt_fingerprint *expected; /* device; NULL: A cannot have changed and is not read;
                                               see of_values below */
  void *sets;                               /* device, see above */
  int set_count;                            /* a power of two, up to 2^20 */
  const void *key;                          /* not NULL; never followed */
  int64_t wait_cycles; /* a block waits so long for the others, to help: shunt_guard_wait_cycles;
                           0: only the last block repairs */
  uint32_t *repaired;  /* device word, 1 or 0 afterwards: was C repaired?  Or NULL; products from a
                          dense copy that prove it inside do not write it where expected is NULL */
  uint32_t *changed;   /* pinned host words: set to one of the words below, */
  uint32_t *nonfinite; /* and to 1 if the first row is nonfinite and A did not change; or NULL */
  enum shunt_guard_start start;
  bool of_values; /* *expected is of A's values alone: the pattern is known to be the same */
};

/* Repairs C = alpha A B + beta C behind the product.  One launch (kernels/guard/repair.cuh), no
   workspace.  f16, bf16 or f32 into the same or f32, compute f32; int8 into what is computed in,
   i32 or f32; f64, c32 and c64 into themselves; SHUNT_E_UNSUPPORTED for all else.
   SHUNT_E_ARGUMENT: sets or key are missing or misaligned, or sizes do not agree.  */
shunt_status shunt_guard_repair_cuda(const struct shunt_spmm *p, const struct shunt_guard *r,
                                     const struct shunt_device *d, shunt_stream stream);

/* The same for C = alpha A^T B + beta C, in two launches.  `actual` (device): A's fingerprint as it
   is now; NULL exactly where r->expected is.  r->repaired must be given; of r's other words only
   product, expected, changed and nonfinite are looked at.  */
shunt_status shunt_guard_repair_transposed_cuda(const struct shunt_spmm *p,
                                                const struct shunt_guard *r,
                                                const struct shunt_fingerprint *actual,
                                                const struct shunt_device *d, shunt_stream stream);

/* C = alpha W + beta C where *only_unless == 0, nothing otherwise (NULL: always).  W is m x n,
   row-major, f32, or f64.  C is f16, bf16 or f32 in either order, compute f32; of an f64 W f64.
   p's A and B are not looked at.  */
shunt_status shunt_guard_combine_cuda(const struct shunt_dense *w, const struct shunt_spmm *p,
                                      const uint32_t *only_unless, const struct shunt_device *d,
                                      shunt_stream stream);

/* *out (device memory) = 128 bits over offsets, columns and values (values == NULL: the pattern
   only; kernels/guard/fingerprint.h has the mathematics).  scratch: SHUNT_FINGERPRINT_SCRATCH bytes
   of device memory, aligned to 16.  The twin returns the same bits.  */
#define SHUNT_FINGERPRINT_SCRATCH 16384
shunt_status shunt_fingerprint_csr_cuda(const struct shunt_csr *a, struct shunt_fingerprint *out,
                                        const struct shunt_device *d, void *scratch,
                                        shunt_stream stream);
struct shunt_fingerprint shunt_fingerprint_csr_host(const struct shunt_csr *a);

#ifdef __cplusplus
}
#endif
#endif
