/* frontier_host.c: what the kernel takes for a step of searches, in groups of rows and one by one,
   from what is read and the places of T.

   Rates where a sparse F is pushed are of 6,505 steps of the clients and graphblas_steps, each
   taken both ways: the way that is estimated to be faster takes 1.01 of the faster one's time there
   (parents 1.1).  The others are of the steps that GraphBLAS' are of (frontier_original.c), and so
   are the powers of t that t threads are worth.  What is written for each place of T gains least
   from threads.  */
#include <math.h>

#include "backend/graphblas/frontier/frontier_times.h"

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
  if (!x->sums) return 1.2 + 1.5 * grb_share((double)x->a.cols, close);
  return x->complement ? 5.4 : 1.8 + 3.6 * grb_share(8 * grb_step_mask_share(x), 1);
}

/* Sums of a sparse T are collected. */
static double collected_by_host(const struct shunt_frontier *x, double single)
{
  const double met = grb_share(single, single + grb_step_places(x));
  return x->sums && !x->complement && !x->f.dense ? 8 * met * grb_step_mask_entries(x) : 0;
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
                      : x->complement    ? grb_step_places(x) - known
                                         : known;
  const double entries = open * grb_share(terms, terms + grb_step_places(x));
  return (pull ? 1.0 : 2.8) * reads.grouped + (pull ? 10 : 7.5) * (double)groups * nodes +
         (pull ? 0.4 : 0.25) * (double)x->rows * nodes + (pull ? 9 : 7.4) * entries +
         grb_step_mask_entries(x);
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
  const double far = grb_share((double)x->a.cols, 65536);
  const double met = grb_share(reads.single, reads.single + grb_step_places(x));
  return (struct times){
      .read = (2 + 9.7 * far) * reads.grouped + 1.8 * reads.single + 14 * f_entries +
              (1.2 + 2 * met) * grb_step_mask_entries(x),
      .placed = start + (8.5 * far * (double)groups + 0.67 * (double)x->rows) * nodes,
  };
}

static struct times pushed_bits_by_host(const struct shunt_frontier *x, double f_entries,
                                        struct shunt_frontier_reads reads, int64_t groups)
{
  const double nodes = (double)(x->a.rows + x->a.cols);
  return (struct times){
      .read = 1.8 * reads.grouped + 2.4 * f_entries + 2 * grb_step_mask_entries(x),
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
                                row * (double)x->rows * nodes + 1.5 * grb_step_mask_entries(x) +
                                collected_by_host(x, reads.single)};
}

/* Rows one by one.  A word of T's bits that is not empty fetches a line of a bitmap mask; each
   thread fills a line of sums once.  */
static struct times single_by_host(const struct shunt_frontier *x, double f_entries,
                                   struct shunt_frontier_reads reads)
{
  const double start = 5000, words = grb_step_places(x) / 64;
  const double touched = words > 0 ? words * -expm1(-reads.single / words) : 0;
  const bool values = x->sums || x->parents;
  return (struct times){
      .read = (values ? 8 : 2) * f_entries + (values ? 4.3 : 2.4) * reads.single +
              (x->m.dense ? 26 : 10) * touched + 2.5 * grb_step_mask_entries(x),
      .placed = start + (values ? 500 : 100) * (double)x->rows + 2.5 * words +
                (x->sums ? 1.2 * (double)x->a.cols : 0),
  };
}

/* ---- on more threads ------------------------------------------------------------------------- */

/* What is pushed for bits and parents is written apart, so that memory's rate limits it; so are
   sums where a bitmap F, which has entries for all nodes, makes many of them.  */
static double host_speedup(const struct shunt_frontier *x, int threads)
{
  if (x->sums) return pow(threads, x->f.dense && !x->a.by_column ? 0.4 : 0.9);
  return pow(threads, !x->a.by_column ? 0.3 : x->parents ? 0.7 : 0.6);
}

static struct grb_frontier_time host_of(struct times t, double speedup, int threads, double more)
{
  const double team = threads > 1 ? 4e4 : 0;
  return (struct grb_frontier_time){t.read / speedup + t.placed / pow(threads, 0.35) + more + team,
                                    t.read + t.placed};
}

struct grb_frontier_time grb_frontier_in_groups(const struct shunt_frontier *x, double f_entries,
                                                struct shunt_frontier_reads reads)
{
  const int64_t width = x->sums ? 8 : 64, groups = (x->rows + width - 1) / width;
  const int threads = shunt_frontier_threads(x);
  return host_of(grouped_by_host(x, f_entries, reads, groups), host_speedup(x, threads), threads,
                 shared(x, f_entries, groups, threads));
}

struct grb_frontier_time grb_frontier_one_by_one(const struct shunt_frontier *x, double f_entries,
                                                 struct shunt_frontier_reads reads)
{
  struct shunt_frontier singly = *x;
  singly.single = true;
  const int threads = shunt_frontier_threads(&singly);
  return host_of(single_by_host(x, f_entries, reads), pow(threads, 0.8), threads, 0);
}
