/* choose.c: the method of a product, by the forms of its operands.

     sparse x full, full x sparse           spmm.c
     full x full, masked by a sparse M      sddmm.c
     sparse x sparse, the same              masked_dot.c
     few rows x sparse, masked              frontier.c  */
#include "backend/graphblas/product.h"

static bool both_sparse(const struct grb_product *p)
{
  return grb_operand_is_sparse(&p->a) && grb_operand_is_sparse(&p->b);
}

/* Could the other method for two sparse operands take it? */
static bool has_mask_of_dot(const struct grb_product *p)
{
  return !both_sparse(p) || (!p->settings.complement && grb_operand_is_sparse(&p->mask));
}

/* Is the result one value for all entries?  GraphBLAS then stores it as such; so does the method
   for two sparse operands.  */
static bool is_uniform(const struct grb_product *p)
{
  bool first = !grb_uses_first(p->semiring.multiplier) || p->a.iso;
  bool second = !grb_uses_second(p->semiring.multiplier) || p->b.iso;
  const bool iso = p->a.iso && p->b.iso;
  /* PLUS of equal terms depends on how many there are, which may be the same for all. */
  return first && second && (p->semiring.monoid != SHUNT_PLUS || iso);
}

/* Does this operand have the product's type, or one that does not matter, or, of two sparse ones,
   one value that is easily brought to it?  */
static bool type_fits(const struct grb_product *p, struct grb_operand *x, bool used)
{
  GrB_Type type = grb_operand_type(p->library, x);
  return type == grb_product_type(p) || (!used && grb_type_is_built_in(p->library, type)) ||
         (both_sparse(p) && grb_operand_cast_iso(p->library, x, p->semiring.number));
}

struct shunt_outcome grb_choose(struct grb_product *p)
{
  const enum shunt_multiplier times = p->semiring.multiplier;
  const bool sparse = grb_operand_is_sparse(&p->a) || grb_operand_is_sparse(&p->b);
  if (grb_frontier_fits(p)) {
    p->method = &grb_frontier;
    const struct shunt_outcome v = p->method->choose(p);
    /* What is not worth it for the gaps of a bitmap is not without them. */
    const bool other = has_mask_of_dot(p) && p->a.form != GRB_BITMAP;
    const bool only = grb_semiring_of_sparse(&p->semiring) && !both_sparse(p);
    /* The other method for two sparse operands takes longer to begin. */
    const bool small = v.reason == SHUNT_R_SMALL && both_sparse(p);
    if (v.reason == SHUNT_FITS || only || small || !other) return v;
  }
  SHUNT_DECLINE_IF(p->small_mask, SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(!both_sparse(p) && grb_semiring_of_sparse(&p->semiring), SHUNT_R_SEMIRING);
  SHUNT_DECLINE_IF(both_sparse(p) && !has_mask_of_dot(p), SHUNT_R_MASK);
  SHUNT_DECLINE_IF(!both_sparse(p) && is_uniform(p), SHUNT_R_ISO);
  SHUNT_DECLINE_IF(!type_fits(p, &p->a, grb_uses_first(times)) ||
                       !type_fits(p, &p->b, grb_uses_second(times)),
                   SHUNT_R_TYPES);
  p->method = both_sparse(p) ? &grb_masked_dot : sparse ? &grb_spmm : &grb_sddmm;
  return p->method->choose(p);
}
