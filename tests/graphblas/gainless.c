/* gainless.c: products that are passed through because GraphBLAS is as fast, and their neighbours
   that are taken; the results are the original's.

   To be run without SHUNT_ROUTES, which would force all to be taken.  */
#include <stdio.h>
#include <stdlib.h>

#include "original.h"
#include "rng.h"

enum dense_form { FULL, WHOLE_BITMAP, BITMAP };

struct product {
  const char *what;
  GrB_Index m, k, n;
  int entries; /* of a row of the sparse operand; 0: the diagonal */
  enum dense_form form;
  int mask; /* one of so many elements; 0: none */
  GrB_Descriptor descriptor;
  bool taken;
};

/* Whole numbers, so that every order of summation gives the same. */
static void set(GrB_Matrix a, uint64_t *r, GrB_Index i, GrB_Index j)
{
  GrB_Matrix_setElement_FP32(a, (float)(1 + rng_below(r, 9)), i, j);
}

static GrB_Matrix make_sparse(GrB_Index m, GrB_Index n, int entries)
{
  GrB_Matrix a = NULL;
  uint64_t r = 1;
  GrB_Matrix_new(&a, GrB_FP32, m, n);
  GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, GxB_SPARSE);
  for (GrB_Index i = 0; i < m; i++) {
    if (entries == 0) set(a, &r, i, i);
    for (int e = 0; e < entries; e++) set(a, &r, i, rng_next(&r) % n);
  }
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  return a;
}

static GrB_Matrix make_dense(GrB_Index m, GrB_Index n, int control, int of)
{
  GrB_Matrix a = NULL;
  uint64_t r = 2;
  GrB_Matrix_new(&a, GrB_FP32, m, n);
  GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, control);
  if (control == GxB_FULL) GrB_Matrix_assign_FP32(a, NULL, NULL, 1, GrB_ALL, m, GrB_ALL, n, NULL);
  for (GrB_Index i = 0; i < m; i++)
    for (GrB_Index j = 0; j < n; j++)
      if (rng_below(&r, of) == 0) set(a, &r, i, j);
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  return a;
}

static bool equal(GrB_Matrix x, GrB_Matrix y)
{
  GrB_Matrix same = NULL;
  GrB_Index m, n, nx, ny, both;
  bool all = true;
  GrB_Matrix_nrows(&m, x);
  GrB_Matrix_ncols(&n, x);
  GrB_Matrix_nvals(&nx, x);
  GrB_Matrix_nvals(&ny, y);
  GrB_Matrix_new(&same, GrB_BOOL, m, n);
  GrB_Matrix_eWiseMult_BinaryOp(same, NULL, NULL, GrB_EQ_FP32, x, y, NULL);
  GrB_Matrix_nvals(&both, same);
  GrB_Matrix_reduce_BOOL(&all, NULL, GrB_LAND_MONOID_BOOL, same, NULL);
  GrB_Matrix_free(&same);
  return nx == ny && both == nx && all;
}

/* One product, to be done by the preloaded functions and by the original ones. */
struct call {
  GrB_Matrix c, mask; /* c: as it is before */
  GrB_BinaryOp accumulate;
  GrB_Semiring semiring;
  GrB_Matrix a, b;
  GrB_Descriptor descriptor;
};

/* C<mask> += A B by both, each into a copy of its own: is it taken as expected, and as the
   original's? */
static bool both_ways(const struct products *subject, const struct products *original,
                      const struct call *x, bool taken)
{
  GrB_Matrix c[2];
  GrB_Info info[2];
  bool was_taken = false;
  for (int i = 0; i < 2; i++) {
    GrB_Matrix_dup(&c[i], x->c);
    calls_reset();
    info[i] = (i ? original : subject)
                  ->mxm(c[i], x->mask, x->accumulate, x->semiring, x->a, x->b, x->descriptor);
    if (i == 0) was_taken = calls_seen() == 0;
  }
  const bool good = info[0] == GrB_SUCCESS && info[1] == GrB_SUCCESS && equal(c[0], c[1]);
  for (int i = 0; i < 2; i++) GrB_Matrix_free(&c[i]);
  return good && was_taken == taken;
}

