/* frontier_glance.c: steps of searches that no way of ours can be faster at, found before F is
   read: reading sorts it, for which GraphBLAS has no need.  Graphs of many levels, as roads are,
   have hundreds of them.  */
#include <math.h>

#include "backend/graphblas/engine.h"
#include "backend/graphblas/frontier/frontier_cost.h"
#include "backend/graphblas/masked_cost.h"
#include "backend/graphblas/product.h"

enum { MOST_ROWS = 1024, FEW_ROWS = 32 };

struct glance {
  struct shunt_frontier x; /* of F and of M their sizes alone */
  double entries, reach;   /* of F; entries of A that one of these meets */
};

/* False: it is no step, or one of which less is known. */
static bool take_glance(const struct grb_product *p, struct glance *g)
{
  const struct grb_library *l = p->library;
  const struct grb_call *call = p->call;
  struct grb_settings settings;
  GrB_BinaryOp multiply;
  uint64_t rows, entries, mask = 0;
  if (p->b.form != GRB_SPARSE || p->b.rows != p->b.cols ||
      !grb_settings_read(l, call->descriptor, &settings) || settings.transpose_first ||
      p->b.by_column != settings.transpose_second)
    return false;
  if (l->GrB_Matrix_nrows(&rows, call->a) != GRB_SUCCESS || rows > MOST_ROWS ||
      !grb_frontier_may_be(l, call->semiring) ||
      l->GxB_Semiring_multiply(&multiply, call->semiring) != GRB_SUCCESS ||
      l->GrB_Matrix_nvals(&entries, call->a) != GRB_SUCCESS)
    return false;
  const bool dense = p->mask.form == GRB_BITMAP;
  if (!dense && l->GrB_Matrix_nvals(&mask, call->mask) != GRB_SUCCESS) return false;
  g->x = (struct shunt_frontier){
      .sums = multiply == l->op[GRB_FP64][GRB_FIRST],
      .complement = settings.complement,
      .rows = (int64_t)rows,
      .f = {.sparse = {.nnz = (int64_t)entries}},
      .m = {.dense = dense, .sparse = {.nnz = (int64_t)mask}},
      .a = grb_operand_sparse(&p->b, settings.transpose_second, false),
      .threads = grb_threads(l, call->descriptor),
  };
  if (!g->x.sums && multiply != l->op[GRB_BOOL][GRB_ONEB]) return false;
  g->entries = (double)entries;
  g->reach = shunt_frontier_reach(&g->x.a);
  return true;
}

/* With `more` times the terms that the sample tells.  The longest row of F is not known: of many
   rows one may have nearly all there is (uneven), else it is taken for a mean one.  */
static struct grb_frontier_cost cost_of(const struct glance *g, double more, bool uneven)
{
  const double rows = (double)g->x.rows, groups = ceil(rows / (g->x.sums ? 8 : 64));
  const double all = groups * (double)g->x.a.nnz, likely = g->entries * g->reach,
               terms = more * likely;
  const struct shunt_frontier_reads reads = {terms, terms < all ? terms : all,
                                             uneven ? terms : likely / rows};
  return grb_frontier_cost(&g->x, g->entries, reads);
}

/* ---- steps that pay only if rows are uneven -------------------------------------------------- */

/* After so many that were read for nothing one in so many is. */
enum { FOR_NOTHING = 3, ONE_IN = 16 };
static int for_nothing, since; /* any thread may lose another's count */

static bool read_uneven(void)
{
  if (__atomic_load_n(&for_nothing, __ATOMIC_RELAXED) < FOR_NOTHING) return true;
  return __atomic_add_fetch(&since, 1, __ATOMIC_RELAXED) % ONE_IN == 0;
}

void grb_frontier_was_uneven(bool it_was)
{
  const int before = __atomic_load_n(&for_nothing, __ATOMIC_RELAXED);
  const int after = it_was ? 0 : before < FOR_NOTHING ? before + 1 : before;
  __atomic_store_n(&for_nothing, after, __ATOMIC_RELAXED);
}

/* The sample may be wrong: would GraphBLAS take longer for half as many terms again, or for uneven
   rows?  Such a step is read if those before it did.  */
bool grb_frontier_is_hopeless(struct grb_product *p)
{
  const double more = 1.5, worth_it = 2;
  struct glance g;
  if (!take_glance(p, &g)) return false;
  const struct grb_frontier_cost likely = cost_of(&g, 1, false);
  if (likely.original >= likely.host) return false;
  const double host = likely.host, original = cost_of(&g, more, false).original;
  if (original >= host || (g.x.rows > FEW_ROWS && cost_of(&g, more, true).original >= host)) {
    p->if_uneven = true;
    return !read_uneven();
  }
  /* Under a sparse mask rows may be added up, for which A's indices are made narrow. */
  const bool other = !g.x.complement && !g.x.m.dense && !p->small_mask;
  const struct grb_masked_size size = {(double)g.x.m.sparse.nnz, g.entries, g.entries * g.reach,
                                       g.x.sums};
  return !other || original < worth_it * grb_masked_least(&g.x.a, &size);
}
