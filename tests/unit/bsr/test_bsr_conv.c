/* test_bsr_conv.c: BSR and Blocked-ELL to CSR, on the host: by hand, against the elements one by one
   on random ones, and on to the `vector` format and back.  */
#include <stdlib.h>
#include <string.h>

#include "conv/bsr/bsr_conv.h"
#include "conv/vector/vector_conv.h"
#include "kernels/common/host_element.h"
#include "tests/unit/check.h"

#define RANDOM_SEED 23
#include "tests/unit/random_csr.h"

/* ---- matrices -------------------------------------------------------------------- */

/* A grid of blocks, some there, in both formats; element e of the values is e % 97. */
struct grid {
  int64_t down, across, block, wide; /* wide: stored blocks of a row, Blocked-ELL */
  unsigned char *there;
  struct shunt_bsr bsr;
  struct shunt_blocked_ell ell;
  void *memory[5];
};

static void fill(void *values, int64_t n, shunt_type type)
{
  for (int64_t i = 0; i < n; i++) shunt_store(values, i, type, (double)(i % 97));
}

static void make_bsr(struct grid *g, shunt_type index, shunt_type value, int base)
{
  int64_t b = g->block, count = 0;

  g->memory[0] = calloc((size_t)g->down + 1, 8);
  g->memory[1] = calloc((size_t)(g->down * g->across) + 1, 8);
  put(g->memory[0], index, 0, base);
  for (int64_t i = 0; i < g->down; i++) {
    for (int64_t j = 0; j < g->across; j++)
      if (g->there[i * g->across + j]) put(g->memory[1], index, count++, j + base);
    put(g->memory[0], index, i + 1, count + base);
  }
  g->memory[2] = calloc((size_t)(count * b * b) + 1, 8);
  fill(g->memory[2], count * b * b, value);
  g->bsr = (struct shunt_bsr){
      g->down * b, g->across * b, count, b, g->memory[0], g->memory[1], g->memory[2],
      index,       value,         base,  0};
}

/* Padding stands anywhere. */
static void make_ell(struct grid *g, shunt_type index, shunt_type value, int base)
{
  int64_t b = g->block, width;

  for (int64_t i = 0; i < g->down; i++) {
    int64_t many = 0;
    for (int64_t j = 0; j < g->across; j++) many += g->there[i * g->across + j];
    if (many > g->wide) g->wide = many;
  }
  g->wide += 2;
  width = g->wide * b;
  g->memory[3] = calloc((size_t)(g->down * g->wide) + 1, 8);
  g->memory[4] = calloc((size_t)(g->down * b * width) + 1, 8);
  for (int64_t i = 0; i < g->down; i++) {
    int64_t at = 0, spare = 2;
    for (int64_t j = 0; j < g->across; j++) {
      if (spare > 0 && chance(0.2)) put(g->memory[3], index, i * g->wide + at++, -1), spare--;
      if (g->there[i * g->across + j]) put(g->memory[3], index, i * g->wide + at++, j + base);
    }
    while (at < g->wide) put(g->memory[3], index, i * g->wide + at++, -1);
  }
  fill(g->memory[4], g->down * b * width, value);
  g->ell = (struct shunt_blocked_ell){g->down * b,  g->across * b, b,     width, g->memory[3],
                                      g->memory[4], index,         value, base};
}

static struct grid make_grid(int64_t down, int64_t across, int64_t block, double density,
                             shunt_type index, shunt_type value, int base)
{
  struct grid g = {.down = down, .across = across, .block = block};

  g.there = calloc((size_t)(down * across) + 1, 1);
  for (int64_t i = 0; i < down * across; i++) g.there[i] = (unsigned char)chance(density);
  make_bsr(&g, index, value, base);
  make_ell(&g, index, value, base);
  return g;
}

static void grid_free(struct grid *g)
{
  free(g->there);
  for (int i = 0; i < 5; i++) free(g->memory[i]);
}

