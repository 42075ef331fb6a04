/* support_changes.c: what becomes of an ordinary call in which one thing is changed. */
#include "backend/tool/support/support_words.h"

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

void support_fill_changes(struct support_asker *a, struct support_table *t)
{
  char text[SUPPORT_CELL];
  for (int c = 0; c < (int)(sizeof changes / sizeof *changes); c++)
    for (int op = 0; op < 2; op++)
      for (int f = 0; f < support_formats_count - 1; f++) {
        struct support_question q = support_ordinary(op ? SHUNT_SDDMM : SHUNT_SPMM);
        if (op && support_formats[f].format != CUSPARSE_FORMAT_CSR) continue;
        if (changes[c].change == index_mixed && has_one_index(support_formats[f].format)) continue;
        q.format = support_formats[f].format;
        changes[c].change(&q);
        support_table_add(t, "%s|%s|%s", changes[c].word, op ? "SDDMM" : support_formats[f].word,
                          support_taken(a, q, text));
      }
  support_table_merge(t, 1);
  support_table_name(t, 1, "CSR CSC COO BSR Blocked-ELL SDDMM", "any");
}
