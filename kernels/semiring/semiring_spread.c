/* semiring_spread.c: a narrow B times S held by column.

   With few columns, sorting S by row costs more than the product.  Instead each thread takes a
   share of S's entries and adds every term to its own copy of C, which fits into cache; the
   copies are then combined.  */
#include <string.h>

#include "kernels/common/alignment.h"
#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_pack.h"
#include "kernels/semiring/semiring_spread.h"

enum { COPY_MOST = 4 << 20, ENTRIES_PER_ROW = 2 };

struct parts {
  char *copies;
  uint8_t *touched; /* [threads][rows]: the row of the copy has a term */
  int64_t *offsets, *indices;
};

int shunt_spread_threads(const struct shunt_semiring_choice *choice, const struct shunt_sparse *s,
                         size_t size, int64_t cols, int threads)
{
  if (cols > choice->kernels->narrow || s->rows > COPY_MOST / (cols * (int64_t)size)) return 0;
  /* A copy is worth making when many terms go to it. */
  const int64_t most = s->nnz / (ENTRIES_PER_ROW * s->rows);
  return most < threads ? (int)most : threads;
}

size_t shunt_spread_bytes(const struct shunt_sparse *s, size_t size, int64_t cols, int threads)
{
  const size_t rows = (size_t)s->rows, all = rows * (size_t)threads;
  return shunt_align_up(all * (size_t)cols * size, 64) + shunt_align_up(all, 64) +
         shunt_align_up((rows + 1) * sizeof(int64_t), 64) +
         shunt_align_up(all * sizeof(int64_t), 64);
}

static struct parts place(const struct shunt_sparse *s, size_t size, int64_t cols, int threads,
                          char *scratch)
{
  const size_t rows = (size_t)s->rows, all = rows * (size_t)threads;
  struct parts p = {.copies = scratch};
  p.touched = (uint8_t *)p.copies + shunt_align_up(all * (size_t)cols * size, 64);
  p.offsets = (int64_t *)(void *)(p.touched + shunt_align_up(all, 64));
  p.indices = p.offsets + shunt_align_up((rows + 1) * sizeof(int64_t), 64) / sizeof(int64_t);
  return p;
}

/* Share t of `of` of the entries, into copy t. */
static void spread_share(const struct shunt_semiring_choice *choice, const struct shunt_sparse *s,
                         size_t size, const struct parts *p, struct shunt_rows_job job, int t,
                         int of)
{
  const int64_t share = s->nnz / of, rest = s->nnz % of;
  const int64_t first = share * t + rest * t / of;
  const int64_t end = share * (t + 1) + rest * (t + 1) / of;
  char *copy = p->copies + (size_t)(t * s->rows * job.width) * size;

  shunt_pack_fill(size, &choice->none, copy, s->rows * job.width);
  memset(p->touched + t * s->rows, 0, (size_t)s->rows);
  job.out = copy;
  job.out_stride = job.width;
  job.exists = p->touched + t * s->rows;
  if (first < end) choice->kernels->spread(&job, first, end, shunt_vector_of(s, first));
}

/* R's pattern; returns its entries. */
static int64_t combine_pattern(const struct parts *p, int64_t rows, int copies)
{
  int64_t n = 0;
  for (int64_t i = 0; i < rows; i++) {
    p->offsets[i] = n;
    for (int t = 0; t < copies; t++)
      if (p->touched[t * rows + i]) p->indices[n++] = t * rows + i;
  }
  p->offsets[rows] = n;
  return n;
}

void shunt_spread(const struct shunt_semiring_choice *choice, const struct shunt_sparse *s,
                  size_t size, int threads, void *scratch, struct shunt_rows_job *job,
                  struct shunt_sparse *r)
{
  const struct parts p = place(s, size, job->width, threads, scratch);
  int copies = 1;

  SHUNT_OMP(omp parallel num_threads(threads))
  {
#ifdef _OPENMP
    const int t = omp_get_thread_num(), of = omp_get_num_threads();
    SHUNT_OMP(omp single nowait)
    copies = of;
#else
    const int t = 0, of = 1;
#endif
    spread_share(choice, s, size, &p, *job, t, of);
  }
  *r = (struct shunt_sparse){.rows = s->rows,
                             .cols = s->rows * copies,
                             .vectors = s->rows,
                             .nnz = combine_pattern(&p, s->rows, copies),
                             .offsets = p.offsets,
                             .indices = p.indices,
                             .offset_bytes = 8,
                             .index_bytes = 8,
                             .iso = true};
  job->b = p.copies;
  job->b_stride = job->width;
}
