/* dense: the sparse matrix written out as D, and a dense product on cuBLASLt.

   SpMM, direct (nothing kept; D is made anew in the caller's buffer):

     stream  words = 0 -- csr -> D -- C = alpha D B -- repair

   SpMM, kept (D was made by an earlier call):

     stream  C = alpha D B -- repair

   or both in one launch, for the narrow B of which kernels/spmm_dense_wgmma.cuh is the faster.

   The repair is a kernel that computes C row by row, and leaves it alone unless
   something speaks against D: A changed under a kept D (the repair takes A's fingerprint
   itself); a column repeats in a row, which D cannot hold at full precision; B holds a NaN or
   Inf, which the zeros of D would turn into NaN where the sparse product has none.  The
   last shows in C's first row (kernels/probe.cuh), so B itself is never read for it.
   With beta != 0 the product goes to a f32 matrix W first, since C's old content must
   survive for the repair: C = alpha W + beta C unless the repair ran.

   Where op(A) is the transpose of what is stored, D is what is stored all the same, and the
   product reads it transposed.  Its repair is another (kernels/spmm_csr_transposed.cu), for
   which the fingerprint of a kept D's A is taken apart:

     stream  C = alpha D^T B -- fingerprint of A's arrays -- verdict -- repair

   The repair's blocks agree through words that must be zero before their first use
   (kernels/arrival.cuh).  A kept plan carries a table of them behind D, zeroed when D is made,
   in which each call finds its own by the address of its workspace; so calls on
   several streams and replays of captured graphs may use one plan at once.  A direct call
   has one set in its workspace, zeroed with the irregular word.

   With SHUNT_MATH=tf32 the product may read f32 operands rounded to TF32; the repair is in f32
   always.  The rounding keeps zeros, Infs and quiet NaNs, so C's first row still tells of B's;
   and where it makes an Inf of a large B, that shows there as well.

   SDDMM: W = alpha A B (dense), then sampled at C's pattern.  Each element of
   the result depends on its own row and column alone, so nothing needs a guard.

   Workspace, in this order, each part 256-byte aligned:
     words (256) | fingerprint's scratch | cuBLASLt's | D (SpMM) | W
   Kept:
     D | table of the repair's words  */
#include "backend/cublas/cublaslt.h"
#include "backend/plan/cache.h"
#include "backend/plan/cost.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/engine.h"
#include "backend/plan/options.h"
#include "backend/routes/routes.h"

/* Calls of one plan whose workspaces differ and that its table has room for: far more than
   streams and graphs that share a matrix.  */
enum { KEPT_SETS = 512 };

/* The words of a call; all but the verdict zero before a direct one.  */
struct words {
  uint32_t irregular; /* direct: from csr -> dense */
  uint32_t verdict;   /* from the repair: it computed C */
  uint32_t unused[2];
  struct shunt_fingerprint actual; /* kept, transposed: A's, as it is now */
  char padding[SHUNT_REPAIR_SET_BYTES - 16 - sizeof(struct shunt_fingerprint)];
  char set[SHUNT_REPAIR_SET_BYTES]; /* direct: the repair's */
};

struct parts {
  size_t words, scratch, gemm, dense, product, total;
  size_t gemm_bytes;
};

static size_t round_up(size_t n)
{
  return (n + 255) & ~(size_t)255;
}

/* D's leading dimension: rows start on 16 bytes. */
static int64_t dense_stride(const struct shunt_csr *a)
{
  return (a->cols + 15) & ~(int64_t)15;
}

static size_t dense_bytes(const struct shunt_csr *a)
{
  return round_up((size_t)a->rows * (size_t)dense_stride(a) * shunt_type_size(a->value_type));
}

/* Split products keep up to 16 f32 partial results; cuBLAS' own advice for
   Hopper is the upper bound.  */
static size_t gemm_bytes(int64_t m, int64_t n)
{
  size_t wanted = round_up((size_t)m * (size_t)n * 4 * 16);
  const size_t most = (size_t)32 << 20;
  return wanted < most ? wanted : most;
}

