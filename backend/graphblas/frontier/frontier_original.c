/* frontier_original.c: what GraphBLAS takes for a step of searches.

   Rates of one thread are about the least that were measured, in 1,458 steps of
   tests/bench/graphblas_steps and 1,008 of the clients on ca-AstroPh, wiki-Vote and a Delaunay
   mesh, on a Zen 3.  It adds rows with fewer terms than columns up in hash tables, where each entry
   of F costs more than the terms that it meets, goes through each place where F is a bitmap, and
   looks up each entry of a sparse mask to pull.  A mask that is a bitmap it copies, row after row,
   once there are terms for a tenth of it or for a row more than a table may hold.  To push parents
   takes it as long as sums, to pull them as bits, and a factor.

   To push a sparse F it takes one thread for each 2^19 entries that are met or of the mask (its
   burble tells them), so mostly one.  Else t threads are worth a power of t, by 1,458 steps
   (graphblas_steps -t) and 1,500 of the clients', on 4 and on 16 threads of an H100's host.  */
#include <math.h>

#include "backend/graphblas/frontier/frontier_times.h"

/* Entries that it counts to push a sparse F: F's and those that they meet. */
static double met(const struct shunt_frontier *x, double single)
{
  return single + (double)x->f.sparse.nnz;
}

/* The mask is copied for all rows where one does not fit into a table, which has 2 to 4 places for
   each of its terms, a power of two, and is no larger than a row.  */
static bool copies_mask(const struct shunt_frontier *x, struct shunt_frontier_reads reads)
{
  const double table = exp2(floor(log2(reads.row + 1)) + 2);
  return 10 * met(x, reads.single) >= grb_step_places(x) || table >= (double)x->a.cols;
}

/* For an entry of a sparse F, whose row of A comes from the farther away the more A has, and whose
   terms go to tables and masks that are as far.  */
static double entry_by_original(const struct shunt_frontier *x)
{
  const double close = 4194304 /* bytes */, nodes = 524288;
  return 34 + 46 * grb_share(8 * (double)(x->a.nnz + x->a.rows), close) +
         150 * grb_share((double)x->a.rows, nodes);
}

static double pushed_by_original(const struct shunt_frontier *x, struct shunt_frontier_reads reads)
{
  const double single = reads.single, mask = grb_step_mask_entries(x),
               many = single / (3 * grb_step_places(x));
  const double hashed = many < 1 ? 1 - many : 0;
  if (x->f.dense) {
    const double all = (x->sums ? 1.3 : 0.8) * single + (x->sums ? 11 : 9) * grb_step_places(x);
    return all + (x->complement ? 1.4 : 15) * mask;
  }
  const double met = entry_by_original(x) * (double)x->f.sparse.nnz;
  if (x->m.dense)
    return copies_mask(x, reads) ? (x->sums ? met : 0) + 5.5 * single + 3 * grb_step_places(x)
                                 : met + (x->sums ? 8 : 1) * single;
  if (x->complement) return 0.8 * met + (1.5 + 5.5 * hashed) * single + 0.9 * mask;
  return met + (0.5 + 8 * grb_step_mask_share(x)) * single + 0.8 * mask;
}

/* For a pair of rows: merged, or the shorter one's entries searched for in a far longer one. */
static double pair_by_original(double x, double y)
{
  const double shorter = x < y ? x : y, longer = x < y ? y : x;
  return 8 * shorter < longer ? 4 * shorter * log2(longer) : 1.6 * (x + y);
}

/* A sparse F is not looked up: under a sparse mask each pair of rows is gone through, else A is
   transposed first and pushed.  */
static double unlooked_by_original(const struct shunt_frontier *x)
{
  const double entries = (double)x->a.nnz, mean = entries / (double)x->a.rows;
  const double line = (double)x->f.sparse.nnz / (double)x->rows;
  const double column = entries / (double)x->a.cols;
  const double terms = (double)x->f.sparse.nnz * mean;
  if (!x->complement)
    return x->m.dense ? 0 : (10 + pair_by_original(line, column)) * grb_step_mask_entries(x);
  return 3 * entries +
         pushed_by_original(x, (struct shunt_frontier_reads){.single = terms, .row = line * mean});
}

