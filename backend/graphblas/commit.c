#include "backend/graphblas/commit.h"

#include "backend/graphblas/memory.h"
#include "backend/plan/fault.h"
#ifdef SHUNT_HAVE_CUDA
#include "backend/graphblas/gpu/gpu_engine.h"
#endif

/* ---- a matrix' settings, which packing resets ---------------------------------------------- */

struct controls {
  int32_t sparsity;
  double hyper, bitmap;
};

static bool get_controls(const struct grb_library *l, GrB_Matrix c, struct controls *out)
{
  return l->GxB_Matrix_Option_get_INT32(c, l->numbers.sparsity_control, &out->sparsity) ==
             GRB_SUCCESS &&
         l->GxB_Matrix_Option_get_FP64(c, l->numbers.hyper_switch, &out->hyper) == GRB_SUCCESS &&
         l->GxB_Matrix_Option_get_FP64(c, l->numbers.bitmap_switch, &out->bitmap) == GRB_SUCCESS;
}

/* Without the memory to conform C keeps the form it has: the same content. */
static void put_back(const struct grb_library *l, GrB_Matrix c, const struct controls *saved)
{
  struct controls now;
  bool known = get_controls(l, c, &now);
  if (!known || now.hyper != saved->hyper)
    l->GxB_Matrix_Option_set_FP64(c, l->numbers.hyper_switch, saved->hyper);
  if (!known || now.bitmap != saved->bitmap)
    l->GxB_Matrix_Option_set_FP64(c, l->numbers.bitmap_switch, saved->bitmap);
  l->GxB_Matrix_Option_set_INT32(c, l->numbers.sparsity_control, saved->sparsity);
}

/* A success of the original frees the error text that an earlier failure left with C. */
static void clear_error(const struct grb_library *l, GrB_Matrix c)
{
  l->GrB_Matrix_wait(c, GRB_MATERIALIZE);
}

/* ---- packing -------------------------------------------------------------------------------- */

static int pack_dense(struct grb_product *p, GrB_Matrix into)
{
  struct grb_result *t = &p->t;
  const struct grb_library *l = p->library;
  uint64_t elements = (uint64_t)p->m * (uint64_t)p->n;
  uint64_t bytes = (t->iso ? 1 : elements) * grb_number_size(p->semiring.number);
  if (t->form == GRB_FULL)
    return (t->by_column ? l->GxB_Matrix_pack_FullC : l->GxB_Matrix_pack_FullR)(into, &t->values,
                                                                                bytes, false, NULL);
  return (t->by_column ? l->GxB_Matrix_pack_BitmapC : l->GxB_Matrix_pack_BitmapR)(
      into, &t->present, &t->values, elements, bytes, t->iso, (uint64_t)t->nvals, NULL);
}

static int pack_sparse(struct grb_product *p, GrB_Matrix into)
{
  struct grb_result *t = &p->t;
  const struct grb_library *l = p->library;
  uint64_t nvals = (uint64_t)t->nvals, vectors = (uint64_t)t->vectors;
  uint64_t bytes = (t->iso ? 1 : nvals) * grb_number_size(p->semiring.number);
  if (t->form == GRB_SPARSE)
    return (t->by_column ? l->GxB_Matrix_pack_CSC : l->GxB_Matrix_pack_CSR)(
        into, &t->offsets, &t->indices, &t->values, (vectors + 1) * 8, nvals * 8, bytes, t->iso,
        false, NULL);
  return (t->by_column ? l->GxB_Matrix_pack_HyperCSC : l->GxB_Matrix_pack_HyperCSR)(
      into, &t->offsets, &t->ids, &t->indices, &t->values, (vectors + 1) * 8, vectors * 8,
      nvals * 8, bytes, t->iso, vectors, false, NULL);
}

static bool pack(struct grb_product *p, GrB_Matrix into)
{
  if (shunt_fault()) return false;
  bool dense = p->t.form == GRB_FULL || p->t.form == GRB_BITMAP;
  return (dense ? pack_dense(p, into) : pack_sparse(p, into)) == GRB_SUCCESS;
}

void grb_arrays_release(const struct grb_library *l, struct grb_result *t)
{
  grb_release(l, t->values);
  grb_release(l, t->present);
  grb_release(l, t->offsets);
  grb_release(l, t->ids);
  grb_release(l, t->indices);
  *t = (struct grb_result){.replaces_all = t->replaces_all};
}

void grb_result_release(struct grb_product *p)
{
  grb_arrays_release(p->library, &p->t);
}

/* ---- the ways -------------------------------------------------------------------------------- */

static bool commit_packed(struct grb_product *p)
{
  struct controls saved;
  if (!get_controls(p->library, p->c.handle, &saved)) return false;
  if (!pack(p, p->c.handle)) return false;
  put_back(p->library, p->c.handle, &saved);
  clear_error(p->library, p->c.handle);
  return true;
}

static bool commit_applied(struct grb_product *p)
{
  const struct grb_library *l = p->library;
  GrB_Matrix merged = NULL;
  struct controls saved, now;
  if (!get_controls(l, p->c.handle, &saved)) return false;
  bool done = SHUNT_TRY_OR(-1, l->GrB_Matrix_new(&merged, grb_product_type(p), (uint64_t)p->m,
                                                 (uint64_t)p->n)) == GRB_SUCCESS &&
              pack(p, merged) &&
              l->GrB_Matrix_apply(p->c.handle, p->call->mask, p->call->accum,
                                  l->identity[p->semiring.number], merged,
                                  grb_settings_output(l, &p->settings)) == GRB_SUCCESS;
  if (merged) l->GrB_Matrix_free(&merged);
  /* 7.4.0 may leave C with the mask's settings. */
  if (done && get_controls(l, p->c.handle, &now) &&
      (now.sparsity != saved.sparsity || now.hyper != saved.hyper || now.bitmap != saved.bitmap))
    put_back(l, p->c.handle, &saved);
  return done;
}

bool grb_commit_hands_over(const struct grb_product *p)
{
  return p->t.replaces_all && p->t.by_column == p->c.by_column &&
         grb_operand_type(p->library, &p->c) == grb_product_type(p);
}

/* C's array is about to be freed. */
static void let_go(const struct grb_product *p)
{
#ifdef SHUNT_HAVE_CUDA
  grb_gpu_unpin(p->c.handle);
#else
  (void)p;
#endif
}

bool grb_commit_in_place_possible(struct grb_product *p)
{
  const struct grb_library *l = p->library;
  if (p->c.form != GRB_FULL || grb_operand_type(l, &p->c) != grb_product_type(p)) return false;
  if (p->c.handle == p->a.handle || p->c.handle == p->b.handle) return false;
  return grb_operand_read(l, &p->c) && p->c.form == GRB_FULL && !p->c.iso &&
         !grb_operand_is_read_only(l, &p->c);
}

struct shunt_outcome grb_commit(struct grb_product *p)
{
  if (p->t.in_place) {
    clear_error(p->library, p->c.handle);
    return SHUNT_OUTCOME(SHUNT_FITS);
  }
  let_go(p);
  bool done = grb_commit_hands_over(p) ? commit_packed(p) : commit_applied(p);
  grb_result_release(p); /* what was not handed over */
  return SHUNT_OUTCOME(done ? SHUNT_FITS : SHUNT_R_FAILED);
}
