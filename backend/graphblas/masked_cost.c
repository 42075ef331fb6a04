/* masked_cost.c: rates of 19 graphs with 16 products each (tests/bench/graphs.md), each taken by
   GraphBLAS and by both of our ways, one thread of a Zen 3.  Ours are what they took.  GraphBLAS'
   are set by hand near the fit in which what is chosen loses least: a fit to 18 of the graphs loses
   on few products of the one left out, but much there where rows repeat, as a grid's.

   GraphBLAS takes dot products where both operands are by row, merging two rows from where both
   have columns; where op(B) is by row it adds up rows.  What a merge costs varies fourfold with how
   well the processor foresees it: the rates are of its faster ones.  */
#include "backend/graphblas/masked_cost.h"

#include <math.h>

static const struct {
  double call;                                  /* a product of ours, however small */
  double read, turned_read, pair, narrow, turn; /* dot products */
  double half;                                  /* of the reads, where each serves two entries */
  double term, row, entry, visit;               /* rows added up */
  double of_values[4]; /* where they are not one: times read, pair, term and row */
  double original_read, merged, original_pair; /* GraphBLAS, dot products */
  double original_step, original_any;          /* where the first that meets is enough */
  double original_term, original_row, original_entry, original_met;
} rates = {
    .call = 1e5,
    .read = 0.7,
    .turned_read = 1,
    .pair = 22,
    .narrow = 1.5,
    .turn = 10,
    .half = 0.45,
    .term = 0.8,
    .row = 10,
    .entry = 10,
    .visit = 1,
    .of_values = {1.8, 1.2, 1.5, 2},
    .original_read = 14,
    .merged = 1.25, /* reads of each pair that cost nothing */
    .original_pair = 10,
    .original_step = 13,
    .original_any = 8,
    .original_term = 2,
    .original_row = 13,
    .original_entry = 10,
    .original_met = 12,
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
  const double pairs = (double)x->m.nnz, value = of_values(x, READ);
  const double of_pairs = rates.call + rates.pair * of_values(x, PAIR) * pairs;
  const double reads = shunt_masked_dot_uniform(x) ? n->reads.until_met : n->reads.scanned;
  const bool turned = x->a.by_column || x->b.by_column;
  if (n->symmetric)
    return of_pairs + rates.half * rates.read * value * reads + rates.narrow * pairs;
  return of_pairs + (turned ? rates.turned_read : rates.read) * value * reads + made(&x->a) +
         made(&x->b);
}

static double original_dot(const struct shunt_masked_dot *x, const struct grb_masked_counts *n)
{
  const double pairs = (double)x->m.nnz, far = n->reads.runs - rates.merged * pairs;
  if (shunt_masked_dot_uniform(x))
    return rates.original_any * pairs + rates.original_step * n->reads.until_met;
  return rates.original_pair * pairs + rates.original_read * (far > 0 ? far : 0);
}

struct grb_masked_cost grb_masked_cost(const struct shunt_masked_dot *x,
                                       const struct grb_masked_counts *n)
{
  const double pairs = (double)x->m.nnz, entries = (double)x->a.nnz;
  struct grb_masked_cost cost = {
      .dot = dot(x, n), .saxpy = INFINITY, .original = original_dot(x, n)};
  if (!n->has_terms) return cost;
  /* Of A's entries no more meet a row of B that is not empty. */
  const double read = n->terms.read, offered = n->terms.offered;
  const double rows = read < entries ? read : entries;
  const double all_rows = offered < entries ? offered : entries;
  cost.saxpy = rates.call + rates.term * of_values(x, TERM) * read +
               rates.row * of_values(x, ROW) * rows + rates.entry * pairs + rates.visit * entries +
               narrowed(&x->b);
  cost.original = rates.original_term * offered + rates.original_row * all_rows +
                  rates.original_entry * pairs + rates.original_met * n->terms.met +
                  rates.visit * entries;
  return cost;
}

double grb_masked_least(const struct shunt_sparse *b, const struct grb_masked_size *n)
{
  const double term = rates.term * (n->values ? rates.of_values[TERM] : 1);
  const double row = rates.row * (n->values ? rates.of_values[ROW] : 1);
  return rates.call + term * n->terms + (row + rates.visit) * n->entries +
         rates.entry * n->mask_entries + narrowed(b);
}
