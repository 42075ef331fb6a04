/* launchers.c: the launchers of kernels/ and conv/, over their twins.

   The trace has a letter for each:

     c   csr            s  SDDMM                v  vector, direct     f  fingerprint
     p   a profile      V T 2 R D  conversion   w t 4 r d  product    g  repair
     o   COO's offsets  b  bundle, B its hint   k  blocks             +  combine

   (vector, tile, sparse24, srbcrs, dense.)  What no test here needs says that it is not built.  */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conv/bundle/bundle_conv.h"
#include "conv/coo/coo_conv.h"
#include "conv/dense/dense_conv.h"
#include "conv/profile/profile.h"
#include "conv/sparse24/sparse24_conv.h"
#include "conv/srbcrs/srbcrs_conv.h"
#include "conv/tile/tile_conv.h"
#include "conv/vector/row_clusters.h"
#include "conv/vector/vector_conv.h"
#include "kernels/bsr/bsr_kernels.h"
#include "kernels/bundle/bundle_kernels.h"
#include "kernels/common/dense_copy.h"
#include "kernels/common/host_half.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/dense/dense_kernels.h"
#include "kernels/guard/guard.h"
#include "kernels/sparse24/sparse24_kernels.h"
#include "kernels/srbcrs/srbcrs_kernels.h"
#include "kernels/tile/tile_kernels.h"
#include "kernels/tile/tile_mixed_kernels.h"
#include "kernels/vector/vector_kernels.h"
#include "tests/unit/way/device.h"

/* KERNEL(letter, stream, work, fields): enqueues work on a copy of them. */
#define KERNEL(letter, stream, work, ...)                                                          \
  (device_traced(letter),                                                                          \
   device_enqueue(stream, work, &(struct work){__VA_ARGS__}, sizeof(struct work)), SHUNT_OK)
enum { ROOM = 4096 }; /* any workspace that is wanted: tests want to see it asked for */

/* ---- products on the caller's arrays -------------------------------------------------------- */

struct spmm {
  struct shunt_spmm p;
};
static void spmm(const void *arguments)
{
  const struct shunt_spmm *p = &((const struct spmm *)arguments)->p;
  if (device.no_sums || (p->only_if && !*p->only_if)) return;
  if (shunt_type_is_complex(p->compute))
    shunt_csr_spmm_complex_host(p);
  else
    shunt_csr_spmm_host(p);
}
/* Wide products want more than is asked for where memory is short. */
size_t shunt_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)d, p->b.cols > 64 ? (size_t)2 << 20 : ROOM;
}
shunt_status shunt_csr_spmm_merge_cuda(const struct shunt_spmm *p, const struct shunt_device *d,
                                       void *workspace, size_t bytes, shunt_stream s)
{
  if (!workspace || bytes < shunt_csr_spmm_workspace(p, d)) return SHUNT_E_WORKSPACE;
  return KERNEL('c', s, spmm, *p);
}
shunt_status shunt_csr_spmm_split_cuda(const struct shunt_spmm *p, int64_t longest,
                                       const struct shunt_device *d, void *workspace, size_t bytes,
                                       shunt_stream s)
{
  device.longest = longest;
  if (p->b.col_stride != 1) return shunt_csr_spmm_merge_cuda(p, d, workspace, bytes, s);
  return KERNEL('c', s, spmm, *p);
}
size_t shunt_vector_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, ROOM;
}
shunt_status shunt_vector_csr_spmm_cuda(const struct shunt_spmm *p, const struct shunt_device *d,
                                        void *workspace, size_t bytes, shunt_stream s)
{
  (void)d;
  if (!workspace || bytes < ROOM) return SHUNT_E_WORKSPACE;
  return KERNEL('v', s, spmm, *p);
}
bool shunt_vector_csr_spmm_single_launch(const struct shunt_spmm *p, const struct shunt_device *d,
                                         struct shunt_vector_single_launch *how)
{
  return (void)p, (void)d, (void)how, false;
}

