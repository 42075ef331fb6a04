/* frontier.c: C<M> = accum (C, F * A) and C<!M>, where F has few rows: a step of as many searches
   of one graph (kernels/semiring/frontier/frontier_kernels.h).  F and M are by row, and sparse or
   bitmaps; A is sparse, pushed from where it is by row, pulled from where it is by column.  */

#include "backend/graphblas/commit.h"
#include "backend/graphblas/engine.h"
#include "backend/graphblas/frontier/frontier_cost.h"
#include "backend/graphblas/mask.h"
#include "backend/graphblas/memory.h"
#include "kernels/semiring/semiring_team.h"

enum { MOST_ROWS = 1024 };

/* ---- the product as the kernel sees it ------------------------------------------------------- */

static struct shunt_lines lines(const struct grb_operand *x, bool use_values)
{
  struct shunt_lines out = {.dense = grb_operand_is_dense(x)};
  if (!out.dense)
    out.sparse = grb_operand_sparse(x, false, use_values);
  else
    out.full = grb_operand_full(x, false, use_values), out.sparse.nnz = x->nnz;
  return out;
}

static bool sums(const struct grb_product *p)
{
  return p->semiring.monoid == SHUNT_PLUS;
}

static bool has_values(const struct grb_product *p)
{
  return sums(p) || p->semiring.inner;
}

static struct shunt_frontier product(const struct grb_product *p)
{
  return (struct shunt_frontier){
      .sums = sums(p),
      .parents = p->semiring.inner ? (int)grb_number_size(p->semiring.number) : 0,
      .complement = p->settings.complement,
      .single = p->single,
      .rows = p->m,
      .f = lines(&p->a, sums(p)),
      .m = lines(&p->mask, false),
      .a = grb_operand_sparse(&p->b, p->settings.transpose_second, false),
      .threads = p->threads,
  };
}

/* ---- the decision ---------------------------------------------------------------------------- */

static bool is_step(const struct grb_semiring *s)
{
  return s->inner ||
         (s->number == GRB_FP64 && s->monoid == SHUNT_PLUS && s->multiplier == SHUNT_FIRST) ||
         (s->number == GRB_BOOL && s->monoid == SHUNT_ANY && s->multiplier == SHUNT_PAIR);
}

/* The multiplication tells most others, and GraphBLAS' own monoids need no more questions; names of
   all operators are not looked through.  */
bool grb_frontier_may_be(const struct grb_library *l, GrB_Semiring semiring)
{
  GrB_Monoid monoid;
  GrB_BinaryOp multiply, add;
  enum grb_number number;
  if (l->GxB_Semiring_multiply(&multiply, semiring) != GRB_SUCCESS) return false;
  const bool sums = multiply == l->op[GRB_FP64][GRB_FIRST];
  const bool bits = multiply == l->op[GRB_BOOL][GRB_ONEB];
  if (!sums && !bits && !grb_operator_is_inner(l, multiply, &number)) return false;
  if (l->GxB_Semiring_add(&monoid, semiring) != GRB_SUCCESS) return false;
  if ((sums && monoid == l->sums) || (bits && monoid == l->bits)) return true;
  if (l->GxB_Monoid_operator(&add, monoid) != GRB_SUCCESS) return false;
  if (sums || bits) return add == (sums ? l->op[GRB_FP64][GRB_PLUS] : l->any[GRB_BOOL]);
  return add == l->any[number] || add == l->op[number][GRB_MIN];
}

static bool types_fit(const struct grb_product *p)
{
  const struct grb_library *l = p->library;
  const GrB_Type first = grb_operand_type(l, &p->a), second = grb_operand_type(l, &p->b);
  return grb_type_is_built_in(l, second) &&
         (sums(p) ? first == l->type[GRB_FP64] : grb_type_is_built_in(l, first));
}