static struct owned room_for(const struct shunt_csr *sizes)
{
  return owned_new(sizes->rows, sizes->cols, sizes->nnz, sizes->index_type, sizes->value_type,
                   sizes->base);
}

/* ---- what they should be ------------------------------------------------------------ */

/* Row by row the stored elements, from the left; `place` tells where element (i, j) of the k-th
   block of block row r, in all the n-th, stands.  */
static int is_right(const struct grid *g, const struct shunt_csr *a, int ell)
{
  int64_t b = g->block, at = 0, first = 0;
  int good = 1;

  for (int64_t r = 0; r < g->down; r++) {
    int64_t many = 0;
    for (int64_t i = 0; i < b; i++) {
      int64_t n = first, slot = 0;
      good = good && get(a->row_offsets, a->index_type, r * b + i) == at + a->base;
      many = 0;
      for (int64_t c = 0; c < g->across; c++) {
        if (!g->there[r * g->across + c]) continue;
        while (ell && get(g->ell.columns, a->index_type, r * g->wide + slot) < 0) slot++;
        for (int64_t j = 0; good && j < b; j++, at++) {
          int64_t place = ell                   ? (r * b + i) * g->ell.width + slot * b + j
                          : g->bsr.column_major ? (n * b + j) * b + i
                                                : (n * b + i) * b + j;
          good = get(a->columns, a->index_type, at) == c * b + j + a->base &&
                 shunt_load(a->values, at, a->value_type) == (double)(place % 97);
        }
        n++, slot++, many++;
      }
    }
    first += many;
  }
  return good && get(a->row_offsets, a->index_type, a->rows) == at + a->base;
}

/* CSR to the `vector` format and back gives the same bytes, and whole vectors have room. */
static int packs(const struct shunt_csr *a, int64_t block)
{
  struct shunt_vector_layout plan = {.height = block % 8 == 0 ? 8 : block % 4 == 0 ? 4 : 1};
  size_t size = shunt_type_size(a->index_type), bytes = shunt_vector_bytes(a, &plan);
  int64_t count = get(a->row_offsets, a->index_type, a->rows) - a->base;
  struct owned back = room_for(a);
  void *memory = aligned_alloc(256, bytes);
  struct shunt_vector v;
  int good = shunt_vector_lay_out(a, &plan, memory, &v) &&
             shunt_csr_to_vector_host(a, &plan, &v) == SHUNT_OK &&
             shunt_vector_to_csr_host(&v, &back.a) == SHUNT_OK && back.a.nnz == count &&
             !memcmp(back.offsets, a->row_offsets, (size_t)(a->rows + 1) * size) &&
             !memcmp(back.columns, a->columns, (size_t)count * size) &&
             !memcmp(back.a.values, a->values, (size_t)count * 2);

  free(memory);
  owned_free(&back);
  return good;
}

/* ---- tests ------------------------------------------------------------------------- */

static void test_by_hand(void)
{
  int32_t columns[] = {1, -1, 0, 2}, offsets[] = {0, 1, 3}, bsr_columns[] = {1, 0, 2};
  float values[16], blocks[12];
  static const int32_t row_offsets[] = {0, 2, 4, 8, 12}, third[] = {0, 1, 4, 5};
  static const float ell_third[] = {9, 10, 11, 12}, bsr_third[] = {5, 6, 9, 10};
  struct shunt_blocked_ell ell = {4, 6, 2, 4, columns, values, SHUNT_I32, SHUNT_F32, 0};
  struct shunt_bsr bsr = {4, 6, 3, 2, offsets, bsr_columns, blocks, SHUNT_I32, SHUNT_F32, 0, 0};
  struct shunt_csr size = shunt_blocked_ell_sizes(&ell);
  struct owned o = room_for(&size);

  for (int i = 0; i < 16; i++) values[i] = (float)(i + 1);
  for (int i = 0; i < 12; i++) blocks[i] = (float)(i + 1);
  o.a.nnz = size.nnz;
  check(size.nnz == 16 && shunt_blocked_ell_to_csr_host(&ell, &o.a) == SHUNT_OK &&
            !memcmp(o.offsets, row_offsets, sizeof row_offsets) &&
            !memcmp((int32_t *)o.columns + 4, third, sizeof third) &&
            !memcmp((float *)o.a.values + 4, ell_third, sizeof ell_third),
        "a Blocked-ELL matrix by hand");
  o.a.nnz = shunt_bsr_sizes(&bsr).nnz;
  check(shunt_bsr_to_csr_host(&bsr, &o.a) == SHUNT_OK &&
            !memcmp(o.offsets, row_offsets, sizeof row_offsets) &&
            !memcmp((int32_t *)o.columns + 4, third, sizeof third) &&
            !memcmp((float *)o.a.values + 4, bsr_third, sizeof bsr_third),
        "a BSR matrix by hand");
  owned_free(&o);
}

