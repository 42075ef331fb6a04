/* masked_reads.c: what a masked product costs, by samples of its entries. */
#include "kernels/semiring/masked/masked.h"
#include "kernels/semiring/semiring_operands.h"

enum { FEW = 32, SAMPLE = 256, CLEAR = 4 }; /* entries that are looked at; CLEAR: so many times */

/* The e-th of `sample` places among n, all over them. */
static int64_t place_of(int64_t n, int64_t sample, int64_t e)
{
  return (int64_t)((double)n / (double)sample * ((double)e + 0.5));
}

/* An average one where it is not known without a transpose. */
static struct shunt_line line_of(const struct shunt_sparse *s, int64_t id)
{
  if (s->by_column) return (struct shunt_line){0, s->rows ? s->nnz / s->rows + 1 : 0};
  return shunt_find_line(s, id);
}

static bool ends_before(const struct shunt_sparse *s, struct shunt_line x,
                        const struct shunt_sparse *t, struct shunt_line y)
{
  return shunt_entry_index(s, x.end - 1) < shunt_entry_index(t, y.begin);
}

/* Of one dot product: none where one row ends before the other begins. */
static int64_t reads_of_pair(const struct shunt_masked_dot *p, int64_t i, int64_t j)
{
  const struct shunt_line a = line_of(&p->a, i), b = line_of(&p->b, j);
  const int64_t la = a.end - a.begin, lb = b.end - b.begin;
  const bool known = !p->a.by_column && !p->b.by_column && la > 0 && lb > 0;
  if (known && (ends_before(&p->a, a, &p->b, b) || ends_before(&p->b, b, &p->a, a))) return 0;
  return la < lb ? la : lb;
}

double shunt_masked_dot_terms(const struct shunt_masked_dot *p)
{
  const struct shunt_sparse *a = &p->a;
  const int64_t sample = a->nnz < SAMPLE ? a->nnz : SAMPLE;
  double terms = 0;
  if (a->by_column || !p->b.by_column) return -1;
  struct shunt_sparse columns = p->b; /* read as the rows of its transpose */
  columns.by_column = false;
  for (int64_t e = 0; e < sample; e++) {
    const struct shunt_line k =
        line_of(&columns, shunt_entry_index(a, place_of(a->nnz, sample, e)));
    terms += (double)(k.end - k.begin);
  }
  return sample ? terms / (double)sample * (double)a->nnz : 0;
}

/* Reads an entry of M. */
static double mean_reads(const struct shunt_masked_dot *p, int64_t sample)
{
  double reads = 0;
  for (int64_t e = 0; e < sample; e++) {
    const int64_t q = place_of(p->m.nnz, sample, e);
    const int64_t i = shunt_vector_id(&p->m, shunt_vector_of(&p->m, q));
    reads += (double)reads_of_pair(p, i, shunt_entry_index(&p->m, q));
  }
  return reads / (double)sample;
}

double shunt_masked_dot_reads(const struct shunt_masked_dot *p, double enough)
{
  const int64_t n = p->m.nnz, few = n < FEW ? n : FEW;
  if (n == 0) return 0;
  double mean = mean_reads(p, few);
  const bool clear = mean * CLEAR < enough || mean > enough * CLEAR;
  if (!clear && n > few) mean = mean_reads(p, n < SAMPLE ? n : SAMPLE);
  return mean * (double)n;
}
