#include "backend/graphblas/layout.h"

#include <string.h>

#include "backend/graphblas/memory.h"

/* The matrices of the experiment.  Their sizes differ from each other and from all other
   numbers in the struct; forms, orientations and iso differ in a pattern that no other
   field follows.  */
enum { HYPER, BITMAP, FULL, SPARSE, MATRICES };
static const struct {
  uint64_t rows, cols;
  int form;
  bool by_column, iso;
} known[MATRICES] = {
    [HYPER] = {2063, 1031, GRB_HYPERSPARSE, false, false},
    [BITMAP] = {41, 23, GRB_BITMAP, true, false},
    [FULL] = {37, 53, GRB_FULL, false, true},
    [SPARSE] = {67, 79, GRB_SPARSE, true, true},
};

struct experiment {
  const struct grb_library *l;
  GrB_Matrix a[MATRICES];
  struct grb_iterator it[MATRICES];
  /* What the matrices were packed from. */
  const void *offsets, *ids, *indices, *values, *present;
};

enum { VECTORS = 5, ENTRIES = 7 }; /* of the hypersparse one */

/* ---- packing ------------------------------------------------------------------------------ */

/* Zeroed; NULL: no memory. */
static void *zeros(const struct grb_library *l, size_t bytes)
{
  void *p = grb_allocate(l, bytes);
  return p ? memset(p, 0, bytes) : NULL;
}

static bool pack_hyper(struct experiment *e)
{
  static const uint64_t offset[VECTORS + 1] = {0, 1, 3, 4, 5, ENTRIES};
  const struct grb_library *l = e->l;
  uint64_t *offsets = zeros(l, sizeof offset), *ids = zeros(l, VECTORS * 8);
  uint64_t *indices = zeros(l, ENTRIES * 8);
  void *values = zeros(l, ENTRIES * sizeof(float));
  e->offsets = offsets, e->ids = ids, e->indices = indices, e->values = values;
  if (offsets && ids && indices && values) {
    memcpy(offsets, offset, sizeof offset);
    for (uint64_t v = 0; v < VECTORS; v++) ids[v] = 3 + 400 * v;
    for (uint64_t p = 0; p < ENTRIES; p++) indices[p] = 11 + 100 * p;
    if (l->GxB_Matrix_pack_HyperCSR(e->a[HYPER], &offsets, &ids, &indices, &values, sizeof offset,
                                    VECTORS * 8, ENTRIES * 8, ENTRIES * sizeof(float), false,
                                    VECTORS, false, NULL) == GRB_SUCCESS)
      return true;
  }
  grb_release(l, offsets);
  grb_release(l, ids);
  grb_release(l, indices);
  grb_release(l, values);
  return false;
}

static bool pack_bitmap(struct experiment *e)
{
  const struct grb_library *l = e->l;
  const uint64_t elements = known[BITMAP].rows * known[BITMAP].cols;
  int8_t *present = zeros(l, elements);
  void *values = zeros(l, elements * sizeof(float));
  e->present = present;
  if (present && values) {
    present[1] = present[5] = 1;
    if (l->GxB_Matrix_pack_BitmapC(e->a[BITMAP], &present, &values, elements,
                                   elements * sizeof(float), false, 2, NULL) == GRB_SUCCESS)
      return true;
  }
  grb_release(l, present);
  grb_release(l, values);
  return false;
}

static bool pack_full(struct experiment *e)
{
  void *values = zeros(e->l, sizeof(float));
  if (values &&
      e->l->GxB_Matrix_pack_FullR(e->a[FULL], &values, sizeof(float), true, NULL) == GRB_SUCCESS)
    return true;
  grb_release(e->l, values);
  return false;
}

/* One entry in column 3. */
static bool pack_sparse(struct experiment *e)
{
  const struct grb_library *l = e->l;
  const uint64_t bytes = (known[SPARSE].cols + 1) * 8;
  uint64_t *offsets = zeros(l, bytes), *indices = zeros(l, 8);
  void *values = zeros(l, sizeof(float));
  if (offsets && indices && values) {
    for (uint64_t j = 4; j <= known[SPARSE].cols; j++) offsets[j] = 1;
    if (l->GxB_Matrix_pack_CSC(e->a[SPARSE], &offsets, &indices, &values, bytes, 8, sizeof(float),
                               true, false, NULL) == GRB_SUCCESS)
      return true;
  }
  grb_release(l, offsets);
  grb_release(l, indices);
  grb_release(l, values);
  return false;
}

static bool attach(const struct grb_library *l, GrB_Matrix a, struct grb_iterator *it)
{
  memset(it, 0, sizeof *it);
  return l->GxB_Matrix_Iterator_attach(it, a, NULL) == GRB_SUCCESS;
}

static bool attach_all(struct experiment *e)
{
  for (int i = 0; i < MATRICES; i++)
    if (!attach(e->l, e->a[i], &e->it[i])) return false;
  return true;
}

/* ---- searching ---------------------------------------------------------------------------- */

