/* support_tables.c: the calls that each table asks about. */
#include <stdlib.h>
#include <string.h>

#include "backend/routes/route.h"
#include "backend/tool/inspect/inspect.h"
#include "backend/tool/support/support.h"
#include "backend/tool/support/support_ask.h"

/* ---- words of questions ------------------------------------------------------------------ */

static const struct {
  const char *word;
  cusparseFormat_t format;
} formats[] = {{"CSR", CUSPARSE_FORMAT_CSR},
               {"CSC", CUSPARSE_FORMAT_CSC},
               {"COO", CUSPARSE_FORMAT_COO},
               {"BSR", CUSPARSE_FORMAT_BSR},
               {"Blocked-ELL", CUSPARSE_FORMAT_BLOCKED_ELL},
               {"Sliced-ELL", CUSPARSE_FORMAT_SLICED_ELLPACK}};

static const struct {
  const char *word;
  cudaDataType in, out, compute;
} types[] = {{"f16", CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},
             {"f16>f32", CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
             {"bf16", CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F},
             {"bf16>f32", CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
             {"f32", CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
             {"f64", CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
             {"i8>i32", CUDA_R_8I, CUDA_R_32I, CUDA_R_32I},
             {"i8>f32", CUDA_R_8I, CUDA_R_32F, CUDA_R_32F},
             {"c32", CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
             {"c64", CUDA_C_64F, CUDA_C_64F, CUDA_C_64F}};

static const struct {
  const char *word;
  cusparseOperation_t op;
} operations[] = {{"N", CUSPARSE_OPERATION_NON_TRANSPOSE},
                  {"T", CUSPARSE_OPERATION_TRANSPOSE},
                  {"H", CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE}};

static const struct {
  const char *word;
  cusparseOrder_t order[2];
} layouts[] = {{"rr", {CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_ROW}},
               {"rc", {CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_COL}},
               {"cr", {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}},
               {"cc", {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_COL}}};

static const struct {
  const char *word;
  int number;
} algorithms[] = {{"DEFAULT", CUSPARSE_SPMM_ALG_DEFAULT},
                  {"COO_ALG1", CUSPARSE_SPMM_COO_ALG1},
                  {"COO_ALG2", CUSPARSE_SPMM_COO_ALG2},
                  {"COO_ALG3", CUSPARSE_SPMM_COO_ALG3},
                  {"COO_ALG4", CUSPARSE_SPMM_COO_ALG4},
                  {"CSR_ALG1", CUSPARSE_SPMM_CSR_ALG1},
                  {"CSR_ALG2", CUSPARSE_SPMM_CSR_ALG2},
                  {"CSR_ALG3", CUSPARSE_SPMM_CSR_ALG3},
                  {"BLOCKED_ELL_ALG1", CUSPARSE_SPMM_BLOCKED_ELL_ALG1},
                  {"BSR_ALG1", 14 /* older headers have no name for it */}};

#define COUNT(x) ((int)(sizeof(x) / sizeof *(x)))

/* All entries of the words of a table, with a space between. */
#define ALL_OF(table, out)                                                                         \
  do {                                                                                             \
    (out)[0] = 0;                                                                                  \
    for (int i_ = 0; i_ < COUNT(table); i_++) {                                                    \
      strcat((out), i_ ? " " : "");                                                                \
      strcat((out), (table)[i_].word);                                                             \
    }                                                                                              \
  } while (0)

static void set_types(struct support_question *q, int t)
{
  q->in = types[t].in, q->out = types[t].out, q->compute = types[t].compute;
}

/* ---- answers as words -------------------------------------------------------------------- */

struct asker {
  int gpu;
  bool given[SHUNT_R_COUNT]; /* reasons that a table has */
};

/* From all elements down to one in 16,384: some routes ask how many there are. */
static const int densities[] = {1, 2, 4, 16, 64, 256, 1024, 4096, 16384};

/* The routes that take q with some number of entries; else the reason, which no number changes. */
static const char *answer(struct asker *a, struct support_question q, char text[SUPPORT_CELL])
{
  struct shunt_outcome why = {0};
  uint32_t routes = 0;
  for (int i = 0; i < COUNT(densities); i++) {
    q.nnz = q.rows * q.cols / densities[i];
    const struct support_answer x = support_ask(&q, a->gpu);
    routes |= x.routes;
    if (i == 0) why = x.why;
  }
  text[0] = 0;
  for (int i = 0; i < shunt_route_count(); i++)
    if (routes >> i & 1)
      snprintf(text + strlen(text), SUPPORT_CELL - strlen(text), "%s%s", text[0] ? " " : "",
               shunt_route_at(i)->name);
  if (routes != 0) return text;
  a->given[why.reason] = true;
  snprintf(text, SUPPORT_CELL, "(%s)", shunt_reason_text(why.reason));
  return text;
}

/* The same for tables that do not tell routes apart. */
static const char *taken(struct asker *a, struct support_question q, char text[SUPPORT_CELL])
{
  answer(a, q, text);
  return text[0] == '(' ? text : "taken";
}

/* ---- format x op x type x layout --------------------------------------------------------- */

static void merge_all(struct support_table *t)
{
  for (int c = t->columns - 2; c >= 0; c--) support_table_merge(t, c);
}

static void ask_layouts(struct asker *a, struct support_table *t, struct support_question q,
                        const char *format, const char *op, const char *type)
{
  char text[SUPPORT_CELL];
  for (int l = 0; l < COUNT(layouts); l++)
    for (int o = 0; o < COUNT(operations); o++) {
      memcpy(q.order, layouts[l].order, sizeof q.order);
      q.op_b = operations[o].op;
      support_table_add(t, "%s|%s|%s|%s%s|%s", format, op, type, layouts[l].word,
                        operations[o].word, answer(a, q, text));
    }
}

static void fill_products(struct asker *a, struct support_table *t, enum shunt_op op)
{
  char all[SUPPORT_CELL] = "";
  for (int f = 0; f < COUNT(formats); f++)
    for (int o = 0; o < COUNT(operations); o++)
      for (int y = 0; y < COUNT(types); y++) {
        struct support_question q = support_ordinary(op);
        q.format = formats[f].format;
        q.op_a = operations[o].op;
        set_types(&q, y);
        ask_layouts(a, t, q, formats[f].word, operations[o].word, types[y].word);
      }
  merge_all(t);
  for (int l = 0; l < COUNT(layouts); l++)
    for (int o = 0; o < COUNT(operations); o++)
      snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s%s", l + o ? " " : "",
               layouts[l].word, operations[o].word);
  support_table_name(t, 3, all, "any");
  ALL_OF(types, all);
  support_table_name(t, 2, all, "any");
  ALL_OF(operations, all);
  support_table_name(t, 1, all, "any");
}

static void fill_spmm(struct asker *a, struct support_table *t)
{
  fill_products(a, t, SHUNT_SPMM);
}

static void fill_sddmm(struct asker *a, struct support_table *t)
{
  fill_products(a, t, SHUNT_SDDMM);
}

/* ---- what one route asks for ------------------------------------------------------------- */

/* A question of the table above that route r takes, of one in `density` elements; false: none. */
static bool taken_by(int r, int gpu, int density, struct support_question *q)
{
  for (int i = 0; i < 2 * COUNT(formats) * COUNT(types); i++) {
    *q = support_ordinary(i % 2 ? SHUNT_SDDMM : SHUNT_SPMM);
    q->format = formats[i / 2 % COUNT(formats)].format;
    set_types(q, i / 2 / COUNT(formats));
    q->nnz = q->rows * q->cols / density;
    if (support_ask(q, gpu).routes >> r & 1) return true;
  }
  return false;
}

static const char *share(int density, char text[32])
{
  snprintf(text, 32, density == 1 ? "all" : "1/%d", density);
  return text;
}

/* "any", or "1/64 to all". */
static void say_entries(int r, int gpu, char text[96])
{
  struct support_question q;
  char low[32], high[32];
  int first = -1, last = -1;
  for (int i = 0; i < COUNT(densities); i++)
    if (taken_by(r, gpu, densities[i], &q)) {
      if (first < 0) first = i;
      last = i;
    }
  if (first < 0)
    snprintf(text, 96, "none");
  else if (first == 0 && last == COUNT(densities) - 1)
    snprintf(text, 96, "any");
  else
    snprintf(text, 96, "%s to %s", share(densities[last], low), share(densities[first], high));
}

/* The first density at which r takes something, for the other columns. */
static bool taken_at_all(int r, int gpu, struct support_question *q)
{
  for (int i = 0; i < COUNT(densities); i++)
    if (taken_by(r, gpu, densities[i], q)) return true;
  return false;
}

static int64_t least_columns(int r, int gpu, struct support_question q)
{
  int64_t least = 0;
  for (q.n = 256; q.n >= 1; q.n--)
    if (support_ask(&q, gpu).routes >> r & 1) least = q.n;
  return least;
}

/* The lowest of all GPUs that is above `last`; 0: none is. */
static int next_architecture(int last)
{
  int next = 0;
  for (int g = 0; g < INSPECT_GPUS; g++) {
    const int a = inspect_gpus[g].device.compute_capability;
    if (a > last && (next == 0 || a < next)) next = a;
  }
  return next;
}

/* The compute capabilities of GPUs that the route runs on, ascending. */
static void say_gpus(int r, char text[64])
{
  struct support_question q;
  int last = 0;
  text[0] = 0;
  for (int next; (next = next_architecture(last)) > 0; last = next)
    for (int g = 0; g < INSPECT_GPUS; g++)
      if (inspect_gpus[g].device.compute_capability == next && taken_at_all(r, g, &q)) {
        snprintf(text + strlen(text), 64 - strlen(text), "%s%d.%d", text[0] ? " " : "", next / 10,
                 next % 10);
        break;
      }
}

static void fill_routes(struct asker *a, struct support_table *t)
{
  char entries[96], gpus[64];
  for (int r = 0; r < shunt_route_count(); r++) {
    struct support_question q;
    say_entries(r, a->gpu, entries);
    say_gpus(r, gpus);
    support_table_add(t, "%s|%s|%d|%s", shunt_route_at(r)->name, entries,
                      taken_at_all(r, a->gpu, &q) ? (int)least_columns(r, a->gpu, q) : 0, gpus);
  }
}

/* ---- one thing at a time ----------------------------------------------------------------- */

static void fill_algorithms(struct asker *a, struct support_table *t)
{
  char text[SUPPORT_CELL];
  for (int g = 0; g < COUNT(algorithms); g++)
    for (int f = 0; f < COUNT(formats) - 1; f++) {
      struct support_question q = support_ordinary(SHUNT_SPMM);
      q.format = formats[f].format;
      q.algorithm = algorithms[g].number;
      support_table_add(t, "%s|%s|%s", algorithms[g].word, formats[f].word, taken(a, q, text));
    }
  merge_all(t);
}

static void fill_blocks(struct asker *a, struct support_table *t)
{
  static const int sizes[] = {1, 2, 4, 8, 16, 32, 64};
  char text[SUPPORT_CELL];
  for (int f = 3; f <= 4; f++)
    for (int by_column = 0; by_column < 2 - (f == 4); by_column++)
      for (int s = 0; s < COUNT(sizes); s++)
        for (int y = 0; y < COUNT(types); y++) {
          struct support_question q = support_ordinary(SHUNT_SPMM);
          q.format = formats[f].format;
          q.block = sizes[s];
          q.block_order = by_column ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
          set_types(&q, y);
          support_table_add(t, "%s|%s|%d|%s|%s", formats[f].word, by_column ? "column" : "row",
                            sizes[s], types[y].word, taken(a, q, text));
        }
  merge_all(t);
  ALL_OF(types, text);
  support_table_name(t, 3, text, "any");
  support_table_name(t, 2, "1 2 4 8 16 32 64", "any");
}

/* Changes that are made to an ordinary call, one at a time. */
static void index_64(struct support_question *q)
{
  q->index[0] = q->index[1] = CUSPARSE_INDEX_64I;
}
static void index_mixed(struct support_question *q)
{
  q->index[0] = CUSPARSE_INDEX_64I;
}
static void index_16(struct support_question *q)
{
  q->index[0] = q->index[1] = CUSPARSE_INDEX_16U;
}
static void base_one(struct support_question *q)
{
  q->base = CUSPARSE_INDEX_BASE_ONE;
}
static void batches_16(struct support_question *q)
{
  q->batches = 16;
}
static void batches_17(struct support_question *q)
{
  q->batches = 17;
}
static void batches_adjoin(struct support_question *q)
{
  q->batches = 1000;
  q->share_a = true;
  q->order[0] = q->order[1] = CUSPARSE_ORDER_COL;
}
static void unseen(struct support_question *q)
{
  q->unseen = true;
}
static void strides_unseen(struct support_question *q)
{
  q->unseen = true;
  q->batches = 2;
}
static void null_array(struct support_question *q)
{
  q->null = true;
}
static void no_rows(struct support_question *q)
{
  q->rows = 0;
}
static void no_columns(struct support_question *q)
{
  q->n = 0;
}
static void many_rows(struct support_question *q)
{
  q->rows = (int64_t)1 << 31;
}
static void many_entries(struct support_question *q)
{
  q->rows = q->cols = (int64_t)1 << 23;
}
static void long_entries(struct support_question *q)
{
  many_entries(q);
  index_64(q);
}
static void one_column(struct support_question *q)
{
  q->n = 1;
}
static void by_float_sums(struct support_question *q)
{
  q->in = q->out = CUDA_R_64F;
}
static void half_sums(struct support_question *q)
{
  q->in = q->out = q->compute = CUDA_R_16F;
}

static const struct {
  const char *word;
  void (*change)(struct support_question *q);
} changes[] = {{"indices of 64 bits", index_64},
               {"indices of two types", index_mixed},
               {"indices of 16 bits", index_16},
               {"indices from 1", base_one},
               {"16 strided batches", batches_16},
               {"17 strided batches", batches_17},
               {"1000 batches of one A, B and C side by side", batches_adjoin},
               {"batch strides set where Shunt does not see it", strides_unseen},
               {"descriptor made where Shunt does not see it", unseen},
               {"a null array", null_array},
               {"no rows", no_rows},
               {"no columns of the dense matrix", no_columns},
               {"one column of the dense matrix", one_column},
               {"2^31 rows", many_rows},
               {"2^32 entries, offsets of 32 bits", many_entries},
               {"2^32 entries, indices of 64 bits", long_entries},
               {"f64, computed in f32", by_float_sums},
               {"f16, computed in f16", half_sums}};

static bool has_one_index(cusparseFormat_t format)
{
  return format == CUSPARSE_FORMAT_COO || format == CUSPARSE_FORMAT_BLOCKED_ELL;
}

static void fill_changes(struct asker *a, struct support_table *t)
{
  char text[SUPPORT_CELL];
  for (int c = 0; c < COUNT(changes); c++)
    for (int op = 0; op < 2; op++)
      for (int f = 0; f < COUNT(formats) - 1; f++) {
        struct support_question q = support_ordinary(op ? SHUNT_SDDMM : SHUNT_SPMM);
        if (op && formats[f].format != CUSPARSE_FORMAT_CSR) continue;
        if (changes[c].change == index_mixed && has_one_index(formats[f].format)) continue;
        q.format = formats[f].format;
        changes[c].change(&q);
        support_table_add(t, "%s|%s|%s", changes[c].word, op ? "SDDMM" : formats[f].word,
                          taken(a, q, text));
      }
  support_table_merge(t, 1);
  support_table_name(t, 1, "CSR CSC COO BSR Blocked-ELL SDDMM", "any");
}

/* Last: the reasons that the tables before it have. */
static void fill_reasons(struct asker *a, struct support_table *t)
{
  for (int r = 0; r < SHUNT_R_COUNT; r++)
    if (a->given[r])
      support_table_add(t, "(%s)|%s", shunt_reason_text(r), shunt_reason_sentence(r));
}

/* ---- all tables -------------------------------------------------------------------------- */

static const struct {
  const char *title, *head;
  void (*fill)(struct asker *a, struct support_table *t);
  int width[SUPPORT_COLUMNS];
} tables[] = {
    {"cusparseSpMM: C = alpha op(A) op(B) + beta C",
     "A|op(A)|types|B, C|routes or (reason)",
     fill_spmm,
     {11, 5, 20, 8, 26}},
    {"cusparseSDDMM: C = alpha op(A) op(B) at C's pattern + beta C",
     "C|op(A)|types|A, B|routes or (reason)",
     fill_sddmm,
     {11, 5, 20, 8, 26}},
    {"What a route asks for besides",
     "route|entries of all|least columns|compute capability",
     fill_routes,
     {10, 14, 13, 26}},
    {"Algorithms of cusparseSpMM", "CUSPARSE_SPMM_|A|answer", fill_algorithms, {17, 30, 20}},
    {"Blocks", "A|blocks by|size|types|answer", fill_blocks, {11, 9, 12, 24, 12}},
    {"One thing out of the ordinary",
     "what|SpMM with A in, or SDDMM|answer",
     fill_changes,
     {34, 26, 14}},
    {"Reasons", "reason|meaning", fill_reasons, {13, 64}},
};

bool support_print_tables(int gpu, bool json, FILE *to)
{
  struct asker a = {.gpu = gpu};
  fputs(json ? "[" : "", to);
  for (int i = 0; i < COUNT(tables); i++) {
    struct support_table t;
    if (!support_table_make(&t, tables[i].title, tables[i].head)) {
      tool_say("support: out of memory");
      return false;
    }
    tables[i].fill(&a, &t);
    fputs(i == 0 ? "" : json ? ",\n" : "\n", to);
    if (json)
      support_table_json(&t, to);
    else
      support_table_print(&t, tables[i].width, to);
    support_table_free(&t);
  }
  fputs(json ? "]\n" : "", to);
  return true;
}
