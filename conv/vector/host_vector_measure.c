/* host_vector_measure.c: how many 8 x 1 vectors a matrix has, its rows in some order; on the host,
   the slow twin of vector_measure.cu.

   A group's rows are merged: the least column that any of them has next is a vector.  */
#include <string.h>

#include "conv/common/index.h"
#include "conv/vector/vector_conv.h"

/* The rows of a group on their way to their ends. */
struct merge {
  const struct shunt_csr *a;
  int64_t at[SHUNT_VECTOR_ROWS], end[SHUNT_VECTOR_ROWS];
  int irregular;
};

static int64_t start(struct merge *m, const uint32_t *row_of, int64_t group)
{
  const struct shunt_csr *a = m->a;
  int64_t entries = 0;

  for (int r = 0; r < SHUNT_VECTOR_ROWS; r++) {
    int64_t place = group * SHUNT_VECTOR_ROWS + r, row, begin, end;
    m->at[r] = m->end[r] = 0;
    if (place >= a->rows) continue;
    row = row_of ? (int64_t)row_of[place] : place;
    begin = row < a->rows ? from_base(index_at(a->row_offsets, a->index_type, row), a->base) : -1;
    end = row < a->rows ? from_base(index_at(a->row_offsets, a->index_type, row + 1), a->base) : -1;
    m->irregular |= begin < 0 || end < begin || end > a->nnz;
    if (begin < 0 || end < begin || end > a->nnz) continue;
    m->at[r] = begin, m->end[r] = end;
    entries += end - begin;
  }
  return entries;
}

static int64_t column_at(const struct merge *m, int64_t p)
{
  return from_base(index_at(m->a->columns, m->a->index_type, p), m->a->base);
}

/* The column of the next vector behind column `last`; cols: there is none. */
static int64_t next_column(struct merge *m, int64_t last)
{
  int64_t least = m->a->cols;

  for (int r = 0; r < SHUNT_VECTOR_ROWS; r++) {
    if (m->at[r] == m->end[r]) continue;
    int64_t c = column_at(m, m->at[r]);
    if (c <= last || c >= m->a->cols) m->irregular = 1;
    if (c > last && c < least) least = c;
  }
  for (int r = 0; r < SHUNT_VECTOR_ROWS; r++)
    if (m->at[r] < m->end[r] && column_at(m, m->at[r]) <= least) m->at[r]++;
  return least;
}

static uint64_t count_vectors(struct merge *m)
{
  uint64_t vectors = 0;

  for (int64_t c = -1; !m->irregular && (c = next_column(m, c)) < m->a->cols;) vectors++;
  return vectors;
}

shunt_status shunt_csr_vector_measure_host(const struct shunt_csr *a, const uint32_t *row_of,
                                           struct shunt_vector_measure *out)
{
  int64_t groups = (a->rows + SHUNT_VECTOR_ROWS - 1) / SHUNT_VECTOR_ROWS;

  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  memset(out, 0, sizeof *out);
  for (int64_t g = 0; g < groups; g++) {
    struct merge m = {.a = a};
    uint64_t entries = (uint64_t)start(&m, row_of, g), vectors = count_vectors(&m);
    out->vectors += vectors;
    out->steps += (vectors + SHUNT_VECTOR_STEP - 1) / SHUNT_VECTOR_STEP;
    for (int h = 0; h < 3; h++) /* the last group has room for every column */
      out->crowded[h] += g + 1 < groups && vectors * (8u >> h) > entries;
    if (m.irregular) out->irregular = SHUNT_IRREGULAR;
  }
  return SHUNT_OK;
}

double shunt_vector_measured_fill(const struct shunt_csr *a, const struct shunt_vector_measure *m)
{
  return m->vectors ? (double)a->nnz / ((double)m->vectors * SHUNT_VECTOR_ROWS) : 1;
}

int shunt_vector_measured_entries(const struct shunt_csr *a, const struct shunt_vector_measure *m)
{
  /* Between two numbers of entries in 8, by their ratio. */
  static const struct {
    double fill;
    int entries;
  } least[] = {{0.7, 8}, {0.35, 4}, {0.18, 2}};
  const double fill = shunt_vector_measured_fill(a, m);

  for (int i = 0; i < 3; i++)
    if (fill > least[i].fill) return least[i].entries;
  return 1;
}

int shunt_vector_measured_height(const struct shunt_vector_measure *m)
{
  for (int h = 0; h < 3; h++)
    if (m->crowded[h] == 0) return 8 >> h;
  return 1;
}
