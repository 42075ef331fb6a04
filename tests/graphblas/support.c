/* support.c: which products of GraphBLAS are taken, as the preloaded library itself says.

     LD_PRELOAD=libshunt-graphblas.so SHUNT_LOG=dispatch SHUNT_LOG_FILE=FILE support FILE

   Each product is computed in a child of its own, whose one line of the log has the answer.  Prints
   JSON, a list of tables whose rows differ in more than one column (support_table.h), for
   backend/tool/support/make_page.py.  */
#define _GNU_SOURCE
#include <GraphBLAS.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/tool/support/support_table.h"
#include "rng.h"

enum { N = 128, VECTOR_N = 320, EACH_ROW = 48 };

static const char *log_path;

/* ---- matrices ---------------------------------------------------------------------------- */

static const char *const forms[] = {"sparse", "hypersparse", "bitmap", "full", NULL};

/* n x n of a type; values from 0 to 8, so that no matrix is iso and masks have zeros. */
static GrB_Matrix make_matrix(GrB_Index n, GrB_Type type, const char *form, bool by_column,
                              uint64_t seed)
{
  GrB_Matrix a = NULL;
  const bool full = strcmp(form, "full") == 0, bitmap = strcmp(form, "bitmap") == 0;
  const int control = full                               ? GxB_FULL
                      : bitmap                           ? GxB_BITMAP
                      : strcmp(form, "hypersparse") == 0 ? GxB_HYPERSPARSE
                                                         : GxB_SPARSE;
  GrB_Matrix_new(&a, type, n, n);
  GxB_Matrix_Option_set(a, GxB_FORMAT, by_column ? GxB_BY_COL : GxB_BY_ROW);
  for (GrB_Index i = 0; i < n; i++)
    for (GrB_Index e = 0; e < (full || bitmap ? n : EACH_ROW); e++) {
      const GrB_Index j = full || bitmap ? e : rng_next(&seed) % n;
      if (!bitmap || e > 0) GrB_Matrix_setElement_INT32(a, (int)rng_below(&seed, 9), i, j);
    }
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, control);
  return a;
}

/* A vector of length VECTOR_N; `sparse`: every eighth is there. */
static GrB_Vector make_vector(GrB_Type type, bool sparse)
{
  GrB_Vector u = NULL;
  GrB_Vector_new(&u, type, VECTOR_N);
  for (GrB_Index i = 0; i < VECTOR_N; i += sparse ? 8 : 1)
    GrB_Vector_setElement_INT32(u, (int)(i % 9), i);
  GrB_Vector_wait(u, GrB_MATERIALIZE);
  GxB_Vector_Option_set(u, GxB_SPARSITY_CONTROL, sparse ? GxB_SPARSE : GxB_FULL);
  return u;
}

/* A variable of the library by its name; NULL: there is none. */
static void *handle(const char *form, const char *monoid, const char *multiplier, const char *type)
{
  char name[64];
  snprintf(name, sizeof name, form, monoid, multiplier, type);
  void **variable = dlsym(RTLD_DEFAULT, name);
  return variable ? *variable : NULL;
}

/* ---- one product ------------------------------------------------------------------------- */

struct product {
  const char *call, *a, *b, *mask; /* forms */
  const char *monoid, *multiplier, *type;
  bool by_column, transpose_a, transpose_b, accum;
};

static const struct {
  const char *word, *form;
  bool structural, complement;
} masks[] = {{"none", NULL, false, false},
             {"sparse", "sparse", false, false},
             {"sparse,structural", "sparse", true, false},
             {"sparse,complemented", "sparse", false, true},
             {"bitmap", "bitmap", false, false},
             {"full", "full", false, false}};
enum { MASKS = sizeof masks / sizeof *masks };

static GrB_Matrix make_mask(const struct product *p, GrB_Descriptor d)
{
  for (int i = 0; i < MASKS; i++) {
    if (strcmp(masks[i].word, p->mask) != 0 || !masks[i].form) continue;
    if (masks[i].structural) GrB_Descriptor_set(d, GrB_MASK, GrB_STRUCTURE);
    if (masks[i].complement) GrB_Descriptor_set(d, GrB_MASK, GrB_COMP);
    return make_matrix(N, GrB_INT32, masks[i].form, p->by_column, 3);
  }
  return NULL;
}

