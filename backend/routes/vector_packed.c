/* vector_packed.c: when a packed copy pays, in which order its rows stand, and how it is made. */
#include "backend/routes/vector_packed.h"

#include <math.h>

#include "backend/options/options.h"
#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "conv/vector/row_clusters.h"
#include "conv/vector/vector_conv.h"
#include "kernels/common/alignment.h"
#include "kernels/vector/vector_kernels.h"

/* ---- the packed copy ------------------------------------------------------------ */

/* How a copy is packed; shape: the height that tells its kernel how many vectors there are, which
   `layout` has room for.  */
struct packing {
  struct shunt_vector_layout layout;
  int shape;
};

/* The tallest vectors that are all whole: a group of others would not have room.  */
static int whole_height(const struct shunt_profile *f)
{
  return f ? shunt_vector_profiled_height(f, 1) : 1;
}

/* Products of TF32 that an f32 product may be made of; 0: it is none, or has to be exact. */
static int tf32_products(const struct shunt_spmm *s)
{
  if (s->a.value_type != SHUNT_F32) return 0;
  return shunt_options()->math == SHUNT_MATH_TF32     ? 1
         : shunt_options()->math == SHUNT_MATH_TF32X3 ? 3
                                                      : 0;
}

static enum shunt_vector_order best_order(const struct shunt_call *c, int shape)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  return tf32_products(s) ? SHUNT_VECTOR_WINDOWED
                          : shunt_choose_vector_order(s, shape, &c->context->machine);
}

static struct packing natural_packing(const struct shunt_call *c)
{
  struct packing k = {.layout.height = whole_height(c->profile)};
  k.shape = k.layout.height;
  k.layout.order = best_order(c, k.shape);
  return k;
}

/* The room that the study tells of is SEQUENTIAL's; columns may crowd in the windows. */
static struct packing ordered_packing(const struct shunt_call *c)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct shunt_vector_measure *m = c->studied;
  struct packing k = {.layout = {.height = shunt_vector_measured_height(m), .listed = 1}};
  k.shape = shunt_vector_measured_entries(a, m);
  k.layout.order = best_order(c, k.shape);
  if (k.layout.order == SHUNT_VECTOR_WINDOWED && k.layout.height > 1) k.layout.height /= 2;
  return k;
}

static uint32_t noted(const struct packing *k)
{
  return (uint32_t)k->shape << 24 | (uint32_t)k->layout.listed << 16 |
         (uint32_t)k->layout.height << 8 | (uint32_t)k->layout.order;
}

static struct packing packing_noted(uint32_t note)
{
  return (struct packing){.layout = {.order = (enum shunt_vector_order)(note & 0xff),
                                     .height = (int)(note >> 8 & 0xff),
                                     .listed = (int)(note >> 16 & 0xff)},
                          .shape = (int)(note >> 24)};
}

static bool lay_out(const struct shunt_csr *a, const struct packing *k, void *copy,
                    struct shunt_vector *v)
{
  const bool good = shunt_vector_lay_out(a, &k->layout, copy, v);
  v->height = k->shape;
  return good;
}

/* That the call's copy is to have. */
static struct packing packing_for(const struct shunt_call *c)
{
  return shunt_vector_in_order(c) ? ordered_packing(c) : natural_packing(c);
}

/* B's copy, where its rows are not to be read in place. */
static size_t own_bytes(const struct shunt_problem *p)
{
  return shunt_vector_packed_spmm_workspace(&p->spmm);
}

