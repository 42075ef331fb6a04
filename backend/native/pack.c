/* pack.c: making, describing and freeing packed matrices. */
#include <stdlib.h>

#include "backend/native/native.h"
#include "backend/plan/fault.h"

const char *shunt_status_text(shunt_status s)
{
  switch (s) {
  case SHUNT_OK: return "success";
  case SHUNT_E_UNSUPPORTED: return "not built for these types, sizes, layout or device";
  case SHUNT_E_WORKSPACE: return "workspace missing, too small or misaligned";
  case SHUNT_E_MEMORY: return "out of memory";
  case SHUNT_E_CUDA: return "a CUDA call failed";
  case SHUNT_E_ARGUMENT: return "an argument is not as documented";
  case SHUNT_E_INPUT:
    return "the matrix is not what its description says, or does not fit the packing";
  case SHUNT_E_WRITTEN: return "failed after part of the result was written";
  }
  return "unknown status";
}

const struct shunt_native_engine *shunt_native_engine_of(enum shunt_place where)
{
  return where == SHUNT_HOST ? shunt_native_host() : shunt_native_cuda();
}

static struct shunt_vector_layout layout_of(const struct shunt_packing *how, int height)
{
  return (struct shunt_vector_layout){.order = how && how->windowed ? SHUNT_VECTOR_WINDOWED
                                                                    : SHUNT_VECTOR_SEQUENTIAL,
                                      .height = height};
}

/* Of 16 bits: the native products know no others. */
static size_t bytes_of(const struct shunt_csr *a, const struct shunt_vector_layout *layout)
{
  return shunt_type_size(a->value_type) == sizeof(uint16_t) ? shunt_vector_bytes(a, layout) : 0;
}

size_t shunt_packed_bytes(const struct shunt_csr *a, const struct shunt_packing *how)
{
  struct shunt_vector_layout layout = layout_of(how, how && how->height ? how->height : 1);

  return a ? bytes_of(a, &layout) : 0;
}

static int arrays_fit(const struct shunt_csr *a)
{
  if (!a || a->nnz < 0 || (a->base != 0 && a->base != 1)) return 0;
  return a->row_offsets && (a->columns || a->nnz == 0);
}

/* Lays p out in the memory given or in memory of its own. */
static shunt_status find_memory(const struct shunt_csr *a, const struct shunt_vector_layout *layout,
                                const struct shunt_packing *how, struct shunt_packed *p)
{
  shunt_status s = SHUNT_OK;

  p->bytes = bytes_of(a, layout);
  if (p->bytes == 0) return SHUNT_E_UNSUPPORTED;
  p->value_bytes = (size_t)(shunt_vector_room(a, layout).steps + 1) * SHUNT_VECTOR_STEP_VALUES *
                   sizeof(uint16_t);
  p->owned = !how || !how->memory;
  if (p->owned)
    s = p->at.engine->allocate(&p->memory, p->bytes);
  else if ((uintptr_t)how->memory % 256 || how->memory_bytes < p->bytes)
    s = SHUNT_E_WORKSPACE;
  else
    p->memory = how->memory;
  if (s != SHUNT_OK) return s;
  shunt_vector_lay_out(a, layout, p->memory, &p->v);
  return SHUNT_OK;
}

static void lose_memory(struct shunt_packed *p)
{
  if (p->owned && p->memory) p->at.engine->release(p->memory);
  p->memory = NULL;
}

/* SHUNT_E_INPUT: not with this height. */
static shunt_status pack_with(const struct shunt_csr *a, int height,
                              const struct shunt_packing *how, shunt_stream stream,
                              struct shunt_packed *p)
{
  struct shunt_vector_layout layout = layout_of(how, height);
  shunt_status s = find_memory(a, &layout, how, p);

  if (s == SHUNT_OK) s = p->at.engine->pack(a, &layout, p, stream);
  if (s == SHUNT_OK && p->counts.irregular) s = SHUNT_E_INPUT;
  if (s != SHUNT_OK) lose_memory(p);
  return s;
}

static shunt_status pack_any(const struct shunt_csr *a, const struct shunt_packing *how,
                             shunt_stream stream, struct shunt_packed *p)
{
  int height = how ? how->height : 0;
  shunt_status s;

  if (height) return pack_with(a, height, how, stream, p);
  for (height = 8; (s = pack_with(a, height, how, stream, p)) == SHUNT_E_INPUT && height > 1;)
    height /= 2;
  return s;
}

/* pack_any, with zeros where there are no values. */
static shunt_status pack_filled(const struct shunt_csr *a, const struct shunt_packing *how,
                                shunt_stream stream, struct shunt_packed *p)
{
  struct shunt_csr filled = *a;
  size_t bytes = (size_t)a->nnz * sizeof(uint16_t);
  shunt_status s;

  if (a->values || a->nnz == 0) return pack_any(a, how, stream, p);
  s = p->at.engine->allocate(&filled.values, bytes);
  if (s != SHUNT_OK) return s;
  s = p->at.engine->clear(filled.values, bytes, stream);
  if (s == SHUNT_OK) s = pack_any(&filled, how, stream, p);
  p->at.engine->release(filled.values);
  return s;
}

shunt_status shunt_pack(const struct shunt_csr *a, enum shunt_place where,
                        const struct shunt_packing *how, shunt_stream stream,
                        struct shunt_packed **out)
{
  const struct shunt_native_engine *engine = shunt_native_engine_of(where);
  struct shunt_packed *p;
  shunt_status s;

  if (!out) return SHUNT_E_ARGUMENT;
  *out = NULL;
  if (!arrays_fit(a) || (where != SHUNT_HOST && where != SHUNT_DEVICE)) return SHUNT_E_ARGUMENT;
  if (!engine || shunt_packed_bytes(a, how) == 0) return SHUNT_E_UNSUPPORTED;
  p = SHUNT_TRY_OR(NULL, calloc(1, sizeof *p));
  if (!p) return SHUNT_E_MEMORY;
  p->where = where;
  p->at.engine = engine;
  s = engine->open(&p->at, stream);
  if (s == SHUNT_OK) s = pack_filled(a, how, stream, p);
  if (s == SHUNT_OK)
    *out = p;
  else
    free(p);
  return s;
}

void shunt_packed_free(struct shunt_packed *p)
{
  if (!p) return;
  lose_memory(p);
  free(p);
}

void shunt_packed_describe(const struct shunt_packed *p, struct shunt_packed_info *out)
{
  *out = (struct shunt_packed_info){.rows = p->v.rows,
                                    .cols = p->v.cols,
                                    .nnz = p->v.nnz,
                                    .type = p->v.value_type,
                                    .where = p->where,
                                    .height = p->v.height,
                                    .windowed = p->v.order == SHUNT_VECTOR_WINDOWED,
                                    .vectors = (int64_t)p->counts.vectors,
                                    .fill = shunt_vector_fill(&p->v, &p->counts),
                                    .bytes = p->bytes,
                                    .value_bytes = p->value_bytes};
}