static void test_random(void)
{
  static const int64_t blocks[] = {1, 2, 3, 4, 8, 16};
  static const shunt_type types[] = {SHUNT_F16, SHUNT_F32, SHUNT_F64, SHUNT_BF16};
  int bsr = 1, ell = 1, vectors = 1;

  for (int s = 0; s < 6; s++)
    for (int t = 0; t < 4; t++)
      for (int d = 0; d < 3; d++) {
        struct grid g = make_grid(5 + d, 7, blocks[s], d * 0.3, d % 2 ? SHUNT_I64 : SHUNT_I32,
                                  types[t], (s + t) % 2);
        struct shunt_csr sizes = shunt_bsr_sizes(&g.bsr);
        struct owned o = room_for(&sizes);
        g.bsr.column_major = (s + d) % 2;
        o.a.nnz = sizes.nnz;
        bsr &= shunt_bsr_to_csr_host(&g.bsr, &o.a) == SHUNT_OK && is_right(&g, &o.a, 0);
        if (types[t] == SHUNT_F16) vectors &= packs(&o.a, g.block);
        owned_free(&o);
        sizes = shunt_blocked_ell_sizes(&g.ell);
        o = room_for(&sizes);
        o.a.nnz = sizes.nnz;
        ell &= shunt_blocked_ell_to_csr_host(&g.ell, &o.a) == SHUNT_OK && is_right(&g, &o.a, 1);
        if (types[t] == SHUNT_F16) vectors &= packs(&o.a, 1);
        owned_free(&o);
        grid_free(&g);
      }
  check(bsr, "bsr -> csr, both orders within a block");
  check(ell, "blocked-ell -> csr, padding anywhere");
  check(vectors, "and on to vectors and back");
}

static void test_declined(void)
{
  struct grid g = make_grid(3, 4, 4, 0.5, SHUNT_I32, SHUNT_F32, 0);
  struct shunt_csr sizes = shunt_bsr_sizes(&g.bsr);
  struct owned o = room_for(&sizes);

  o.a.nnz = sizes.nnz + 1;
  check(shunt_bsr_to_csr_host(&g.bsr, &o.a) == SHUNT_E_ARGUMENT, "other sizes are declined");
  o.a.nnz = sizes.nnz;
  g.bsr.rows = g.ell.rows = 10;
  check(shunt_bsr_to_csr_host(&g.bsr, &o.a) == SHUNT_E_UNSUPPORTED &&
            shunt_blocked_ell_to_csr_host(&g.ell, &o.a) == SHUNT_E_UNSUPPORTED,
        "rows that are no multiple of a block too");
  g.bsr.rows = 12;
  g.bsr.blocks = INT64_MAX / 4;
  check(shunt_bsr_sizes(&g.bsr).rows < 0, "so are more entries than can be counted");
  owned_free(&o);
  grid_free(&g);
}

int main(void)
{
  test_by_hand();
  test_random();
  test_declined();
  return check_finish();
}
