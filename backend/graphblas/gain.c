/* gain.c: rates times what is read and written, shared by the threads that GraphBLAS gives to it:

     S x D             (ns a multiplication x entries of S x columns + ns an element x elements of
                       a new C) / threads
     w = S u           ns an entry x entries / threads
     U x V, masked     ns a term x entries of M x inner size / threads where U is by row and V by
                       column; otherwise GraphBLAS computes all of U x V
     A x B', masked    what its choice is made by (masked_cost.c) / threads

   Threads: as many as there are 65,536 entries, up to those that are allowed.  */
#include "backend/graphblas/gain.h"

#include <math.h>

/* GraphBLAS 7.4.0 and the host engine, in nanoseconds.  Zen 4 with 1 and 2 threads, and an H200's
   host with 16; each `off` is of the quotient.  GraphBLAS alone: 1.29, 1.06, 1.2, 1.24, 1.50.  */
static const struct {
  /* By: into a full C; C, S, D by column; numbers of 8 bytes.  381 products of
     graphblas-host.txt, graphblas-gpu.json and the sweep of graphs/products.json. */
  double full[2][2][2][2][2];
  double bitmap[2][2]; /* D lacks elements; by C and S by column */
  double element, bitmap_element;
  struct {
    double multiplication, element;
  } host[2][2], host_bitmap; /* by: into a full C; numbers of 8 bytes */
  double spmm_off;
  /* 26 matrices, MIN_PLUS (graphblas-host.txt). */
  double vector, host_vector, vector_off;
  /* 32 products of 1000 to 2000 rows, inner sizes 16 and 32; graphblas-host.txt. */
  double term, whole, host_term, sddmm_off;
  double masked_off;     /* of 213 products that are taken (masked_cost.c) */
  double step, step_off; /* of 348 steps that are taken (frontier_cost.c) */
  double entries_a_thread;
} rates = {
    .full = {{{{{0.90, 1.63}, {1.32, 2.25}}, {{0.84, 1.72}, {1.87, 2.23}}},
              {{{1.51, 1.92}, {0.95, 1.53}}, {{1.84, 2.26}, {1.42, 1.93}}}},
             {{{{0.26, 0.53}, {1.33, 8.11}}, {{0.43, 1.58}, {1.86, 2.80}}},
              {{{1.20, 2.69}, {0.50, 1.40}}, {{0.93, 1.35}, {0.77, 1.12}}}}},
    .bitmap = {{3.76, 4.14}, {3.52, 2.36}},
    .element = 1.4,
    .bitmap_element = 1.6,
    .host = {{{0.12, 1.1}, {0.34, 3.0}}, {{0.17, 1.0}, {0.43, 2.0}}},
    .host_bitmap = {0.42, 5.6},
    .spmm_off = 1.54,
    .vector = 3.0,
    .host_vector = 1.35,
    .vector_off = 1.6,
    .term = 0.9,
    .whole = 4.0,
    .host_term = 0.5,
    .sddmm_off = 1.7,
    .masked_off = 1.4,
    .step = 1.44,
    .step_off = 1.63,
    .entries_a_thread = 65536,
};

static double shared_by(double entries, int threads)
{
  const double wanted = entries / rates.entries_a_thread;
  return wanted < 1 ? 1 : wanted < threads ? wanted : threads;
}

static struct grb_gain gain(double original_ns, double host_ns, double threads, double off)
{
  return (struct grb_gain){1e-3 * original_ns / threads, 1e-3 * host_ns / threads, off};
}

static bool by_column(const struct shunt_full *x)
{
  return x->col_stride != 1;
}

struct grb_gain grb_gain_spmm(const struct shunt_host_spmm *x, bool c_by_column, bool into)
{
  const bool s = x->s.by_column, d = by_column(&x->b), gaps = x->b.present != NULL;
  const bool wide = shunt_type_size(x->semiring.type) == 8;
  const double entries = (double)x->s.nnz, columns = (double)x->b.cols, rows = (double)x->s.rows;
  if (gaps && into) return (struct grb_gain){.off = 0};
  const double rate =
      gaps ? rates.bitmap[c_by_column][s] : rates.full[into][c_by_column][s][d][wide];
  const double element = into ? 0 : gaps ? rates.bitmap_element : rates.element;
  const double host =
      gaps ? rates.host_bitmap.multiplication : rates.host[into][wide].multiplication;
  const double host_element = gaps ? rates.host_bitmap.element : rates.host[into][wide].element;
  return gain(columns * (rate * entries + element * rows),
              columns * (host * entries + host_element * rows), shared_by(entries, x->threads),
              rates.spmm_off);
}

struct grb_gain grb_gain_vector(const struct shunt_host_spmm *x)
{
  const double entries = (double)x->s.nnz;
  return gain(rates.vector * entries, rates.host_vector * entries, shared_by(entries, x->threads),
              rates.vector_off);
}

struct grb_gain grb_gain_sddmm(const struct shunt_host_sddmm *x, int64_t entries)
{
  const bool dots = !by_column(&x->u) && by_column(&x->v);
  const double inner = (double)x->u.cols, terms = inner * (double)entries;
  const double whole = inner * (double)x->u.rows * (double)x->v.cols;
  const double host = rates.host_term * terms / shared_by(terms, x->threads);
  const double original = dots ? rates.term * terms / shared_by(terms, x->threads)
                               : rates.whole * whole / shared_by(whole, x->threads);
  return gain(original, host, 1, rates.sddmm_off);
}

struct grb_gain grb_gain_masked_dot(double original_ns, double host_ns, int64_t work, int threads)
{
  return gain(original_ns, host_ns, shared_by((double)work, threads), rates.masked_off);
}

/* The choice is made by the least that GraphBLAS takes. */
struct grb_gain grb_gain_frontier(double original_ns, double host_ns)
{
  return gain(rates.step * original_ns, host_ns, 1, rates.step_off);
}

double grb_gain_saved(const struct grb_gain *g, double us, bool by_host)
{
  if (us < 0 || g->original_us <= 0 || g->host_us <= 0) return NAN;
  return (by_host ? us * g->original_us / g->host_us : g->original_us) - us;
}
