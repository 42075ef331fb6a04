/* costs.h: microseconds that ways to solve a problem are expected to take, and the shapes of
   kernels that are expected to take the fewest.

   Which route takes a call is decided by these estimates alone.  Shapes of a kernel are chosen here
   or, by a few thresholds that were measured, by its launcher: those of csr, bundle, sorted and the
   direct kernels of vector (most are in csr_spmm_split_choice.cuh).  <format>_cost.c has the form
   of a format's estimates, original_cost.c those of cuSPARSE; the coefficients are the machine's
   table (backend/costs).  Estimates only rank ways that are all right, so 20 % off is good enough.

   Pointers are not followed, only asked for alignment.  All functions are pure, and may be called
   from any thread.  */
#ifndef SHUNT_COSTS_H
#define SHUNT_COSTS_H

#include "backend/costs/machine.h"
#include "backend/options/options.h"
#include "backend/plan/problem.h"
#include "conv/profile/profile.h"
#include "kernels/bundle/bundle_kernels.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/dense/dense_kernels.h"
#include "kernels/sparse24/sparse24_kernels.h"
#include "kernels/srbcrs/srbcrs_integers.h"
#include "kernels/srbcrs/srbcrs_kernels.h"
#include "kernels/tile/tile_kernels.h"
#include "kernels/vector/vector_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- of all formats (cost_forms.c) -------------------------------------------------------- */

/* `bytes` read and written once, in order. */
double shunt_cost_copy(double bytes, const struct shunt_machine *m);
/* `bytes` gathered in rows of `row_bytes` from a table of `table_bytes`. */
double shunt_cost_gather(double bytes, double row_bytes, double table_bytes,
                         const struct shunt_machine *m);
/* So many launches that do next to nothing, in a stream that is kept busy. */
double shunt_cost_launches(int count, const struct shunt_machine *m);
/* One of several products that are run in turn, which keeps the host busy. */
double shunt_cost_in_batches(double us, int batches, const struct shunt_machine *m);
/* The product goes to a matrix of its own, and is added to C from there. */
double shunt_cost_combine(const struct shunt_spmm *p, const struct shunt_machine *m);
/* Bytes of the sparse operand's three arrays. */
double shunt_cost_csr_bytes(const struct shunt_csr *a);

/* Where the proof of a packed copy runs: behind the product, let in while that ends; in its launch;
   or not at all, as the copy is trusted (backend/plan/frozen.h). */
enum shunt_proof_place { SHUNT_PROOF_BEHIND, SHUNT_PROOF_INSIDE, SHUNT_PROOF_NONE };

/* ---- csr ------------------------------------------------------------------------------------ */

/* f: NULL where nothing is known of the pattern. */
double shunt_cost_csr(const struct shunt_spmm *p, const struct shunt_profile *f,
                      const struct shunt_machine *m);
/* SpMM where op(A) is the transpose of p->a, of which the pattern is kept transposed; proved: with
   the proof that it stands.  longest: row of the transpose, -1 where nobody has counted.  */
double shunt_cost_csr_transposed(const struct shunt_spmm *p, int64_t longest, bool proved,
                                 const struct shunt_machine *m);
/* Transposing its pattern. */
double shunt_cost_csr_transposing(const struct shunt_csr *a, const struct shunt_machine *m);
/* SDDMM: us of what takes the device so long, where the host may take longer; `copied`: an operand
   is, first.  */
double shunt_cost_sddmm_enqueued(double us, bool copied, const struct shunt_machine *m);
/* SDDMM, with its copies. */
double shunt_cost_csr_sddmm(const struct shunt_sddmm *p, const struct shunt_profile *f,
                            const struct shunt_machine *m);
/* Is the kernel that cuts by nonzeros the faster one?  f: NULL, nothing is known. */
bool shunt_choose_csr_merge(const struct shunt_spmm *p, const struct shunt_profile *f,
                            const struct shunt_machine *m);

/* SDDMM: by which its kernel is chosen.  f: NULL, nothing is known. */
struct shunt_csr_sddmm_pattern shunt_choose_csr_sddmm(const struct shunt_profile *f);

/* ---- bundle ------------------------------------------------------------------------------- */