static GrB_Matrix make_empty(GrB_Type type, GrB_Index m, GrB_Index n)
{
  GrB_Matrix c = NULL;
  GrB_Matrix_new(&c, type, m, n);
  return c;
}

static bool right(const struct products *subject, const struct products *original,
                  const struct product *x)
{
  GrB_Matrix a =
      make_dense(x->m, x->k, x->form == FULL ? GxB_FULL : GxB_BITMAP, x->form == BITMAP ? 8 : 1);
  GrB_Matrix b = make_sparse(x->k, x->n, x->entries), c = make_empty(GrB_FP32, x->m, x->n);
  GrB_Matrix mask = x->mask ? make_dense(x->m, x->n, GxB_BITMAP, x->mask) : NULL;
  const struct call call = {c, mask, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, a, b, x->descriptor};
  const bool good = both_ways(subject, original, &call, x->taken);
  GrB_Matrix_free(&c);
  GrB_Matrix_free(&mask);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&b);
  return good;
}

/* 100 x 2^60 by column: more columns than the kernels count. */
static bool large(const struct products *subject)
{
  const GrB_Index huge = (GrB_Index)1 << 60, rows = 100, columns = 64;
  GrB_Matrix a = NULL, b = NULL, c = NULL;
  GrB_Matrix_new(&a, GrB_FP32, rows, huge);
  GrB_Matrix_new(&b, GrB_FP32, huge, columns);
  GrB_Matrix_new(&c, GrB_FP32, rows, columns);
  GxB_Matrix_Option_set(a, GxB_FORMAT, GxB_BY_COL);
  GrB_Matrix_assign_FP32(b, NULL, NULL, 1, GrB_ALL, huge, GrB_ALL, columns, NULL);
  for (GrB_Index i = 0; i < rows; i++)
    for (GrB_Index e = 0; e < 9; e++)
      GrB_Matrix_setElement_FP32(a, (float)e, i, (i * 7919 + e * 104729) << 20);
  calls_reset();
  GrB_Info info = subject->mxm(c, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, a, b, NULL);
  const bool good = info == GrB_SUCCESS && calls_seen() == 1;
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&b);
  GrB_Matrix_free(&c);
  return good;
}

/* C<mask> = A B into an empty C. */
static bool masked(const struct products *subject, const struct products *original, GrB_Type type,
                   GrB_Semiring semiring, GrB_Matrix mask, GrB_Matrix a, GrB_Matrix b,
                   GrB_Descriptor descriptor, bool taken)
{
  GrB_Index rows, columns;
  GrB_Matrix_nrows(&rows, mask);
  GrB_Matrix_ncols(&columns, mask);
  GrB_Matrix c = make_empty(type, rows, columns);
  const struct call call = {c, mask, NULL, semiring, a, b, descriptor};
  const bool good = both_ways(subject, original, &call, taken);
  GrB_Matrix_free(&c);
  return good;
}

/* C = A A of two sparse ones, which ends before A is read: 2100 x 2100, as run.sh knows. */
static bool unmasked(const struct products *subject, const struct products *original)
{
  const GrB_Index n = 2100;
  GrB_Matrix a = make_sparse(n, n, 4), c = make_empty(GrB_FP32, n, n);
  const struct call call = {c, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, a, a, NULL};
  const bool good = both_ways(subject, original, &call, false);
  GrB_Matrix_free(&c);
  GrB_Matrix_free(&a);
  return good;
}

/* C<S> = S S' of a symmetric S with about 2 * `entries` a row, as in k-truss. */
static bool graph(const struct products *subject, const struct products *original, int entries,
                  bool taken)
{
  const GrB_Index n = 2000;
  GrB_Matrix s = make_sparse(n, n, entries);
  GrB_transpose(s, NULL, GrB_PLUS_FP32, s, NULL);
  const bool good =
      masked(subject, original, GrB_UINT32, GxB_PLUS_PAIR_UINT32, s, s, s, GrB_DESC_RST1, taken);
  GrB_Matrix_free(&s);
  return good;
}