struct sddmm {
  struct shunt_sddmm p;
};
static void sddmm(const void *arguments)
{
  shunt_csr_sddmm_host(&((const struct sddmm *)arguments)->p);
}
size_t shunt_csr_sddmm_workspace(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, ROOM;
}
shunt_status shunt_csr_sddmm_cuda(const struct shunt_sddmm *p, bool alike,
                                  const struct shunt_device *d, void *workspace, size_t bytes,
                                  shunt_stream s)
{
  (void)alike, (void)d;
  if (!workspace || bytes < ROOM) return SHUNT_E_WORKSPACE;
  return KERNEL('s', s, sddmm, *p);
}
size_t shunt_vector_csr_sddmm_workspace(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, 0;
}
shunt_status shunt_vector_csr_sddmm_cuda(const struct shunt_sddmm *p, const struct shunt_device *d,
                                         void *workspace, size_t bytes, shunt_stream s)
{
  (void)d, (void)workspace, (void)bytes;
  return KERNEL('v', s, sddmm, *p);
}

struct blocks {
  struct shunt_spmm p;
  struct shunt_block_shape shape;
};
static void blocks(const void *arguments)
{
  const struct blocks *b = arguments;
  shunt_bsr_spmm_host(&b->p, &b->shape);
}
shunt_status shunt_bsr_spmm_check(const struct shunt_spmm *p, const struct shunt_block_shape *shape)
{
  return p->a.value_type == p->b.type && shape->size > 0 ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}
size_t shunt_bsr_spmm_workspace(const struct shunt_spmm *p)
{
  return (void)p, ROOM;
}
shunt_status shunt_bsr_spmm_cuda(const struct shunt_spmm *p, const struct shunt_block_shape *shape,
                                 const struct shunt_device *d, void *workspace, size_t bytes,
                                 shunt_stream s)
{
  (void)d;
  if (!workspace || bytes < ROOM) return SHUNT_E_WORKSPACE;
  return KERNEL('k', s, blocks, *p, *shape);
}

struct offsets {
  int64_t rows, nnz;
  const void *row_indices;
  shunt_type type;
  int base;
  void *offsets;
  uint32_t *irregular;
};
static void offsets(const void *arguments)
{
  const struct offsets *o = arguments;
  shunt_coo_to_csr_host(o->rows, o->nnz, o->row_indices, o->type, o->base, o->offsets,
                        o->irregular);
}
shunt_status shunt_coo_to_csr_cuda(int64_t rows, int64_t nnz, const void *row_indices,
                                   shunt_type type, int base, void *to, uint32_t *irregular,
                                   const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  return KERNEL('o', s, offsets, rows, nnz, row_indices, type, base, to, irregular);
}

/* ---- profiles, fingerprints, repairs -------------------------------------------------------- */

struct profile {
  struct shunt_csr a;
  uint64_t serial;
  struct shunt_profile *out;
};
struct found {
  struct shunt_profile profile, *out;
};
static void write_profile(void *what)
{
  struct found *f = what;
  *f->out = f->profile;
  free(f);
}
static void profile(const void *arguments)
{
  const struct profile *p = arguments;
  struct found *f = calloc(1, sizeof *f);
  if (!f) abort();
  f->out = p->out;
  shunt_profile_csr_host(&p->a, &f->profile);
  f->profile.serial = p->serial;
  if (device.profiles_late)
    device_hold_profile(write_profile, f);
  else
    write_profile(f);
}
shunt_status shunt_profile_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                    struct shunt_profile *out, void *scratch,
                                    const struct shunt_device *d, shunt_stream s)
{
  (void)scratch, (void)d;
  return KERNEL('p', s, profile, *a, serial, out);
}

