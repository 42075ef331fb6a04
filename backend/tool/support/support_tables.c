/* support_tables.c: the tables of `shunt support`, one behind the other, and those of algorithms,
   blocks and reasons.  */
#include <stdlib.h>

#include "backend/tool/support/support.h"
#include "backend/tool/support/support_words.h"

#define COUNT(x) ((int)(sizeof(x) / sizeof *(x)))

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

static void fill_algorithms(struct support_asker *a, struct support_table *t)
{
  char text[SUPPORT_CELL];
  for (int g = 0; g < COUNT(algorithms); g++)
    for (int f = 0; f < support_formats_count - 1; f++) {
      struct support_question q = support_ordinary(SHUNT_SPMM);
      q.format = support_formats[f].format;
      q.algorithm = algorithms[g].number;
      support_table_add(t, "%s|%s|%s", algorithms[g].word, support_formats[f].word,
                        support_taken(a, q, text));
    }
  support_table_merge_all(t);
}

static void fill_blocks(struct support_asker *a, struct support_table *t)
{
  static const int sizes[] = {1, 2, 4, 8, 16, 32, 64};
  char text[SUPPORT_CELL];
  for (int f = 3; f <= 4; f++)
    for (int by_column = 0; by_column < 2 - (f == 4); by_column++)
      for (int s = 0; s < COUNT(sizes); s++)
        for (int y = 0; y < support_types_count; y++) {
          struct support_question q = support_ordinary(SHUNT_SPMM);
          q.format = support_formats[f].format;
          q.block = sizes[s];
          q.block_order = by_column ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
          support_set_types(&q, y);
          support_table_add(t, "%s|%s|%d|%s|%s", support_formats[f].word,
                            by_column ? "column" : "row", sizes[s], support_types[y].word,
                            support_taken(a, q, text));
        }
  support_table_merge_all(t);
  SUPPORT_ALL_OF(types, text);
  support_table_name(t, 3, text, "any");
  support_table_name(t, 2, "1 2 4 8 16 32 64", "any");
}

/* Last: the reasons that the tables before it have. */
static void fill_reasons(struct support_asker *a, struct support_table *t)
{
  for (int r = 0; r < SHUNT_R_COUNT; r++)
    if (a->given[r])
      support_table_add(t, "(%s)|%s", shunt_reason_text(r), shunt_reason_sentence(r));
}

/* ---- all tables -------------------------------------------------------------------------- */

static const struct {
  const char *title, *head;
  void (*fill)(struct support_asker *a, struct support_table *t);
  int width[SUPPORT_COLUMNS];
} tables[] = {
    {"cusparseSpMM: C = alpha op(A) op(B) + beta C",
     "A|op(A)|types|B, C|routes or (reason)",
     support_fill_spmm,
     {11, 5, 20, 8, 26}},
    {"cusparseSDDMM: C = alpha op(A) op(B) at C's pattern + beta C",
     "C|op(A)|types|A, B|routes or (reason)",
     support_fill_sddmm,
     {11, 5, 20, 8, 26}},
    {"What a route asks for besides",
     "route|entries of all|least columns|compute capability",
     support_fill_routes,
     {10, 14, 13, 26}},
    {"Algorithms of cusparseSpMM", "CUSPARSE_SPMM_|A|answer", fill_algorithms, {17, 30, 20}},
    {"Blocks", "A|blocks by|size|types|answer", fill_blocks, {11, 9, 12, 24, 12}},
    {"One thing out of the ordinary",
     "what|SpMM with A in, or SDDMM|answer",
     support_fill_changes,
     {34, 26, 14}},
    {"Reasons", "reason|meaning", fill_reasons, {13, 64}},
};

bool support_print_tables(int gpu, bool json, FILE *to)
{
  struct support_asker a = {.gpu = gpu};
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
