/* support_products.c: which routes take a product, by format, operations, types and layouts. */
#include "backend/tool/support/support_words.h"

static void ask_layouts(struct support_asker *a, struct support_table *t, struct support_question q,
                        const char *format, const char *op, const char *type)
{
  char text[SUPPORT_CELL];
  for (int l = 0; l < support_layouts_count; l++)
    for (int o = 0; o < support_operations_count; o++) {
      memcpy(q.order, support_layouts[l].order, sizeof q.order);
      q.op_b = support_operations[o].op;
      support_table_add(t, "%s|%s|%s|%s%s|%s", format, op, type, support_layouts[l].word,
                        support_operations[o].word, support_answer_words(a, q, text));
    }
}

static void fill_products(struct support_asker *a, struct support_table *t, enum shunt_op op)
{
  char all[SUPPORT_CELL] = "";
  for (int f = 0; f < support_formats_count; f++)
    for (int o = 0; o < support_operations_count; o++)
      for (int y = 0; y < support_types_count; y++) {
        struct support_question q = support_ordinary(op);
        q.format = support_formats[f].format;
        q.op_a = support_operations[o].op;
        support_set_types(&q, y);
        ask_layouts(a, t, q, support_formats[f].word, support_operations[o].word,
                    support_types[y].word);
      }
  support_table_merge_all(t);
  for (int l = 0; l < support_layouts_count; l++)
    for (int o = 0; o < support_operations_count; o++)
      snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s%s", l + o ? " " : "",
               support_layouts[l].word, support_operations[o].word);
  support_table_name(t, 3, all, "any");
  SUPPORT_ALL_OF(types, all);
  support_table_name(t, 2, all, "any");
  SUPPORT_ALL_OF(operations, all);
  support_table_name(t, 1, all, "any");
}

void support_fill_spmm(struct support_asker *a, struct support_table *t)
{
  fill_products(a, t, SHUNT_SPMM);
}

void support_fill_sddmm(struct support_asker *a, struct support_table *t)
{
  fill_products(a, t, SHUNT_SDDMM);
}