struct fingerprint {
  struct shunt_csr a;
  struct shunt_fingerprint *out;
};
static void fingerprint(const void *arguments)
{
  const struct fingerprint *f = arguments;
  *f->out = shunt_fingerprint_csr_host(&f->a);
}
shunt_status shunt_fingerprint_csr_cuda(const struct shunt_csr *a, struct shunt_fingerprint *out,
                                        const struct shunt_device *d, void *scratch, shunt_stream s)
{
  (void)d;
  memset(scratch, 0xee, SHUNT_FINGERPRINT_SCRATCH); /* it may be written */
  return KERNEL('f', s, fingerprint, *a, out);
}

static double element(const struct shunt_dense *m, int64_t i, int64_t j)
{
  const int64_t at = i * m->row_stride + j * m->col_stride;
  switch (m->type) {
  case SHUNT_F16: return shunt_half_to_float(((const uint16_t *)m->values)[at]);
  case SHUNT_BF16: return shunt_bfloat_to_float(((const uint16_t *)m->values)[at]);
  case SHUNT_F32: return ((const float *)m->values)[at];
  default: return 0; /* integers */
  }
}
static bool first_row_is_finite(const struct shunt_dense *m)
{
  if (m->values && m->rows > 0)
    for (int64_t j = 0; j < m->cols; j++)
      if (!isfinite(element(m, 0, j))) return false;
  return true;
}

struct repair {
  struct shunt_spmm p;
  struct shunt_guard r;
  struct shunt_dense product;
  const struct shunt_fingerprint *actual;
  bool transposed;
};
static bool has_changed(const struct repair *x)
{
  struct shunt_fingerprint now;
  if (!x->r.expected) return false;
  if (x->actual) {
    now = *x->actual;
  } else {
    const struct shunt_csr values = shunt_fp_values_of(&x->p.a);
    now = shunt_fingerprint_csr_host(x->r.of_values ? &values : &x->p.a);
  }
  return now.lo != x->r.expected->lo || now.hi != x->r.expected->hi;
}
static void repair(const void *arguments)
{
  const struct repair *x = arguments;
  const bool irregular = x->p.only_if && *x->p.only_if, changed = has_changed(x);
  const bool finite = first_row_is_finite(&x->product);
  const bool needed = irregular || changed || !finite;
  struct shunt_spmm p = x->p;
  if (x->r.repaired) *x->r.repaired = needed;
  if (changed && x->r.changed) *x->r.changed = SHUNT_GUARD_CHANGED;
  if (!changed && !finite && x->r.nonfinite) *x->r.nonfinite = 1;
  device.changes += changed;
  device.repairs += needed;
  p.only_if = NULL;
  if (needed && x->transposed)
    shunt_csr_spmm_transposed_host(&p);
  else if (needed)
    shunt_csr_spmm_host(&p);
}
static shunt_status enqueue_repair(const struct shunt_spmm *p, const struct shunt_guard *r,
                                   const struct shunt_fingerprint *actual, bool transposed,
                                   shunt_stream s)
{
  const struct shunt_dense none = {0};
  return KERNEL('g', s, repair, *p, *r, r->product ? *r->product : none, actual, transposed);
}
shunt_status shunt_guard_repair_cuda(const struct shunt_spmm *p, const struct shunt_guard *r,
                                     const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  if (!r->sets || !r->key) return SHUNT_E_ARGUMENT;
  return enqueue_repair(p, r, NULL, false, s);
}
shunt_status shunt_guard_repair_transposed_cuda(const struct shunt_spmm *p,
                                                const struct shunt_guard *r,
                                                const struct shunt_fingerprint *actual,
                                                const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  return enqueue_repair(p, r, actual, true, s);
}

