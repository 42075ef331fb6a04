#include "backend/routes/packed_product.h"

#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/graph_overlap.h"
#include "kernels/common/alignment.h"
#include "kernels/guard/fingerprint.h"
#include "kernels/guard/guard.h"

/* Calls of one copy whose workspaces differ and that its table has room for: far more than
   streams and graphs that share a matrix.  */
enum { KEPT_SETS = 512, TABLE_BYTES = KEPT_SETS * SHUNT_GUARD_SET_BYTES, WORDS_BYTES = 256 };

/* The words of a call; all but `repaired` zero before a direct one.  */
struct words {
  uint32_t irregular; /* direct: from the conversion */
  uint32_t repaired;  /* from the repair: it computed C */
  uint32_t unused[2];
  struct shunt_fingerprint actual; /* packed, transposed: A's, as it is now */
  char padding[SHUNT_GUARD_SET_BYTES - 16 - sizeof(struct shunt_fingerprint)];
  char set[SHUNT_GUARD_SET_BYTES]; /* direct: the repair's */
};
_Static_assert(sizeof(struct words) <= WORDS_BYTES, "the words have room");
_Static_assert(TABLE_BYTES % 256 == 0, "the copy behind the table is aligned");

bool shunt_packed_overwrites(const struct shunt_spmm *s)
{
  return shunt_scalar_is_zero(&s->beta);
}

static shunt_type type_of_w(const struct shunt_problem *p)
{
  const shunt_type compute = p->op == SHUNT_SPMM ? p->spmm.compute : p->sddmm.compute;
  return compute == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32;
}

struct shunt_packed_workspace shunt_packed_lay_out(const struct shunt_packed_format *f,
                                                   const struct shunt_problem *p)
{
  const bool spmm = p->op == SHUNT_SPMM;
  const int64_t m = spmm ? p->spmm.c.rows : p->sddmm.c.rows;
  const int64_t n = spmm ? p->spmm.c.cols : p->sddmm.c.cols;
  struct shunt_packed_workspace l = {.scratch = WORDS_BYTES};
  l.own = l.scratch + shunt_align_up(SHUNT_FINGERPRINT_SCRATCH, 256);
  l.copy = l.own + (f->own_bytes ? shunt_align_up(f->own_bytes(p), 256) : 0);
  l.product = l.copy + (spmm && f->direct_bytes ? shunt_align_up(f->direct_bytes(p), 256) : 0);
  const size_t element = shunt_type_size(type_of_w(p));
  l.total = l.product + shunt_align_up((size_t)m * (size_t)n * element, 256);
  return l;
}

size_t shunt_packed_copy_bytes(size_t copy_bytes)
{
  return TABLE_BYTES + copy_bytes;
}

