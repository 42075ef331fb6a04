/* support_words.h: what the tables of `shunt support` share: the words of questions to the router
   (support_ask.h), and its answers as words.  */
#ifndef SHUNT_TOOL_SUPPORT_WORDS_H
#define SHUNT_TOOL_SUPPORT_WORDS_H

#include <string.h>

#include "backend/tool/support/support_ask.h"
#include "backend/tool/support/support_table.h"

/* ---- questions --------------------------------------------------------------------------- */

extern const struct support_format {
  const char *word;
  cusparseFormat_t format;
} support_formats[];
extern const struct support_types {
  const char *word;
  cudaDataType in, out, compute;
} support_types[];
extern const struct support_operation {
  const char *word;
  cusparseOperation_t op;
} support_operations[];
extern const struct support_layout {
  const char *word; /* of B and C, or of A and B: r by rows, c by columns */
  cusparseOrder_t order[2];
} support_layouts[];
/* A question has one entry in so many elements, from all of them down: some routes ask how many
   there are.  */
extern const int support_densities[];
extern const int support_formats_count, support_types_count, support_operations_count,
    support_layouts_count, support_densities_count;

void support_set_types(struct support_question *q, int types);

/* All words of formats, types, operations or layouts, with a space between. */
#define SUPPORT_ALL_OF(table, out)                                                                 \
  do {                                                                                             \
    (out)[0] = 0;                                                                                  \
    for (int i_ = 0; i_ < support_##table##_count; i_++) {                                         \
      strcat((out), i_ ? " " : "");                                                                \
      strcat((out), support_##table[i_].word);                                                     \
    }                                                                                              \
  } while (0)

/* ---- answers ------------------------------------------------------------------------------ */

struct support_asker {
  int gpu;                   /* an index into inspect_gpus */
  bool given[SHUNT_R_COUNT]; /* reasons that a table has */
};

/* The routes that take q with some number of entries; else the reason, which no number changes. */
const char *support_answer_words(struct support_asker *a, struct support_question q,
                                 char text[SUPPORT_CELL]);
/* The same for tables that do not tell routes apart: "taken". */
const char *support_taken(struct support_asker *a, struct support_question q,
                          char text[SUPPORT_CELL]);

/* Joins rows that differ in any one column but the last. */
void support_table_merge_all(struct support_table *t);

/* ---- tables that have a file of their own -------------------------------------------------- */

/* Format x operation x type x layout: support_products.c. */
void support_fill_spmm(struct support_asker *a, struct support_table *t);
void support_fill_sddmm(struct support_asker *a, struct support_table *t);
/* What one route asks for: support_routes.c. */
void support_fill_routes(struct support_asker *a, struct support_table *t);
/* Ordinary calls with one thing changed: support_changes.c. */
void support_fill_changes(struct support_asker *a, struct support_table *t);

#endif