/* In the child: 0, if it was computed. */
static int compute(const struct product *p)
{
  GrB_Matrix c = NULL;
  GrB_Descriptor d = NULL;
  GrB_Vector w = NULL;
  GrB_init(GrB_NONBLOCKING);
  const bool is_complex = p->type[1] == 'C';
  const GrB_Type type = handle(is_complex ? "GxB_%s%s%s" : "GrB_%s%s%s", "", "", p->type);
  const GrB_Semiring semiring = handle("GxB_%s_%s_%s", p->monoid, p->multiplier, p->type);
  const GrB_BinaryOp plus = handle("GrB_%s_%s%s", "PLUS", "", p->type);
  if (!type || !semiring) return 1;
  GrB_Descriptor_new(&d);
  if (p->transpose_a) GrB_Descriptor_set(d, GrB_INP0, GrB_TRAN);
  if (p->transpose_b) GrB_Descriptor_set(d, GrB_INP1, GrB_TRAN);
  const bool vector = strcmp(p->call, "mxm") != 0;
  const GrB_Matrix a = make_matrix(vector ? VECTOR_N : N, type, p->a, p->by_column, 1);
  if (!vector) {
    const GrB_Matrix b = make_matrix(N, type, p->b, p->by_column, 2), mask = make_mask(p, d);
    GrB_Matrix_new(&c, type, N, N);
    GxB_Matrix_Option_set(c, GxB_FORMAT, p->by_column ? GxB_BY_COL : GxB_BY_ROW);
    return GrB_mxm(c, mask, p->accum ? plus : NULL, semiring, a, b, d) != GrB_SUCCESS;
  }
  const GrB_Vector u = make_vector(type, strcmp(p->b, "sparse") == 0);
  GrB_Vector_new(&w, type, VECTOR_N);
  if (strcmp(p->call, "mxv") == 0) return GrB_mxv(w, NULL, NULL, semiring, a, u, d) != GrB_SUCCESS;
  return GrB_vxm(w, NULL, NULL, semiring, u, a, d) != GrB_SUCCESS;
}

/* "taken" or "(reason)", from the last decision in the log; false: there is none. */
static bool read_answer(char text[SUPPORT_CELL])
{
  char line[1024], route[64], reason[64];
  bool found = false;
  FILE *log = fopen(log_path, "r");
  while (log && fgets(line, sizeof line, log))
    if (sscanf(line, "shunt,1,dispatch,%*[^,],%63[^,],%63[^,]", route, reason) == 2) {
      found = true;
      if (strcmp(route, "original") == 0)
        snprintf(text, SUPPORT_CELL, "(%s)", reason);
      else
        snprintf(text, SUPPORT_CELL, "taken");
    }
  if (log) fclose(log);
  return found;
}

/* False: GraphBLAS has no such product. */
static bool ask(const struct product *p, char text[SUPPORT_CELL])
{
  int status = 0;
  if (!handle("GxB_%s_%s_%s", p->monoid, p->multiplier, p->type)) return false;
  if (truncate(log_path, 0) != 0) fclose(fopen(log_path, "w"));
  const pid_t child = fork();
  if (child == 0) _exit(compute(p));
  if (child < 0 || waitpid(child, &status, 0) != child) exit(1);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !read_answer(text)) {
    fprintf(stderr, "no answer: %s %s %s %s %s_%s_%s\n", p->call, p->a, p->b, p->mask, p->monoid,
            p->multiplier, p->type);
    exit(1);
  }
  return true;
}

/* ---- tables ------------------------------------------------------------------------------ */

static const struct product ordinary = {.call = "mxm",
                                        .a = "sparse",
                                        .b = "full",
                                        .mask = "none",
                                        .monoid = "PLUS",
                                        .multiplier = "TIMES",
                                        .type = "FP32"};

static void fill_forms(struct support_table *t)
{
  char text[SUPPORT_CELL];
  struct product p = ordinary;
  for (int a = 0; forms[a]; a++)
    for (int b = 0; forms[b]; b++)
      for (int m = 0; m < MASKS; m++)
        for (int accum = 0; accum < 2; accum++) {
          p.a = forms[a], p.b = forms[b], p.mask = masks[m].word, p.accum = accum;
          if (ask(&p, text))
            support_table_add(t, "%s|%s|%s|%s|%s", p.a, p.b, p.mask, accum ? "PLUS" : "none", text);
        }
  for (int c = 3; c >= 0; c--) support_table_merge(t, c);
  support_table_name(t, 2, "none sparse sparse,structural sparse,complemented bitmap full", "any");
  support_table_name(t, 3, "none PLUS", "any");
  support_table_name(t, 1, "sparse hypersparse bitmap full", "any");
}