/* Reading F sorts it, which GraphBLAS may not have to: not for one place in a thousand. */
bool grb_frontier_worth(const struct grb_library *l, GrB_Matrix f)
{
  enum { LEAST_ENTRIES = 64, MOST_PLACES = 1000 };
  uint64_t rows, nodes, entries;
  if (l->GrB_Matrix_nvals(&entries, f) != GRB_SUCCESS) return false;
  if (entries < LEAST_ENTRIES || l->GrB_Matrix_nrows(&rows, f) != GRB_SUCCESS || rows > MOST_ROWS ||
      l->GrB_Matrix_ncols(&nodes, f) != GRB_SUCCESS)
    return false;
  return nodes / MOST_PLACES * rows < entries;
}

bool grb_frontier_fits(const struct grb_product *p)
{
  const bool few = p->m <= MOST_ROWS && p->k <= INT32_MAX / 2 && p->n <= INT32_MAX / 2;
  return p->call->kind == GRB_CALL_MXM && p->masked && p->settings.structural && few &&
         is_step(&p->semiring) && !p->settings.transpose_first && !p->a.by_column &&
         !p->mask.by_column && p->mask.form != GRB_FULL && p->b.form == GRB_SPARSE && types_fit(p);
}

/* Is ours slower even if nothing is read?  By a sparse F GraphBLAS does not pull: what it takes
   does not depend on what would be read.  */
static bool is_hopeless(const struct shunt_frontier *x)
{
  const struct shunt_frontier_reads nothing = {0, 0, 0};
  if (!x->a.by_column || x->f.dense) return false;
  const struct grb_frontier_cost cost = grb_frontier_cost(x, (double)x->f.sparse.nnz, nothing);
  return cost.original < cost.host;
}

