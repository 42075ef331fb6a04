// test_srbcrs_spmm.cu: SpMM over strides gives the very bits that sums of 64 bits give, for every
// V, shape of the kernel and layout of B and C, over random and extreme values and ragged sizes.
//   --time   also times a layer of 4096 x 4096
#include "kernels/srbcrs/srbcrs_kernels.h"
#include "tests/gpu/common/dense_layouts.cuh"
#include "tests/gpu/srbcrs/srbcrs_matrices.cuh"

using namespace harness;

namespace
{

struct Options {
  shunt_type out = SHUNT_I32;
  int b_layout = 0, c_layout = 0;
  double alpha = 1, beta = 0;
  Values values = RANDOM_VALUES;
};

struct Product {
  const Pattern &p;
  Options o;
  Strides a;
  DenseLayout bl, cl;
  Buffer b, c, workspace;
  shunt_spmm spmm = {};
  shunt_device device;
  std::vector<char> before;
  bool packed;

  Product(const Pattern &pattern, int height, int share, int64_t n, const Options &with,
          uint64_t seed)
      : p(pattern), o(with), a(p, {height, share, 8}, seed % 2 ? SHUNT_I64 : SHUNT_I32,
                               (int)(seed / 2 % 2), with.values, seed),
        bl(dense_layout(with.b_layout, p.cols, n, 16)),
        cl(dense_layout(with.c_layout, p.rows, n, 4)), b((size_t)bl.size()),
        c((size_t)cl.size() * 4), workspace((size_t)(p.cols * (n + 16)) + 256),
        device(this_device())
  {
    Random r(seed + 1);
    memset(b.host.data(), 0x77, b.host.size());
    for (int64_t i = 0; i < p.cols; i++)
      for (int64_t j = 0; j < n; j++)
        b.host[(size_t)bl.at(i, j)] = (char)value_of(with.values, i, r);
    for (char &byte : c.host) byte = (char)r.below(128); // no NaN
    before = c.host;
    b.upload();
    spmm.a = a.device;
    spmm.b = bl.view(b.device, SHUNT_I8);
    spmm.c = cl.view(c.device, with.out);
    spmm.alpha.host = with.alpha, spmm.beta.host = with.beta;
    spmm.compute = with.out;
    packed = a.pack() && !a.irregular();
  }

  std::vector<int64_t> sums() const
  {
    const int64_t n = cl.cols;
    std::vector<int64_t> sum((size_t)(p.rows * n));
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t q = p.offsets[(size_t)i]; q < p.offsets[(size_t)i + 1]; q++)
        for (int64_t j = 0; j < n; j++)
          sum[(size_t)(i * n + j)] += (int64_t)(int8_t)a.values.host[(size_t)q] *
                                      (int8_t)b.host[(size_t)bl.at(p.columns[(size_t)q], j)];
    return sum;
  }

  // C as it has to be, the bytes around its elements included.
  std::vector<char> wanted() const
  {
    std::vector<char> want = before;
    const std::vector<int64_t> sum = sums();
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t j = 0; j < cl.cols; j++) {
        char *to = &want[(size_t)cl.at(i, j) * 4];
        const int64_t s = sum[(size_t)(i * cl.cols + j)];
        if (o.out == SHUNT_I32) {
          int32_t old;
          memcpy(&old, to, 4);
          const int32_t x = (int32_t)(uint32_t)((int64_t)o.alpha * s + (int64_t)o.beta * old);
          memcpy(to, &x, 4);
        } else {
          float old;
          memcpy(&old, to, 4);
          float x = (float)o.alpha * (float)(int32_t)s;
          if (o.beta != 0) x = fmaf((float)o.beta, old, x);
          memcpy(to, &x, 4);
        }
      }
    return want;
  }

  shunt_status launch(const shunt_srbcrs_shape &shape)
  {
    c.host = before;
    c.upload();
    const shunt_status s = shunt_srbcrs_spmm_shaped_cuda(
        &spmm, &a.on_device, &shape, &device, workspace.device, workspace.host.size(), 0);
    CUDA_OK(cudaDeviceSynchronize());
    c.download();
    return s;
  }
  bool right(const shunt_srbcrs_shape &shape, const std::vector<char> &want)
  {
    const bool good = launch(shape) == SHUNT_OK && c.host == want;
    if (!good)
      printf("# V = %d, %lld x %lld x %lld, B in layout %d, C in %d, %d columns by %d warps\n",
             a.layout.height, (long long)p.rows, (long long)p.cols, (long long)cl.cols, o.b_layout,
             o.c_layout, shape.columns, shape.split);
    return good;
  }
  bool right()
  {
    const std::vector<char> want = wanted();
    bool good = packed;
    for (int columns : {32, 64, 128})
      for (int split : {1, 4}) good = good && right({columns, split}, want);
    return good;
  }
};

