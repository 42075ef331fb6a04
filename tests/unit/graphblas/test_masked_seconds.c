/* test_masked_seconds.c: what a product of two sparse matrices under a sparse mask is estimated to
   take on the GPU: copies count, and what is small does not pay.  */
#include "backend/graphblas/gpu/masked/masked_seconds.h"
#include "tests/unit/check.h"

static struct shunt_sparse graph(int64_t nodes, int64_t entries)
{
  return (struct shunt_sparse){
      .rows = nodes, .cols = nodes, .vectors = nodes, .nnz = entries, .iso = true};
}

static struct shunt_masked_dot step(int64_t nodes, int64_t entries)
{
  const struct shunt_sparse s = graph(nodes, entries);
  return (struct shunt_masked_dot){.semiring = {SHUNT_PLUS, SHUNT_PAIR, SHUNT_I64, false},
                                   .m = s,
                                   .a = s,
                                   .b = s,
                                   .threads = 16};
}

static bool near(double x, double wanted)
{
  return x > 0.99 * wanted && x < 1.01 * wanted;
}

static void copies_count(void)
{
  const struct grb_gpu_rates usual = grb_gpu_usual_rates();
  struct grb_gpu_rates slow_up = usual, slow_down = usual;
  struct shunt_sparse s = graph(1 << 20, 31400000);
  const struct shunt_masked_dot x = step(1 << 20, 31400000);
  const double gigabyte = grb_gpu_masked_upload(&s, 1000000000, &usual, 16);
  check(near(gigabyte, 0.02), "a GB goes up at 50 GB/s: %g s", gigabyte);
  check(grb_gpu_masked_upload(&s, 1000000000, &usual, 1) > 0.1, "one thread copies more slowly");
  s.by_column = true;
  check(grb_gpu_masked_upload(&s, 1000000000, &usual, 16) > gigabyte + 0.02,
        "rows are made of columns on the host");
  slow_up.up = 1e9, slow_down.down = 1e9;
  check(grb_gpu_masked_upload(&s, 1000000000, &slow_up, 16) > 1, "a slow bus up counts");
  check(grb_gpu_masked_stream(&x, 1e9, &slow_down) >
            grb_gpu_masked_stream(&x, 1e9, &usual) + 8.0 * 31.4e6 * 0.9e-9,
        "so does one down, 8 bytes an entry");
}

/* Seconds of 16 threads of the host engine, by its own estimate: 0.6 ns a read. */
static void what_pays(void)
{
  const struct grb_gpu_rates usual = grb_gpu_usual_rates();
  const struct shunt_masked_dot small = step(1 << 10, 20000), large = step(1 << 20, 31400000);
  check(grb_gpu_masked_stream(&small, 6e5, &usual) > 0.6e-9 * 6e5 / 16, "a small graph stays");
  const double up = grb_gpu_masked_upload(&large.a, 4 * (31400000 + (1 << 20)), &usual, 16);
  const double all = up + grb_gpu_masked_stream(&large, 1.38e10, &usual);
  check(2 * all < 0.6e-9 * 1.38e10 / 16, "R-MAT 2^20 goes to the GPU: %g s", all);
  check(all > 0.025 && all < 0.04, "of that, the kernels take 21 ms of an H100");
  struct shunt_masked_dot summed = large;
  summed.a.iso = summed.b.iso = false;
  check(grb_gpu_masked_stream(&summed, 1.38e10, &usual) >
            grb_gpu_masked_stream(&large, 1.38e10, &usual),
        "values take longer than counts");
}

int main(void)
{
  copies_count();
  what_pays();
  return check_finish();
}