/* Lists of so many vectors, the longest `longest` of them. */
double shunt_cost_bundle(const struct shunt_spmm *p, const struct shunt_profile *f, double vectors,
                         double longest, const struct shunt_machine *m);
/* May rows of this matrix share columns at all? */
bool shunt_choose_bundle_candidate(const struct shunt_csr *a, const struct shunt_profile *f);
/* It has to be better than `csr` by so much, as estimates are 1.2 off.  In f64, whose products of
   groups go to mma, it wins by more where A is scattered.  */
double shunt_cost_bundle_margin(const struct shunt_csr *a);

/* ---- C by columns -------------------------------------------------------------------------- */

/* The order in which a kernel takes A's rows: a warp has neighbouring rows of C, or any. */
enum shunt_rows_taken { SHUNT_ROWS_AS_STORED, SHUNT_ROWS_BY_LENGTH };

/* Is C better written by rows first (backend/routes/rows_of_c.h)? */
bool shunt_choose_rows_of_c(const struct shunt_spmm *p, enum shunt_rows_taken taken);

/* ---- sorted ------------------------------------------------------------------------------- */

double shunt_cost_sorted(const struct shunt_spmm *p, const struct shunt_profile *f,
                         const struct shunt_machine *m);
/* May an order of its rows gain at all?  f: NULL, nothing is known. */
bool shunt_choose_sorted_candidate(const struct shunt_spmm *p, const struct shunt_profile *f);

/* ---- vector, straight from CSR ------------------------------------------------------------ */

/* Rows of A that one gathered row of B serves, on average over the groups; 1 where groups differ.
   */
double shunt_cost_vector_reuse(const struct shunt_profile *f);
/* The same in SDDMM, which has groups of 8 rows only: to it, those of 4 and 2 differ. */
double shunt_cost_vector_sddmm_reuse(const struct shunt_profile *f);
/* SpMM, in whichever way the launcher takes.  Each gathered row of B serves `reuse` rows of A, of
   which the longest has so many entries (0: not known). */
double shunt_cost_vector_direct(const struct shunt_spmm *p, double reuse, double longest_row,
                                const struct shunt_machine *m);
/* The same by lists; */
double shunt_cost_vector(const struct shunt_spmm *p, double reuse, double longest_row,
                         const struct shunt_machine *m);
/* and in one launch, as `how` says. */
double shunt_cost_vector_single_launch(const struct shunt_spmm *p,
                                       const struct shunt_vector_single_launch *how, double reuse,
                                       double longest_row, const struct shunt_machine *m);
double shunt_cost_vector_sddmm(const struct shunt_sddmm *p, double reuse,
                               const struct shunt_machine *m);

/* ---- vector, packed (vector_packed_cost.c) ------------------------------------------------ */

/* The order to pack A in: WINDOWED where strips, and a proof behind them, are expected to be faster
   than to gather.  height: as of struct shunt_vector_layout.  */
enum shunt_vector_order shunt_choose_vector_order(const struct shunt_spmm *p, int height,
                                                  const struct shunt_machine *m);
/* For A with so many vectors of 8 rows, in the better order; and for a packed A as it stands. */
struct shunt_vector_shape shunt_choose_vector_shape(const struct shunt_spmm *p, double vectors,
                                                    int height, const struct shunt_machine *m);
struct shunt_vector_shape shunt_choose_vector_shape_of(const struct shunt_spmm *p,
                                                       const struct shunt_vector *v,
                                                       const struct shunt_machine *m);
/* Is the product with v so short that the next kernel should come in early? */
bool shunt_choose_vector_brief(const struct shunt_spmm *p, const struct shunt_vector *v,
                               const struct shunt_machine *m);
/* f32 by TF32: columns of a block's part of C. */
int shunt_choose_vector_tf32_tile(const struct shunt_spmm *p, double vectors, int products,
                                  const struct shunt_machine *m);
/* Vectors of 8 rows that A has, if sets of `height` rows share their lists. */
double shunt_cost_vectors_of(const struct shunt_csr *a, int height);

/* The product alone, in the better order, of f32 by TF32. */
double shunt_cost_vector_product(const struct shunt_spmm *p, double vectors, int height,
                                 const struct shunt_machine *m);