static shunt_status convert(const struct shunt_call *c, void *copy, uint32_t *irregular)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct packing k = packing_for(c);
  struct shunt_vector v;
  shunt_status r = SHUNT_OK;
  if (!lay_out(a, &k, copy, &v)) return SHUNT_E_UNSUPPORTED;
  if (k.layout.listed)
    r = SHUNT_CUDA(cudaMemcpyAsync(v.row_of, c->study, (size_t)a->rows * sizeof *v.row_of,
                                   cudaMemcpyDeviceToDevice, c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_LAUNCH(shunt_csr_to_vector_cuda(a, &k.layout, &v, &c->context->device, c->stream));
  return r == SHUNT_OK ? shunt_packed_set_irregular(c, &v.counts->irregular, irregular) : r;
}

static shunt_status product(const struct shunt_packed_product *x)
{
  const struct shunt_call *c = x->call;
  const struct shunt_device *d = &c->context->device;
  const struct shunt_machine *m = &c->context->machine;
  const struct shunt_spmm *s = &x->spmm;
  const struct packing k = packing_noted(*c->packed->note);
  struct shunt_vector v;
  const int products = tf32_products(s);
  if (!lay_out(&s->a, &k, x->copy, &v)) return SHUNT_E_UNSUPPORTED;
  if (products) {
    const double vectors = shunt_cost_vectors_of(&s->a, v.height);
    const int tile = shunt_choose_vector_tf32_tile(s, vectors, products, m);
    return SHUNT_LAUNCH(shunt_vector_packed_spmm_tf32_cuda(s, &v, products, tile, d, x->own,
                                                           own_bytes(c->problem), c->stream));
  }
  const struct shunt_vector_shape shape = shunt_choose_vector_shape_of(s, &v, m);
  return SHUNT_LAUNCH(shunt_vector_packed_spmm_shaped_cuda(s, &v, &shape, d, x->own,
                                                           own_bytes(c->problem), c->stream));
}

static shunt_status proved(const struct shunt_packed_product *x, const struct shunt_spmm *s,
                           const struct shunt_guard *r)
{
  const struct shunt_call *c = x->call;
  const struct shunt_device *d = &c->context->device;
  const struct shunt_machine *m = &c->context->machine;
  const struct packing k = packing_noted(*c->packed->note);
  struct shunt_vector v;
  if (tf32_products(s)) return SHUNT_E_UNSUPPORTED;
  if (!lay_out(&s->a, &k, x->copy, &v)) return SHUNT_E_UNSUPPORTED;
  const struct shunt_vector_shape shape = shunt_choose_vector_shape_of(s, &v, m);
  return shunt_vector_packed_spmm_proved_shaped_cuda(
      s, &v, &shape, shunt_choose_vector_brief(s, &v, m), r, d, c->stream);
}

const struct shunt_packed_format shunt_vector_packed = {.own_bytes = own_bytes,
                                                        .convert = convert,
                                                        .product = product,
                                                        .lets_in = true,
                                                        .proved = proved};

static bool types_fit(const struct shunt_call *c)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const shunt_type t = s->a.value_type;
  if (tf32_products(s)) return shunt_vector_packed_spmm_tf32_takes(s, &c->context->device);
  return (t == SHUNT_F16 || t == SHUNT_BF16) && s->b.type == t &&
         (s->c.type == t || s->c.type == SHUNT_F32) && s->compute == SHUNT_F32;
}

/* May such a matrix be packed at all?  Not a scattered one, whose large products would need a large
   buffer.  */
static bool can_pack(const struct shunt_call *c)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const double cells = (double)s->a.rows * (double)s->a.cols;
  return c->problem->op == SHUNT_SPMM && types_fit(c) && (double)s->a.nnz >= cells / 64 &&
         cells <= (double)((int64_t)1 << 30) &&
         !shunt_packed_is_large(shunt_packed_lay_out(&shunt_vector_packed, c->problem).total,
                                c->context);
}

/* Vectors of 8 rows, where the lists of a group's parts have nothing to do with each other. */
static double vectors_of(const struct shunt_csr *a, double reuse)
{
  const double density = (double)a->nnz / ((double)a->rows * (double)a->cols);
  return (double)a->rows / 8 * (double)a->cols * (1 - pow(1 - density, 8 / reuse));
}

/* Product from a packed copy of so many vectors and its proof. */
static double proved_us(const struct shunt_call *c, double vectors, double reuse, int height)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct shunt_machine *m = &c->context->machine;
  const double longest = c->profile ? (double)c->profile->longest_row : 0;
  const int products = tf32_products(s);
  const double product = products ? shunt_cost_vector_tf32_product(s, vectors, products, m)
                                  : shunt_cost_vector_product(s, vectors, height, m);
  const struct shunt_vector_shape shape = shunt_choose_vector_shape(s, vectors, height, m);
  const enum shunt_proof_place proof = c->frozen ? SHUNT_PROOF_NONE
                                       : !products && shunt_vector_packed_spmm_proves(s, &shape)
                                           ? SHUNT_PROOF_INSIDE
                                           : SHUNT_PROOF_BEHIND;
  return shunt_packed_expected_us(c, shunt_cost_vector_packed(s, product, reuse, longest, proof, m),
                                  0);
}

static double natural_us(const struct shunt_call *c, double reuse)
{
  const int height = whole_height(c->profile);
  return proved_us(c, vectors_of(&c->problem->spmm.a, reuse), reuse, height);
}

/* Is a packed copy faster than the direct way by at least so many microseconds? */
static bool packed_gains(const struct shunt_call *c, double least)
{
  if (!c->profile || c->profile->unsorted_rows > 0) return false;
  if (c->forced) return true;
  const double reuse = shunt_cost_vector_reuse(c->profile);
  const double direct = shunt_cost_vector_direct(
      &c->problem->spmm, reuse, (double)c->profile->longest_row, &c->context->machine);
  return reuse >= SHUNT_VECTOR_LEAST_REUSE && natural_us(c, reuse) + least < direct;
}

/* ---- rows in another order -------------------------------------------------------- */

_Static_assert(sizeof(struct shunt_vector_measure) <= SHUNT_PACKED_MEASURES, "the measures fit");

/* What is expected of a copy that is not there yet has to be better by so much: 15 % off is usual.
 */
#define MARGIN 1.1

