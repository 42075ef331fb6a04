#include "backend/graphblas/gpu/resident.h"

#include <string.h>

static uint64_t address(const void *p)
{
  return (uint64_t)(uintptr_t)p;
}

static bool may_keep(const struct grb_identity *id, bool verify, struct grb_gpu_key *key)
{
  memset(key, 0, sizeof *key);
  if (!id || !id->handle || id->read_only || (!verify && id->epoch == 0)) return false;
  key->handle = address(id->handle);
  key->epoch = verify ? 0 : id->epoch;
  return true;
}

bool grb_gpu_sparse_key(const struct shunt_sparse *s, shunt_type type, bool ones,
                        const struct grb_identity *id, bool verify, struct grb_gpu_key *key)
{
  if (!may_keep(id, verify, key)) return false;
  key->arrays[0] = address(s->ids);
  key->arrays[1] = address(s->offsets);
  key->arrays[2] = address(s->indices);
  key->arrays[3] = ones ? 0 : address(s->values);
  key->sizes[0] = s->rows;
  key->sizes[1] = s->cols;
  key->sizes[2] = s->vectors;
  key->sizes[3] = s->nnz;
  key->sizes[4] = s->id_bytes * 256 + s->offset_bytes * 16 + s->index_bytes;
  key->form = 1 | s->by_column << 1 | s->iso << 2 | ones << 3 | (int64_t)type << 8;
  return true;
}

bool grb_gpu_dense_key(const struct shunt_full *m, shunt_type type, const struct grb_identity *id,
                       bool verify, struct grb_gpu_key *key)
{
  if (m->iso || m->present || !may_keep(id, verify, key)) return false;
  key->arrays[0] = address(m->values);
  key->sizes[0] = m->rows;
  key->sizes[1] = m->cols;
  key->sizes[2] = m->row_stride;
  key->sizes[3] = m->col_stride;
  key->form = (int64_t)type << 8;
  return true;
}

/* ---- content ---------------------------------------------------------------------------

   An array is hashed in chunks, a chunk in four lanes of 8-byte words; the chunks' hashes
   are mixed with their numbers and added, so threads may take them in any order.  */

static const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
enum { CHUNK_BYTES = 1 << 16, SAMPLES = 64 };

static uint64_t mix(uint64_t x)
{
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

static uint64_t hash_chunk(const char *from, int64_t bytes)
{
  uint64_t lane[4] = {1, 2, 3, 4}, word[4];
  int64_t at = 0;
  for (; at + 32 <= bytes; at += 32) {
    memcpy(word, from + at, 32);
    for (int i = 0; i < 4; i++) lane[i] = (lane[i] ^ word[i]) * factor;
    for (int i = 0; i < 4; i++) lane[i] ^= lane[i] >> 29;
  }
  for (; at < bytes; at++) lane[0] = (lane[0] ^ (unsigned char)from[at]) * factor;
  return mix(lane[0] + mix(lane[1] + mix(lane[2] + mix(lane[3] + (uint64_t)bytes))));
}

static uint64_t hash_all(const void *array, int64_t bytes, int threads)
{
  const char *from = array;
  uint64_t sum = 0;
  int64_t chunks = (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
  for (int64_t c = 0; c < chunks; c++) {
    int64_t at = c * CHUNK_BYTES, left = bytes - at;
    sum += mix(hash_chunk(from + at, left < CHUNK_BYTES ? left : CHUNK_BYTES) + (uint64_t)c);
  }
  return sum;
}

static uint64_t hash_samples(const void *array, int64_t count, size_t size)
{
  uint64_t h = 1;
  int64_t samples = count < SAMPLES ? count : SAMPLES;
  for (int64_t i = 0; i < samples; i++) {
    uint64_t word = 0;
    int64_t place =
        samples > 1 ? (int64_t)((double)(count - 1) * (double)i / (double)(samples - 1)) : 0;
    memcpy(&word, (const char *)array + place * (int64_t)size, size);
    h = mix(h * factor + word);
  }
  return h;
}

static uint64_t hash_array(const void *array, int64_t count, size_t size, bool all, int threads)
{
  if (!array || count <= 0) return 7;
  return all ? hash_all(array, count * (int64_t)size, threads) : hash_samples(array, count, size);
}

uint64_t grb_gpu_sparse_hash(const struct shunt_sparse *s, shunt_type type, bool all, int threads)
{
  uint64_t h = hash_array(s->ids, s->ids ? s->vectors : 0, (size_t)s->id_bytes, all, threads);
  h = mix(h * factor +
          hash_array(s->offsets, s->vectors + 1, (size_t)s->offset_bytes, all, threads));
  h = mix(h * factor + hash_array(s->indices, s->nnz, (size_t)s->index_bytes, all, threads));
  return mix(h * factor +
             hash_array(s->values, s->iso ? 1 : s->nnz, shunt_type_size(type), all, threads));
}

uint64_t grb_gpu_dense_hash(const struct shunt_full *m, shunt_type type, bool all, int threads)
{
  const size_t size = shunt_type_size(type);
  bool by_row = m->col_stride == 1;
  int64_t lines = by_row ? m->rows : m->cols, length = by_row ? m->cols : m->rows;
  int64_t stride = by_row ? m->row_stride : m->col_stride;
  if (stride == length) return hash_array(m->values, lines * length, size, all, threads);
  /* Between the lines there may be anything. */
  uint64_t h = 3;
  int64_t step = all || lines < SAMPLES ? 1 : lines / SAMPLES;
  for (int64_t l = 0; l < lines; l += step) {
    const char *line = (const char *)m->values + l * stride * (int64_t)size;
    h = mix(h * factor + (all ? hash_chunk(line, length * (int64_t)size)
                              : hash_samples(line, length < 2 ? length : 2, size)));
  }
  return h;
}

/* ---- the list --------------------------------------------------------------------------- */

static bool same(const struct grb_gpu_key *a, const struct grb_gpu_key *b)
{
  return memcmp(a, b, sizeof *a) == 0;
}

#define FOR_EACH(e, l)                                                                             \
  for (struct grb_gpu_resident *e = (l)->entry; e < (l)->entry + GRB_GPU_MOST_RESIDENT; e++)

struct grb_gpu_resident *grb_gpu_resident_find(struct grb_gpu_resident_list *l,
                                               const struct grb_gpu_key *key, bool sparse,
                                               int64_t first, int64_t last)
{
  FOR_EACH(e, l)
  if (e->used && e->sparse == sparse && same(&e->key, key) && e->first == first && e->last == last)
    return e;
  return NULL;
}

struct grb_gpu_resident *grb_gpu_resident_stale(struct grb_gpu_resident_list *l,
                                                const struct grb_gpu_key *key)
{
  /* Epochs only grow. */
  FOR_EACH(e, l)
  if (e->used && !e->held && e->key.handle == key->handle && e->key.epoch < key->epoch) return e;
  return NULL;
}

struct grb_gpu_resident *grb_gpu_resident_oldest(struct grb_gpu_resident_list *l)
{
  struct grb_gpu_resident *oldest = NULL;
  FOR_EACH(e, l)
  if (e->used && !e->held && (!oldest || e->last_use < oldest->last_use)) oldest = e;
  return oldest;
}

struct grb_gpu_resident *grb_gpu_resident_unused(struct grb_gpu_resident_list *l)
{
  FOR_EACH(e, l)
  if (!e->used) return e;
  return NULL;
}

void grb_gpu_resident_touch(struct grb_gpu_resident_list *l, struct grb_gpu_resident *e)
{
  e->last_use = ++l->clock;
}