struct combine {
  struct shunt_dense w;
  struct shunt_spmm p;
  const uint32_t *only_unless;
};
static double scalar(const struct shunt_scalar *s)
{
  return s->device ? *(const float *)s->device : s->host;
}
static void combine(const void *arguments)
{
  const struct combine *x = arguments;
  const struct shunt_dense *c = &x->p.c;
  const float alpha = (float)scalar(&x->p.alpha), beta = (float)scalar(&x->p.beta);
  if (x->only_unless && *x->only_unless) return;
  for (int64_t i = 0; i < c->rows; i++)
    for (int64_t j = 0; j < c->cols; j++) {
      const int64_t at = i * c->row_stride + j * c->col_stride;
      float sum = alpha * (float)element(&x->w, i, j);
      if (beta != 0) sum += beta * (float)element(c, i, j);
      if (c->type == SHUNT_F32)
        ((float *)c->values)[at] = sum;
      else
        ((uint16_t *)c->values)[at] =
            c->type == SHUNT_F16 ? shunt_float_to_half(sum) : shunt_float_to_bfloat(sum);
    }
}
shunt_status shunt_guard_combine_cuda(const struct shunt_dense *w, const struct shunt_spmm *p,
                                      const uint32_t *only_unless, const struct shunt_device *d,
                                      shunt_stream s)
{
  (void)d;
  return KERNEL('+', s, combine, *w, *p, only_unless);
}

/* ---- formats: a conversion, and a product from it ------------------------------------------- */

#define PACKED(name, format, product_of)                                                           \
  struct name {                                                                                    \
    struct shunt_spmm p;                                                                           \
    struct format v;                                                                               \
  };                                                                                               \
  static void name(const void *arguments)                                                          \
  {                                                                                                \
    const struct name *x = arguments;                                                              \
    if (device.no_sums) return;                                                                    \
    product_of(&x->p, &x->v);                                                                      \
  }
PACKED(vector, shunt_vector, shunt_vector_packed_spmm_host)
PACKED(tile, shunt_tile, shunt_tile_spmm_host)
PACKED(sparse24, shunt_sparse24, shunt_sparse24_spmm_host)
PACKED(srbcrs, shunt_srbcrs, shunt_srbcrs_spmm_host)

struct to_vector {
  struct shunt_csr a;
  struct shunt_vector_layout layout;
  struct shunt_vector v;
};
static void to_vector(const void *arguments)
{
  const struct to_vector *x = arguments;
  shunt_csr_to_vector_host(&x->a, &x->layout, &x->v);
}
shunt_status shunt_csr_to_vector_cuda(const struct shunt_csr *a,
                                      const struct shunt_vector_layout *layout,
                                      const struct shunt_vector *v, const struct shunt_device *d,
                                      shunt_stream s)
{
  (void)d;
  return KERNEL('V', s, to_vector, *a, *layout, *v);
}
size_t shunt_vector_packed_spmm_workspace(const struct shunt_spmm *p)
{
  return (void)p, 0;
}
bool shunt_vector_packed_spmm_fits(const struct shunt_vector_shape *s, enum shunt_vector_order o,
                                   const struct shunt_device *d)
{
  return (void)o, (void)d, s->rows != 256;
}
struct shunt_vector_shape shunt_vector_packed_spmm_gather(const struct shunt_spmm *p,
                                                          double vectors, int height,
                                                          const struct shunt_device *d)
{
  (void)p, (void)vectors, (void)height, (void)d;
  return (struct shunt_vector_shape){8, 64, 0, 0};
}
bool shunt_vector_packed_spmm_proves(const struct shunt_spmm *p,
                                     const struct shunt_vector_shape *shape)
{
  return (void)p, (void)shape, false;
}
shunt_status shunt_vector_packed_spmm_shaped_cuda(const struct shunt_spmm *p,
                                                  const struct shunt_vector *v,
                                                  const struct shunt_vector_shape *shape,
                                                  const struct shunt_device *d, void *workspace,
                                                  size_t bytes, shunt_stream s)
{
  (void)shape, (void)d, (void)workspace, (void)bytes;
  return KERNEL('w', s, vector, *p, *v);
}
shunt_status shunt_vector_packed_spmm_proved_shaped_cuda(const struct shunt_spmm *p,
                                                         const struct shunt_vector *v,
                                                         const struct shunt_vector_shape *shape,
                                                         bool brief, const struct shunt_guard *r,
                                                         const struct shunt_device *d,
                                                         shunt_stream s)
{
  (void)p, (void)v, (void)shape, (void)brief, (void)r, (void)d, (void)s;
  return SHUNT_E_UNSUPPORTED;
}
bool shunt_vector_packed_spmm_tf32_takes(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)d, p->a.value_type == SHUNT_F32 && p->c.type == SHUNT_F32;
}
shunt_status shunt_vector_packed_spmm_tf32_cuda(const struct shunt_spmm *p,
                                                const struct shunt_vector *v, int products,
                                                int tile, const struct shunt_device *d,
                                                void *workspace, size_t bytes, shunt_stream s)
{
  (void)products, (void)tile, (void)d, (void)workspace, (void)bytes;
  return KERNEL('w', s, vector, *p, *v);
}