static struct shunt_outcome choose(struct grb_product *p)
{
  SHUNT_DECLINE_IF(!grb_operand_read(p->library, &p->mask), SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(p->mask.by_column || p->mask.form == GRB_FULL, SHUNT_R_MASK);
  const struct shunt_frontier x = product(p);
  SHUNT_DECLINE_IF(is_hopeless(&x) && !grb_engine_forced(), SHUNT_R_SLOWER);
  const struct shunt_frontier_reads reads = shunt_frontier_reads(&x);
  const struct grb_frontier_cost cost = grb_frontier_cost(&x, (double)p->a.nnz, reads);
  p->work = (int64_t)reads.single;
  p->gain = grb_gain_frontier(cost.original, cost.host);
  p->alone = cost.host_alone;
  p->step = cost.original_alone;
  p->single = cost.single;
  if (grb_engine_forced()) return SHUNT_OUTCOME(SHUNT_FITS);
  if (p->if_uneven) grb_frontier_was_uneven(cost.original >= cost.host);
  SHUNT_DECLINE_IF(!grb_engine_worth(p->work), SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(cost.original < cost.host, SHUNT_R_SLOWER);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* When GraphBLAS turns C into a bitmap. */
struct bitmap_rule {
  bool may, always;
  double most; /* entries of a sparse one, of all places */
};

static struct bitmap_rule bitmap_rule(const struct grb_product *p)
{
  const struct grb_library *l = p->library;
  struct bitmap_rule rule = {.most = 1};
  int32_t control = 0;
  if (l->GxB_Matrix_Option_get_INT32(p->c.handle, l->numbers.sparsity_control, &control) !=
          GRB_SUCCESS ||
      l->GxB_Matrix_Option_get_FP64(p->c.handle, l->numbers.bitmap_switch, &rule.most) !=
          GRB_SUCCESS)
    return rule;
  rule.may = control & GRB_BITMAP;
  rule.always = rule.may && !(control & (GRB_SPARSE | GRB_HYPERSPARSE));
  return rule;
}

static bool allocate_values(struct grb_product *p, size_t elements)
{
  struct grb_result *t = &p->t;
  t->iso = !has_values(p);
  t->values =
      grb_allocate(p->library, (t->iso ? 1 : elements) * grb_number_size(p->semiring.number));
  if (t->iso && t->values) *(bool *)t->values = true;
  return t->values;
}

static bool allocate_bitmap(struct grb_product *p)
{
  const size_t elements = (size_t)p->m * (size_t)p->n;
  p->t.form = GRB_BITMAP;
  p->t.present = grb_allocate(p->library, elements);
  return allocate_values(p, elements) && p->t.present;
}

/* The work is gone in any case. */
static bool take_bitmap(struct grb_product *p, struct shunt_frontier_work *work)
{
  const bool good = allocate_bitmap(p);
  shunt_frontier_finish_bitmap(work, good ? p->t.present : NULL,
                               has_values(p) ? p->t.values : NULL);
  return good;
}

static bool take_sparse(struct grb_product *p, uint64_t *offsets, struct shunt_frontier_work *work)
{
  struct grb_result *t = &p->t;
  t->form = GRB_SPARSE;
  t->vectors = p->m;
  t->offsets = offsets;
  t->indices = grb_allocate(p->library, ((size_t)t->nvals + 1) * sizeof *t->indices);
  const bool good = allocate_values(p, (size_t)t->nvals + 1) && t->indices;
  shunt_frontier_finish(work, good ? t->indices : NULL, has_values(p) ? t->values : NULL);
  return good;
}

/* T, whose form depends on how much it holds.  *offsets is NULL when T has it. */
static shunt_status compute_either(struct grb_product *p, const struct shunt_frontier *x,
                                   const struct bitmap_rule *rule, uint64_t **offsets)
{
  struct shunt_frontier_work *work;
  const shunt_status status = grb_engine_frontier(p, x, *offsets, &work);
  if (status != SHUNT_OK) return status;
  p->t.nvals = (int64_t)(*offsets)[p->m];
  if (rule->may && (double)p->t.nvals > rule->most * (double)p->m * (double)p->n)
    return take_bitmap(p, work) ? SHUNT_OK : SHUNT_E_MEMORY;
  const bool good = take_sparse(p, *offsets, work);
  *offsets = NULL;
  return good ? SHUNT_OK : SHUNT_E_MEMORY;
}

static shunt_status compute_bitmap(struct grb_product *p, const struct shunt_frontier *x,
                                   uint64_t *offsets)
{
  if (!allocate_bitmap(p)) return SHUNT_E_MEMORY;
  const shunt_status status =
      grb_engine_frontier_bitmap(p, x, offsets, p->t.present, has_values(p) ? p->t.values : NULL);
  if (status == SHUNT_OK) p->t.nvals = (int64_t)offsets[p->m];
  return status;
}

struct job {
  struct grb_product *p;
  struct shunt_frontier x;
  struct bitmap_rule rule;
  uint64_t *offsets;
  shunt_status status;
};

static void drive(void *job)
{
  struct job *j = job;
  j->status = j->rule.always ? compute_bitmap(j->p, &j->x, j->offsets)
                             : compute_either(j->p, &j->x, &j->rule, &j->offsets);
}

static struct shunt_outcome compute(struct grb_product *p)
{
  struct job j = {.p = p, .x = product(p), .rule = bitmap_rule(p)};
  j.offsets = grb_allocate(p->library, ((size_t)p->m + 1) * sizeof *j.offsets);
  SHUNT_DECLINE_IF(!j.offsets, SHUNT_R_FAILED);
  const bool replaces = grb_mask_replaces_all(p);
  p->t = (struct grb_result){.replaces_all = replaces};
  j.x.threads = shunt_team_threads(j.x.threads, p->alone);
  shunt_team_run(j.x.threads, drive, &j);
  grb_release(p->library, j.offsets);
  if (j.status == SHUNT_OK) return SHUNT_OUTCOME(SHUNT_FITS);
  grb_result_release(p);
  return SHUNT_OUTCOME(grb_engine_reason(j.status, SHUNT_R_LARGE));
}

const struct grb_method grb_frontier = {choose, compute};