static struct parts lay_out(const struct shunt_problem *p)
{
  bool spmm = p->op == SHUNT_SPMM;
  int64_t m = spmm ? p->spmm.c.rows : p->sddmm.c.rows;
  int64_t n = spmm ? p->spmm.c.cols : p->sddmm.c.cols;
  struct parts l = { .words = 0, .scratch = 256, .gemm = 256 + SHUNT_FINGERPRINT_SCRATCH };
  l.gemm_bytes = gemm_bytes(m, n);
  l.dense = l.gemm + l.gemm_bytes;
  l.product = l.dense + (spmm ? dense_bytes(&p->spmm.a) : 0);
  l.total = l.product + round_up((size_t)m * (size_t)n * 4);
  return l;
}

static struct shunt_verdict fits(const struct shunt_problem *p, const struct shunt_engine *e)
{
  const struct shunt_csr *a = shunt_problem_sparse(p);
  shunt_type t = p->op == SHUNT_SPMM ? p->spmm.b.type : p->sddmm.b.type;
  double cells = (double)a->rows * (double)a->cols;
  SHUNT_DECLINE_IF(t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF((double)a->nnz < cells / 64, SHUNT_R_SPARSE);
  SHUNT_DECLINE_IF(cells > (double)((int64_t)1 << 30), SHUNT_R_LARGE);
  SHUNT_DECLINE_IF((double)lay_out(p).total > (double)e->memory_bytes / 16, SHUNT_R_LARGE);
  return SHUNT_VERDICT(SHUNT_FITS);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_engine *e)
{
  (void)e;
  return lay_out(p).total;
}

static struct shunt_verdict expect(const struct shunt_call *c, double *us)
{
  const struct shunt_problem *p = c->problem;
  const struct shunt_csr *a = shunt_problem_sparse(p);
  const struct shunt_device *d = &c->engine->device;
  enum shunt_math math = shunt_options()->math;
  double cells = (double)a->rows * (double)a->cols;
  double read = shunt_cost_copy(shunt_cost_csr_bytes(a), d);
  if (p->op == SHUNT_SPMM) {
    const struct shunt_spmm *s = &p->spmm;
    double gemm = shunt_cost_gemm((double)s->c.rows, (double)s->c.cols, (double)s->b.rows,
                                  s->b.type, math, d);
    double make = read + cells * (double)shunt_type_size(s->b.type) / 3.6e6;
    *us = c->kept || c->will_keep ? gemm + read + 1
                                  : make + gemm + SHUNT_COST_LAUNCH_US;
    bool overwrites = !s->beta.device && s->beta.host == 0;
    if (shunt_problem_transposed(p)) *us += 2 * SHUNT_COST_LAUNCH_US; /* the repair's */
    if (!overwrites) *us += shunt_cost_copy((double)s->c.rows * (double)s->c.cols * 16, d);
  } else {
    const struct shunt_sddmm *s = &p->sddmm;
    double gemm = shunt_cost_gemm((double)s->c.rows, (double)s->c.cols, (double)s->a.cols,
                                  s->b.type, math, d);
    *us = gemm + shunt_cost_copy(cells * 4, d) + read;
  }
  SHUNT_DECLINE_IF(!c->engine->gemm, SHUNT_R_LIBRARY);
  SHUNT_DECLINE_IF(p->op == SHUNT_SPMM && c->no_copies, SHUNT_R_COPY);
  SHUNT_DECLINE_IF(c->workspace_bytes < lay_out(p).total, SHUNT_R_WORKSPACE);
  return SHUNT_VERDICT(SHUNT_FITS);
}

/* ---- running ------------------------------------------------------------------ */

static const struct shunt_scalar one = { NULL, 1 }, zero = { NULL, 0 };

static void *at(const struct shunt_call *c, size_t offset)
{
  return (char *)c->workspace + offset;
}

static struct shunt_dense dense_of(const struct shunt_csr *a, void *memory)
{
  return (struct shunt_dense){ a->rows, a->cols, dense_stride(a), 1, memory, a->value_type };
}

/* D as op(A). */
static struct shunt_dense operand_of(const struct shunt_call *c, const struct shunt_dense *d)
{
  if (!shunt_problem_transposed(c->problem)) return *d;
  return (struct shunt_dense){ d->cols, d->rows, d->col_stride, d->row_stride, d->values, d->type };
}

static void *kept_sets(const struct shunt_csr *a, const struct shunt_kept_view *kept)
{
  return (char *)kept->payload + dense_bytes(a);
}

static shunt_status multiply(const struct shunt_call *c, const struct shunt_dense *a,
                             const struct shunt_dense *b, const struct shunt_dense *out,
                             struct shunt_scalar alpha)
{
  struct parts l = lay_out(c->problem);
  return shunt_cublaslt_multiply(c->engine->gemm, a, b, out, alpha, zero, shunt_options()->math,
                                 at(c, l.gemm), l.gemm_bytes, c->stream);
}

/* The product: D as kept, or made on the way. */
static shunt_status product(const struct shunt_call *c, struct words *words,
                            const struct shunt_dense *out, struct shunt_scalar alpha)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  struct shunt_dense dense =
      dense_of(&s->a, c->kept ? c->kept->payload : at(c, lay_out(c->problem).dense));
  shunt_status r = SHUNT_OK;
  if (!c->kept)
    r = SHUNT_LAUNCH(shunt_csr_to_dense_cuda(&s->a, &dense, &words->irregular,
                                             &c->engine->device, c->stream));
  struct shunt_dense left = operand_of(c, &dense);
  if (r == SHUNT_OK) r = multiply(c, &left, &s->b, out, alpha);
  return r;
}

