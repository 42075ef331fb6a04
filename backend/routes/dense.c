/* dense: the sparse matrix written out as D, and a dense product on cuBLASLt, or by a kernel of
   Shunt's where that is the faster one for this B.

   SpMM: D is a copy as of packed_product.h, direct or packed.  Where it is packed, product and
   proof may be one launch, of 16-bit types (kernels/dense/dense_spmm_wgmma.cu); of f32 Shunt's
   kernel is the product alone (kernels/dense/dense_spmm_fma.cu).  A matrix with two entries at one
   place is irregular: D cannot hold both at full precision.  The zeros of D turn a NaN or Inf of B
   into NaN where the sparse product has none.  That shows in C's first row, which is probed
   (kernels/guard/probe.cuh), so B itself is never read for it.

   Where op(A) is the transpose of what is stored, D is what is stored all the same, and the
   product reads it transposed.

   Of f64 only products by op(A) = A; of complex types only those that overwrite C, too.

   With SHUNT_MATH=tf32 the product may read f32 operands rounded to TF32; the repair is in f32
   always.  The rounding keeps zeros, Infs and quiet NaNs, so C's first row still tells of B's;
   and where it makes an Inf of a large B, that shows there as well.

   SDDMM: W = alpha A B (dense), then sampled at C's pattern; or in one kernel, in which W never
   leaves the chip, where that is the faster (kernels/dense/dense_sddmm_wgmma.cu).  Each element of
   the result depends on its own row and column alone, so nothing needs a guard.

   Its own part of the workspace is for sums of blocks that share K, cuBLASLt's or Shunt's.  */

#include "backend/cublas/cublaslt.h"
#include "backend/options/options.h"
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/packed_product.h"
#include "backend/routes/routes.h"
#include "conv/dense/dense_conv.h"
#include "kernels/common/alignment.h"
#include "kernels/dense/dense_kernels.h"

/* D's leading dimension: rows start on 16 bytes. */
static int64_t dense_stride(const struct shunt_csr *a)
{
  return (a->cols + 15) & ~(int64_t)15;
}

static size_t dense_bytes(const struct shunt_csr *a)
{
  return shunt_align_up((size_t)a->rows * (size_t)dense_stride(a) * shunt_type_size(a->value_type),
                        256);
}

static size_t gemm_bytes(const struct shunt_problem *p)
{
  const bool spmm = p->op == SHUNT_SPMM;
  return spmm ? shunt_dense_sums_bytes(p->spmm.c.rows, p->spmm.c.cols, p->spmm.b.type)
              : shunt_dense_sums_bytes(p->sddmm.c.rows, p->sddmm.c.cols, p->sddmm.b.type);
}

static size_t direct_bytes(const struct shunt_problem *p)
{
  return dense_bytes(&p->spmm.a);
}

/* ---- the format ---------------------------------------------------------------- */

static struct shunt_dense dense_of(const struct shunt_csr *a, void *memory)
{
  return (struct shunt_dense){a->rows, a->cols, dense_stride(a), 1, memory, a->value_type};
}

/* D as op(A). */
static struct shunt_dense operand_of(const struct shunt_call *c, const struct shunt_dense *d)
{
  if (!shunt_problem_transposed(c->problem)) return *d;
  return (struct shunt_dense){d->cols, d->rows, d->col_stride, d->row_stride, d->values, d->type};
}

static shunt_status convert(const struct shunt_call *c, void *copy, uint32_t *irregular)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct shunt_dense dense = dense_of(a, copy);
  return SHUNT_LAUNCH(
      shunt_csr_to_dense_cuda(a, &dense, irregular, &c->context->device, c->stream));
}

/* own: cuBLASLt's part of the workspace. */
static shunt_status multiply(const struct shunt_call *c, void *own, const struct shunt_dense *a,
                             const struct shunt_dense *b, const struct shunt_dense *out,
                             struct shunt_scalar alpha)
{
  static const struct shunt_scalar zero = {0};
  const bool proof_follows = c->packed != NULL;
  if (!c->library || !c->context->gemm) return SHUNT_E_UNSUPPORTED;
  return shunt_cublaslt_multiply(c->context->gemm, a, b, out, alpha, zero, shunt_options()->math,
                                 proof_follows, own, gemm_bytes(c->problem), c->stream);
}

/* The shape in which a kernel of Shunt's takes an f32 product, if it is faster than cuBLASLt, or
   that is not to be had.  */
static struct shunt_dense_shape fma_of(const struct shunt_call *c, const struct shunt_spmm *s)
{
  static const struct shunt_dense_shape none = {0};
  const struct shunt_machine *m = &c->context->machine;
  const enum shunt_math math = shunt_options()->math;
  const struct shunt_dense_shape best = shunt_choose_dense_fma(s, math, m);
  if (best.columns == 0 || !c->library) return best;
  return shunt_choose_dense_fma_over_cublas(s, &best, math, m) ? best : none;
}

