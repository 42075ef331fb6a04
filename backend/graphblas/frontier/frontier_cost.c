/* frontier_cost.c: nanoseconds of a step of searches, by GraphBLAS and by the kernel, from what is
   read and the places of T.

   Ours is the faster one of two ways, in groups of rows and one by one.  Their rates where a sparse
   F is pushed are of 6,505 steps of the clients and graphblas_steps, each taken both ways: the way
   that is estimated to be faster takes 1.01 of the faster one's time there (parents 1.1).

   The other rates of one thread are of 1,458 steps of tests/bench/graphblas_steps and 1,008 of the
   clients on ca-AstroPh, wiki-Vote and a Delaunay mesh, on a Zen 3; GraphBLAS' are about the least
   that were measured.  It adds rows with fewer terms than columns up in hash tables, where each
   entry of F costs more than the terms that it meets, goes through each place where F is a bitmap,
   and looks up each entry of a sparse mask to pull.  A mask that is a bitmap it copies, row after
   row, once there are terms for a tenth of it or for a row more than a table may hold.  To push
   parents takes it as long as sums, to pull them as bits, and a factor.

   Neither is t times as fast on t threads.  To push a sparse F GraphBLAS takes one for each 2^19
   entries that are met or of the mask (its burble tells them), so mostly one.  The rest are powers
   of t, by 1,458 steps (graphblas_steps -t) and 1,500 of the clients', on 4 and on 16 threads of an
   H100's host.  What a step writes for each place of T gains least from threads.  */
#include <math.h>

#include "backend/graphblas/frontier/frontier_cost.h"

static double mask_entries(const struct shunt_frontier *x)
{
  return x->m.dense ? 0 : (double)x->m.sparse.nnz;
}

static double places(const struct shunt_frontier *x)
{
  return (double)x->rows * (double)x->a.cols;
}

/* A share of places, at most all. */
static double share(double some, double all)
{
  return some < all ? some / all : 1;
}

static double mask_share(const struct shunt_frontier *x)
{
  return share(mask_entries(x), places(x));
}

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
  return 10 * met(x, reads.single) >= places(x) || table >= (double)x->a.cols;
}

/* For an entry of a sparse F, whose row of A comes from the farther away the more A has, and whose
   terms go to tables and masks that are as far.  */
static double entry_by_original(const struct shunt_frontier *x)
{
  const double close = 4194304 /* bytes */, nodes = 524288;
  return 34 + 46 * share(8 * (double)(x->a.nnz + x->a.rows), close) +
         150 * share((double)x->a.rows, nodes);
}

static double pushed_by_original(const struct shunt_frontier *x, struct shunt_frontier_reads reads)
{
  const double single = reads.single, mask = mask_entries(x), many = single / (3 * places(x));
  const double hashed = many < 1 ? 1 - many : 0;
  if (x->f.dense) {
    const double all = (x->sums ? 1.3 : 0.8) * single + (x->sums ? 11 : 9) * places(x);
    return all + (x->complement ? 1.4 : 15) * mask;
  }
  const double met = entry_by_original(x) * (double)x->f.sparse.nnz;
  if (x->m.dense)
    return copies_mask(x, reads) ? (x->sums ? met : 0) + 5.5 * single + 3 * places(x)
                                 : met + (x->sums ? 8 : 1) * single;
  if (x->complement) return 0.8 * met + (1.5 + 5.5 * hashed) * single + 0.9 * mask;
  return met + (0.5 + 8 * mask_share(x)) * single + 0.8 * mask;
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
    return x->m.dense ? 0 : (10 + pair_by_original(line, column)) * mask_entries(x);
  return 3 * entries +
         pushed_by_original(x, (struct shunt_frontier_reads){.single = terms, .row = line * mean});
}

/* Under the complement of a sparse mask, by a bitmap F: booleans end at the first that is there.
   How long a lookup takes depends on how well it is foretold.  */
static double open_to_original(const struct shunt_frontier *x, double f_entries, double single)
{
  const double there = share(f_entries, (double)x->rows * (double)x->a.rows);
  const double lookup = 1 + 9 * there * (1 - there);
  if (!x->sums) return 4 * places(x);
  return 5 * places(x) + lookup * (1 - mask_share(x)) * single;
}