/* C<L> = L L of a lower triangle with about `entries` / 2 a row, all by row: rows are added up. */
static bool triangle(const struct products *subject, const struct products *original,
                     GrB_Semiring semiring, GrB_Type type, int entries, bool taken)
{
  const GrB_Index n = 4000;
  GrB_Matrix s = make_sparse(n, n, entries), l = NULL;
  GrB_Matrix_new(&l, type, n, n);
  GrB_Matrix_select_INT64(l, NULL, NULL, GrB_TRIL, s, -1, NULL);
  GrB_Matrix_wait(l, GrB_MATERIALIZE);
  const bool good = masked(subject, original, type, semiring, l, l, l, GrB_DESC_S, taken);
  GrB_Matrix_free(&s);
  GrB_Matrix_free(&l);
  return good;
}

/* The same of a mesh of triangles, whose rows have 3 entries that meet. */
static bool mesh(const struct products *subject, const struct products *original, bool taken)
{
  const GrB_Index side = 128, n = side * side;
  GrB_Matrix l = NULL;
  GrB_Matrix_new(&l, GrB_BOOL, n, n);
  for (GrB_Index i = side + 1; i < n; i++) {
    GrB_Matrix_setElement_BOOL(l, true, i, i - 1);
    GrB_Matrix_setElement_BOOL(l, true, i, i - side);
    GrB_Matrix_setElement_BOOL(l, true, i, i - side - 1);
  }
  GrB_Matrix_wait(l, GrB_MATERIALIZE);
  const bool good =
      masked(subject, original, GrB_INT64, GxB_PLUS_PAIR_INT64, l, l, l, GrB_DESC_S, taken);
  GrB_Matrix_free(&l);
  return good;
}

/* A step of 64 searches, by A or A': `entries` in a row of F, one of `of` elements in P. */
static bool step(const struct products *subject, const struct products *original, int entries,
                 int control, int of, GrB_Descriptor descriptor, bool taken)
{
  const GrB_Index m = 64, n = 4000;
  GrB_Matrix f = make_sparse(m, n, entries), a = make_sparse(n, n, 16);
  GrB_Matrix p = make_dense(m, n, control, of);
  const bool good =
      masked(subject, original, GrB_BOOL, GxB_ANY_PAIR_BOOL, p, f, a, descriptor, taken);
  GrB_Matrix_free(&f);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&p);
  return good;
}

/* A step of 64 searches that notes where each came from, the least: F<!P> = F A by MIN_SECONDI. */
static bool came_from(const struct products *subject, const struct products *original,
                      GrB_Descriptor descriptor, bool taken)
{
  const GrB_Index m = 64, n = 4000;
  GrB_Matrix f = make_sparse(m, n, 200), a = make_sparse(n, n, 16);
  GrB_Matrix p = make_dense(m, n, GxB_BITMAP, 2);
  const bool good =
      masked(subject, original, GrB_INT64, GxB_MIN_SECONDI_INT64, p, f, a, descriptor, taken);
  GrB_Matrix_free(&f);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&p);
  return good;
}

/* F<S> = F A by a sparse F, where one of so many places is in S: less than 4,096. */
static bool under_few(const struct products *subject, const struct products *original,
                      GrB_Descriptor descriptor, int one_in, bool taken)
{
  const GrB_Index m = 64, n = 4000;
  GrB_Matrix f = make_sparse(m, n, 200), a = make_sparse(n, n, 16);
  GrB_Matrix s = make_dense(m, n, GxB_SPARSE, one_in), c = make_empty(GrB_BOOL, m, n);
  const struct call call = {c, s, NULL, GxB_ANY_PAIR_BOOL, f, a, descriptor};
  const bool good = both_ways(subject, original, &call, taken);
  GrB_Matrix_free(&c);
  GrB_Matrix_free(&f);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&s);
  return good;
}

/* One of 64 searches stands at a third of the nodes, and GraphBLAS copies all of the mask. */
static bool uneven(const struct products *subject, const struct products *original, bool taken)
{
  const GrB_Index m = 64, n = 20000;
  GrB_Matrix f = make_sparse(m, n, 4), a = make_sparse(n, n, 8);
  GrB_Matrix p = make_dense(m, n, GxB_BITMAP, 2);
  int threads;
  for (GrB_Index j = 0; j < n; j += 3) GrB_Matrix_setElement_FP32(f, 1, 0, j);
  GrB_Matrix_wait(f, GrB_MATERIALIZE);
  GxB_Global_Option_get(GxB_GLOBAL_NTHREADS, &threads);
  GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, 2); /* wherever the test runs */
  const bool good =
      masked(subject, original, GrB_BOOL, GxB_ANY_PAIR_BOOL, p, f, a, GrB_DESC_RSC, taken);
  GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads);
  GrB_Matrix_free(&f);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&p);
  return good;
}