/* s and r as repair below has set them. */
static shunt_status repair_transposed(const struct shunt_call *c, struct words *words,
                                      const struct shunt_spmm *s, const struct shunt_repair *r)
{
  const struct shunt_device *d = &c->engine->device;
  shunt_status status = SHUNT_OK;
  if (c->kept)
    status = SHUNT_LAUNCH(shunt_fingerprint_csr_cuda(
        &s->a, &words->actual, d, at(c, lay_out(c->problem).scratch), c->stream));
  if (status != SHUNT_OK) return status;
  return SHUNT_LAUNCH(shunt_spmm_csr_transposed_repair_cuda(
      s, r, c->kept ? &words->actual : NULL, d, c->stream));
}

/* How the product is repaired; *s: the problem, with the word that says irregular. */
static struct shunt_repair repair_of(const struct shunt_call *c, struct words *words,
                                     const struct shunt_dense *product, struct shunt_spmm *s)
{
  struct shunt_repair r = { .product = product,
                            .sets = words->set,
                            .set_count = 1,
                            .key = c->workspace,
                            .wait_cycles = SHUNT_REPAIR_WAIT_CYCLES,
                            .verdict = &words->verdict };
  *s = c->problem->spmm;
  s->only_if = &words->irregular;
  if (c->kept) {
    s->only_if = c->kept->irregular;
    r.sets = kept_sets(&s->a, c->kept);
    r.set_count = KEPT_SETS;
    r.expected = c->kept->fingerprint;
    r.changed = c->kept->changed;
    r.nonfinite = c->kept->nonfinite;
  }
  return r;
}

/* Behind cuBLAS' product the proof comes last: that keeps all multiprocessors busy, so beside it
   there is no room (tests/bench/NOTES.md).  */
static shunt_status repair(const struct shunt_call *c, struct words *words,
                           const struct shunt_dense *product)
{
  struct shunt_spmm s;
  struct shunt_repair r = repair_of(c, words, product, &s);
  if (shunt_problem_transposed(c->problem)) return repair_transposed(c, words, &s, &r);
  return SHUNT_LAUNCH(shunt_spmm_csr_repair_cuda(&s, &r, &c->engine->device, c->stream));
}

/* Product and proof in one launch; SHUNT_E_UNSUPPORTED where that is not to be had. */
static shunt_status product_proved(const struct shunt_call *c, struct words *words)
{
  struct shunt_spmm s;
  struct shunt_repair r = repair_of(c, words, &c->problem->spmm.c, &s);
  struct shunt_dense dense = dense_of(&s.a, c->kept->payload);
  return SHUNT_LAUNCH(
      shunt_spmm_dense_proved_cuda(&s, &dense, &r, &c->engine->device, c->stream));
}