static double pulled_by_original(const struct shunt_frontier *x, double f_entries, double single)
{
  const double each = x->sums ? 3 : 0.35;
  if (!x->f.dense) return unlooked_by_original(x);
  if (x->m.dense) return each * single + (x->sums ? 6 : 3) * places(x);
  if (x->complement) return open_to_original(x, f_entries, single);
  return (x->sums ? 3 : 0.1) * single + (x->sums ? 1.8 : 0.4) * places(x) + 11 * mask_entries(x);
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

/* Of groups that threads share: pushed sums and parents are looked up by each of them, with its
   range of columns, sums of a sparse F for each entry of it; of pushed bits each has a T.  */
static double shared(const struct shunt_frontier *x, double f_entries, int64_t groups, int threads)
{
  const double left = (double)(groups % threads);
  if (x->a.by_column || threads == 1) return 0;
  if (x->sums && !x->f.dense)
    return 40 * fmin(f_entries / (double)groups, (double)x->a.rows) * left;
  return (x->sums || x->parents || !x->f.dense ? 10 : 1) * left * (double)x->a.rows;
}

/* For an entry of A that a group reads: pushed bits by how many nodes the caches hold, pushed sums
   by how many of them pass.  */
static double read_by_host(const struct shunt_frontier *x)
{
  const double close = 16384; /* nodes */
  if (x->a.by_column) return x->sums ? 2.9 : 1.5;
  if (!x->sums) return 1.2 + 1.5 * share((double)x->a.cols, close);
  return x->complement ? 5.4 : 1.8 + 3.6 * share(8 * mask_share(x), 1);
}

/* Sums of a sparse T are collected. */
static double collected_by_host(const struct shunt_frontier *x, double single)
{
  const double met = share(single, single + places(x));
  return x->sums && !x->complement && !x->f.dense ? 8 * met * mask_entries(x) : 0;
}

/* What is written for each entry of T weighs most. */
static double parents_by_host(const struct shunt_frontier *x, double f_entries,
                              struct shunt_frontier_reads reads, int64_t groups)
{
  const bool pull = x->a.by_column;
  const double nodes = (double)(x->a.rows + x->a.cols);
  const double mean = (double)x->a.nnz / (double)(x->a.rows + 1), terms = f_entries * mean;
  const double known = (double)x->m.sparse.nnz;
  const double open = pull && x->m.dense ? reads.single / (mean + 1)
                      : x->complement    ? places(x) - known
                                         : known;
  const double entries = open * share(terms, terms + places(x));
  return (pull ? 1.0 : 2.8) * reads.grouped + (pull ? 10 : 7.5) * (double)groups * nodes +
         (pull ? 0.4 : 0.25) * (double)x->rows * nodes + (pull ? 9 : 7.4) * entries +
         mask_entries(x);
}

/* On one thread: `read` grows with what is met, `placed` with the places of T. */
struct times {
  double read, placed;
};

/* By a sparse F, sums: what comes to a node is a line of cache of 64 bytes, soon more than the
   caches hold, and each value of F is put into one.  */
static struct times pushed_sums_by_host(const struct shunt_frontier *x, double f_entries,
                                        struct shunt_frontier_reads reads, int64_t groups)
{
  const double start = 10000, nodes = (double)(x->a.rows + x->a.cols);
  const double far = share((double)x->a.cols, 65536);
  const double met = share(reads.single, reads.single + places(x));
  return (struct times){
      .read = (2 + 9.7 * far) * reads.grouped + 1.8 * reads.single + 14 * f_entries +
              (1.2 + 2 * met) * mask_entries(x),
      .placed = start + (8.5 * far * (double)groups + 0.67 * (double)x->rows) * nodes,
  };
}

static struct times pushed_bits_by_host(const struct shunt_frontier *x, double f_entries,
                                        struct shunt_frontier_reads reads, int64_t groups)
{
  const double nodes = (double)(x->a.rows + x->a.cols);
  return (struct times){
      .read = 1.8 * reads.grouped + 2.4 * f_entries + 2 * mask_entries(x),
      .placed = (7.5 * (double)groups + 0.16 * (double)x->rows) * nodes,
  };
}

static struct times grouped_by_host(const struct shunt_frontier *x, double f_entries,
                                    struct shunt_frontier_reads reads, int64_t groups)
{
  const double nodes = (double)(x->a.rows + x->a.cols);
  if (x->parents) return (struct times){.read = parents_by_host(x, f_entries, reads, groups)};
  if (!x->a.by_column && !x->f.dense)
    return (x->sums ? pushed_sums_by_host : pushed_bits_by_host)(x, f_entries, reads, groups);
  const bool lines = x->sums && x->f.dense && x->a.by_column; /* F and T are turned, all of them */
  const double group = lines ? 8 : 5, row = lines ? 0.9 : x->sums ? 0.3 : 0.2;
  return (struct times){.read = read_by_host(x) * reads.grouped + group * (double)groups * nodes +
                                row * (double)x->rows * nodes + 1.5 * mask_entries(x) +
                                collected_by_host(x, reads.single)};
}

/* Rows one by one.  A word of T's bits that is not empty fetches a line of a bitmap mask; each
   thread fills a line of sums once.  */
static struct times single_by_host(const struct shunt_frontier *x, double f_entries,
                                   struct shunt_frontier_reads reads)
{
  const double start = 5000, words = places(x) / 64;
  const double touched = words > 0 ? words * -expm1(-reads.single / words) : 0;
  const bool values = x->sums || x->parents;
  return (struct times){
      .read = (values ? 8 : 2) * f_entries + (values ? 4.3 : 2.4) * reads.single +
              (x->m.dense ? 26 : 10) * touched + 2.5 * mask_entries(x),
      .placed = start + (values ? 500 : 100) * (double)x->rows + 2.5 * words +
                (x->sums ? 1.2 * (double)x->a.cols : 0),
  };
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
  const bool copied = x->m.dense && 10 * pushed >= places(x);
  return threads_for(x, floor((pushed + (copied ? places(x) : mask_entries(x))) / each));
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

/* What is pushed for bits and parents is written apart, so that memory's rate limits it; so are
   sums where a bitmap F, which has entries for all nodes, makes many of them.  */
static double host_speedup(const struct shunt_frontier *x, int threads)
{
  if (x->sums) return pow(threads, x->f.dense && !x->a.by_column ? 0.4 : 0.9);
  return pow(threads, !x->a.by_column ? 0.3 : x->parents ? 0.7 : 0.6);
}

/* By ours, on the threads that there are and on one. */
struct host {
  double all, alone;
};

static struct host host_of(struct times t, double speedup, int threads, double more)
{
  const double team = threads > 1 ? 4e4 : 0;
  return (struct host){t.read / speedup + t.placed / pow(threads, 0.35) + more + team,
                       t.read + t.placed};
}

static struct host in_groups(const struct shunt_frontier *x, double f_entries,
                             struct shunt_frontier_reads reads)
{
  const int64_t width = x->sums ? 8 : 64, groups = (x->rows + width - 1) / width;
  const int threads = shunt_frontier_threads(x);
  return host_of(grouped_by_host(x, f_entries, reads, groups), host_speedup(x, threads), threads,
                 shared(x, f_entries, groups, threads));
}

static struct host one_by_one(const struct shunt_frontier *x, double f_entries,
                              struct shunt_frontier_reads reads)
{
  struct shunt_frontier singly = *x;
  singly.single = true;
  const int threads = shunt_frontier_threads(&singly);
  return host_of(single_by_host(x, f_entries, reads), pow(threads, 0.8), threads, 0);
}

struct grb_frontier_cost grb_frontier_cost(const struct shunt_frontier *x, double f_entries,
                                           struct shunt_frontier_reads reads)
{
  const double original = by_original(x, f_entries, reads);
  struct host host = in_groups(x, f_entries, reads);
  bool single = false;
  if (!x->a.by_column && !x->f.dense) {
    const struct host other = one_by_one(x, f_entries, reads);
    single = other.all < host.all;
    if (single) host = other;
  }
  return (struct grb_frontier_cost){
      .original = original / original_speedup(x, original, reads.single),
      .host = host.all,
      .original_alone = original,
      .host_alone = host.alone,
      .single = single,
  };
}
