/* support_words.c: the words of questions to the router, and its answers as words. */
#include "backend/tool/support/support_words.h"

#include "backend/routes/route.h"

#define COUNT(x) ((int)(sizeof(x) / sizeof *(x)))

/* ---- questions --------------------------------------------------------------------------- */

const struct support_format support_formats[] = {{"CSR", CUSPARSE_FORMAT_CSR},
                                                 {"CSC", CUSPARSE_FORMAT_CSC},
                                                 {"COO", CUSPARSE_FORMAT_COO},
                                                 {"BSR", CUSPARSE_FORMAT_BSR},
                                                 {"Blocked-ELL", CUSPARSE_FORMAT_BLOCKED_ELL},
                                                 {"Sliced-ELL", CUSPARSE_FORMAT_SLICED_ELLPACK}};

const struct support_types support_types[] = {{"f16", CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},
                                              {"f16>f32", CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
                                              {"bf16", CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F},
                                              {"bf16>f32", CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
                                              {"f32", CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
                                              {"f64", CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
                                              {"i8>i32", CUDA_R_8I, CUDA_R_32I, CUDA_R_32I},
                                              {"i8>f32", CUDA_R_8I, CUDA_R_32F, CUDA_R_32F},
                                              {"c32", CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
                                              {"c64", CUDA_C_64F, CUDA_C_64F, CUDA_C_64F}};

const struct support_operation support_operations[] = {
    {"N", CUSPARSE_OPERATION_NON_TRANSPOSE},
    {"T", CUSPARSE_OPERATION_TRANSPOSE},
    {"H", CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE}};

const struct support_layout support_layouts[] = {{"rr", {CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_ROW}},
                                                 {"rc", {CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_COL}},
                                                 {"cr", {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}},
                                                 {"cc", {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_COL}}};

const int support_densities[] = {1, 2, 4, 16, 64, 256, 1024, 4096, 16384};

const int support_formats_count = COUNT(support_formats);
const int support_types_count = COUNT(support_types);
const int support_operations_count = COUNT(support_operations);
const int support_layouts_count = COUNT(support_layouts);
const int support_densities_count = COUNT(support_densities);

void support_set_types(struct support_question *q, int t)
{
  q->in = support_types[t].in, q->out = support_types[t].out, q->compute = support_types[t].compute;
}

/* ---- answers ------------------------------------------------------------------------------ */

const char *support_answer_words(struct support_asker *a, struct support_question q,
                                 char text[SUPPORT_CELL])
{
  struct shunt_outcome why = {0};
  uint32_t routes = 0;
  for (int i = 0; i < support_densities_count; i++) {
    q.nnz = q.rows * q.cols / support_densities[i];
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

const char *support_taken(struct support_asker *a, struct support_question q,
                          char text[SUPPORT_CELL])
{
  support_answer_words(a, q, text);
  return text[0] == '(' ? text : "taken";
}

void support_table_merge_all(struct support_table *t)
{
  for (int c = t->columns - 2; c >= 0; c--) support_table_merge(t, c);
}