static shunt_status combine(const struct shunt_call *c, const struct shunt_dense *w,
                            const struct words *words)
{
  return SHUNT_LAUNCH(shunt_dense_combine_cuda(w, &c->problem->spmm, &words->verdict,
                                               &c->engine->device, c->stream));
}

static shunt_status run_spmm(const struct shunt_call *c)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  struct parts l = lay_out(c->problem);
  struct words *words = at(c, l.words); /* on the device */
  bool overwrites = !s->beta.device && s->beta.host == 0;
  struct shunt_dense w = { s->c.rows, s->c.cols, s->c.cols, 1, at(c, l.product), SHUNT_F32 };
  const struct shunt_dense *out = overwrites ? &s->c : &w;
  struct shunt_scalar alpha = overwrites ? s->alpha : one;
  shunt_status r = SHUNT_E_UNSUPPORTED;
  if (c->kept && overwrites && !shunt_problem_transposed(c->problem)) r = product_proved(c, words);
  if (r != SHUNT_E_UNSUPPORTED) return r;
  r = SHUNT_OK;
  if (!c->kept) r = SHUNT_CUDA(cudaMemsetAsync(words, 0, sizeof *words, c->stream));
  if (r == SHUNT_OK) r = product(c, words, out, alpha);
  if (r != SHUNT_OK) return r; /* C is untouched, or about to be overwritten whole */

  /* A launch that fails is tried again, because beyond the first of these two the
     original could no longer start over from C's old content.  */
  r = repair(c, words, out);
  if (r != SHUNT_OK) r = repair(c, words, out);
  if (r != SHUNT_OK || overwrites) return r;
  r = combine(c, &w, words);
  if (r != SHUNT_OK) r = combine(c, &w, words);
  return r == SHUNT_OK ? r : SHUNT_E_WRITTEN;
}

static shunt_status run_sddmm(const struct shunt_call *c)
{
  const struct shunt_sddmm *s = &c->problem->sddmm;
  struct parts l = lay_out(c->problem);
  /* alpha AB can be rounded once to C's type only when nothing is added to it. */
  bool prescaled = !s->beta.device && s->beta.host == 0 && !s->alpha.device;
  struct shunt_dense w = { s->c.rows, s->c.cols, s->c.cols, 1, at(c, l.product),
                           prescaled ? s->c.value_type : SHUNT_F32 };
  shunt_status r = multiply(c, &s->a, &s->b, &w, prescaled ? s->alpha : one);
  if (r != SHUNT_OK) return r;
  return SHUNT_LAUNCH(
      shunt_sddmm_csr_sample_cuda(s, &w, prescaled, &c->engine->device, c->stream));
}

static shunt_status run(const struct shunt_call *c)
{
  return c->problem->op == SHUNT_SPMM ? run_spmm(c) : run_sddmm(c);
}

/* ---- keeping -------------------------------------------------------------------- */

static size_t keep_bytes(const struct shunt_problem *p, const struct shunt_engine *e)
{
  (void)e;
  return p->op == SHUNT_SPMM ? dense_bytes(&p->spmm.a) + KEPT_SETS * SHUNT_REPAIR_SET_BYTES : 0;
}

static shunt_status keep(const struct shunt_call *c, const struct shunt_kept_view *into)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  struct shunt_dense dense = dense_of(a, into->payload);
  shunt_status r =
      SHUNT_CUDA(cudaMemsetAsync(into->irregular, 0, sizeof *into->irregular, c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_CUDA(cudaMemsetAsync(kept_sets(a, into), 0,
                                   (size_t)KEPT_SETS * SHUNT_REPAIR_SET_BYTES, c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_LAUNCH(shunt_csr_to_dense_cuda(a, &dense, into->irregular, &c->engine->device,
                                             c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_LAUNCH(shunt_fingerprint_csr_cuda(a, into->fingerprint, &c->engine->device,
                                                at(c, lay_out(c->problem).scratch), c->stream));
  return r;
}

const struct shunt_route shunt_route_dense = {
  .name = "dense", .fits = fits, .workspace = workspace, .expect = expect, .run = run,
  .keep_bytes = keep_bytes, .keep = keep, .wants_gemm = true,
  .takes_transposed = true
};
