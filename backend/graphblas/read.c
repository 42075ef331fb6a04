/* read.c: the arguments of a product, read.

   Questions that have cheap answers come first: most calls end at one of them, 100 ns after they
   came.  */
#include "backend/graphblas/engine.h"
#include "backend/graphblas/product.h"
#include "backend/options/options.h"

enum { LEAST_OF_STEP = 64 }; /* entries of a sparse mask */

/* mxv transposes by its first field, vxm by its second: w' = u' A is w = A' u, with the
   operands of the multiplication exchanged; entry.c has put A first.  */
static void turn_vectors(struct grb_product *p)
{
  struct grb_settings *s = &p->settings;
  if (p->call->kind == GRB_CALL_MXV) s->transpose_second = false;
  if (p->call->kind == GRB_CALL_VXM) {
    s->transpose_first = !s->transpose_second;
    s->transpose_second = false;
    p->semiring.multiplier = grb_exchanged(p->semiring.multiplier);
  }
}

static struct shunt_outcome read_shape(struct grb_product *p)
{
  bool ta = p->settings.transpose_first, tb = p->settings.transpose_second;
  p->m = ta ? p->a.cols : p->a.rows;
  p->k = ta ? p->a.rows : p->a.cols;
  p->n = tb ? p->b.rows : p->b.cols;
  SHUNT_DECLINE_IF((tb ? p->b.cols : p->b.rows) != p->k, SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF(p->c.rows != p->m || p->c.cols != p->n, SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF(p->call->mask && (p->mask.rows != p->m || p->mask.cols != p->n), SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF(p->m == 0 || p->n == 0 || p->k == 0, SHUNT_R_EMPTY);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* No more multiplications than this, whichever way the operands are turned. */
static int64_t most_work(const struct grb_operand *sparse, const struct grb_operand *dense)
{
  int64_t work, longer = dense->rows > dense->cols ? dense->rows : dense->cols;
  return __builtin_mul_overflow(sparse->nnz, longer, &work) ? INT64_MAX : work;
}

/* A mask of few is taken where products are forced, and is not a small one then. */
static bool may_be_forced(const struct grb_product *p)
{
  return !p->small_mask && grb_engine_forced();
}

/* Is it a step of searches?  Asked of little, after the mask's settings. */
static bool may_be_frontier(const struct grb_product *p)
{
  return p->settings.structural && grb_frontier_may_be(p->library, p->call->semiring) &&
         (may_be_forced(p) || grb_frontier_worth(p->library, p->call->a));
}

/* Of two sparse operands the product is taken under a sparse mask that has some entries, or as a
   step of searches.  What tells whether that is there costs little, and asks for the mask's entries
   before its form: few of them leave a step alone.  */
static struct shunt_outcome check_sparse_mask(struct grb_product *p)
{
  const struct grb_call *x = p->call;
  const struct grb_library *l = p->library;
  uint64_t entries = 0;
  SHUNT_DECLINE_IF(!x->mask || x->kind != GRB_CALL_MXM, SHUNT_R_FORMAT);
  SHUNT_DECLINE_IF(!grb_settings_read_mask(l, x->descriptor, &p->settings), SHUNT_R_UNREADABLE);
  if (!p->settings.complement) {
    SHUNT_DECLINE_IF(l->GrB_Matrix_nvals(&entries, x->mask) != GRB_SUCCESS, SHUNT_R_UNREADABLE);
    p->small_mask = !grb_engine_worth_mask((int64_t)entries);
    SHUNT_DECLINE_IF(p->small_mask && (entries < LEAST_OF_STEP || !may_be_frontier(p)),
                     SHUNT_R_SMALL);
    if (p->small_mask) return SHUNT_OUTCOME(SHUNT_FITS);
  }
  SHUNT_DECLINE_IF(!grb_operand_glance(l, x->mask, &p->mask), SHUNT_R_UNREADABLE);
  if (!p->settings.complement && grb_operand_is_sparse(&p->mask)) return SHUNT_OUTCOME(SHUNT_FITS);
  SHUNT_DECLINE_IF(p->mask.form == GRB_FULL || !may_be_frontier(p), SHUNT_R_MASK);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* A is glanced at.  Of two sparse operands B is read first, as A is sorted by that. */
static struct shunt_outcome read_sparse_pair(struct grb_product *p)
{
  GRB_CONTINUE(check_sparse_mask(p));
  if (grb_engine_forced()) return SHUNT_OUTCOME(SHUNT_FITS);
  SHUNT_DECLINE_IF(!grb_operand_read(p->library, &p->b), SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(grb_frontier_is_hopeless(p), SHUNT_R_SLOWER);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static struct shunt_outcome read_inputs(struct grb_product *p)
{
  const struct grb_call *x = p->call;
  const struct grb_library *l = p->library;
  const bool vector = x->kind != GRB_CALL_MXM;
  SHUNT_DECLINE_IF(shunt_options()->engines == 0, SHUNT_R_DISABLED);
  SHUNT_DECLINE_IF(!x->c || !x->a || !x->b || !x->semiring, SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(!grb_library_ready(x->library), SHUNT_R_UNREADABLE);
  if (vector) {
    SHUNT_DECLINE_IF(!grb_semiring_read(l, x->semiring, &p->semiring), SHUNT_R_SEMIRING);
    SHUNT_DECLINE_IF(!grb_engine_worth_vector(&p->semiring), SHUNT_R_SLOWER);
  }
  SHUNT_DECLINE_IF(!grb_operand_glance(l, x->a, &p->a), SHUNT_R_UNREADABLE);
  SHUNT_DECLINE_IF(!grb_operand_glance(l, x->b, &p->b), SHUNT_R_UNREADABLE);
  bool sparse = grb_operand_is_sparse(&p->a) || grb_operand_is_sparse(&p->b);
  bool dense = grb_operand_is_dense(&p->a) || grb_operand_is_dense(&p->b);
  SHUNT_DECLINE_IF(!sparse && !x->mask, SHUNT_R_FORMAT);
  if (!dense) GRB_CONTINUE(read_sparse_pair(p));
  SHUNT_DECLINE_IF(vector && !grb_operand_is_sparse(&p->a) && !grb_engine_forced(), SHUNT_R_FORMAT);
  SHUNT_DECLINE_IF(!grb_operand_read(l, &p->a), SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(vector && !grb_engine_worth(p->a.nnz), SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(!grb_operand_read(l, &p->b), SHUNT_R_EMPTY);
  bool sparse_a = grb_operand_is_sparse(&p->a), sparse_b = grb_operand_is_sparse(&p->b);
  const bool both = sparse_a && sparse_b;
  SHUNT_DECLINE_IF(both && dense, SHUNT_R_FORMAT);
  SHUNT_DECLINE_IF(sparse_a && !both && !grb_engine_worth(most_work(&p->a, &p->b)), SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(sparse_b && !both && !grb_engine_worth(most_work(&p->b, &p->a)), SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(!vector && !grb_semiring_read(l, x->semiring, &p->semiring), SHUNT_R_SEMIRING);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* C and the mask are not finished: their shapes and forms are enough so far. */
static struct shunt_outcome read_outputs(struct grb_product *p)
{
  const struct grb_call *x = p->call;
  const struct grb_library *l = p->library;
  SHUNT_DECLINE_IF(!grb_settings_read(l, x->descriptor, &p->settings), SHUNT_R_UNREADABLE);
  turn_vectors(p);
  SHUNT_DECLINE_IF(!grb_operand_glance(l, x->c, &p->c) || !grb_operand_shape(l, &p->c),
                   SHUNT_R_UNREADABLE);
  SHUNT_DECLINE_IF(
      x->mask && (!grb_operand_glance(l, x->mask, &p->mask) || !grb_operand_shape(l, &p->mask)),
      SHUNT_R_UNREADABLE);
  SHUNT_DECLINE_IF(!x->mask && p->settings.complement, SHUNT_R_MASK);
  p->masked =
      x->mask && !(p->mask.form == GRB_FULL && p->settings.structural && !p->settings.complement);
  GRB_CONTINUE(read_shape(p));
  p->threads = grb_threads(l, x->descriptor);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

struct shunt_outcome grb_read(struct grb_product *p)
{
  GRB_CONTINUE(read_inputs(p));
  return read_outputs(p);
}
