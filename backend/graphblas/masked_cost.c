/* masked_cost.c: rates of 12 graphs with 16 products each (tests/bench/graphs.md), one thread of a
   Zen 3 that did other work besides.

   GraphBLAS takes dot products where both operands are by row, merging short rows at next to no
   cost; where op(B) is by row it adds up rows, at 4 ns a term and 10 ns or more a row of B, and 30
   more for a term where M has an entry.  What it takes varies twofold with what the caches hold:
   the rates are of its fastest products.  */
#include "backend/graphblas/masked_cost.h"

#include <math.h>

static const struct {
  double call;                                  /* a product of ours, however small */
  double read, turned_read, pair, narrow, turn; /* dot products */
  double half;                                  /* of them, where each serves two entries */
  double term, row, entry, visit;               /* rows added up */
  double of_values[4]; /* where they are not one: times read, pair, term and row */
  double original_read, merged, original_pair; /* GraphBLAS, dot products */
  double original_term, original_row, original_entry, original_met;
  double spread; /* of so many columns one is there */
} rates = {
    .call = 1e5,
    .read = 1,
    .turned_read = 4, /* B's rows are taken for equally long, where the long ones are read most */
    .pair = 15,
    .narrow = 1.5,
    .turn = 6,
    .half = 0.6,
    .term = 1.2,
    .row = 16,
    .entry = 6,
    .visit = 1,
    .of_values = {1.3, 1, 1.3, 2},
    .original_read = 12,
    .merged = 4, /* reads of each pair that cost nothing */
    .original_pair = 6,
    .original_term = 4,
    .original_row = 10,
    .original_entry = 4,
    .original_met = 30,
    .spread = 16,
};

struct grb_masked_counts grb_masked_count(const struct shunt_masked_dot *x)
{
  struct grb_masked_counts n = {.symmetric = shunt_masked_seems_symmetric(x)};
  n.has_terms = shunt_masked_saxpy_terms(x, &n.terms);
  return n;
}

void grb_masked_count_reads(const struct shunt_masked_dot *x, struct grb_masked_counts *n)
{
  const double enough = 5; /* reads a pair: GraphBLAS merges shorter rows as fast */
  struct shunt_masked_dot by_rows = *x;
  if (n->symmetric) by_rows.a.by_column = by_rows.b.by_column = false;
  n->reads = shunt_masked_dot_reads(&by_rows, enough);
}

static double narrowed(const struct shunt_sparse *s)
{
  return s->index_bytes == 8 ? (double)s->nnz * rates.narrow : 0;
}

static double made(const struct shunt_sparse *s)
{
  return (double)s->nnz * (s->by_column ? rates.turn : rates.narrow);
}

enum { READ, PAIR, TERM, ROW };

static double of_values(const struct shunt_masked_dot *x, int what)
{
  return x->a.iso && x->b.iso ? 1 : rates.of_values[what];
}

static double dot(const struct shunt_masked_dot *x, const struct grb_masked_counts *n)
{
  const double pair = rates.pair * of_values(x, PAIR), value = of_values(x, READ);
  const double pairs = (double)x->m.nnz;
  const bool turned = x->a.by_column || x->b.by_column;
  if (n->symmetric)
    return rates.call + rates.half * (rates.read * value * n->reads + pair * pairs) +
           rates.narrow * pairs;
  return rates.call + (turned ? rates.turned_read : rates.read) * value * n->reads + pair * pairs +
         made(&x->a) + made(&x->b);
}

/* Rows of M that are long GraphBLAS spreads; others it puts into hash tables. */
static double met(const struct shunt_masked_dot *x, const struct grb_masked_counts *n)
{
  const double places = (double)x->m.vectors * (double)x->m.cols;
  return rates.spread * (double)x->m.nnz > places ? 0 : rates.original_met * n->terms.met;
}

struct grb_masked_cost grb_masked_cost(const struct shunt_masked_dot *x,
                                       const struct grb_masked_counts *n)
{
  const double pairs = (double)x->m.nnz, entries = (double)x->a.nnz;
  const double far = n->reads - rates.merged * pairs;
  const double original_dot =
      rates.original_read * (far > 0 ? far : 0) + rates.original_pair * pairs;
  struct grb_masked_cost cost = {.dot = dot(x, n), .saxpy = INFINITY, .original = original_dot};
  if (!n->has_terms) return cost;
  /* Of A's entries no more meet a row of B that is not empty. */
  const double read = n->terms.read, offered = n->terms.offered;
  const double rows = read < entries ? read : entries;
  const double all_rows = offered < entries ? offered : entries;
  cost.saxpy = rates.call + rates.term * of_values(x, TERM) * read +
               rates.row * of_values(x, ROW) * rows + rates.entry * pairs + rates.visit * entries +
               narrowed(&x->b);
  cost.original = rates.original_term * offered + rates.original_row * all_rows +
                  rates.original_entry * pairs + met(x, n) + rates.visit * entries;
  return cost;
}

double grb_masked_least(const struct shunt_sparse *b, const struct grb_masked_size *n)
{
  const double term = rates.term * (n->values ? rates.of_values[TERM] : 1);
  const double row = rates.row * (n->values ? rates.of_values[ROW] : 1);
  return rates.call + term * n->terms + (row + rates.visit) * n->entries +
         rates.entry * n->mask_entries + narrowed(b);
}