static void fill_orientations(struct support_table *t)
{
  char text[SUPPORT_CELL];
  struct product p = ordinary;
  for (int kind = 0; kind < 4; kind++)
    for (int turned = 0; turned < 4; turned++)
      for (int by = 0; by < 2; by++) {
        p.a = kind == 1 || kind == 2 ? "full" : "sparse";
        p.b = kind == 0 || kind == 2 ? "full" : "sparse";
        p.mask = kind > 1 ? "sparse" : "none";
        p.transpose_a = turned & 1, p.transpose_b = turned & 2, p.by_column = by;
        if (ask(&p, text))
          support_table_add(t, "%s|%s%s|%s|%s",
                            kind == 0   ? "sparse.full"
                            : kind == 1 ? "full.sparse"
                            : kind == 2 ? "full.full<sparse>"
                                        : "sparse.sparse<sparse>",
                            turned & 1 ? "T" : "N", turned & 2 ? "T" : "N", by ? "column" : "row",
                            text);
      }
  for (int c = 2; c >= 0; c--) support_table_merge(t, c);
  support_table_name(t, 1, "NN TN NT TT", "any");
  support_table_name(t, 2, "row column", "any");
}

static const char *const monoids[] = {"PLUS", "MIN", "MAX", "TIMES", "ANY", "LOR", "LAND", NULL};
static const char *const multipliers[] = {"TIMES", "PLUS", "FIRST", "SECOND",
                                          "PAIR",  "MIN",  "LAND",  NULL};
static const char *const types[] = {"FP32",  "FP64",  "INT32", "INT64", "UINT32", "UINT64",
                                    "INT16", "UINT8", "BOOL",  "FC32",  NULL};

static void ask_semirings(struct support_table *t, struct product p, const char *what)
{
  char text[SUPPORT_CELL];
  for (int y = 0; types[y]; y++)
    for (int m = 0; monoids[m]; m++)
      for (int x = 0; multipliers[x]; x++) {
        p.monoid = monoids[m], p.multiplier = multipliers[x], p.type = types[y];
        if (strcmp(p.multiplier, "LAND") == 0 && strcmp(p.type, "BOOL") != 0) continue;
        if (ask(&p, text))
          support_table_add(t, "%s|%s|%s|%s|%s", what, p.type, p.monoid, p.multiplier, text);
      }
}

static void fill_semirings(struct support_table *t)
{
  struct product p = ordinary;
  ask_semirings(t, p, "sparse.full");
  p.a = "full", p.mask = "sparse";
  ask_semirings(t, p, "full.full<sparse>");
  p.a = p.b = "sparse";
  ask_semirings(t, p, "sparse.sparse<sparse>");
  p.call = "mxv", p.b = "full", p.mask = "none";
  ask_semirings(t, p, "mxv");
  support_table_merge(t, 3);
  support_table_name(t, 3, "TIMES PLUS FIRST SECOND PAIR MIN", "any");
  for (int c = 2; c >= 0; c--) support_table_merge(t, c);
}

static void fill_vectors(struct support_table *t)
{
  char text[SUPPORT_CELL];
  struct product p = ordinary;
  p.monoid = "MIN", p.multiplier = "PLUS";
  for (int call = 0; call < 2; call++)
    for (int by = 0; by < 2; by++)
      for (int turned = 0; turned < 2; turned++)
        for (int sparse = 0; sparse < 2; sparse++) {
          p.call = call ? "vxm" : "mxv", p.b = sparse ? "sparse" : "full";
          p.by_column = by, p.transpose_a = p.transpose_b = turned;
          if (ask(&p, text))
            support_table_add(t, "%s|%s|%s|%s|%s", p.call, by ? "column" : "row",
                              turned ? "T" : "N", p.b, text);
        }
  for (int c = 3; c >= 0; c--) support_table_merge(t, c);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *title, *head;
    void (*fill)(struct support_table *t);
  } tables[] = {
      {"GrB_mxm, PLUS_TIMES of FP32, by the forms of its operands", "A|B|mask|accum|answer",
       fill_forms},
      {"By orientation", "product|transposed|held by|answer", fill_orientations},
      {"By semiring", "product|type|monoid|multiplier|answer", fill_semirings},
      {"GrB_mxv and GrB_vxm, MIN_PLUS of FP32", "call|A by|A op|vector|answer", fill_vectors}};
  if (argc != 2) return 2;
  log_path = argv[1];
  setenv("OMP_NUM_THREADS", "1", 1);
  printf("[");
  for (int i = 0; i < 4; i++) {
    struct support_table t;
    if (!support_table_make(&t, tables[i].title, tables[i].head)) return 1;
    tables[i].fill(&t);
    fputs(i ? ",\n" : "", stdout);
    support_table_json(&t, stdout);
    support_table_free(&t);
  }
  printf("]\n");
  return 0;
}