struct to_tile {
  struct shunt_csr a;
  struct shunt_tile_layout layout;
  struct shunt_tile v;
};
static void to_tile(const void *arguments)
{
  const struct to_tile *x = arguments;
  shunt_csr_to_tile_host(&x->a, &x->layout, &x->v);
}
shunt_status shunt_csr_to_tile_cuda(const struct shunt_csr *a,
                                    const struct shunt_tile_layout *layout,
                                    const struct shunt_tile *v, const struct shunt_device *d,
                                    shunt_stream s)
{
  (void)d;
  return KERNEL('T', s, to_tile, *a, *layout, *v);
}
size_t shunt_tile_spmm_workspace(const struct shunt_spmm *p)
{
  return (void)p, 0;
}
struct shunt_tile_shape shunt_tile_spmm_shape(const struct shunt_spmm *p,
                                              const struct shunt_device *d)
{
  (void)p, (void)d;
  return (struct shunt_tile_shape){64, 64, 1};
}
bool shunt_tile_spmm_proves(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, false;
}
shunt_status shunt_tile_spmm_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                  const struct shunt_device *d, void *workspace, size_t bytes,
                                  shunt_stream s)
{
  (void)d, (void)workspace, (void)bytes;
  return KERNEL('t', s, tile, *p, *v);
}
shunt_status shunt_tile_spmm_proved_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                         const struct shunt_guard *r, const struct shunt_device *d,
                                         void *workspace, size_t bytes, shunt_stream s)
{
  (void)p, (void)v, (void)r, (void)d, (void)workspace, (void)bytes, (void)s;
  return SHUNT_E_UNSUPPORTED;
}
bool shunt_tile_mixed_spmm_fits(const struct shunt_tile_shape *shape, const struct shunt_tile *v,
                                const struct shunt_device *d)
{
  return (void)shape, (void)v, (void)d, true;
}
struct shunt_tile_shape shunt_tile_mixed_spmm_unblocked(const struct shunt_spmm *p,
                                                        const struct shunt_tile *v,
                                                        const struct shunt_device *d)
{
  (void)v;
  return shunt_tile_spmm_shape(p, d);
}

struct to_sparse24 {
  struct shunt_csr a;
  struct shunt_sparse24 v;
  uint32_t *irregular;
};
static void to_sparse24(const void *arguments)
{
  const struct to_sparse24 *x = arguments;
  shunt_csr_to_sparse24_host(&x->a, &x->v, x->irregular);
}
shunt_status shunt_csr_to_sparse24_cuda(const struct shunt_csr *a, const struct shunt_sparse24 *v,
                                        uint32_t *irregular, const struct shunt_device *d,
                                        shunt_stream s)
{
  (void)d;
  return KERNEL('2', s, to_sparse24, *a, *v, irregular);
}
bool shunt_sparse24_spmm_built(void)
{
  return true;
}
/* The product proves itself: the twin, to where the guard says, and a repair behind it. */
shunt_status shunt_sparse24_spmm_shaped_cuda(const struct shunt_spmm *p,
                                             const struct shunt_sparse24 *v,
                                             enum shunt_sparse24_shape shape, bool in_place,
                                             const struct shunt_sparse24_proof *proof,
                                             const struct shunt_guard *r,
                                             const struct shunt_device *d, shunt_stream s)
{
  struct shunt_spmm product = *p;
  (void)shape, (void)proof, (void)d;
  if (in_place) return SHUNT_E_UNSUPPORTED;
  product.only_if = NULL;
  product.c = *r->product;
  if (product.c.values != p->c.values)
    product.alpha = (struct shunt_scalar){.host = 1}, product.beta = (struct shunt_scalar){0};
  (void)KERNEL('4', s, sparse24, product, *v);
  return enqueue_repair(p, r, NULL, false, s);
}