struct shunt_outcome shunt_packed_usable(const struct shunt_packed_format *f,
                                         const struct shunt_call *c)
{
  const struct shunt_problem *p = c->problem;
  SHUNT_DECLINE_IF(!c->packed && !c->will_pack, SHUNT_R_UNCONVERTED);
  SHUNT_DECLINE_IF(c->no_copies, SHUNT_R_COPY);
  SHUNT_DECLINE_IF(f->own_bytes(p) == 0 && (uintptr_t)p->spmm.b.values % 16 != 0, SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF(c->workspace_bytes < shunt_packed_lay_out(f, p).total, SHUNT_R_WORKSPACE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

shunt_status shunt_packed_set_irregular(const struct shunt_call *c, const uint32_t *word,
                                        uint32_t *irregular)
{
  return SHUNT_CUDA(
      cudaMemcpyAsync(irregular, word, sizeof *irregular, cudaMemcpyDeviceToDevice, c->stream));
}

static void *copy_of(const struct shunt_packed_view *packed)
{
  return (char *)packed->payload + TABLE_BYTES;
}

/* ---- running -------------------------------------------------------------------- */

static void *at(const struct shunt_call *c, size_t offset)
{
  return (char *)c->workspace + offset;
}

static struct words *words_of(const struct shunt_call *c)
{
  return c->workspace; /* on the device */
}

/* Is the product all there is?  From a copy that is trusted and needs no probe it is.  (That the
   format can hold A was known when it was made.) */
static bool stands_alone(const struct shunt_packed_format *f, const struct shunt_call *c)
{
  return c->packed && c->packed->trusted && !f->probed && f->product;
}

/* w: the matrix that the product goes to where C's old content counts. */
static struct shunt_packed_product product_of(const struct shunt_packed_format *f,
                                              const struct shunt_call *c,
                                              const struct shunt_packed_workspace *l,
                                              const struct shunt_dense *w)
{
  static const struct shunt_scalar one = {.host = 1}, zero = {0};
  struct shunt_packed_product x = {.call = c,
                                   .spmm = c->problem->spmm,
                                   .copy = c->packed ? copy_of(c->packed) : at(c, l->copy),
                                   .own = at(c, l->own)};
  x.spmm.next_waits = !stands_alone(f, c) || shunt_problem_lets_next_in(c->problem);
  if (!shunt_packed_overwrites(&x.spmm)) x.spmm.c = *w, x.spmm.alpha = one, x.spmm.beta = zero;
  return x;
}

/* How the product is repaired; *s: the problem, with the word that says irregular. */
static struct shunt_guard repair_of(const struct shunt_call *c, const struct shunt_dense *probed,
                                    struct shunt_spmm *s)
{
  struct words *words = words_of(c);
  struct shunt_guard r = {.product = probed,
                          .sets = words->set,
                          .set_count = 1,
                          .key = c->workspace,
                          .wait_cycles = shunt_guard_wait_cycles(&c->problem->spmm),
                          .repaired = &words->repaired};
  *s = c->problem->spmm;
  s->only_if = &words->irregular;
  s->next_waits = shunt_problem_lets_next_in(c->problem);
  if (c->packed) {
    s->only_if = c->packed->irregular;
    r.sets = c->packed->payload;
    r.set_count = KEPT_SETS;
    r.of_values = c->packed->pattern_stands;
    r.expected = c->packed->trusted ? NULL
                 : r.of_values      ? c->packed->of_values
                                    : c->packed->fingerprint;
    r.changed = c->packed->changed;
    r.nonfinite = c->packed->nonfinite;
  }
  return r;
}

/* s and r as repair below has set them. */
static shunt_status repair_transposed(const struct shunt_call *c,
                                      const struct shunt_packed_workspace *l,
                                      const struct shunt_spmm *s, const struct shunt_guard *r)
{
  const struct shunt_device *d = &c->context->device;
  struct words *words = words_of(c);
  shunt_status status = SHUNT_OK;
  const struct shunt_csr hashed = r->of_values ? shunt_fp_values_of(&s->a) : s->a;
  if (r->expected)
    status = SHUNT_LAUNCH(
        shunt_fingerprint_csr_cuda(&hashed, &words->actual, d, at(c, l->scratch), c->stream));
  if (status != SHUNT_OK) return status;
  return SHUNT_LAUNCH(
      shunt_guard_repair_transposed_cuda(s, r, r->expected ? &words->actual : NULL, d, c->stream));
}

/* Behind a product that does not let it in, the proof can begin early in a graph only. */
static enum shunt_guard_start start_of(const struct shunt_packed_format *f,
                                       const struct shunt_call *c)
{
  if (f->lets_in) return SHUNT_GUARD_EARLY;
  return c->packed && c->capturing && shunt_graph_overlap_begin(c->stream) ? SHUNT_GUARD_OVERLAPPED
                                                                           : SHUNT_GUARD_BEHIND;
}

static shunt_status repair(const struct shunt_packed_format *f, const struct shunt_call *c,
                           const struct shunt_packed_workspace *l, const struct shunt_dense *probed)
{
  struct shunt_spmm s;
  struct shunt_guard r = repair_of(c, probed, &s);
  if (shunt_problem_transposed(c->problem)) return repair_transposed(c, l, &s, &r);
  r.start = start_of(f, c);
  shunt_status status =
      SHUNT_LAUNCH(shunt_guard_repair_cuda(&s, &r, &c->context->device, c->stream));
  if (status != SHUNT_OK && r.start == SHUNT_GUARD_OVERLAPPED) shunt_graph_overlap_undo(c->stream);
  return status;
}

/* May product and proof be one launch? */
static bool may_prove_inside(const struct shunt_packed_format *f, const struct shunt_call *c)
{
  return f->proved && c->packed && !shunt_problem_transposed(c->problem);
}

/* Makes the copy in the workspace, of a call that has none packed. */
static shunt_status make_direct(const struct shunt_packed_format *f,
                                const struct shunt_packed_product *x)
{
  const struct shunt_call *c = x->call;
  struct words *words = words_of(c);
  shunt_status r = SHUNT_CUDA(cudaMemsetAsync(words, 0, sizeof *words, c->stream));
  return r == SHUNT_OK ? f->convert(c, x->copy, &words->irregular) : r;
}

/* Proof and repair behind a product that is enqueued.  A launch that fails is tried again, as the
   original can no longer start over from C's old content.  */
static shunt_status repair_behind(const struct shunt_packed_format *f,
                                  const struct shunt_packed_product *x,
                                  const struct shunt_packed_workspace *l)
{
  const struct shunt_dense none = {0};
  const struct shunt_dense probed = f->probed ? f->probed(x) : none;
  shunt_copy_note(x->call, SHUNT_COPY_TOUCHED);
  const shunt_status r = repair(f, x->call, l, &probed);
  return r == SHUNT_OK ? r : repair(f, x->call, l, &probed);
}

static shunt_status combine(const struct shunt_call *c, const struct shunt_dense *w, bool guarded)
{
  return SHUNT_LAUNCH(shunt_guard_combine_cuda(w, &c->problem->spmm,
                                               guarded ? &words_of(c)->repaired : NULL,
                                               &c->context->device, c->stream));
}

/* C is there, repaired or not; or W is, where C's old content counts.  guarded: a repair stands
   behind the product, or in it. */
static shunt_status finish(const struct shunt_call *c, const struct shunt_dense *w, bool guarded)
{
  if (shunt_packed_overwrites(&c->problem->spmm)) return SHUNT_OK;
  shunt_status r = combine(c, w, guarded);
  if (r != SHUNT_OK) r = combine(c, w, guarded);
  return r == SHUNT_OK ? r : SHUNT_E_WRITTEN;
}

/* Until something is enqueued a way that is not to be had leaves C to the next. */
shunt_status shunt_packed_run(const struct shunt_packed_format *f, const struct shunt_call *c)
{
  const struct shunt_dense *out = &c->problem->spmm.c;
  const struct shunt_packed_workspace l = shunt_packed_lay_out(f, c->problem);
  const struct shunt_dense w = {out->rows, out->cols,        out->cols,
                                1,         at(c, l.product), type_of_w(c->problem)};
  const struct shunt_packed_product x = product_of(f, c, &l, &w);
  shunt_status r = SHUNT_E_UNSUPPORTED;
  bool guarded = false;
  if (!c->packed && !f->direct_bytes) return r; /* no copy is packed */
  if (stands_alone(f, c)) r = f->product(&x);
  if (r == SHUNT_E_UNSUPPORTED && may_prove_inside(f, c)) {
    struct shunt_spmm s;
    const struct shunt_guard how = repair_of(c, &x.spmm.c, &s);
    guarded = true;
    r = SHUNT_LAUNCH(f->proved(&x, &s, &how));
  }
  if (r == SHUNT_E_UNSUPPORTED && f->product) {
    guarded = true;
    r = c->packed ? SHUNT_OK : make_direct(f, &x);
    if (r == SHUNT_OK) r = f->product(&x);
    if (r == SHUNT_OK) r = repair_behind(f, &x, &l);
  }
  if (r == SHUNT_OK) r = finish(c, &w, guarded);
  if (r == SHUNT_OK)
    shunt_copy_note(c, SHUNT_COPY_USED);
  else if (r != SHUNT_E_UNSUPPORTED && r != SHUNT_E_WORKSPACE)
    shunt_copy_note(c, SHUNT_COPY_TOUCHED);
  return r;
}

/* ---- packing -------------------------------------------------------------------- */

static shunt_status take_fingerprint(const struct shunt_call *c,
                                     const struct shunt_packed_workspace *l,
                                     const struct shunt_csr *a, struct shunt_fingerprint *into)
{
  return SHUNT_LAUNCH(
      shunt_fingerprint_csr_cuda(a, into, &c->context->device, at(c, l->scratch), c->stream));
}

shunt_status shunt_packed_fill(const struct shunt_packed_format *f, const struct shunt_call *c,
                               const struct shunt_packed_view *into)
{
  const struct shunt_packed_workspace l = shunt_packed_lay_out(f, c->problem);
  const struct shunt_csr *a = &c->problem->spmm.a;
  if (c->workspace_bytes < l.total) return SHUNT_E_WORKSPACE; /* fingerprints are taken in it */
  shunt_status r =
      SHUNT_CUDA(cudaMemsetAsync(into->irregular, 0, sizeof *into->irregular, c->stream));
  if (r == SHUNT_OK) r = SHUNT_CUDA(cudaMemsetAsync(into->payload, 0, TABLE_BYTES, c->stream));
  if (r == SHUNT_OK) r = f->convert(c, copy_of(into), into->irregular);
  if (r == SHUNT_OK) r = take_fingerprint(c, &l, a, into->fingerprint);
  if (r != SHUNT_OK || !c->problem->pattern_epoch) return r;
  const struct shunt_csr values = shunt_fp_values_of(a);
  return take_fingerprint(c, &l, &values, into->of_values);
}
