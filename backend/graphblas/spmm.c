/* spmm.c: sparse x full and full x sparse.

     S (x) D         S = op(A), D = op(B)
     (D (x) S)'      the transpose of the same: S = op(B)', D = op(A)', and FIRST and SECOND
                     change places

   Where T has entries: T(i,j) exists if row i of S has an entry whose partner in D
   exists.  With a full D that depends on the row alone, so one flag per row tells whether T
   is full before anything is computed; only then may T take C's own array.  */
#include <stdlib.h>
#include <string.h>

#include "backend/graphblas/commit.h"
#include "backend/graphblas/engine.h"
#include "backend/graphblas/mask.h"
#include "backend/graphblas/memory.h"
#include "backend/plan/fault.h"

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

/* ---- operands and result as the kernel sees them -------------------------------------------- */

/* Is the sparse operand B?  Then all is transposed. */
static bool from_right(const struct grb_product *p)
{
  return !grb_operand_is_sparse(&p->a);
}

static struct shunt_host_spmm operands(const struct grb_product *p)
{
  const bool right = from_right(p);
  const struct grb_operand *s = right ? &p->b : &p->a, *d = right ? &p->a : &p->b;
  const bool ta = p->settings.transpose_first, tb = p->settings.transpose_second;
  struct shunt_host_spmm x = {.semiring = grb_semiring_of_kernels(&p->semiring),
                              .threads = p->threads};
  if (right) x.semiring.multiplier = grb_exchanged(x.semiring.multiplier);
  x.s = grb_operand_sparse(s, right ? !tb : ta, grb_uses_first(x.semiring.multiplier));
  x.b = grb_operand_full(d, right ? !ta : tb, grb_uses_second(x.semiring.multiplier));
  return x;
}

/* Which matrices they are; C is nobody's so far. */
static struct grb_spmm_sources sources(const struct grb_product *p)
{
  const bool right = from_right(p);
  return (struct grb_spmm_sources){.s = grb_product_source(p, right ? &p->b : &p->a),
                                   .b = grb_product_source(p, right ? &p->a : &p->b)};
}