struct to_srbcrs {
  struct shunt_csr a;
  struct shunt_srbcrs_layout layout;
  struct shunt_srbcrs v;
};
static void to_srbcrs(const void *arguments)
{
  const struct to_srbcrs *x = arguments;
  shunt_csr_to_srbcrs_host(&x->a, &x->layout, &x->v);
}
shunt_status shunt_csr_to_srbcrs_cuda(const struct shunt_csr *a,
                                      const struct shunt_srbcrs_layout *layout,
                                      const struct shunt_srbcrs *v, const struct shunt_device *d,
                                      shunt_stream s)
{
  (void)d;
  return KERNEL('R', s, to_srbcrs, *a, *layout, *v);
}
size_t shunt_srbcrs_spmm_workspace(const struct shunt_spmm *p)
{
  return (void)p, 0;
}
struct shunt_srbcrs_shape shunt_srbcrs_spmm_shape(const struct shunt_spmm *p, int height,
                                                  const struct shunt_device *d)
{
  (void)p, (void)height, (void)d;
  return (struct shunt_srbcrs_shape){64, 1};
}
shunt_status shunt_srbcrs_spmm_cuda(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                                    const struct shunt_device *d, void *workspace, size_t bytes,
                                    shunt_stream s)
{
  (void)d, (void)workspace, (void)bytes;
  return KERNEL('r', s, srbcrs, *p, *v);
}

double shunt_srbcrs_spmm_proved_rounds(const struct shunt_spmm *p, int height,
                                       const struct shunt_srbcrs_shape *shape,
                                       const struct shunt_device *d)
{
  (void)height, (void)shape, (void)d;
  return p->beta.device || p->beta.host != 0 ? 0 : 1;
}
/* The product proves itself: the twin, and a repair behind it, of which one launch may fail. */
shunt_status shunt_srbcrs_spmm_proved_shaped_cuda(const struct shunt_spmm *p,
                                                  const struct shunt_srbcrs *v,
                                                  const struct shunt_srbcrs_shape *shape,
                                                  const struct shunt_guard *r,
                                                  const struct shunt_device *d, void *workspace,
                                                  size_t bytes, shunt_stream s)
{
  struct shunt_spmm product = *p;
  (void)shape, (void)d, (void)workspace, (void)bytes;
  product.only_if = NULL;
  (void)KERNEL('r', s, srbcrs, product, *v);
  return enqueue_repair(p, r, NULL, false, s);
}

/* bundle multiplies what its hint says together, and the rest row by row: any hint is right. */
struct to_bundle {
  struct shunt_csr a;
  struct shunt_bundle v;
};
static void to_bundle(const void *arguments)
{
  const struct to_bundle *x = arguments;
  shunt_csr_to_bundle_host(&x->a, &x->v);
}
shunt_status shunt_csr_to_bundle_cuda(const struct shunt_csr *a, const struct shunt_bundle *v,
                                      const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  return KERNEL('B', s, to_bundle, *a, *v);
}
size_t shunt_bundle_spmm_workspace(const struct shunt_spmm *p)
{
  return (void)p, ROOM;
}
struct shunt_bundle_shape shunt_bundle_spmm_shape(const struct shunt_spmm *p,
                                                  const struct shunt_bundle *hint,
                                                  const struct shunt_bundle_counts *known,
                                                  const struct shunt_device *d)
{
  (void)p, (void)hint, (void)known, (void)d;
  return (struct shunt_bundle_shape){.lanes_log2 = 5};
}
shunt_status shunt_bundle_spmm_cuda(const struct shunt_spmm *p, const struct shunt_bundle *hint,
                                    const struct shunt_bundle_shape *shape,
                                    const struct shunt_device *d, void *workspace, size_t bytes,
                                    shunt_stream s)
{
  (void)hint, (void)shape, (void)d;
  if (!workspace || bytes < ROOM) return SHUNT_E_WORKSPACE;
  return KERNEL('b', s, spmm, *p);
}