/* Under the complement of a sparse mask, by a bitmap F: booleans end at the first that is there.
   How long a lookup takes depends on how well it is foretold.  */
static double open_to_original(const struct shunt_frontier *x, double f_entries, double single)
{
  const double there = grb_share(f_entries, (double)x->rows * (double)x->a.rows);
  const double lookup = 1 + 9 * there * (1 - there);
  if (!x->sums) return 4 * grb_step_places(x);
  return 5 * grb_step_places(x) + lookup * (1 - grb_step_mask_share(x)) * single;
}

static double pulled_by_original(const struct shunt_frontier *x, double f_entries, double single)
{
  const double each = x->sums ? 3 : 0.35;
  if (!x->f.dense) return unlooked_by_original(x);
  if (x->m.dense) return each * single + (x->sums ? 6 : 3) * grb_step_places(x);
  if (x->complement) return open_to_original(x, f_entries, single);
  return (x->sums ? 3 : 0.1) * single + (x->sums ? 1.8 : 0.4) * grb_step_places(x) +
         11 * grb_step_mask_entries(x);
}

/* Parents are pushed as sums are. */
static double pushed_parents(const struct shunt_frontier *x, struct shunt_frontier_reads reads)
{
  struct shunt_frontier sums = *x;
  sums.sums = true;
  return 1.3 * pushed_by_original(&sums, reads);
}

static double pulled_parents(const struct shunt_frontier *x, double f_entries, double single)
{
  const double bits = pulled_by_original(x, f_entries, single);
  if (x->f.dense) return 1.3 * bits;
  return (x->complement || x->m.dense ? 1.1 : 1) * bits;
}

static double by_original(const struct shunt_frontier *x, double f_entries,
                          struct shunt_frontier_reads reads)
{
  if (x->a.by_column)
    return x->parents ? pulled_parents(x, f_entries, reads.single)
                      : pulled_by_original(x, f_entries, reads.single);
  return x->parents ? pushed_parents(x, reads) : pushed_by_original(x, reads);
}

/* ---- on more threads ------------------------------------------------------------------------- */

/* It takes no more threads than there is work for, and no more than there are. */
static double threads_for(const struct shunt_frontier *x, double parts)
{
  return fmax(1, fmin(parts, x->threads));
}

/* Of a sparse F that is pushed. */
static double pushing_threads(const struct shunt_frontier *x, double single)
{
  const double each = 524288, pushed = met(x, single);
  const bool copied = x->m.dense && 10 * pushed >= grb_step_places(x);
  return threads_for(
      x, floor((pushed + (copied ? grb_step_places(x) : grb_step_mask_entries(x))) / each));
}

/* Pairs of rows are shared by what they take. */
static double pairing_threads(const struct shunt_frontier *x, double original)
{
  const double each = 200000; /* ns */
  return threads_for(x, original / each);
}

/* By rows of a bitmap F all threads push at once; dot products are parted by A's entries. */
static double original_speedup(const struct shunt_frontier *x, double original, double single)
{
  const double threads = x->threads;
  if (x->threads <= 1) return 1;
  if (!x->a.by_column && !x->f.dense) return pow(pushing_threads(x, single), 0.6);
  if (!x->f.dense)
    return x->complement ? pow(threads, 0.2) : pow(pairing_threads(x, original), 0.8);
  if (!x->a.by_column) return pow(threads, x->complement ? 0.8 : 0.2);
  return pow(threads, x->complement ? 0.4 : 0.6);
}

struct grb_frontier_time grb_frontier_by_original(const struct shunt_frontier *x, double f_entries,
                                                  struct shunt_frontier_reads reads)
{
  const double alone = by_original(x, f_entries, reads);
  return (struct grb_frontier_time){alone / original_speedup(x, alone, reads.single), alone};
}