/* T as an array in C's orientation. */
static struct shunt_full result_view(const struct grb_product *p, void *values, int8_t *present)
{
  struct grb_operand t = {.by_column = p->c.by_column,
                          .rows = p->m,
                          .cols = p->n,
                          .values = values,
                          .present = present};
  return grb_operand_full(&t, from_right(p), true);
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

/* By a sample: nothing depends on it but time. */
static bool is_diagonal(const struct shunt_sparse *s)
{
  const int64_t sample = 32, step = s->rows / sample + 1;
  if (s->rows != s->cols || s->nnz != s->rows || s->vectors != s->rows) return false;
  for (int64_t i = 0; i < s->rows; i += step)
    if (offset_at(s, i) != i || index_at(s, i) != i) return false;
  return true;
}

/* Entries of S that meet one of D, for each row of T: with fewer, moving T is all of the cost, and
   GraphBLAS moves it as fast.  Measured by tests/bench/graphblas_sweep.  */
static bool worth_entries(const struct grb_product *p, const struct shunt_host_spmm *x)
{
  const struct grb_operand *d = from_right(p) ? &p->a : &p->b;
  const double there = (double)d->nnz / ((double)d->rows * (double)d->cols);
  const double met = (double)x->s.nnz / (double)x->s.rows * there;
  const int64_t few_rows = 512, few_columns = 16;
  if (p->call->kind != GRB_CALL_MXM || grb_engine_forced()) return true;
  if (!p->masked && is_diagonal(&x->s)) return false; /* it scales the rows of D */
  if (x->b.present && p->masked) return met >= 8 && x->b.cols >= few_columns;
  if (x->b.present) return met >= (x->b.col_stride == 1 ? 0.5 : 2);
  return x->s.rows >= few_rows || met >= (x->b.col_stride == 1 ? 1.5 : 4);
}

/* Sizes whose product is no number of bytes, or of which T would be nearly all of the cost. */
static struct shunt_outcome check_sizes(struct grb_product *p)
{
  const struct shunt_host_spmm x = operands(p);
  const int64_t most = (int64_t)1 << 40, small = 1 << 16;
  int64_t elements;
  SHUNT_DECLINE_IF(__builtin_mul_overflow(p->m, p->n, &elements) || elements > most, SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(__builtin_mul_overflow(x.s.nnz, x.b.cols, &p->work), SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(x.s.by_column && x.s.cols > INT32_MAX, SHUNT_R_LARGE); /* of the kernels */
  SHUNT_DECLINE_IF(x.b.rows > UINT32_MAX, SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(x.s.nnz == 0, SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(x.s.rows / 4 > x.s.nnz && elements > small, SHUNT_R_SPARSE);
  SHUNT_DECLINE_IF(!grb_engine_worth(p->work), SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(!worth_columns(p, &x.s, &x.b) || !worth_entries(p, &x), SHUNT_R_SLOWER);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* Where M is bitmap or full, and D too, GraphBLAS skips what either lacks; of a power law's hubs,
   which have most of the terms, nearly all are lacking.  */
static bool complement_wins(const struct grb_product *p, uint64_t passing, uint64_t all)
{
  const struct grb_operand *d = from_right(p) ? &p->a : &p->b;
  const int64_t elements = d->rows * d->cols;
  return !p->settings.complement || !d->present || (passing >= all / 2 && d->nnz >= elements / 2);
}

/* A mask that lets little through leaves GraphBLAS little to compute, while here all of T is: worth
   it from one entry in 32 on, or in 512 for a sparse mask, which slows GraphBLAS down itself.  */
static struct shunt_outcome check_mask(struct grb_product *p)
{
  uint64_t entries, all = (uint64_t)p->m * (uint64_t)p->n;
  bool sparse = grb_operand_is_sparse(&p->mask) && !p->settings.complement;
  if (!p->masked) return SHUNT_OUTCOME(SHUNT_FITS);
  /* 7.4.0 may crash on adding a full matrix through such a mask (GB_subassign_08n). */
  SHUNT_DECLINE_IF(sparse && p->call->accum, SHUNT_R_MASK);
  if (!grb_engine_forced()) {
    SHUNT_DECLINE_IF(p->library->GrB_Matrix_nvals(&entries, p->mask.handle) != GRB_SUCCESS,
                     SHUNT_R_UNREADABLE);
    uint64_t passing = p->settings.complement ? all - entries : entries;
    SHUNT_DECLINE_IF(passing < all / (sparse ? 512 : 32), SHUNT_R_MASK);
    SHUNT_DECLINE_IF(!complement_wins(p, passing, all), SHUNT_R_MASK);
  }
  return grb_mask_check_zeros(p);
}

/* Nothing was measured of masks, and of sums into a C that is not full. */
static void expect_gain(struct grb_product *p)
{
  const struct shunt_host_spmm x = operands(p);
  const bool into = p->call->accum == p->semiring.add && p->c.form == GRB_FULL;
  if (p->masked || (p->call->accum && !into)) return;
  p->gain = p->call->kind == GRB_CALL_MXM ? grb_gain_spmm(&x, p->c.by_column != from_right(p), into)
                                          : grb_gain_vector(&x);
}

static struct shunt_outcome choose(struct grb_product *p)
{
  GRB_CONTINUE(check_sizes(p));
  GRB_CONTINUE(check_mask(p));
  expect_gain(p);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* ---- the product ---------------------------------------------------------------------------- */

static struct shunt_outcome run_engine(struct grb_product *p, const struct shunt_host_spmm *x,
                                       const struct grb_spmm_sources *from)
{
  shunt_status status = grb_engine_spmm(p, x, from);
  SHUNT_DECLINE_IF(status != SHUNT_OK, grb_engine_reason(status, SHUNT_R_SEMIRING));
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static struct shunt_outcome compute_in_place(struct grb_product *p, struct shunt_host_spmm *x,
                                             bool accumulate)
{
  struct grb_spmm_sources from = sources(p);
  from.c = grb_operand_identity(p->library, &p->c);
  x->accumulate = accumulate;
  x->c = result_view(p, p->c.values, NULL);
  p->t.in_place = true;
  return run_engine(p, x, &from);
}

static bool allocate_result(struct grb_product *p, bool full)
{
  struct grb_result *t = &p->t;
  size_t elements = (size_t)p->m * (size_t)p->n;
  t->form = full ? GRB_FULL : GRB_BITMAP;
  t->by_column = p->c.by_column;
  t->values = grb_allocate(p->library, elements * grb_number_size(p->semiring.number));
  if (!full) t->present = grb_allocate(p->library, elements);
  return t->values && (full || t->present);
}

static int64_t count_present(const struct grb_product *p)
{
  int64_t count = 0, elements = p->m * p->n;
  const int8_t *present = p->t.present;
#pragma omp parallel for num_threads(p->threads) reduction(+ : count) if (elements > 65536)
  for (int64_t i = 0; i < elements; i++) count += present[i];
  return count;
}

/* `rows` of S have entries. */
static struct shunt_outcome compute_fresh(struct grb_product *p, struct shunt_host_spmm *x,
                                          int64_t rows)
{
  const bool full = rows == x->s.rows && !x->b.present;
  struct grb_spmm_sources from = sources(p);
  struct shunt_outcome v = SHUNT_OUTCOME(SHUNT_R_FAILED);
  if (allocate_result(p, full)) {
    p->t.replaces_all = !p->masked && !p->call->accum;
    if (grb_commit_hands_over(p)) {
      from.c = grb_operand_identity(p->library, &p->c);
      from.c.own_array = false; /* not yet */
    }
    x->c = result_view(p, p->t.values, p->t.present);
    v = run_engine(p, x, &from);
  }
  if (v.reason != SHUNT_FITS)
    grb_result_release(p);
  else
    p->t.nvals = full ? p->m * p->n : x->b.present ? count_present(p) : rows * x->b.cols;
  return v;
}

static struct shunt_outcome compute(struct grb_product *p)
{
  struct shunt_host_spmm x = operands(p);
  const bool plain = !p->masked && !p->call->accum;
  const bool adds = !p->masked && p->call->accum == p->semiring.add;
  if (adds && grb_commit_in_place_possible(p)) return compute_in_place(p, &x, true);
  const int64_t rows = count_rows(&x.s, p->threads);
  SHUNT_DECLINE_IF(rows < 0, SHUNT_R_FAILED);
  if (plain && rows == x.s.rows && !x.b.present && grb_commit_in_place_possible(p))
    return compute_in_place(p, &x, false);
  return compute_fresh(p, &x, rows);
}

const struct grb_method grb_spmm = {choose, compute};
