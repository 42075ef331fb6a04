/* spmm.c: sparse x full and full x sparse.

   Where T has entries: T(i,j) exists if row i of S has an entry whose partner in D
   exists.  With a full D that depends on the row alone, so one flag per row tells whether T
   is full before anything is computed; only then may T take C's own array.  */
#include <stdlib.h>
#include <string.h>

#include "backend/graphblas/commit.h"
#include "backend/graphblas/engine.h"
#include "backend/graphblas/memory.h"
#include "backend/plan/fault.h"

struct spmm {
  struct shunt_host_spmm x;
  struct grb_identity sparse, dense, out;
  struct grb_result t;
  bool from_right;           /* the sparse operand is B: all is transposed */
  int64_t rows_with_entries; /* of S */
};

/* ---- which rows of S have entries ---------------------------------------------------------- */

static int64_t offset_at(const struct shunt_sparse *s, int64_t i)
{
  return s->offset_bytes == 8 ? ((const int64_t *)s->offsets)[i]
                              : ((const uint32_t *)s->offsets)[i];
}

static int64_t index_at(const struct shunt_sparse *s, int64_t i)
{
  return s->index_bytes == 8 ? ((const int64_t *)s->indices)[i] : ((const uint32_t *)s->indices)[i];
}

static int64_t count_vectors_with_entries(const struct shunt_sparse *s)
{
  int64_t count = 0;
  for (int64_t v = 0; v < s->vectors; v++) count += offset_at(s, v) < offset_at(s, v + 1);
  return count;
}

/* Held by column: -1 without memory. */
static int64_t count_rows_hit(const struct shunt_sparse *s, int threads)
{
  int64_t count = 0;
  char *hit = SHUNT_TRY_OR(NULL, calloc((size_t)s->rows, 1));
  if (!hit) return -1;
    /* Several threads may set the same flag: to the same value. */
#pragma omp parallel for num_threads(threads) schedule(static) if (s->nnz > 65536)
  for (int64_t p = 0; p < s->nnz; p++) {
    char *flag = &hit[index_at(s, p)];
    if (!__atomic_load_n(flag, __ATOMIC_RELAXED)) __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
  }
  for (int64_t i = 0; i < s->rows; i++) count += hit[i];
  free(hit);
  return count;
}

