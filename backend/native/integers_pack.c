/* integers_pack.c: making, describing and freeing packed matrices of integers. */
#include <stdlib.h>

#include "backend/native/integers.h"
#include "backend/plan/fault.h"

static int arrays_fit(const struct shunt_csr *a)
{
  if (!a || a->nnz < 0 || (a->base != 0 && a->base != 1)) return 0;
  return a->row_offsets && (a->columns || a->nnz == 0);
}

/* They and their weights, at most as much, are written and read again out of the 50 MB of L2. */
enum { SCORE_BYTES = 16 << 20 };

/* Three of four places of its vectors are entries. */
static int is_dense_enough(const struct shunt_packed_integers *p)
{
  return 4 * (uint64_t)p->v.nnz >= 3 * p->counts.vectors * (uint64_t)p->v.height;
}

/* SHUNT_E_INPUT: not with this layout. */
static shunt_status pack_with(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout,
                              shunt_stream stream, struct shunt_packed_integers *p)
{
  const struct shunt_native_engine *engine = p->at.engine;
  p->bytes = shunt_srbcrs_bytes(a, layout);
  if (p->bytes == 0) return SHUNT_E_UNSUPPORTED;
  shunt_status s = engine->allocate(&p->memory, p->bytes);
  if (s != SHUNT_OK) return s;
  shunt_srbcrs_lay_out(a, layout, p->memory, &p->v);
  p->places =
      (size_t)shunt_srbcrs_strides(a, layout) * SHUNT_SRBCRS_STRIDE * (size_t)layout->height;
  p->score_bytes = SCORE_BYTES;
  s = engine->integers->pack(a, layout, &p->at, &p->v, &p->counts, stream);
  if (s == SHUNT_OK && p->counts.irregular) s = SHUNT_E_INPUT;
  if (s == SHUNT_OK && layout->share == layout->height && !is_dense_enough(p)) s = SHUNT_E_INPUT;
  if (s != SHUNT_OK) engine->release(p->memory);
  return s;
}

/* With memory for rows that share their columns first, the tallest sets of them; then for any. */
static shunt_status pack_any(const struct shunt_csr *a, int bits, int height, shunt_stream stream,
                             struct shunt_packed_integers *p)
{
  const int tallest = height ? height : SHUNT_SRBCRS_TALLEST, least = height ? height : 2;
  shunt_status s = SHUNT_E_INPUT;
  for (int v = tallest; v >= least && s == SHUNT_E_INPUT; v /= 2) {
    const struct shunt_srbcrs_layout layout = {.height = v, .share = v, .bits = bits};
    s = pack_with(a, &layout, stream, p);
  }
  if (s != SHUNT_E_INPUT) return s;
  const struct shunt_srbcrs_layout layout = {.height = least, .share = 1, .bits = bits};
  return pack_with(a, &layout, stream, p);
}

/* pack_any, with zeros where there are no values. */
static shunt_status pack_filled(const struct shunt_csr *a, int bits, int height,
                                shunt_stream stream, struct shunt_packed_integers *p)
{
  const struct shunt_native_engine *engine = p->at.engine;
  struct shunt_csr filled = *a;
  const size_t bytes = (size_t)a->nnz * shunt_type_size(a->value_type);

  if (a->values || a->nnz == 0) return pack_any(a, bits, height, stream, p);
  shunt_status s = engine->allocate(&filled.values, bytes);
  if (s != SHUNT_OK) return s;
  s = engine->clear(filled.values, bytes, stream);
  if (s == SHUNT_OK) s = pack_any(&filled, bits, height, stream, p);
  engine->release(filled.values);
  return s;
}

shunt_status shunt_pack_integers(const struct shunt_csr *a, enum shunt_place where, int bits,
                                 int height, shunt_stream stream,
                                 struct shunt_packed_integers **out)
{
  const struct shunt_srbcrs_layout least = {
      .height = height ? height : 2, .share = 1, .bits = bits};
  if (!out) return SHUNT_E_ARGUMENT;
  *out = NULL;
  if (!arrays_fit(a) || (where != SHUNT_HOST && where != SHUNT_DEVICE)) return SHUNT_E_ARGUMENT;
  const struct shunt_native_engine *engine = shunt_native_engine_of(where);
  if (!engine || shunt_srbcrs_bytes(a, &least) == 0) return SHUNT_E_UNSUPPORTED;
  struct shunt_packed_integers *p = SHUNT_TRY_OR(NULL, calloc(1, sizeof *p));
  if (!p) return SHUNT_E_MEMORY;
  p->where = where;
  p->at.engine = engine;
  shunt_status s = engine->open(&p->at, stream);
  if (s == SHUNT_OK) s = pack_filled(a, bits, height, stream, p);
  if (s == SHUNT_OK)
    *out = p;
  else
    free(p);
  return s;
}

void shunt_packed_integers_free(struct shunt_packed_integers *p)
{
  if (!p) return;
  p->at.engine->release(p->memory);
  free(p);
}

void shunt_packed_integers_describe(const struct shunt_packed_integers *p,
                                    struct shunt_packed_integers_info *out)
{
  *out = (struct shunt_packed_integers_info){.rows = p->v.rows,
                                             .cols = p->v.cols,
                                             .nnz = p->v.nnz,
                                             .bits = p->v.bits,
                                             .height = p->v.height,
                                             .where = p->where,
                                             .vectors = (int64_t)p->counts.vectors,
                                             .places = p->places,
                                             .bytes = p->bytes};
}
