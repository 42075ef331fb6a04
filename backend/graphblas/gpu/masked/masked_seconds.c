#include "backend/graphblas/gpu/masked/masked_seconds.h"

/* Launches, waiting for T's size, waking threads twice. */
#define CALL 300e-6
/* The share of the memory's rate that scattered rows are read at, where terms are counted and where
   they are summed.  */
#define COUNTED_SHARE 0.5
#define SUMMED_SHARE 0.25
/* Bytes of memory for an entry of M: two rows' offsets in lines of their own, its count, and what
   makes T's pattern.  */
#define BYTES_A_PAIR 128

static double most(double a, double b)
{
  return a > b ? a : b;
}

double grb_gpu_masked_upload(const struct shunt_sparse *s, int64_t bytes,
                             const struct grb_gpu_rates *r, int threads)
{
  const double sorted = s->by_column ? grb_gpu_transpose_seconds(s->nnz, threads) : 0;
  return sorted + most((double)bytes / r->up, (double)bytes / grb_gpu_copy_rate(threads));
}

double grb_gpu_masked_stream(const struct shunt_masked_dot *x, double reads,
                             const struct grb_gpu_rates *r)
{
  const bool counted = x->a.iso && x->b.iso;
  const double size = (double)shunt_type_size(x->semiring.type), pairs = (double)x->m.nnz;
  const double product = reads * (counted ? 4 : 4 + size) + pairs * BYTES_A_PAIR;
  const double down = 4 * (double)x->m.rows + pairs * (4 + (counted ? 4 : size));
  const double written = 8 * (double)x->m.rows + pairs * (8 + size);
  return CALL + product / ((counted ? COUNTED_SHARE : SUMMED_SHARE) * r->gather) +
         most(down / r->down, written / grb_gpu_copy_rate(x->threads));
}