void test_sizes(int height)
{
  static const int64_t sizes[][3] = {{1, 1, 1},     {3, 40, 16},   {8, 64, 32},
                                     {19, 33, 130}, {70, 300, 72}, {64, 200, 128}};
  Random r(100 + (uint64_t)height);
  bool good = true;
  for (auto &size : sizes)
    for (double density : {0.0, 0.1, 0.5})
      for (int share : {1, height}) {
        if (left_out()) continue;
        const Pattern p = random_pattern(size[0], size[1], density, share, r.next());
        Options o;
        o.out = r.below(2) ? SHUNT_I32 : SHUNT_F32;
        o.b_layout = (int)r.below(DENSE_LAYOUTS), o.c_layout = (int)r.below(DENSE_LAYOUTS);
        if (r.below(3) == 0) o.alpha = -3;
        if (r.below(3) == 0) o.beta = 2;
        good &= Product(p, height, share, size[2], o, r.next()).right();
      }
  check(good, "V = %d: ragged sizes are bit-equal to sums of 64 bits", height);
}

void test_layouts(int height)
{
  const Pattern p = random_pattern(21, 150, 0.3, 1, 7);
  bool good = true;
  for (int b = 0; b < DENSE_LAYOUTS; b++)
    for (int c = 0; c < DENSE_LAYOUTS; c++) {
      if (left_out()) continue;
      Options o;
      o.b_layout = b, o.c_layout = c;
      good &= Product(p, height, 1, 48, o, (uint64_t)(b * 7 + c)).right();
    }
  check(good, "V = %d: B and C in every layout", height);
}

void test_values(int height)
{
  const Pattern p = random_pattern(16, sized(4000, 500), 0.9, height, 9);
  for (int kind = 0; kind < VALUES; kind++) {
    bool good = true;
    for (shunt_type out : {SHUNT_I32, SHUNT_F32}) {
      Options o;
      o.values = (Values)kind, o.out = out;
      good &= Product(p, height, height, 40, o, 10).right();
    }
    check(good, "V = %d: values %s", height, values_name[kind]);
  }
}

// More than 2^17 entries of -128 x -128: the sum leaves int32.
void test_wraps()
{
  const Pattern p = random_pattern(2, sized(140000, 132000), 1, 2, 11);
  Options o;
  o.values = ALL_LEAST;
  Product q(p, 2, 2, 1, o, 12);
  check(q.packed && q.right({32, 1}, q.wanted()) && q.right({32, 4}, q.wanted()),
        "a sum of %lld products wraps", (long long)p.cols);
  q.spmm.compute = q.spmm.c.type = SHUNT_F32;
  check(q.launch({32, 1}) == SHUNT_E_UNSUPPORTED, "into f32, which would not, that is declined");
}

