/* masked_reads.c: what a masked product costs, by samples of its entries. */
#include "kernels/semiring/masked/masked_saxpy.h"
#include "kernels/semiring/semiring_operands.h"

enum { FEW = 32, SAMPLE = 256, CLEAR = 4 }; /* entries that are looked at; CLEAR: so many times */

/* The e-th of `sample` places among n, all over them, at uneven distances: of even ones each would
   have the same place in rows of equal length.  */
static int64_t place_of(int64_t n, int64_t sample, int64_t e)
{
  const double golden = (double)((uint32_t)e * 2654435769u) * 0x1p-32;
  return (int64_t)((double)n / (double)sample * ((double)e + golden));
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

/* The first entry of x that is not below j. */
static int64_t entry_from(const struct shunt_sparse *s, struct shunt_line x, int64_t j)
{
  int64_t low = x.begin, high = x.end;
  if (low == high || shunt_entry_index(s, low) >= j) return low;
  if (shunt_entry_index(s, high - 1) < j) return high;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (shunt_entry_index(s, middle) < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int64_t lesser(int64_t x, int64_t y)
{
  return x < y ? x : y;
}

/* Entries of x from the column on where y begins up to that where it ends. */
static struct shunt_line within(const struct shunt_sparse *s, struct shunt_line x,
                                const struct shunt_sparse *t, struct shunt_line y)
{
  const int64_t first = shunt_entry_index(t, y.begin), last = shunt_entry_index(t, y.end - 1);
  return (struct shunt_line){entry_from(s, x, first), entry_from(s, x, last + 1)};
}

/* Of two rows, of the one that has fewer, entries that a merge goes through up to the first column
   that both have; all of the shorter row where its first ones are not met, as hubs would else be
   walked for each of their leaves.  */
static int64_t until_met(const struct shunt_sparse *s, struct shunt_line x,
                         const struct shunt_sparse *t, struct shunt_line y)
{
  enum { LOOKED_AT = 256 };
  const int64_t n = x.end - x.begin, begin = y.begin;
  int64_t e = 0;
  if (n > y.end - y.begin) return until_met(t, y, s, x);
  for (; e < n; e++) {
    const int64_t j = shunt_entry_index(s, x.begin + e);
    if (e == LOOKED_AT) return n;
    y.begin = entry_from(t, y, j);
    if (y.begin == y.end || shunt_entry_index(t, y.begin) == j) break;
  }
  return lesser(e, y.begin - begin);
}

/* Columns of x that do not follow one another at once: a processor foresees a merge within such a
   run.  Of a long row as many as its first ones let expect.  */
static double runs_of(const struct shunt_sparse *s, struct shunt_line x)
{
  enum { LOOKED_AT = 64 };
  const int64_t n = x.end - x.begin, some = lesser(n, LOOKED_AT);
  int64_t runs = 0, before = -2;
  for (int64_t e = x.begin; e < x.begin + some; e++) {
    const int64_t j = shunt_entry_index(s, e);
    runs += j != before + 1;
    before = j;
  }
  return n ? (double)runs * (double)n / (double)some : 0;
}

/* Adds those of one dot product: none where one row ends before the other begins.  `merged`: what a
   merge of the two meets, too. */
static void add_reads(const struct shunt_masked_dot *p, int64_t i, int64_t j, bool merged,
                      struct shunt_masked_reads *reads)
{
  const struct shunt_line a = line_of(&p->a, i), b = line_of(&p->b, j);
  const int64_t shorter = lesser(a.end - a.begin, b.end - b.begin);
  const bool known = !p->a.by_column && !p->b.by_column && shorter > 0;
  if (known && (ends_before(&p->a, a, &p->b, b) || ends_before(&p->b, b, &p->a, a))) return;
  reads->scanned += (double)shorter;
  if (!known || !merged) {
    reads->runs += (double)shorter;
    reads->until_met += (double)shorter;
    return;
  }
  const struct shunt_line from_a = within(&p->a, a, &p->b, b), from_b = within(&p->b, b, &p->a, a);
  if (shunt_masked_dot_uniform(p))
    reads->until_met += (double)until_met(&p->a, from_a, &p->b, from_b);
  else
    reads->runs += from_a.end - from_a.begin < from_b.end - from_b.begin ? runs_of(&p->a, from_a)
                                                                         : runs_of(&p->b, from_b);
}

static bool has_index(const struct shunt_sparse *s, struct shunt_line x, int64_t j)
{
  const int64_t at = entry_from(s, x, j);
  return at < x.end && shunt_entry_index(s, at) == j;
}

/* Adds those of row i of M and row k of B', which `columns` is read as the rows of.  One of them,
   the e-th as it were, stands for all in whether M has it. */
static void add_terms(const struct shunt_sparse *m, const struct shunt_sparse *columns, int64_t i,
                      int64_t k, int64_t e, struct shunt_masked_terms *terms)
{
  const struct shunt_line x = shunt_find_line(m, i), y = shunt_find_line(columns, k);
  const int64_t n = x.end - x.begin, length = y.end - y.begin;
  if (n == 0 || length == 0) return;
  const double reads = (double)shunt_saxpy_reads(n, length);
  terms->offered += reads;
  if (ends_before(m, x, columns, y) || ends_before(columns, y, m, x)) return;
  terms->read += reads;
  if (has_index(m, x, shunt_entry_index(columns, y.begin + e % length))) terms->met += reads;
}

bool shunt_masked_saxpy_terms(const struct shunt_masked_dot *p, struct shunt_masked_terms *terms)
{
  enum { LEAST = 64, MOST = 1024, ONE_IN = 512 }; /* of A's entries */
  const struct shunt_sparse *a = &p->a;
  const int64_t part = a->nnz / ONE_IN, some = part < MOST ? part : MOST;
  const int64_t wanted = some > LEAST ? some : LEAST, sample = a->nnz < wanted ? a->nnz : wanted;
  struct shunt_sparse columns = p->b;
  *terms = (struct shunt_masked_terms){0, 0, 0};
  if (a->by_column || !p->b.by_column) return false;
  columns.by_column = false;
  for (int64_t e = 0; e < sample; e++) {
    const int64_t q = place_of(a->nnz, sample, e);
    const int64_t i = shunt_vector_id(a, shunt_vector_of(a, q));
    add_terms(&p->m, &columns, i, shunt_entry_index(a, q), e, terms);
  }
  const double each = sample ? (double)a->nnz / (double)sample : 0;
  terms->read *= each;
  terms->offered *= each;
  terms->met *= each;
  return true;
}

static bool has_entry(const struct shunt_sparse *s, int64_t i, int64_t j)
{
  return has_index(s, shunt_find_line(s, i), j);
}

bool shunt_masked_seems_symmetric(const struct shunt_masked_dot *p)
{
  enum { LOOKED_AT = 16 };
  const struct shunt_sparse *m = &p->m;
  const bool one = m->indices == p->a.indices && m->indices == p->b.indices && p->a.iso &&
                   p->b.iso && m->rows == m->cols && !m->ids && m->nnz > 0;
  for (int64_t e = 0; one && e < LOOKED_AT; e++) {
    const int64_t q = place_of(m->nnz, LOOKED_AT, e);
    if (!has_entry(m, shunt_entry_index(m, q), shunt_vector_id(m, shunt_vector_of(m, q))))
      return false;
  }
  return one;
}

bool shunt_masked_seems_mirrored(const struct shunt_sparse *m)
{
  enum { LOOKED_AT = 64 };
  int there = 0;
  if (m->rows != m->cols || m->by_column || m->nnz == 0) return false;
  for (int64_t e = 0; e < LOOKED_AT; e++) {
    const int64_t q = place_of(m->nnz, LOOKED_AT, e);
    there += has_entry(m, shunt_entry_index(m, q), shunt_vector_id(m, shunt_vector_of(m, q)));
  }
  return 2 * there >= LOOKED_AT;
}

/* Of all of M's entries, by so many. */
static struct shunt_masked_reads reads_by(const struct shunt_masked_dot *p, int64_t sample,
                                          bool merged)
{
  const double each = (double)p->m.nnz / (double)sample;
  struct shunt_masked_reads reads = {0, 0, 0};
  for (int64_t e = 0; e < sample; e++) {
    const int64_t q = place_of(p->m.nnz, sample, e);
    const int64_t i = shunt_vector_id(&p->m, shunt_vector_of(&p->m, q));
    add_reads(p, i, shunt_entry_index(&p->m, q), merged, &reads);
  }
  return (struct shunt_masked_reads){each * reads.scanned, each * reads.runs,
                                     each * reads.until_met};
}

struct shunt_masked_reads shunt_masked_dot_reads(const struct shunt_masked_dot *p, double enough)
{
  const int64_t n = p->m.nnz, few = lesser(n, FEW), more = lesser(n, SAMPLE);
  if (n == 0) return (struct shunt_masked_reads){0, 0, 0};
  const struct shunt_masked_reads first = reads_by(p, few, false);
  if (first.scanned * CLEAR < enough * (double)n) return first;
  return reads_by(p, first.scanned > enough * CLEAR * (double)n ? few : more, true);
}
