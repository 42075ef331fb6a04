/* gpu_engine.h: the GPU engine for GraphBLAS: C = S (x) B with everything in host
   memory, computed on the GPUs of this machine.

     host   S ----once----> device   row offsets | columns | values, kept under proof
            B --unit by unit-->    B unit --+
            C <--unit by unit--    C unit <-+- product

   A device has some columns of B and C with all of S, or some rows of S and C with all of B
   (part.h): whichever takes less time.  Where S has no room on all devices together, its rows pass
   through in parts, and nothing of it stays.

   B and C are cut into strips of columns.  Where both are held by row, strips are wide and are cut
   once more into blocks of rows; where one is held by column, a strip is a single block of a few
   whole columns (gpu_cut.h).  A block of a strip is a unit: host threads copy units through
   pinned memory while the units before them are multiplied and those before these return
   (pipeline/pipeline.h).  Operands that do not fit in SHUNT_CACHE_MB of device memory (a tenth of
   the device by default) stream through it, S staying (Fujiki et al., SC 2019, section 6.2).

   What stays on a device between calls: S, and B and C where they fit, so that a product
   whose B is the C of an earlier one uploads nothing.  Kept memory is used again only
   under proof: the same handle, epoch, arrays, sizes and types, and equal values at sampled
   places.  With SHUNT_VERIFY=1 a hash of the whole content takes the epoch's place.

   Thread-safety: every function may be called from any thread.  Products take turns.
   A child of fork() that was made after CUDA was started never uses it.  */
#ifndef SHUNT_GRAPHBLAS_GPU_ENGINE_H
#define SHUNT_GRAPHBLAS_GPU_ENGINE_H

#include "backend/graphblas/identity.h"
#include "kernels/semiring/semiring_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which matrices S, B and C of a product are, for what may stay on a device.
   s, b: epochs read before their arrays were.  Whatever may not be kept has handle NULL, epoch 0,
   or read_only.
   c: the matrix that will own c.values, that very array with that very content, from now until its
   epoch moves; its epoch read after the last bump.  handle NULL if C goes through a mask or is
   temporary: else a later matrix at the same address would be taken for it.  */
struct grb_spmm_sources {
  struct grb_identity s, b, c;
};

/* Is the product worth the way to the GPU?  False when it is small, not built, or there is no
   device. CUDA is started by this function, and only once products that would have gained from it
   have taken the host as long as the start takes.  A few nanoseconds for small products.  */
bool grb_gpu_wise(const struct shunt_host_spmm *p, const struct grb_spmm_sources *from);

/* The product, wise or not; complete on return, c.present included.  Types f32 and f64;
   PLUS with TIMES, FIRST, SECOND and PAIR; b.present NULL or all ones is not looked for:
   it must be NULL; fewer than 2^30 rows and columns.  Else SHUNT_E_UNSUPPORTED.

   On any failure with `accumulate` C is as it was, or the function has finished the
   product on the host and returns SHUNT_OK.  On a failure without it C's content is
   undefined, and the product can be computed again into the same memory.  */
shunt_status grb_gpu_spmm(const struct shunt_host_spmm *p, const struct grb_spmm_sources *from);

/* To be called before a matrix' array may be freed, moved or handed out (pins.h); `handle`
   NULL: any matrix'.  Waits for products that use it.  */
void grb_gpu_unpin(const void *handle);

/* What the engine has done so far, for tests and the log. */
struct grb_gpu_counts {
  uint64_t products, sparse_uploads, dense_uploads, dense_reuses, finished_on_host;
  uint64_t bytes_up, bytes_down; /* over the bus */
  uint64_t pinned;               /* arrays of the program's, for the bus to read or write */
  uint64_t stale_pins;           /* products done again */
  uint64_t row_parts;            /* parts of S's rows, of products that were cut there */
  int devices;
};
void grb_gpu_read_counts(struct grb_gpu_counts *out);

/* How devices share a product (part.h). */
enum grb_gpu_way { GRB_GPU_ANY_WAY, GRB_GPU_BY_COLUMNS, GRB_GPU_BY_ROWS, GRB_GPU_IN_TURNS };

/* For tests: frees everything that is kept; shares products among so many GPUs, as far as
   there are any (0: as the cost model says), and in this way, of turns three at least.  */
void grb_gpu_forget(void);
void grb_gpu_force_devices(int count);
void grb_gpu_force_way(enum grb_gpu_way way);

#ifdef __cplusplus
}
#endif
#endif
