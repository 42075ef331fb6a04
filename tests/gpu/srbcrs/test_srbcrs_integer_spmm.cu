// test_srbcrs_integer_spmm.cu: SpMM over strides of 16, 8 and 4 bits gives the very bits that sums of
// 64 bits give, wrapped, for every pair of widths, V and shape, over random and extreme values and
// ragged sizes, and the bytes of the twin where they are scaled.
//   --time   also times a layer of 4096 x 4096
#include "backend/routes/cost/costs.h"
#include "tests/gpu/srbcrs/integer_operands.cuh"

using namespace harness;

namespace
{

struct Widths {
  int a, b;
  bool is_unsigned = false; // A
};
const Widths widths[] = {{16, 16}, {16, 8}, {16, 4},      {12, 8},      {12, 4},
                         {8, 8},   {8, 4},  {8, 8, true}, {8, 4, true}, {4, 4}};

struct Case {
  int height;
  Widths bits;
  int64_t n;
  shunt_type type = SHUNT_I32;
  int scales = 0;
  Values values = RANDOM_VALUES;
  bool shared = false; // rows of a group have equal columns
  int64_t gap = 3;     // elements between C's rows
  bool unsigned_b = false;
};

struct Product {
  const Pattern &p;
  Case c;
  Strides a;
  Integers b;
  Scaling scaling;
  int64_t pitch;
  Buffer out;
  shunt_srbcrs_integer_spmm on_host, on_device;
  shunt_device device;
  bool packed;

  Product(const Pattern &of, const Case &with, uint64_t seed)
      : p(of), c(with), a(p, {with.height, with.shared ? with.height : 1, with.bits.a},
                          seed % 2 ? SHUNT_I64 : SHUNT_I32, (int)(seed / 2 % 2), with.values, seed,
                          with.bits.is_unsigned),
        b(with.bits.b, p.cols, with.n, with.values, seed + 1, seed % 3 * 16, with.unsigned_b),
        scaling(with.type, p.rows, with.n, with.scales, seed + 2), pitch(with.n + with.gap),
        out((size_t)(p.rows * pitch) * shunt_type_size(with.type)), device(this_device()),
        packed(a.pack() && !a.irregular())
  {
    on_host = {b.host, scaling.host, nullptr, pitch};
    on_device = {b.device, scaling.device, out.device, pitch};
  }