/* May the rows of such a matrix be ordered, and are they not good as they stand? */
static bool can_order(const struct shunt_call *c)
{
  return c->profile && c->profile->unsorted_rows == 0 && !c->no_copies && can_pack(c) &&
         shunt_cost_vector_reuse(c->profile) < SHUNT_VECTOR_LEAST_REUSE &&
         shunt_row_clusters_cuda_bytes(&c->problem->spmm.a) > 0;
}

/* Product and proof in the order that was found; until the copy is there, with what that takes. */
static double ordered_us(const struct shunt_call *c)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct shunt_vector_measure *m = c->studied;
  const double reuse = m ? 8 * shunt_vector_measured_fill(a, m) : 8;
  const double vectors = m ? (double)m->vectors : vectors_of(a, reuse);
  const double longest = c->profile ? (double)c->profile->longest_row : 0;
  const double us =
      proved_us(c, vectors, reuse, 8) +
      shunt_cost_vector_uneven(&c->problem->spmm, vectors, longest, &c->context->machine);
  return c->packed ? us
                   : MARGIN * us +
                         shunt_cost_vector_packing(a, &c->context->machine) / SHUNT_GAINED_WITHIN;
}

bool shunt_vector_in_order(const struct shunt_call *c)
{
  const struct shunt_vector_measure *m = c->studied;
  if (c->packed) return packing_noted(*c->packed->note).layout.listed;
  return m && !m->irregular && c->study && can_order(c);
}

static size_t study_list_bytes(const struct shunt_csr *a)
{
  return shunt_align_up((size_t)a->rows * sizeof(uint32_t), 256);
}

/* Before a study: would whole vectors pay, and has as much time been spent or saved without them as
   it takes?  So all calls together take no more than the original's, or twice what they did.  After
   one: do those it found?  */
size_t shunt_vector_study_bytes(const struct shunt_call *c)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct shunt_vector_measure *m = c->studied;
  if (!can_order(c) || (m && m->irregular)) return 0;
  if (!c->forced && ordered_us(c) >= c->best_us) return 0;
  if (!c->forced && c->spent_us < shunt_cost_vector_ordering(a, &c->context->machine)) return 0;
  return study_list_bytes(a) + shunt_row_clusters_cuda_bytes(a);
}

shunt_status shunt_vector_study(const struct shunt_call *c, const struct shunt_packed_view *into)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct shunt_device *d = &c->context->device;
  const size_t list = study_list_bytes(a);
  uint32_t *row_of = into->payload;
  shunt_status r =
      SHUNT_CUDA(cudaMemsetAsync(into->irregular, 0, sizeof *into->irregular, c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_LAUNCH(shunt_csr_cluster_rows_cuda(a, row_of, (char *)into->payload + list,
                                                 into->payload_bytes - list, d, c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_LAUNCH(shunt_csr_vector_measure_cuda(a, row_of, into->measures, d, c->stream));
  return r;
}

/* ---- keeping ---------------------------------------------------------------------- */

/* A buffer that was asked for while memory was short has no room to prove and use a copy in. */
static bool has_room(const struct shunt_call *c)
{
  return c->workspace_bytes >= shunt_packed_lay_out(&shunt_vector_packed, c->problem).total;
}

bool shunt_vector_takes_packed(const struct shunt_call *c)
{
  return (c->packed || c->will_pack) && !c->no_copies && can_pack(c) && has_room(c) &&
         (shunt_vector_in_order(c) || packed_gains(c, 0));
}

/* Worth keeping as the rows stand?  A forced copy of those that can be ordered waits for that. */
static bool natural_pays(const struct shunt_call *c)
{
  const struct shunt_vector_measure *m = c->studied;
  if (!c->profile) return true;
  if (c->forced && can_order(c) && !(m && m->irregular)) return false;
  return packed_gains(c, shunt_cost_vector_packing(&c->problem->spmm.a, &c->context->machine) /
                             SHUNT_GAINED_WITHIN);
}

size_t shunt_vector_pack_bytes(const struct shunt_call *c)
{
  if (!can_pack(c) || c->no_copies || !has_room(c)) return 0;
  if (!shunt_vector_in_order(c) && !natural_pays(c)) return 0;
  const struct packing k = packing_for(c);
  const size_t bytes = shunt_vector_bytes(&c->problem->spmm.a, &k.layout);
  return bytes ? shunt_packed_copy_bytes(bytes) : 0;
}

shunt_status shunt_vector_pack(const struct shunt_call *c, const struct shunt_packed_view *into)
{
  const struct packing k = packing_for(c);
  *into->note = noted(&k);
  return shunt_packed_fill(&shunt_vector_packed, c, into);
}

/* ---- using ------------------------------------------------------------------------ */

double shunt_vector_packed_us(const struct shunt_call *c, double reuse)
{
  return shunt_vector_in_order(c) ? ordered_us(c) : natural_us(c, reuse);
}

size_t shunt_vector_packed_workspace(const struct shunt_call *c)
{
  return can_pack(c) ? shunt_packed_lay_out(&shunt_vector_packed, c->problem).total : 0;
}
