/* frontier_reads.c: what a frontier product would read, by samples. */
#include "kernels/semiring/frontier/frontier_group.h"
#include "kernels/semiring/semiring_operands.h"

/* Of entries, and of places of a bitmap: GraphBLAS itself takes small steps in 40 us, of which all
   4096 places are 10.  */
enum { LEAST_ENTRIES = 64, MOST_ENTRIES = 1024, ONE_ENTRY_IN = 8 };
enum { LEAST_PLACES = 512, MOST_PLACES = 4096, ONE_PLACE_IN = 16 };

static int64_t between(int64_t least, int64_t n, int64_t most)
{
  return n < least ? least : n < most ? n : most;
}

static int64_t groups_of(const struct shunt_frontier *p)
{
  const int width = p->sums ? SHUNT_GROUP_SUMS : SHUNT_GROUP_BITS;
  return (p->rows + width - 1) / width;
}

static double degree(const struct shunt_sparse *a, int64_t v)
{
  return (double)(shunt_vector_begin(a, v + 1) - shunt_vector_begin(a, v));
}

double shunt_frontier_reach(const struct shunt_sparse *a)
{
  enum { SAMPLE = 32 };
  double sum = 0;
  if (a->nnz == 0) return 0;
  for (int64_t e = 0; e < SAMPLE; e++) {
    /* At uneven distances, as rows may be of equal length. */
    const double golden = (double)((uint32_t)e * 2654435769u) * 0x1p-32;
    const int64_t q = (int64_t)((double)a->nnz / SAMPLE * ((double)e + golden));
    sum += degree(a, shunt_entry_index(a, q));
  }
  return sum / SAMPLE;
}

static int64_t longest(const struct shunt_sparse *s)
{
  int64_t most = 0;
  for (int64_t v = 0; v < s->vectors; v++) {
    const int64_t entries = shunt_vector_begin(s, v + 1) - shunt_vector_begin(s, v);
    if (entries > most) most = entries;
  }
  return most;
}

/* Of entries, wherever they stand; how many share a column is not known. */
static struct shunt_frontier_reads of_entries(const struct shunt_frontier *p,
                                              const struct shunt_sparse *s)
{
  const int64_t some = between(LEAST_ENTRIES, s->nnz / ONE_ENTRY_IN, MOST_ENTRIES);
  const int64_t sample = s->nnz < some ? s->nnz : some;
  double sum = 0;
  for (int64_t e = 0; e < sample; e++)
    sum += degree(&p->a, shunt_entry_index(s, e * s->nnz / sample));
  const double mean = sample ? sum / (double)sample : 0;
  sum = mean * (double)s->nnz;
  const double all = (double)groups_of(p) * (double)p->a.nnz;
  return (struct shunt_frontier_reads){sum, sum < all ? sum : all, mean * (double)longest(s)};
}

/* Of columns of a bitmap: rows that have the column, and groups of which any has it. */
static struct shunt_frontier_reads of_columns(const struct shunt_frontier *p,
                                              const struct shunt_full *d, bool present)
{
  enum { LEAST_COLUMNS = 16 };
  const int64_t places = between(LEAST_PLACES, p->rows * d->cols / ONE_PLACE_IN, MOST_PLACES);
  const int64_t columns = between(LEAST_COLUMNS, places / (p->rows + 1), MOST_PLACES);
  const int64_t sample = d->cols < columns ? d->cols : columns;
  const int width = p->sums ? SHUNT_GROUP_SUMS : SHUNT_GROUP_BITS;
  struct shunt_frontier_reads reads = {0, 0, 0};
  for (int64_t e = 0; e < sample; e++) {
    const int64_t v = d->cols / sample * e;
    const double entries = degree(&p->a, v);
    int64_t last = -1;
    for (int64_t s = 0; s < p->rows; s++) {
      if ((bool)d->present[s * d->row_stride + v] != present) continue;
      reads.single += entries;
      if (s / width != last) reads.grouped += entries;
      last = s / width;
    }
  }
  const double scale = sample ? (double)d->cols / (double)sample : 0;
  return (struct shunt_frontier_reads){reads.single * scale, reads.grouped * scale, 0};
}

struct shunt_frontier_reads shunt_frontier_reads(const struct shunt_frontier *p)
{
  const struct shunt_lines *by = p->a.by_column ? &p->m : &p->f;
  const bool present = !p->a.by_column || !p->complement;
  const double entries = (double)p->a.nnz;
  if (by->dense && by->full.present) return of_columns(p, &by->full, present);
  if (by->dense && !present) return (struct shunt_frontier_reads){0, 0, 0};
  if (!by->dense && present) return of_entries(p, &by->sparse);
  /* All places, or all but the few of a sparse mask. */
  return (struct shunt_frontier_reads){(double)p->rows * entries, (double)groups_of(p) * entries,
                                       0};
}