  shunt_status launch(const shunt_srbcrs_shape &shape)
  {
    memset(out.host.data(), 0x5c, out.host.size());
    out.upload();
    const shunt_status s =
        shunt_srbcrs_integer_spmm_cuda(&on_device, &a.on_device, &shape, &device, 0);
    CUDA_OK(cudaDeviceSynchronize());
    out.download();
    return s;
  }
  std::vector<char> wanted() const
  {
    std::vector<char> want(out.host.size(), 0x5c);
    std::vector<int64_t> sum((size_t)c.n);
    for (int64_t i = 0; i < p.rows; i++) {
      std::fill(sum.begin(), sum.end(), 0);
      for (int64_t e = p.offsets[(size_t)i]; e < p.offsets[(size_t)i + 1]; e++)
        for (int64_t j = 0; j < c.n; j++)
          sum[(size_t)j] += a.value(e) * shunt_integer_at(&b.host, p.columns[(size_t)e], j);
      for (int64_t j = 0; j < c.n; j++)
        shunt_put_scaled(&scaling.host, want.data(), i * pitch + j, (uint32_t)sum[(size_t)j], i, j);
    }
    return want;
  }
  bool right()
  {
    const std::vector<char> want = wanted();
    std::vector<char> twin(out.host.size(), 0x5c);
    on_host.c = twin.data();
    bool good =
        packed && shunt_srbcrs_integer_spmm_host(&on_host, &a.on_host) == SHUNT_OK && twin == want;
    for (int columns : {32, 64, 128})
      for (int split : {1, 4}) {
        const shunt_srbcrs_shape shape = {columns, split};
        if (!shunt_srbcrs_integer_spmm_has(&shape, c.bits.b)) continue;
        good = good && launch(shape) == SHUNT_OK && out.host == want;
      }
    if (!good)
      printf("# V = %d, %d x %s%d bits, %lld x %lld x %lld, type %d, scales %d, gap %lld\n",
             c.height, c.bits.a, c.unsigned_b ? "unsigned " : "", c.bits.b, (long long)p.rows,
             (long long)p.cols, (long long)c.n, c.type, c.scales, (long long)c.gap);
    return good;
  }
};

void test_sizes(int height, Widths bits)
{
  static const int64_t sizes[][3] = {{1, 1, 1},     {3, 40, 16},   {8, 64, 32},
                                     {19, 33, 131}, {70, 300, 72}, {24, 100, 128}};
  static const shunt_type types[] = {SHUNT_I32, SHUNT_F32, SHUNT_F16, SHUNT_BF16, SHUNT_I8};
  Random r(100 + (uint64_t)(height * bits.a * bits.b));
  bool good = true;
  for (auto &size : sizes)
    for (double density : {0.0, 0.1, 0.5}) {
      if (left_out()) continue;
      const bool shared = r.below(2);
      const Pattern p = random_pattern(size[0], size[1], density, shared ? height : 1, r.next());
      Case c = {height, bits, size[2], types[r.below(5)], (int)r.below(4)};
      c.shared = shared, c.unsigned_b = r.below(2);
      if (r.below(2)) c.gap = (size[2] + 15) / 16 * 16 - size[2];
      good &= Product(p, c, r.next()).right();
    }
  check(good, "V = %d, %d%s x %d bits: ragged sizes are bit-equal to sums of 64 bits", height,
        bits.a, bits.is_unsigned ? " unsigned" : "", bits.b);
}

void test_values(int height, Widths bits)
{
  const Pattern p = random_pattern(16, sized(4000, 300), 0.9, height, 9);
  bool good = true;
  for (int kind = 0; kind < VALUES; kind++)
    for (bool unsigned_b : {false, true}) {
      const Case c = {height, bits, 40, SHUNT_I32, 0, (Values)kind, true, 3, unsigned_b};
      good &= Product(p, c, 10).right();
    }
  check(good, "V = %d, %d%s x %d bits: least, greatest and alternating values", height, bits.a,
        bits.is_unsigned ? " unsigned" : "", bits.b);
}

// What is chosen unasked is a shape that there is.
void test_chosen()
{
  bool good = true;
  for (int64_t groups : {1, 40, 1024, 100000})
    for (int bits : {16, 8, 4})
      for (int64_t n : {1, 40, 64, 130, 1024, 100000}) {
        const shunt_device d = {132, 90, 232448, 50 << 20};
        shunt_srbcrs v = {};
        v.rows = 8 * groups, v.cols = 4096, v.nnz = 300 * v.rows, v.groups = groups, v.height = 8;
        const shunt_srbcrs_shape s = shunt_choose_srbcrs_shape(&v, 300 * groups, bits, n, &d);
        good &= shunt_srbcrs_integer_spmm_has(&s, bits) && (s.columns / 2 < n || s.columns <= 64);
        const int64_t phases = shunt_choose_srbcrs_phases(&v, 300 * groups, bits, &d);
        good &= phases >= 1 && phases <= 300 / 32 + 1;
      }
  check(good, "the shapes that are chosen are there");
}

void test_declined()
{
  const Pattern p = random_pattern(16, 64, 0.3, 4, 15);
  Product q(p, {4, {8, 8}, 24}, 16);
  const shunt_srbcrs_integer_spmm was = q.on_device;
  const shunt_srbcrs_shape good = {32, 1};
  const auto refuses = [&](shunt_status s) {
    const bool refused = q.launch(good) == s;
    q.on_device = was;
    return refused;
  };
  bool refused = q.launch(good) == SHUNT_OK && q.launch({48, 1}) == SHUNT_E_UNSUPPORTED;
  refused &= q.launch({32, 2}) == SHUNT_E_UNSUPPORTED;
  q.on_device.b.bits = 16, refused &= refuses(SHUNT_E_UNSUPPORTED);
  q.on_device.b.bits = 4, refused &= refuses(SHUNT_E_UNSUPPORTED); // no such shape
  q.on_device.b.rows++, refused &= refuses(SHUNT_E_ARGUMENT);
  q.on_device.b.row_bytes = 16, refused &= refuses(SHUNT_E_ARGUMENT);
  q.on_device.scaling.type = SHUNT_F64, refused &= refuses(SHUNT_E_UNSUPPORTED);
  q.on_device.c_row_stride = 23, refused &= refuses(SHUNT_E_ARGUMENT);
  q.on_device.c = (char *)q.out.device + 2, refused &= refuses(SHUNT_E_ARGUMENT);
  q.device.compute_capability = 75, refused &= refuses(SHUNT_E_UNSUPPORTED);
  check(refused, "other widths, sizes, types, shapes and devices are declined");
}

void time_layer()
{
  for (int height : {8, 4, 2})
    for (double sparsity : {0.8, 0.9, 0.95, 0.98})
      for (int64_t n : {64, 256, 1024}) {
        if (height != 8 && sparsity != 0.9) continue;
        const Pattern p = random_pattern(4096, 4096, 1 - sparsity, height, 17);
        for (const Widths &bits : widths) {
          if (bits.is_unsigned) continue; // the same instructions
          Product q(p, {height, bits, n, SHUNT_I32, 0, RANDOM_VALUES, true, 0}, 18);
          for (int columns : {32, 64, 128})
            for (int split : {1, 4}) {
              const shunt_srbcrs_shape s = {columns, split};
              if (!shunt_srbcrs_integer_spmm_has(&s, bits.b)) continue;
              const double us = time_graph([&](cudaStream_t stream) {
                shunt_srbcrs_integer_spmm_cuda(&q.on_device, &q.a.on_device, &s, &q.device, stream);
              });
              printf("time spmm 4096 x 4096 V %d sparsity %g N %lld bits %d x %d columns %d split "
                     "%d: %.2f us\n",
                     height, sparsity, (long long)n, bits.a, bits.b, columns, split, us);
            }
        }
      }
}

} // namespace

int main(int argc, char **argv)
{
  for (int height : {2, 4, 8})
    for (const Widths &bits : widths) {
      test_sizes(height, bits);
      test_values(height, bits);
    }
  test_chosen();
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_layer();
  return finish();
}