// The shape that is taken unasked is one of those, and repeats its bits.
void test_default()
{
  const Pattern p = random_pattern(100, 200, 0.2, 8, 13);
  bool good = true;
  for (int multiprocessors : {1, 4, 132})
    for (int64_t n : {1, 40, 300}) {
      Options o;
      Product q(p, 8, 8, n, o, 14);
      q.device.multiprocessors = multiprocessors;
      const shunt_srbcrs_shape s = shunt_srbcrs_spmm_shape(&q.spmm, 8, &q.device);
      good &= q.right(s, q.wanted()) && (n > 64 || s.columns < 128);
      good &= shunt_srbcrs_spmm_cuda(&q.spmm, &q.a.on_device, &q.device, q.workspace.device,
                                     q.workspace.host.size(), 0) == SHUNT_OK;
      CUDA_OK(cudaDeviceSynchronize());
    }
  check(good, "the shape that the launcher takes");
}

void test_declined()
{
  const Pattern p = random_pattern(16, 64, 0.3, 4, 15);
  Options o;
  Product q(p, 4, 4, 24, o, 16);
  const shunt_srbcrs_shape good = {32, 1};
  auto refuses = [&](const shunt_spmm &s, shunt_srbcrs_shape shape, size_t bytes, shunt_status e) {
    return shunt_srbcrs_spmm_shaped_cuda(&s, &q.a.on_device, &shape, &q.device, q.workspace.device,
                                         bytes, 0) == e;
  };
  const size_t all = q.workspace.host.size();
  shunt_spmm s = q.spmm;
  bool refused = q.launch(good) == SHUNT_OK;
  refused &= shunt_srbcrs_spmm_workspace(&s) > 0 && refuses(s, good, 8, SHUNT_E_WORKSPACE);
  refused &= refuses(s, {48, 1}, all, SHUNT_E_UNSUPPORTED);
  refused &= refuses(s, {32, 2}, all, SHUNT_E_UNSUPPORTED);
  s.b.type = SHUNT_F16, refused &= refuses(s, good, all, SHUNT_E_UNSUPPORTED);
  s = q.spmm, s.compute = SHUNT_F32, refused &= refuses(s, good, all, SHUNT_E_UNSUPPORTED);
  s = q.spmm, s.b.cols = 25, refused &= refuses(s, good, all, SHUNT_E_ARGUMENT);
  s = q.spmm, s.a.rows = s.c.rows = 17, refused &= refuses(s, good, all, SHUNT_E_ARGUMENT);
  s = q.spmm, s.only_if = (uint32_t *)q.workspace.device;
  refused &= refuses(s, good, all, SHUNT_E_UNSUPPORTED);
  q.device.compute_capability = 75, refused &= refuses(q.spmm, good, all, SHUNT_E_UNSUPPORTED);
  check(refused, "other types, sizes, shapes and devices, and a short workspace, are declined");
}

void time_layer()
{
  for (int height : {2, 4, 8})
    for (double sparsity : {0.8, 0.9, 0.95, 0.98})
      for (int64_t n : {256, 1024}) {
        const Pattern p = random_pattern(4096, 4096, 1 - sparsity, height, 17);
        Options o;
        o.b_layout = 1, o.c_layout = 1;
        Product q(p, height, height, n, o, 18);
        for (int columns : {32, 64, 128})
          for (int split : {1, 4}) {
            const shunt_srbcrs_shape s = {columns, split};
            const double us = time_graph([&](cudaStream_t stream) {
              shunt_srbcrs_spmm_shaped_cuda(&q.spmm, &q.a.on_device, &s, &q.device,
                                            q.workspace.device, q.workspace.host.size(), stream);
            });
            printf("time 4096 x 4096 V %d sparsity %g N %lld columns %d split %d: %.2f us\n",
                   height, sparsity, (long long)n, columns, split, us);
          }
      }
}

} // namespace

int main(int argc, char **argv)
{
  for (int height : {2, 4, 8}) {
    test_sizes(height);
    test_layouts(height);
    test_values(height);
  }
  test_wraps();
  test_default();
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_layer();
  return finish();
}
