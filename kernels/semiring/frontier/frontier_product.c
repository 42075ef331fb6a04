/* frontier_product.c: a step of many searches at once (frontier_kernels.h has the method). */
#include "kernels/semiring/frontier/frontier_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/semiring_choice.h"
#include "kernels/semiring/frontier/frontier_group.h"
#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_scratch.h"

struct shunt_frontier_work {
  const struct shunt_frontier *p;
  struct shunt_frontier copy;
  const uint64_t *offsets;
  int64_t groups;
  int width; /* rows of a group */
  int threads;
  struct shunt_group_result *result; /* [groups] */
};

/* ---- groups ---------------------------------------------------------------------------------- */

/* Sums: a line of cache.  Bits: a word, or less where threads would have nothing to do. */
static int width_of(const struct shunt_frontier *p)
{
  const int64_t share = (p->rows + p->threads - 1) / (p->threads > 0 ? p->threads : 1);
  if (p->sums) return SHUNT_GROUP_SUMS;
  return share > 64 ? 64 : share < SHUNT_GROUP_SUMS ? SHUNT_GROUP_SUMS : (int)share;
}

static bool compute(struct shunt_frontier_work *x)
{
  const size_t bytes = shunt_group_bytes(x->p);
  const struct shunt_scratch scratch = shunt_scratch_take(bytes * (size_t)x->threads);
  int good = scratch.memory != NULL;
  if (!good) return false;
  SHUNT_OMP(omp parallel num_threads(x->threads) reduction(& : good))
  {
#ifdef _OPENMP
    char *mine = scratch.memory + bytes * (size_t)omp_get_thread_num();
#else
    char *mine = scratch.memory;
#endif
    SHUNT_OMP(omp for schedule(dynamic, 1))
    for (int64_t g = 0; g < x->groups; g++) {
      const int64_t first = g * x->width, left = x->p->rows - first;
      const struct shunt_group rows = {first, left < x->width ? (int)left : x->width};
      good &= shunt_group_run(x->p, rows, mine, &x->result[g]);
    }
  }
  shunt_scratch_give(scratch);
  return good;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool line_valid(const struct shunt_lines *x, int64_t rows, int64_t cols)
{
  if (x->dense) return x->full.rows == rows && x->full.cols == cols && x->full.col_stride == 1;
  return shunt_sparse_valid(&x->sparse) && !x->sparse.by_column && x->sparse.rows == rows &&
         x->sparse.cols == cols;
}

static void work_free(struct shunt_frontier_work *x)
{
  for (int64_t g = 0; x->result && g < x->groups; g++) {
    free(x->result[g].indices);
    free(x->result[g].values);
  }
  free(x->result);
  free(x);
}

shunt_status shunt_frontier_begin(const struct shunt_frontier *p, uint64_t *offsets,
                                  struct shunt_frontier_work **work)
{
  *work = NULL;
  if (!shunt_sparse_valid(&p->a) || !line_valid(&p->f, p->rows, p->a.rows) ||
      !line_valid(&p->m, p->rows, p->a.cols))
    return SHUNT_E_ARGUMENT;
  if (p->a.ids || p->a.rows >= INT32_MAX || p->a.cols >= INT32_MAX) return SHUNT_E_UNSUPPORTED;
  struct shunt_frontier_work *x = calloc(1, sizeof *x);
  if (!x) return SHUNT_E_MEMORY;
  x->copy = *p;
  x->p = &x->copy;
  x->width = width_of(p);
  x->groups = (p->rows + x->width - 1) / x->width;
  x->threads = shunt_semiring_threads(p->threads, p->a.nnz * x->groups);
  if (x->threads > x->groups && x->groups > 0) x->threads = (int)x->groups;
  x->result = calloc((size_t)x->groups + 1, sizeof *x->result);
  if (!x->result || !compute(x)) {
    work_free(x);
    return SHUNT_E_MEMORY;
  }
  offsets[0] = 0;
  for (int64_t s = 0; s < p->rows; s++)
    offsets[s + 1] = offsets[s] + (uint64_t)x->result[s / x->width].count[s % x->width];
  x->offsets = offsets;
  *work = x;
  return SHUNT_OK;
}

static void finish_group(const struct shunt_frontier_work *x, int64_t g, uint64_t *indices,
                         double *values)
{
  const uint64_t at = x->offsets[g * x->width];
  const struct shunt_group_result *r = &x->result[g];
  int64_t n = 0;
  for (int s = 0; s < x->width; s++) n += r->count[s];
  for (int64_t e = 0; e < n; e++) indices[at + (uint64_t)e] = r->indices[e];
  if (values && n) memcpy(values + at, r->values, (size_t)n * sizeof *values);
}

void shunt_frontier_finish(struct shunt_frontier_work *x, uint64_t *indices, double *values)
{
  const int64_t groups = indices ? x->groups : 0;
  SHUNT_OMP(omp parallel for schedule(dynamic, 1) num_threads(x->threads))
  for (int64_t g = 0; g < groups; g++) finish_group(x, g, indices, values);
  work_free(x);
}

static void finish_bitmap_group(const struct shunt_frontier_work *x, int64_t g, int8_t *present,
                                double *values)
{
  const struct shunt_group_result *r = &x->result[g];
  const int64_t n = x->p->a.cols;
  int64_t e = 0;
  for (int64_t s = g * x->width; s < (g + 1) * x->width && s < x->p->rows; s++) {
    const int64_t end = e + r->count[s % x->width];
    memset(present + s * n, 0, (size_t)n);
    for (; e < end; e++) {
      present[s * n + r->indices[e]] = 1;
      if (values) values[s * n + r->indices[e]] = r->values[e];
    }
  }
}

void shunt_frontier_finish_bitmap(struct shunt_frontier_work *x, int8_t *present, double *values)
{
  const int64_t groups = present ? x->groups : 0;
  SHUNT_OMP(omp parallel for schedule(dynamic, 1) num_threads(x->threads))
  for (int64_t g = 0; g < groups; g++) finish_bitmap_group(x, g, present, values);
  work_free(x);
}

/* ---- costs ----------------------------------------------------------------------------------- */

enum { SAMPLE = 256, PROBES = 4096 }; /* entries; places of a bitmap */

static double degree(const struct shunt_sparse *a, int64_t v)
{
  return (double)(shunt_vector_begin(a, v + 1) - shunt_vector_begin(a, v));
}

/* Of entries, wherever they stand; how many share a column is not known. */
static struct shunt_frontier_reads of_entries(const struct shunt_frontier *p,
                                              const struct shunt_sparse *s)
{
  const int64_t sample = s->nnz < SAMPLE ? s->nnz : SAMPLE;
  double sum = 0;
  for (int64_t e = 0; e < sample; e++)
    sum += degree(&p->a, shunt_entry_index(s, s->nnz / sample * e));
  if (sample) sum *= (double)s->nnz / (double)sample;
  const int width = p->sums ? SHUNT_GROUP_SUMS : 64;
  const double groups = (double)((p->rows + width - 1) / width), all = groups * (double)p->a.nnz;
  return (struct shunt_frontier_reads){sum, sum < all ? sum : all};
}

/* Of columns: rows that have the column, and groups of which any has it. */
static struct shunt_frontier_reads of_columns(const struct shunt_frontier *p,
                                              const struct shunt_full *d, bool present)
{
  const int64_t columns = p->rows * 16 < PROBES ? PROBES / (p->rows + 1) : 16;
  const int64_t sample = d->cols < columns ? d->cols : columns;
  const int width = p->sums ? SHUNT_GROUP_SUMS : 64;
  struct shunt_frontier_reads reads = {0, 0};
  for (int64_t e = 0; e < sample; e++) {
    const int64_t v = d->cols / sample * e;
    const double entries = degree(&p->a, v);
    int64_t last = -1;
    for (int64_t s = 0; s < p->rows; s++) {
      if ((!d->present || d->present[s * d->row_stride + v]) != present) continue;
      reads.single += entries;
      if (s / width != last) reads.grouped += entries;
      last = s / width;
    }
  }
  const double scale = sample ? (double)d->cols / (double)sample : 0;
  return (struct shunt_frontier_reads){reads.single * scale, reads.grouped * scale};
}

struct shunt_frontier_reads shunt_frontier_reads(const struct shunt_frontier *p)
{
  const struct shunt_lines *by = p->a.by_column ? &p->m : &p->f;
  const bool present = !p->a.by_column || !p->complement;
  if (by->dense) return of_columns(p, &by->full, present);
  if (present) return of_entries(p, &by->sparse);
  const struct shunt_full none = {.rows = p->rows, .cols = p->a.cols};
  return of_columns(p, &none, true);
}