/* The one word that is x in a matrix' iterator; -1: none, or several. */
static int find_word(const struct experiment *e, int matrix, uint64_t x)
{
  int found = -1;
  for (int i = 0; i < GRB_ITERATOR_WORDS; i++) {
    if (e->it[matrix].word[i] != x) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

static int find_pointer(const struct experiment *e, int matrix, const void *p)
{
  return find_word(e, matrix, (uint64_t)(uintptr_t)p);
}

static int find_form(const struct experiment *e)
{
  int found = -1;
  for (int i = 0; i < GRB_ITERATOR_WORDS * 2; i++) {
    bool same = true;
    for (int m = 0; m < MATRICES; m++) same = same && e->it[m].half[i] == known[m].form;
    if (same && found >= 0) return -1;
    if (same) found = i;
  }
  return found;
}

static int find_flag(const struct experiment *e, bool iso)
{
  int found = -1;
  for (int i = 0; i < GRB_ITERATOR_WORDS * 8; i++) {
    bool same = true;
    for (int m = 0; m < MATRICES; m++)
      same = same && e->it[m].byte[i] == (iso ? known[m].iso : known[m].by_column);
    if (same && found >= 0) return -1;
    if (same) found = i;
  }
  return found;
}

/* Is the word at `at` what it must be in the bitmap, held by column, too? */
static bool find_sizes(const struct experiment *e, struct grb_layout *out)
{
  out->length = find_word(e, HYPER, known[HYPER].cols);
  out->dimension = find_word(e, HYPER, known[HYPER].rows);
  return out->length >= 0 && out->dimension >= 0 &&
         e->it[BITMAP].word[out->length] == known[BITMAP].rows &&
         e->it[BITMAP].word[out->dimension] == known[BITMAP].cols;
}

static bool find_all(const struct experiment *e, struct grb_layout *out)
{
  out->vectors = find_word(e, HYPER, VECTORS);
  out->offsets = find_pointer(e, HYPER, e->offsets);
  out->ids = find_pointer(e, HYPER, e->ids);
  out->indices = find_pointer(e, HYPER, e->indices);
  out->values = find_pointer(e, HYPER, e->values);
  out->present = find_pointer(e, BITMAP, e->present);
  out->form = find_form(e);
  out->iso = find_flag(e, true);
  out->by_column = find_flag(e, false);
  return find_sizes(e, out) && out->vectors >= 0 && out->offsets >= 0 && out->ids >= 0 &&
         out->indices >= 0 && out->values >= 0 && out->present >= 0 && out->form >= 0 &&
         out->iso >= 0 && out->by_column >= 0;
}

static bool has_option(const struct grb_library *l, GrB_Matrix a, int option, int32_t expected)
{
  int32_t value = -1;
  return l->GxB_Matrix_Option_get_INT32(a, option, &value) == GRB_SUCCESS && value == expected;
}

static bool options_are_right(const struct experiment *e)
{
  const struct grb_numbers *n = &e->l->numbers;
  for (int m = 0; m < MATRICES; m++)
    if (!has_option(e->l, e->a[m], n->sparsity_status, known[m].form) ||
        !has_option(e->l, e->a[m], n->format, known[m].by_column ? GRB_BY_COL : GRB_BY_ROW))
      return false;
  return true;
}

/* ---- 32 bits wide ------------------------------------------------------------------------- */

/* Version 10 holds each of the three arrays 32 or 64 bits wide, in words of their own.  A
   matrix with one entry, made by the library, shows where: the words that are null in
   `wide` and not here point to {0, 1}, to the entry's row and to its column.  Where it
   makes such matrices 64 bits wide, too, there is nothing to find (and they are
   left to the original should the program change its mind).  */
static void probe_narrow(const struct grb_library *l, GrB_Matrix a, const struct grb_iterator *wide,
                         struct grb_layout *out)
{
  const uint32_t row = 0x123456, col = 0x6789ab;
  struct grb_iterator it;
  int offsets = -1, rows = -1, cols = -1;
  if (l->GrB_Matrix_setElement_FP32(a, 1, row, col) != GRB_SUCCESS ||
      l->GrB_Matrix_wait(a, GRB_MATERIALIZE) != GRB_SUCCESS || !attach(l, a, &it) ||
      it.half[out->form] != GRB_HYPERSPARSE)
    return;
  for (int i = 0; i < out->values; i++) {
    const uint32_t *p = (const uint32_t *)(uintptr_t)it.word[i];
    if (wide->word[i] != 0 || it.word[i] < 65536 || it.word[i] % 4 != 0) continue;
    if (*p == row)
      rows = i;
    else if (*p == col)
      cols = i;
    else if (*p == 0 && p[1] == 1)
      offsets = i;
  }
  if (offsets < 0 || rows < 0 || cols < 0) return;
  bool by_column = it.byte[out->by_column];
  out->offsets32 = offsets;
  out->ids32 = by_column ? cols : rows;
  out->indices32 = by_column ? rows : cols;
}

/* ---- together ----------------------------------------------------------------------------- */

static GrB_Matrix new_matrix(const struct grb_library *l, uint64_t rows, uint64_t cols)
{
  GrB_Matrix a = NULL;
  return l->GrB_Matrix_new(&a, l->type[GRB_FP32], rows, cols) == GRB_SUCCESS ? a : NULL;
}

enum grb_probe grb_layout_probe(const struct grb_library *l, struct grb_layout *out)
{
  struct experiment e = {.l = l};
  enum grb_probe answer = GRB_PROBE_NOT_NOW;
  GrB_Matrix narrow = new_matrix(l, 1 << 24, 1 << 24);
  bool made = narrow != NULL;
  for (int m = 0; m < MATRICES; m++) {
    e.a[m] = new_matrix(l, known[m].rows, known[m].cols);
    made = made && e.a[m];
  }
  memset(out, -1, sizeof *out);
  if (made && pack_hyper(&e) && pack_bitmap(&e) && pack_full(&e) && pack_sparse(&e))
    answer = attach_all(&e) && find_all(&e, out) && options_are_right(&e) ? GRB_PROBE_FOUND
                                                                          : GRB_PROBE_NOT_FOUND;
  if (answer == GRB_PROBE_FOUND) probe_narrow(l, narrow, &e.it[HYPER], out);
  for (int m = 0; m < MATRICES; m++) l->GrB_Matrix_free(&e.a[m]);
  l->GrB_Matrix_free(&narrow);
  return answer;
}