double shunt_cost_vector_tf32_product(const struct shunt_spmm *p, double vectors, int products,
                                      const struct shunt_machine *m);
/* With its proof; reuse, longest_row: as above. */
double shunt_cost_vector_packed(const struct shunt_spmm *p, double product, double reuse,
                                double longest_row, enum shunt_proof_place proof,
                                const struct shunt_machine *m);
/* What the longest list takes longer where rows of any length stand together, as in an order that
   was found for them.  */
double shunt_cost_vector_uneven(const struct shunt_spmm *p, double vectors, double longest_row,
                                const struct shunt_machine *m);
/* Packing A; finding an order of its rows. */
double shunt_cost_vector_packing(const struct shunt_csr *a, const struct shunt_machine *m);
double shunt_cost_vector_ordering(const struct shunt_csr *a, const struct shunt_machine *m);

/* ---- sparse24 ----------------------------------------------------------------------------- */

/* With its proof. */
double shunt_cost_sparse24(const struct shunt_spmm *p, enum shunt_sparse24_shape shape,
                           const struct shunt_machine *m);
/* SHUNT_SPARSE24_NONE: no build for it. */
enum shunt_sparse24_shape shunt_choose_sparse24_shape(const struct shunt_spmm *p,
                                                      const struct shunt_machine *m);
/* How the proof is shared in a product of this shape. */
struct shunt_sparse24_proof shunt_choose_sparse24_proof(const struct shunt_spmm *p,
                                                        enum shunt_sparse24_shape shape,
                                                        bool in_place,
                                                        const struct shunt_machine *m);

/* ---- srbcrs ------------------------------------------------------------------------------- */

/* With its proof; groups of `height` rows that share their columns, the longest row having so many.
   A model that was not fitted; tests/bench/srbcrs.md has how it chose. */
double shunt_cost_srbcrs(const struct shunt_spmm *p, int height, double longest_row,
                         enum shunt_proof_place proof, const struct shunt_machine *m);
/* The shape of the product alone: gathered, or by strips of B that groups share. */
struct shunt_srbcrs_shape shunt_choose_srbcrs_spmm_shape(const struct shunt_spmm *p, int height,
                                                         const struct shunt_machine *m);
/* Is the product proved inside its own launch, and in which shape? */
bool shunt_choose_srbcrs_proved(const struct shunt_spmm *p, int height,
                                const struct shunt_machine *m, struct shunt_srbcrs_shape *shape);
/* Packing them. */
double shunt_cost_srbcrs_packing(const struct shunt_csr *a, int height, double longest_row,
                                 const struct shunt_machine *m);
/* Of integers: the shape of v times n columns of so many bits, and how many warps share the strides
   of a group in SDDMM.  Of v only sizes are read; it has so many vectors.  */
struct shunt_srbcrs_shape shunt_choose_srbcrs_shape(const struct shunt_srbcrs *v, int64_t vectors,
                                                    int bits_b, int64_t n,
                                                    const struct shunt_device *d);
int64_t shunt_choose_srbcrs_phases(const struct shunt_srbcrs *v, int64_t vectors, int bits,
                                   const struct shunt_device *d);

/* ---- tile --------------------------------------------------------------------------------- */

/* The product alone, of so many tiles, the longest row of A having so many entries. */
double shunt_cost_tile_product(const struct shunt_spmm *p, double tiles, double longest_row,
                               const struct shunt_machine *m);
/* With its proof, as above. */
double shunt_cost_tile(const struct shunt_spmm *p, double product, enum shunt_proof_place proof,
                       const struct shunt_machine *m);
/* Packing them. */
double shunt_cost_tile_packing(const struct shunt_csr *a, double tiles, double longest_row,
                               const struct shunt_machine *m);

/* ---- dense -------------------------------------------------------------------------------- */

/* Dense product on cuBLAS; `math` counts for f32 only. */
double shunt_cost_gemm(double m, double n, double k, shunt_type type, enum shunt_math math,
                       const struct shunt_machine *on);
/* The product of a dense copy, on cuBLAS. */
double shunt_cost_dense_cublas(const struct shunt_spmm *p, enum shunt_math math,
                               const struct shunt_machine *m);