/* A sparse matrix by row, said to be out of order; out[0]: was it still so before? */
static bool put_out_of_order(GrB_Matrix f, bool *out)
{
  GrB_Index *offsets, *indices, offset_bytes, index_bytes, value_bytes;
  void *values;
  bool iso;
  return GxB_Matrix_unpack_CSR(f, &offsets, &indices, &values, &offset_bytes, &index_bytes,
                               &value_bytes, &iso, out, NULL) == GrB_SUCCESS &&
         GxB_Matrix_pack_CSR(f, &offsets, &indices, &values, offset_bytes, index_bytes, value_bytes,
                             iso, true, NULL) == GrB_SUCCESS;
}

/* Steps of 64 searches that would pay if one were far ahead: most F are left out of order. */
static bool even(const struct products *subject)
{
  enum { STEPS = 40, MOST_READ = 12 };
  const GrB_Index m = 64, n = 20000;
  GrB_Matrix f = make_sparse(m, n, 110), a = make_sparse(n, n, 8);
  GrB_Matrix p = make_dense(m, n, GxB_BITMAP, 2), c = make_empty(GrB_BOOL, m, n);
  bool good = true, unread = false;
  int read = 0;
  for (int step = 0; good && step < STEPS; step++) {
    good = put_out_of_order(f, &unread) &&
           subject->mxm(c, p, NULL, GxB_ANY_PAIR_BOOL, f, a, GrB_DESC_RSC) == GrB_SUCCESS &&
           put_out_of_order(f, &unread);
    read += !unread;
  }
  if (read > MOST_READ) printf("# %d of %d were read\n", read, STEPS);
  GrB_Matrix_free(&f);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&p);
  GrB_Matrix_free(&c);
  return good && read <= MOST_READ;
}

/* C<M> += F A where T is a bitmap without gaps: 7.4.0 may crash on adding a full matrix so. */
static bool whole(const struct products *subject, const struct products *original, int control,
                  bool preloaded)
{
  const GrB_Index m = 64, n = 400;
  GrB_Matrix f = make_dense(m, n, GxB_BITMAP, 1), a = make_sparse(n, n, 40);
  GrB_Matrix mask = make_dense(m, n, GxB_SPARSE, 1), c = make_empty(GrB_BOOL, m, n);
  for (GrB_Index j = 0; j < n; j++) GrB_Matrix_setElement_FP32(a, 1, j, j);
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  GxB_Matrix_Option_set(c, GxB_SPARSITY_CONTROL, control);
  GrB_Matrix_setElement_BOOL(c, true, 3, 5);
  const struct call call = {c, mask, GrB_LOR, GxB_ANY_PAIR_BOOL, f, a, GrB_DESC_S};
  const bool good = both_ways(subject, original, &call, preloaded);
  GrB_Matrix_free(&c);
  GrB_Matrix_free(&f);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&mask);
  return good;
}

static int failed, passed;

static void tell(bool good, const char *what, const char *how)
{
  *(good ? &passed : &failed) += 1;
  printf("%s - %s%s\n", good ? "ok" : "not ok", what, how);
}

static void with_full(const struct products *subject, const struct products *original,
                      bool preloaded)
{
  const struct product cases[] = {
      {"full x diagonal", 5000, 64, 64, 0, FULL, 0, NULL, false},
      {"full x one entry a row, 64 columns", 5000, 64, 64, 1, FULL, 0, NULL, false},
      {"full x 16 entries a row", 5000, 64, 64, 16, FULL, 0, NULL, true},
      {"a bitmap without gaps is full", 5000, 64, 64, 16, WHOLE_BITMAP, 0, NULL, true},
      {"bitmap, next to nothing meets", 500, 1000, 1000, 1, BITMAP, 0, NULL, false},
      {"bitmap x 40 entries a row", 500, 1000, 1000, 40, BITMAP, 0, NULL, true},
      {"F<!P> = F A, a sparse frontier", 32, 2000, 2000, 16, BITMAP, 2, GrB_DESC_RSC, false},
      {"W<P> = W A', a sparse frontier", 32, 2000, 2000, 16, BITMAP, 2, GrB_DESC_RST1, false},
      {"F<!P> = F A, all there", 32, 2000, 2000, 16, FULL, 4, GrB_DESC_RSC, true},
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
    struct product x = cases[i];
    x.taken &= preloaded;
    tell(right(subject, original, &x), x.what,
         x.taken ? ": taken, and as the original's" : ": passed through, and as the original's");
  }
}

