#include "backend/graphblas/gpu/cost.h"

/* The host engine, measured on the cores that README names: multiply-adds per second. */
#define HOST_F32_PER_THREAD 5e9
#define HOST_F64_PER_THREAD 2.5e9
/* More threads than this share the memory's bandwidth. */
#define HOST_MOST_THREADS 12.0
/* Bytes of B and C that pass through its caches, per second: what counts where rows are short. */
#define HOST_DENSE 40e9
/* memcpy into or out of pinned memory. */
#define COPY_PER_THREAD 6e9
#define COPY_MOST 80e9
/* The counting sort of a transpose: seconds per entry and thread. */
#define TRANSPOSE 12e-9
/* Waking threads, launches, the last event: of one call. */
#define CALL 120e-6
/* Strips of B, before the first and after the last of which only one of three things is
   under way.  */
#define STRIPS 4.0

struct grb_gpu_rates grb_gpu_usual_rates(void)
{
  return (struct grb_gpu_rates){50e9, 50e9, 5e12};
}

static double least(double a, double b)
{
  return a < b ? a : b;
}

static double most(double a, double b)
{
  return a > b ? a : b;
}

static double threads_of(const struct shunt_host_spmm *p)
{
  return p->threads > 1 ? p->threads : 1;
}

double grb_gpu_copy_rate(int threads)
{
  return least(COPY_PER_THREAD * (threads > 1 ? threads : 1), COPY_MOST);
}

static double copy_rate(const struct shunt_host_spmm *p)
{
  return grb_gpu_copy_rate(p->threads);
}

double grb_gpu_transpose_seconds(int64_t entries, int threads)
{
  return TRANSPOSE * (double)entries / (threads > 1 ? threads : 1);
}

static double work(const struct shunt_host_spmm *p)
{
  return (double)p->s.nnz * (double)p->c.cols;
}

double grb_gpu_host_seconds(const struct shunt_host_spmm *p)
{
  double rate = p->semiring.type == SHUNT_F64 ? HOST_F64_PER_THREAD : HOST_F32_PER_THREAD;
  double dense = (double)(p->s.cols + p->c.rows) * (double)p->c.cols *
                 (double)shunt_type_size(p->semiring.type);
  double threads = least(threads_of(p), HOST_MOST_THREADS);
  return work(p) / (rate * threads) + dense / (HOST_DENSE * threads / HOST_MOST_THREADS);
}

double grb_gpu_upload_seconds(const struct shunt_host_spmm *p, const struct grb_gpu_rates *r,
                              const struct grb_gpu_load *l)
{
  double size = (double)shunt_type_size(p->semiring.type), entries = (double)p->s.nnz;
  double bytes = l->s * (entries * (4 + size) + 4.0 * (double)p->s.rows);
  double sorted = p->s.by_column ? grb_gpu_transpose_seconds(p->s.nnz, p->threads) : 0;
  return sorted + most(bytes / r->up, l->devices * bytes / copy_rate(p));
}

double grb_gpu_round_seconds(int devices)
{
  return CALL * (1 + 0.2 * devices);
}

double grb_gpu_stream_seconds(const struct shunt_host_spmm *p, const struct grb_gpu_rates *r,
                              const struct grb_gpu_load *l)
{
  double size = (double)shunt_type_size(p->semiring.type);
  double b = l->b * (double)p->s.cols * (double)p->c.cols * size;
  double c = l->c * (double)p->c.rows * (double)p->c.cols * size;
  double up = b / r->up, down = c / r->down;
  double kernel = l->c * work(p) * size / r->gather;
  double slowest = most(most(up, down), most(kernel, l->devices * (b + c) / copy_rate(p)));
  return grb_gpu_round_seconds(l->devices) + slowest + (up + down + kernel) / STRIPS;
}