static shunt_status product(const struct shunt_packed_product *x)
{
  const struct shunt_spmm *s = &x->spmm;
  const struct shunt_dense dense = dense_of(&s->a, x->copy), left = operand_of(x->call, &dense);
  const struct shunt_dense_shape fma = fma_of(x->call, s);
  if (fma.columns == 0) return multiply(x->call, x->own, &left, &s->b, &s->c, s->alpha);
  return SHUNT_LAUNCH(shunt_dense_spmm_fma_cuda(&left, &s->b, &s->c, &s->alpha, &fma, x->own,
                                                &x->call->context->device, x->call->stream));
}

static struct shunt_dense probed(const struct shunt_packed_product *x)
{
  return x->spmm.c;
}

/* The problem as its costs see it where A's arrays are not read, as D is trusted. */
static struct shunt_spmm unread(const struct shunt_spmm *s)
{
  struct shunt_spmm p = *s;
  p.a.nnz = 0;
  return p;
}

/* The kernel of Shunt's that takes the product, if it is faster than cuBLASLt, or that is not to be
   had. */
static struct shunt_dense_shape shape_of(const struct shunt_call *c, const struct shunt_spmm *s)
{
  const struct shunt_machine *m = &c->context->machine;
  return c->library ? shunt_choose_dense_shape(s, m) : shunt_choose_dense_shape_alone(s, m);
}

static shunt_status proved(const struct shunt_packed_product *x, const struct shunt_spmm *s,
                           const struct shunt_guard *r)
{
  const struct shunt_device *d = &x->call->context->device;
  const struct shunt_dense dense = dense_of(&s->a, x->copy);
  const struct shunt_spmm read = r->expected ? *s : unread(s);
  const struct shunt_dense_shape shape = shape_of(x->call, &read);
  return shunt_dense_spmm_proved_cuda(s, &dense, &shape, r, d, x->call->stream);
}

static const struct shunt_packed_format format = {.own_bytes = gemm_bytes,
                                                  .direct_bytes = direct_bytes,
                                                  .convert = convert,
                                                  .product = product,
                                                  .probed = probed,
                                                  .proved = proved};

static struct shunt_packed_workspace lay_out(const struct shunt_problem *p)
{
  return shunt_packed_lay_out(&format, p);
}

/* ---- the route ------------------------------------------------------------------ */

/* Where tensor cores take f64 at a sixteenth of f16's rate, by which estimates are carried from one
   GPU to another: elsewhere it is some 1/60 of it or less.  */
static bool has_fast_f64(const struct shunt_device *d)
{
  return d->compute_capability == 80 || d->compute_capability == 90;
}