static void with_sparse(const struct products *subject, const struct products *original,
                        bool preloaded)
{
  const struct {
    bool good;
    const char *what;
  } others[] = {
      {large(subject), "100 x 2^60 by column is passed through"},
      {unmasked(subject, original), "C = A A of two sparse ones is passed through"},
      {graph(subject, original, 8, preloaded), "C<S> = S S' is taken, and as the original's"},
      {graph(subject, original, 2, false), "C<S> = S S' of short rows is passed through"},
      {triangle(subject, original, GrB_LOR_LAND_SEMIRING_BOOL, GrB_BOOL, 200, preloaded),
       "C<L> = L L by LOR_LAND is taken, and as the original's"},
      {triangle(subject, original, GrB_MAX_MIN_SEMIRING_UINT32, GrB_UINT32, 60, false),
       "C<L> = L L by MAX_MIN is passed through"},
      {triangle(subject, original, GrB_MIN_PLUS_SEMIRING_UINT32, GrB_UINT32, 200, preloaded),
       "C<L> = L L by MIN_PLUS of UINT32 is taken, and as the original's"},
      {triangle(subject, original, GrB_MIN_PLUS_SEMIRING_UINT32, GrB_UINT32, 4, false),
       "C<L> = L L of short rows is passed through"},
      {mesh(subject, original, preloaded),
       "C<L> = L L of short rows that meet is taken, and as the original's"},
      {step(subject, original, 200, GxB_BITMAP, 2, GrB_DESC_RSC, preloaded),
       "a step of searches is taken, and as the original's"},
      {step(subject, original, 1, GxB_BITMAP, 2, GrB_DESC_RSC, false),
       "a step that hardly begins is passed through"},
      {uneven(subject, original, preloaded),
       "a step of searches of which one stands at a third of the nodes is taken"},
      {even(subject), "of steps that would be if one did most are not read"},
      /* Along A', which GraphBLAS does not pull. */
      {step(subject, original, 200, GxB_SPARSE, 4, GrB_DESC_RSCT1, preloaded),
       "a step by a sparse F along A' under a complement is taken"},
      {step(subject, original, 200, GxB_SPARSE, 4, GrB_DESC_RST1, preloaded),
       "and under a mask of few"},
      {step(subject, original, 1, GxB_SPARSE, 4, GrB_DESC_RSCT1, false),
       "one that hardly begins is passed through"},
      {under_few(subject, original, GrB_DESC_RS, 100, preloaded),
       "a step under a mask of less than 4,096 entries is taken"},
      {under_few(subject, original, GrB_DESC_RST1, 100, preloaded), "and one along A'"},
      {under_few(subject, original, GrB_DESC_RST1, 4000, false),
       "one that is pulled for hardly any is passed through"},
      {under_few(subject, original, GrB_DESC_R, 100, false), "and one whose mask's values count"},
      {came_from(subject, original, GrB_DESC_RSC, preloaded),
       "a step by MIN_SECONDI is taken, and as the original's"},
      {came_from(subject, original, GrB_DESC_RSCT1, preloaded), "and one that is pulled"},
      {whole(subject, original, GxB_SPARSE, preloaded), "all of T is added to a sparse C"},
      {whole(subject, original, GxB_BITMAP, preloaded), "and to a bitmap"},
  };
  for (int i = 0; i < (int)(sizeof others / sizeof *others); i++)
    tell(others[i].good, others[i].what, "");
}

int main(void)
{
  struct products subject, original;
  if (GrB_init(GrB_NONBLOCKING) || !products_find(&subject, &original)) return 2;
  const bool preloaded = products_preloaded(&subject, &original);
  calls_watch();
  with_full(&subject, &original, preloaded);
  with_sparse(&subject, &original, preloaded);
  GrB_finalize();
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