/* The same by a kernel of Shunt's, f32 in exact arithmetic, and the shape that is expected to be
   its fastest; columns 0: it does not take the product.  */
double shunt_cost_dense_fma(const struct shunt_spmm *p, const struct shunt_dense_shape *how,
                            const struct shunt_machine *m);
struct shunt_dense_shape shunt_choose_dense_fma(const struct shunt_spmm *p, enum shunt_math math,
                                                const struct shunt_machine *m);
/* Rather than cuBLAS? */
bool shunt_choose_dense_fma_over_cublas(const struct shunt_spmm *p,
                                        const struct shunt_dense_shape *how, enum shunt_math math,
                                        const struct shunt_machine *m);
/* Bytes of workspace for the sums of blocks that share K, of either, where C is rows by cols and B
   has this type.  */
size_t shunt_dense_sums_bytes(int64_t rows, int64_t cols, shunt_type type);
/* What stands beside the product: the proof behind that of a packed copy; or the making of a copy,
   and what follows, where it is written in the same call.  */
double shunt_cost_dense_proof(const struct shunt_spmm *p, bool transposed,
                              const struct shunt_machine *m);
double shunt_cost_dense_making(const struct shunt_spmm *p, bool transposed,
                               const struct shunt_machine *m);
/* From a packed copy, with its proof in one launch. */
double shunt_cost_dense_proved(const struct shunt_spmm *p, const struct shunt_dense_shape *how,
                               const struct shunt_machine *m);
/* The shape of that launch; columns 0: cuBLAS and a proof beside it are as fast or faster, or it
   cannot be had.  */
struct shunt_dense_shape shunt_choose_dense_shape(const struct shunt_spmm *p,
                                                  const struct shunt_machine *m);
/* The shape to take where cuBLAS is not to be had (columns 0: there is none). */
struct shunt_dense_shape shunt_choose_dense_shape_alone(const struct shunt_spmm *p,
                                                        const struct shunt_machine *m);
/* SDDMM by the dense product that is sampled on the chip, and by cuBLAS and a pass over C; is the
   former the faster one?  f, how entries crowd into tiles: NULL, not at all. */
double shunt_cost_dense_sddmm(const struct shunt_sddmm *p, const struct shunt_profile *f,
                              const struct shunt_machine *m);
double shunt_cost_dense_sampled(const struct shunt_sddmm *p, enum shunt_math math,
                                const struct shunt_machine *m);
bool shunt_choose_dense_on_chip(const struct shunt_sddmm *p, enum shunt_math math,
                                const struct shunt_machine *m);

/* ---- bsr ---------------------------------------------------------------------------------- */

/* SpMM with A in square blocks. */
double shunt_cost_bsr(const struct shunt_spmm *p, const struct shunt_block_shape *shape,
                      const struct shunt_machine *m);

/* What a conversion takes has to be gained within so many calls. */
enum { SHUNT_GAINED_WITHIN = 200 };

/* ---- the original ------------------------------------------------------------------------- */

/* cuSPARSE itself, of the version of p, for the algorithm asked for.  SpMM as routes see it: op_a
   'T' or 'H' where op(A) is the transpose of spmm.a. */
double shunt_cost_original(const struct shunt_problem *p, const struct shunt_profile *f,
                           const struct shunt_machine *m);
/* It has to be better than a route by so much.  Estimates of its algorithms that preprocess are 1.2
   to 1.4 off, those of routes 1.1: where it seems hardly faster it mostly is not.  */
double shunt_cost_original_margin(const struct shunt_problem *p);
/* us that a call of SDDMM keeps the host busy. */
double shunt_cost_original_host(const struct shunt_problem *p, const struct shunt_machine *m);
/* The factor that the first is usually off by, either way, on the GPU that it was fitted to: the
   geometric standard deviation of the fit.  0: not known.  */
double shunt_cost_original_off(const struct shunt_problem *p, const struct shunt_machine *m);
/* Is it known to be faster than `csr`, more than its estimate says? */
bool shunt_choose_original_over_csr(const struct shunt_problem *p, const struct shunt_profile *f);
bool shunt_choose_original_over_csr_sddmm(const struct shunt_sddmm *p,
                                          const struct shunt_profile *f);

#ifdef __cplusplus
}
#endif
#endif