static int64_t count_rows(const struct shunt_sparse *s, int threads)
{
  return s->by_column ? count_rows_hit(s, threads) : count_vectors_with_entries(s);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* T as an array in C's orientation, seen as the kernel sees it. */
static struct shunt_full result_view(const struct grb_product *p, const struct spmm *q,
                                     void *values, int8_t *present)
{
  struct grb_operand t = {.by_column = p->c.by_column,
                          .rows = p->m,
                          .cols = p->n,
                          .values = values,
                          .present = present};
  return grb_operand_full(&t, q->from_right, true);
}

static struct shunt_verdict compute(struct grb_product *p, struct spmm *q)
{
  shunt_status status = grb_engine_spmm(p, &q->x, &q->sparse, &q->dense, &q->out);
  SHUNT_DECLINE_IF(status == SHUNT_E_UNSUPPORTED, SHUNT_R_SEMIRING);
  SHUNT_DECLINE_IF(status != SHUNT_OK, SHUNT_R_FAILED);
  return SHUNT_VERDICT(SHUNT_FITS);
}

static struct shunt_verdict run_in_place(struct grb_product *p, struct spmm *q, bool accumulate)
{
  q->x.accumulate = accumulate;
  q->x.c = result_view(p, q, p->c.values, NULL);
  q->out = grb_operand_identity(p->library, &p->c);
  struct shunt_verdict v = compute(p, q);
  if (v.reason == SHUNT_FITS) grb_commit_in_place(p);
  return v;
}

static bool allocate_result(const struct grb_product *p, struct spmm *q, bool full)
{
  size_t elements = (size_t)p->m * (size_t)p->n;
  q->t.form = full ? GRB_FULL : GRB_BITMAP;
  q->t.by_column = p->c.by_column;
  q->t.values = grb_allocate(p->library, elements * grb_number_size(p->semiring.number));
  if (!full) q->t.present = grb_allocate(p->library, elements);
  return q->t.values && (full || q->t.present);
}

static int64_t count_present(const struct grb_product *p, const struct spmm *q)
{
  int64_t count = 0, elements = p->m * p->n;
  const int8_t *present = q->t.present;
  if (!q->x.b.present) return q->rows_with_entries * q->x.b.cols;
#pragma omp parallel for num_threads(p->threads) reduction(+ : count) if (elements > 65536)
  for (int64_t i = 0; i < elements; i++) count += present[i];
  return count;
}

static struct shunt_verdict run_fresh(struct grb_product *p, struct spmm *q, bool full)
{
  bool plain = !p->masked && !p->call->accum;
  if (!allocate_result(p, q, full)) {
    grb_result_release(p, &q->t);
    return SHUNT_VERDICT(SHUNT_R_FAILED);
  }
  q->x.c = result_view(p, q, q->t.values, q->t.present);
  if (grb_commit_hands_over(p, &q->t, plain)) {
    q->out = grb_operand_identity(p->library, &p->c);
    q->out.own_array = false; /* not yet */
  }
  struct shunt_verdict v = compute(p, q);
  if (v.reason != SHUNT_FITS) {
    grb_result_release(p, &q->t);
    return v;
  }
  q->t.nvals = full ? p->m * p->n : count_present(p, q);
  SHUNT_DECLINE_IF(!grb_commit(p, &q->t, plain), SHUNT_R_FAILED);
  return v;
}

/* ---- the decision ---------------------------------------------------------------------------- */

/* A vector is multiplied by all rows in turn; those with next to nothing are not worth a visit. */
static bool worth_columns(const struct grb_product *p, const struct shunt_sparse *s,
                          const struct shunt_full *d)
{
  if (p->call->kind == GRB_CALL_MXM) return grb_engine_worth_columns(d->cols);
  return (!s->by_column && !d->present && !p->masked && s->nnz / 3 >= s->rows) ||
         grb_engine_forced();
}

/* Sizes whose product is no number of bytes, or of which T would be nearly all of the cost. */
static struct shunt_verdict check_sizes(struct grb_product *p, const struct shunt_sparse *s,
                                        const struct shunt_full *d)
{
  const int64_t most = (int64_t)1 << 40, small = 1 << 16;
  int64_t elements;
  SHUNT_DECLINE_IF(__builtin_mul_overflow(p->m, p->n, &elements) || elements > most, SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(__builtin_mul_overflow(s->nnz, d->cols, &p->work), SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(s->nnz == 0, SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(s->rows / 4 > s->nnz && elements > small, SHUNT_R_SPARSE);
  SHUNT_DECLINE_IF(!grb_engine_worth(p->work), SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(!worth_columns(p, s, d), SHUNT_R_SLOWER);
  return SHUNT_VERDICT(SHUNT_FITS);
}

/* A mask that lets little through leaves GraphBLAS little to compute, while here all of T is: worth
   it from one entry in 32 on, or in 512 for a sparse mask, which slows GraphBLAS down itself.  */
static struct shunt_verdict check_mask(const struct grb_product *p)
{
  uint64_t entries, all = (uint64_t)p->m * (uint64_t)p->n;
  bool sparse = grb_operand_is_sparse(&p->mask) && !p->settings.complement;
  if (!p->masked) return SHUNT_VERDICT(SHUNT_FITS);
  /* 7.4.0 may crash on adding a full matrix through such a mask (GB_subassign_08n). */
  SHUNT_DECLINE_IF(sparse && p->call->accum, SHUNT_R_MASK);
  if (grb_engine_forced()) return SHUNT_VERDICT(SHUNT_FITS);
  SHUNT_DECLINE_IF(p->library->GrB_Matrix_nvals(&entries, p->mask.handle) != GRB_SUCCESS,
                   SHUNT_R_UNREADABLE);
  uint64_t passing = p->settings.complement ? all - entries : entries;
  SHUNT_DECLINE_IF(passing < all / (sparse ? 512 : 32), SHUNT_R_MASK);
  return SHUNT_VERDICT(SHUNT_FITS);
}

static void read_operands(const struct grb_product *p, struct spmm *q)
{
  const struct grb_operand *s = q->from_right ? &p->b : &p->a, *d = q->from_right ? &p->a : &p->b;
  bool ts = p->settings.transpose_first, td = p->settings.transpose_second;
  if (q->from_right) { /* C' = op(B)' op(A)' */
    ts = !p->settings.transpose_second;
    td = !p->settings.transpose_first;
  }
  q->x.semiring = grb_semiring_of_kernels(&p->semiring);
  if (q->from_right) q->x.semiring.multiplier = grb_exchanged(q->x.semiring.multiplier);
  q->x.s = grb_operand_sparse(s, ts, grb_uses_first(q->x.semiring.multiplier));
  q->x.b = grb_operand_full(d, td, grb_uses_second(q->x.semiring.multiplier));
  q->x.threads = p->threads;
  /* An input that is the output, too, has no content to keep. */
  if (s->handle != p->call->c) q->sparse = grb_operand_identity(p->library, s);
  if (d->handle != p->call->c) q->dense = grb_operand_identity(p->library, d);
}

struct shunt_verdict grb_spmm(struct grb_product *p)
{
  struct spmm q = {.from_right = !grb_operand_is_sparse(&p->a)};
  enum shunt_multiplier times = p->semiring.multiplier;
  SHUNT_DECLINE_IF(!grb_product_type_fits(p, &p->a, grb_uses_first(times)) ||
                       !grb_product_type_fits(p, &p->b, grb_uses_second(times)),
                   SHUNT_R_TYPES);
  read_operands(p, &q);
  struct shunt_verdict checked = check_sizes(p, &q.x.s, &q.x.b);
  if (checked.reason == SHUNT_FITS) checked = check_mask(p);
  if (checked.reason != SHUNT_FITS) return checked;

  bool plain = !p->masked && !p->call->accum;
  bool adds = !p->masked && p->call->accum == p->semiring.add;
  if (adds && grb_commit_in_place_possible(p)) return run_in_place(p, &q, true);
  q.rows_with_entries = count_rows(&q.x.s, p->threads);
  SHUNT_DECLINE_IF(q.rows_with_entries < 0, SHUNT_R_FAILED);
  bool full = q.rows_with_entries == q.x.s.rows && !q.x.b.present;
  if (plain && full && grb_commit_in_place_possible(p)) return run_in_place(p, &q, false);
  return run_fresh(p, &q, full);
}
