#include "backend/graphblas/product.h"

#include "backend/graphblas/engine.h"
#include "backend/options/options.h"

#define FORWARD(call)                                                                              \
  do {                                                                                             \
    struct shunt_verdict v_ = (call);                                                              \
    if (v_.reason != SHUNT_FITS) return v_;                                                        \
  } while (0)

bool grb_product_type_fits(const struct grb_product *p, const struct grb_operand *x, bool used)
{
  GrB_Type type = grb_operand_type(p->library, x);
  return type == grb_product_type(p) || (!used && grb_type_is_built_in(p->library, type));
}

bool grb_product_is_uniform(const struct grb_product *p)
{
  bool first = !grb_uses_first(p->semiring.multiplier) || p->a.iso;
  bool second = !grb_uses_second(p->semiring.multiplier) || p->b.iso;
  /* PLUS of equal terms depends on how many there are; but iso x iso is the original's. */
  return first && second && (p->semiring.monoid != SHUNT_PLUS || (p->a.iso && p->b.iso));
}

/* mxv transposes by its first field, vxm by its second: w' = u' A is w = A' u, with the
   operands of the multiplication exchanged, and read_product has put A first.  */
static void settle_vectors(struct grb_product *p)
{
  struct grb_settings *s = &p->settings;
  if (p->call->kind == GRB_CALL_MXV) s->transpose_second = false;
  if (p->call->kind == GRB_CALL_VXM) {
    s->transpose_first = !s->transpose_second;
    s->transpose_second = false;
    p->semiring.multiplier = grb_exchanged(p->semiring.multiplier);
  }
}

static struct shunt_verdict read_shape(struct grb_product *p)
{
  bool ta = p->settings.transpose_first, tb = p->settings.transpose_second;
  p->m = ta ? p->a.cols : p->a.rows;
  p->k = ta ? p->a.rows : p->a.cols;
  p->n = tb ? p->b.rows : p->b.cols;
  SHUNT_DECLINE_IF((tb ? p->b.cols : p->b.rows) != p->k, SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF(p->c.rows != p->m || p->c.cols != p->n, SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF(p->call->mask && (p->mask.rows != p->m || p->mask.cols != p->n), SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF(p->m == 0 || p->n == 0 || p->k == 0, SHUNT_R_EMPTY);
  return SHUNT_VERDICT(SHUNT_FITS);
}

/* No more multiplications than this, whichever way the operands are turned. */
static int64_t most_work(const struct grb_operand *sparse, const struct grb_operand *dense)
{
  int64_t work, longer = dense->rows > dense->cols ? dense->rows : dense->cols;
  return __builtin_mul_overflow(sparse->nnz, longer, &work) ? INT64_MAX : work;
}

/* Questions that have cheap answers: most calls end at one of them, 100 ns after they came. */
static struct shunt_verdict read_operands(struct grb_product *p)
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
  SHUNT_DECLINE_IF(!dense || (!sparse && !x->mask), SHUNT_R_FORMAT);
  SHUNT_DECLINE_IF(vector && !grb_operand_is_sparse(&p->a) && !grb_engine_forced(), SHUNT_R_FORMAT);
  SHUNT_DECLINE_IF(!grb_operand_read(l, &p->a), SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(vector && !grb_engine_worth(p->a.nnz), SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(!grb_operand_read(l, &p->b), SHUNT_R_EMPTY);
  bool sparse_a = grb_operand_is_sparse(&p->a), sparse_b = grb_operand_is_sparse(&p->b);
  SHUNT_DECLINE_IF(sparse_a && sparse_b, SHUNT_R_FORMAT);
  SHUNT_DECLINE_IF(sparse_a && !grb_engine_worth(most_work(&p->a, &p->b)), SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(sparse_b && !grb_engine_worth(most_work(&p->b, &p->a)), SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(!vector && !grb_semiring_read(l, x->semiring, &p->semiring), SHUNT_R_SEMIRING);
  return SHUNT_VERDICT(SHUNT_FITS);
}

static struct shunt_verdict read_rest(struct grb_product *p)
{
  const struct grb_call *x = p->call;
  const struct grb_library *l = p->library;
  SHUNT_DECLINE_IF(!grb_settings_read(l, x->descriptor, &p->settings), SHUNT_R_UNREADABLE);
  settle_vectors(p);
  SHUNT_DECLINE_IF(!grb_operand_glance(l, x->c, &p->c) || !grb_operand_shape(l, &p->c),
                   SHUNT_R_UNREADABLE);
  SHUNT_DECLINE_IF(
      x->mask && (!grb_operand_glance(l, x->mask, &p->mask) || !grb_operand_shape(l, &p->mask)),
      SHUNT_R_UNREADABLE);
  SHUNT_DECLINE_IF(!x->mask && p->settings.complement, SHUNT_R_MASK);
  p->masked =
      x->mask && !(p->mask.form == GRB_FULL && p->settings.structural && !p->settings.complement);
  FORWARD(read_shape(p));
  SHUNT_DECLINE_IF(grb_product_is_uniform(p), SHUNT_R_ISO);
  p->threads = grb_threads(l, x->descriptor);
  return SHUNT_VERDICT(SHUNT_FITS);
}

struct shunt_verdict grb_product_read(struct grb_product *p)
{
  FORWARD(read_operands(p));
  return read_rest(p);
}
