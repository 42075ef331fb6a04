// test_ablation_integers.cu: int8 SpMM with B through shared memory, step by step
// (tests/bench/ablation/srbcrs_steps.h), gives the very bits that sums of 64 bits give.
//   --time   also times them beside Shunt's kernel in its fastest shape, on layers of 4096 x 4096
#include "tests/bench/ablation/srbcrs_steps.h"
#include "tests/gpu/srbcrs/srbcrs_product.cuh"

namespace
{

const char *const kStepName[SHUNT_SRBCRS_STEPS] = {"basic", "conflict-free", "prefetch"};

bool agrees(Product &q, int step, const std::vector<char> &want)
{
  q.c.host = q.before;
  q.c.upload();
  const bool good = shunt_ablation_srbcrs_cuda(&q.spmm, &q.a.on_device,
                                               (enum shunt_srbcrs_step)step, 0) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  q.c.download();
  return good && q.c.host == want;
}

void test_step(int step, int height)
{
  static const int64_t sizes[][3] = {{1, 1, 16}, {3, 40, 16}, {19, 33, 80}, {70, 300, 144}};
  Random r(300 + (uint64_t)(step * 10 + height));
  bool good = true;
  for (auto &size : sizes)
    for (double density : {0.0, 0.1, 0.5}) {
      const Pattern p =
          random_pattern(size[0], size[1], density, r.below(2) ? height : 1, r.next());
      Product q(p, height, 1, size[2], Options(), r.next());
      good = q.packed && agrees(q, step, q.wanted()) && good;
    }
  check(good, "V = %d, %s: bit-equal to sums of 64 bits", height, kStepName[step]);
}

void test_declined()
{
  const Pattern p = random_pattern(16, 64, 0.3, 4, 15);
  Product q(p, 4, 4, 32, Options(), 16);
  const shunt_spmm was = q.spmm;
  const auto status = [&] {
    const shunt_status s =
        shunt_ablation_srbcrs_cuda(&q.spmm, &q.a.on_device, SHUNT_SRBCRS_BASIC, 0);
    q.spmm = was;
    return s;
  };
  bool good = true;
  q.spmm.beta.host = 1, good &= status() == SHUNT_E_UNSUPPORTED;
  q.spmm.c.type = SHUNT_F32, good &= status() == SHUNT_E_UNSUPPORTED;
  q.spmm.b.cols = q.spmm.c.cols = 31, good &= status() == SHUNT_E_UNSUPPORTED;
  q.spmm.b.values = (char *)q.b.device + 4, good &= status() == SHUNT_E_UNSUPPORTED;
  q.spmm.c.rows = 15, good &= status() == SHUNT_E_ARGUMENT;
  check(good, "other types, scalars, sizes and layouts are declined");
}

double time_shunt(Product &q)
{
  double least = INFINITY;
  for (int columns : {32, 64, 128})
    for (int split : {1, 4}) {
      const shunt_srbcrs_shape s = {columns, split};
      const double us = time_graph([&](cudaStream_t stream) {
        if (shunt_srbcrs_spmm_shaped_cuda(&q.spmm, &q.a.on_device, &s, &q.device,
                                          q.workspace.device, q.workspace.host.size(),
                                          stream) != SHUNT_OK)
          exit(3);
      });
      if (us < least) least = us;
    }
  return least;
}

void time_layers()
{
  for (int height : {8, 4, 2})
    for (double sparsity : {0.8, 0.9, 0.95, 0.98})
      for (int64_t n : {64, 256, 1024}) {
        if (height != 8 && sparsity != 0.9) continue;
        const Pattern p = random_pattern(4096, 4096, 1 - sparsity, height, 17);
        Product q(p, height, height, n, Options(), 18);
        printf("time ablation int8 4096 x 4096 V %d sparsity %g N %lld:", height, sparsity,
               (long long)n);
        for (int step = 0; step < SHUNT_SRBCRS_STEPS; step++)
          printf(" %s %.2f", kStepName[step], time_graph([&](cudaStream_t stream) {
                   if (shunt_ablation_srbcrs_cuda(&q.spmm, &q.a.on_device,
                                                  (enum shunt_srbcrs_step)step, stream) != SHUNT_OK)
                     exit(3);
                 }));
        printf(" srbcrs %.2f us\n", time_shunt(q));
        fflush(stdout);
      }
}

} // namespace

int main(int argc, char **argv)
{
  for (int step = 0; step < SHUNT_SRBCRS_STEPS; step++)
    for (int height : {8, 4, 2}) test_step(step, height);
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_layers();
  return finish();
}