/* ---- orders of rows ------------------------------------------------------------------------- */

struct clusters {
  struct shunt_csr a;
  uint32_t *row_of;
  struct shunt_vector_measure *measure;
};
static void clusters(const void *arguments)
{
  const struct clusters *x = arguments;
  if (x->measure) {
    shunt_csr_vector_measure_host(&x->a, x->row_of, x->measure);
    return;
  }
  const size_t bytes = (size_t)1 << 24;
  void *scratch = malloc(bytes);
  if (!scratch) abort();
  shunt_csr_cluster_rows_host(&x->a, x->row_of, scratch, bytes);
  free(scratch);
}
size_t shunt_row_clusters_cuda_bytes(const struct shunt_csr *a)
{
  return a->rows > 0 ? ROOM : 0;
}
shunt_status shunt_csr_cluster_rows_cuda(const struct shunt_csr *a, uint32_t *row_of, void *scratch,
                                         size_t bytes, const struct shunt_device *d, shunt_stream s)
{
  (void)scratch, (void)bytes, (void)d;
  return KERNEL('x', s, clusters, *a, row_of, NULL);
}
shunt_status shunt_csr_vector_measure_cuda(const struct shunt_csr *a, const uint32_t *row_of,
                                           struct shunt_vector_measure *out,
                                           const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  return KERNEL('m', s, clusters, *a, (uint32_t *)row_of, out);
}

/* ---- not built ------------------------------------------------------------------------------ */

shunt_status shunt_csr_to_dense_cuda(const struct shunt_csr *a, const struct shunt_dense *dense,
                                     uint32_t *irregular, const struct shunt_device *d,
                                     shunt_stream s)
{
  return (void)a, (void)dense, (void)irregular, (void)d, (void)s, SHUNT_E_UNSUPPORTED;
}
shunt_status shunt_dense_copy_cuda(const struct shunt_dense *from, const struct shunt_dense *to,
                                   const struct shunt_device *d, shunt_stream s)
{
  return (void)from, (void)to, (void)d, (void)s, SHUNT_E_UNSUPPORTED;
}
shunt_status shunt_dense_sddmm_cuda(const struct shunt_sddmm *p, const struct shunt_device *d,
                                    shunt_stream s)
{
  return (void)p, (void)d, (void)s, SHUNT_E_UNSUPPORTED;
}
shunt_status shunt_dense_sddmm_sample_cuda(const struct shunt_sddmm *p,
                                           const struct shunt_dense *product, int prescaled,
                                           const struct shunt_device *d, shunt_stream s)
{
  return (void)p, (void)product, (void)prescaled, (void)d, (void)s, SHUNT_E_UNSUPPORTED;
}
bool shunt_dense_sddmm_takes(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, false;
}
bool shunt_dense_spmm_proved_takes(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, false;
}
shunt_status shunt_dense_spmm_proved_cuda(const struct shunt_spmm *p,
                                          const struct shunt_dense *copy,
                                          const struct shunt_dense_shape *shape,
                                          const struct shunt_guard *r, const struct shunt_device *d,
                                          shunt_stream s)
{
  (void)p, (void)copy, (void)shape, (void)r, (void)d, (void)s;
  return SHUNT_E_UNSUPPORTED;
}