/* There is no repair of transposed products in complex types and f64; nothing samples the first. */
static bool takes_type(const struct shunt_problem *p, const struct shunt_device *d)
{
  const bool spmm = p->op == SHUNT_SPMM, transposed = shunt_problem_transposed(p);
  const shunt_type t = spmm ? p->spmm.b.type : p->sddmm.b.type;
  if (shunt_type_is_complex(t)) return spmm && !transposed;
  if (t == SHUNT_F64) return !spmm || (!transposed && has_fast_f64(d));
  return t == SHUNT_F16 || t == SHUNT_BF16 || t == SHUNT_F32;
}

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  const struct shunt_csr *a = shunt_problem_sparse(p);
  double cells = (double)a->rows * (double)a->cols;
  SHUNT_DECLINE_IF(!takes_type(p, &context->device), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF((double)a->nnz < cells / 64, SHUNT_R_SPARSE);
  SHUNT_DECLINE_IF(cells > (double)((int64_t)1 << 30), SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(shunt_packed_is_large(lay_out(p).total, context), SHUNT_R_LARGE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  return lay_out(p).total;
}

/* Whether SDDMM is one kernel: for rows known to be sorted, the others it computes one by one. */
static bool samples_on_chip(const struct shunt_call *c)
{
  const struct shunt_sddmm *s = &c->problem->sddmm;
  const struct shunt_device *d = &c->context->device;
  const struct shunt_machine *m = &c->context->machine;
  return c->profile && c->profile->unsorted_rows == 0 && shunt_dense_sddmm_takes(s, d) &&
         shunt_choose_dense_on_chip(s, shunt_options()->math, m);
}

/* Microseconds of the product, with nothing beside it; *alone: without cuBLASLt. */
static double product_us(const struct shunt_call *c, const struct shunt_spmm *s, bool *alone)
{
  const struct shunt_machine *m = &c->context->machine;
  const struct shunt_dense_shape fma = fma_of(c, s);
  *alone = fma.columns > 0;
  return *alone ? shunt_cost_dense_fma(s, &fma, m)
                : shunt_cost_dense_cublas(s, shunt_options()->math, m);
}

static double expected_spmm(const struct shunt_call *c, bool *alone)
{
  const struct shunt_machine *m = &c->context->machine;
  const bool transposed = shunt_problem_transposed(c->problem), keeps = c->packed || c->will_pack;
  const struct shunt_spmm without = unread(&c->problem->spmm);
  const struct shunt_spmm *s = keeps && c->frozen ? &without : &c->problem->spmm;
  const struct shunt_dense_shape none = {0};
  const struct shunt_dense_shape own = keeps && !transposed ? shape_of(c, s) : none;
  if (own.columns > 0) {
    *alone = true;
    return shunt_packed_expected_us(c, shunt_cost_dense_proved(s, &own, m), 0);
  }
  const double beside =
      keeps ? shunt_cost_dense_proof(s, transposed, m) : shunt_cost_dense_making(s, transposed, m);
  return shunt_packed_expected_us(c, product_us(c, s, alone) + beside, 0);
}

static double expected_sddmm(const struct shunt_call *c, bool *alone)
{
  const struct shunt_sddmm *s = &c->problem->sddmm;
  const struct shunt_machine *m = &c->context->machine;
  *alone = samples_on_chip(c);
  if (!*alone) return shunt_cost_dense_sampled(s, shunt_options()->math, m);
  return shunt_cost_dense_sddmm(s, c->profile, m);
}

static struct shunt_outcome expect(const struct shunt_call *c, double *us)
{
  const struct shunt_problem *p = c->problem;
  bool alone;
  *us = p->op == SHUNT_SPMM ? expected_spmm(c, &alone) : expected_sddmm(c, &alone);
  SHUNT_DECLINE_IF(!c->library && !alone, SHUNT_R_LIBRARY);
  /* Complex numbers that are added have no room in the f32 matrix W. */
  SHUNT_DECLINE_IF(p->op == SHUNT_SPMM && shunt_type_is_complex(p->spmm.c.type) &&
                       !shunt_packed_overwrites(&p->spmm),
                   SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(p->op == SHUNT_SPMM && c->no_copies, SHUNT_R_COPY);
  SHUNT_DECLINE_IF(c->workspace_bytes < lay_out(p).total, SHUNT_R_WORKSPACE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* By cuBLASLt's product and a pass over C. */
static shunt_status sample_from_memory(const struct shunt_call *c)
{
  static const struct shunt_scalar one = {.host = 1};
  const struct shunt_sddmm *s = &c->problem->sddmm;
  const struct shunt_packed_workspace l = lay_out(c->problem);
  char *workspace_at = c->workspace;
  /* alpha AB can be rounded once to C's type only when nothing is added to it. */
  const bool prescaled = shunt_scalar_is_zero(&s->beta) && !s->alpha.device;
  const shunt_type unrounded = s->compute; /* f32, or f64 of f64 */
  struct shunt_dense w = {s->c.rows,
                          s->c.cols,
                          s->c.cols,
                          1,
                          workspace_at + l.product,
                          prescaled ? s->c.value_type : unrounded};
  shunt_status r = multiply(c, workspace_at + l.own, &s->a, &s->b, &w, prescaled ? s->alpha : one);
  if (r != SHUNT_OK) return r;
  return SHUNT_LAUNCH(
      shunt_dense_sddmm_sample_cuda(s, &w, prescaled, &c->context->device, c->stream));
}

static shunt_status run_sddmm(const struct shunt_call *c)
{
  if (samples_on_chip(c)) {
    const shunt_status r =
        SHUNT_LAUNCH(shunt_dense_sddmm_cuda(&c->problem->sddmm, &c->context->device, c->stream));
    if (r != SHUNT_E_UNSUPPORTED) return r;
  }
  return sample_from_memory(c);
}

static shunt_status run(const struct shunt_call *c)
{
  if (c->problem->op != SHUNT_SPMM) return run_sddmm(c);
  if (!c->library && !c->packed && fma_of(c, &c->problem->spmm).columns == 0)
    return SHUNT_E_UNSUPPORTED; /* there was no memory for a copy */
  return shunt_packed_run(&format, c);
}

static size_t pack_bytes(const struct shunt_call *c)
{
  const struct shunt_problem *p = c->problem;
  return p->op == SHUNT_SPMM ? shunt_packed_copy_bytes(dense_bytes(&p->spmm.a)) : 0;
}

static shunt_status pack(const struct shunt_call *c, const struct shunt_packed_view *into)
{
  return shunt_packed_fill(&format, c, into);
}

const struct shunt_route shunt_route_dense = {.name = "dense",
                                              .fits = fits,
                                              .workspace = workspace,
                                              .expect = expect,
                                              .run = run,
                                              .pack_bytes = pack_bytes,
                                              .pack = pack,
                                              .wants_gemm = true,
                                              .takes_sddmm = true,
                                              .takes_transposed = true};
