// test_srbcrs_sddmm.cu: SDDMM over strides gives the very bits that sums of 64 bits give, wrapped,
// for every width and V, over random and extreme values and ragged sizes, and the bytes of the twin
// where they are scaled.
//   --time   also times a layer of 4096 x 4096, beside the f16 kernel of `vector`
#include "kernels/vector/vector_kernels.h"
#include "tests/gpu/srbcrs/integer_operands.cuh"

using namespace harness;

namespace
{

struct Case {
  int height, bits;
  int64_t k;
  shunt_type type = SHUNT_I32;
  int scales = 0;
  Values values = RANDOM_VALUES;
  bool shared = false; // rows of a group have equal columns
  bool unsigned_a = false, unsigned_b = false;
};

struct Sampled {
  const Pattern &p;
  Case c;
  Strides pattern;
  Integers a, b;
  Scaling scaling;
  size_t bytes;
  Buffer out;
  shunt_srbcrs_sddmm on_host, on_device;
  shunt_device device;
  bool packed;

  Sampled(const Pattern &of, const Case &with, uint64_t seed)
      : p(of), c(with),
        pattern(p, {with.height, with.shared ? with.height : 1, 8},
                seed % 2 ? SHUNT_I64 : SHUNT_I32, (int)(seed / 2 % 2), RANDOM_VALUES, seed),
        a(with.bits, p.rows, with.k, with.values, seed + 1, seed % 3 * 16, with.unsigned_a),
        b(with.bits, p.cols, with.k, with.values, seed + 2, seed % 5 * 16, with.unsigned_b),
        scaling(with.type, p.rows, p.cols, with.scales, seed + 3),
        bytes((size_t)shunt_srbcrs_strides(&pattern.host, &pattern.layout) * 32 *
              (size_t)with.height * shunt_type_size(with.type)),
        out(bytes), device(this_device()), packed(pattern.pack() && !pattern.irregular())
  {
    on_host = {a.host, b.host, scaling.host, nullptr};
    on_device = {a.device, b.device, scaling.device, out.device};
  }

  shunt_status launch(int64_t phases)
  {
    memset(out.host.data(), 0x5c, bytes);
    out.upload();
    const shunt_status s =
        shunt_srbcrs_sddmm_cuda(&on_device, &pattern.on_device, phases, &device, 0);
    CUDA_OK(cudaDeviceSynchronize());
    out.download();
    return s;
  }

  // Sums by rows of CSR; strides that no group has stay as they are.
  std::vector<char> wanted() const
  {
    std::vector<char> want(bytes, 0x5c);
    const shunt_srbcrs &v = pattern.on_host;
    const size_t size = shunt_type_size(c.type);
    for (int64_t g = 0; g < v.groups; g++)
      memset(&want[v.begin[g] * (size_t)c.height * size], 0,
             (v.end[g] - v.begin[g] + 31) / 32 * 32 * (size_t)c.height * size);
    for (int64_t i = 0; i < p.rows; i++) {
      const int r = (int)(i % c.height);
      int64_t slot = v.begin[i / c.height];
      for (int64_t e = p.offsets[(size_t)i]; e < p.offsets[(size_t)i + 1]; e++, slot++) {
        const int64_t j = p.columns[(size_t)e];
        while (v.columns[slot] != j) slot++;
        int64_t sum = 0;
        for (int64_t x = 0; x < c.k; x++)
          sum += shunt_integer_at(&a.host, i, x) * shunt_integer_at(&b.host, j, x);
        shunt_put_scaled(&scaling.host, want.data(), shunt_srbcrs_place(c.height, r, slot),
                         (uint32_t)sum, i, j);
      }
    }
    return want;
  }
  bool right()
  {
    const std::vector<char> want = wanted();
    std::vector<char> twin(bytes, 0x5c);
    on_host.values = twin.data();
    bool good =
        packed && shunt_srbcrs_sddmm_host(&on_host, &pattern.on_host) == SHUNT_OK && twin == want;
    for (int64_t phases : {1, 3})
      good = good && launch(phases) == SHUNT_OK && !memcmp(out.host.data(), want.data(), bytes);
    if (!good)
      printf("# V = %d, %d bits, unsigned %d %d, %lld x %lld x %lld, type %d, scales %d\n",
             c.height, c.bits, c.unsigned_a, c.unsigned_b, (long long)p.rows, (long long)p.cols,
             (long long)c.k, c.type, c.scales);
    return good;
  }
};

void test_sizes(int height, int bits)
{
  static const int64_t sizes[][2] = {{1, 1}, {3, 40}, {19, 33}, {70, 300}};
  static const shunt_type types[] = {SHUNT_I32, SHUNT_F32, SHUNT_F16, SHUNT_BF16, SHUNT_I8};
  Random r(100 + (uint64_t)(height * bits));
  bool good = true;
  for (auto &size : sizes)
    for (int64_t k : {1, 31, 64, 130})
      for (double density : {0.0, 0.1, 0.6}) {
        if (left_out()) continue;
        const bool shared = r.below(2);
        const Pattern p = random_pattern(size[0], size[1], density, shared ? height : 1, r.next());
        Case c = {height, bits, k, types[r.below(5)], (int)r.below(4), RANDOM_VALUES, shared};
        c.unsigned_a = r.below(2), c.unsigned_b = r.below(2);
        good &= Sampled(p, c, r.next()).right();
      }
  check(good, "V = %d, %d bits: ragged sizes are bit-equal to sums of 64 bits", height, bits);
}

void test_values(int height, int bits)
{
  const Pattern p = random_pattern(17, 60, 0.4, 1, 9);
  bool good = true;
  for (int kind = 0; kind < VALUES; kind++)
    for (int signs = 0; signs < 4; signs++) {
      Case c = {height, bits, sized(4100, 420), SHUNT_I32, 0, (Values)kind};
      c.unsigned_a = signs % 2, c.unsigned_b = signs / 2;
      good &= Sampled(p, c, 10).right();
    }
  check(good, "V = %d, %d bits: least, greatest and alternating values", height, bits);
}

// More than 2^17 products of -128 x -128: the sum leaves int32.
void test_wraps()
{
  const Pattern p = random_pattern(2, 3, 1, 2, 11);
  Case c = {2, 8, 132000, SHUNT_I32, 0, ALL_LEAST};
  bool good = Sampled(p, c, 12).right();
  c.unsigned_a = c.unsigned_b = true, c.values = ALL_GREATEST;
  good &= Sampled(p, c, 12).right();
  check(good, "sums of 8 bits wrap, signed or not");
}

void test_declined()
{
  const Pattern p = random_pattern(16, 64, 0.3, 4, 15);
  Sampled q(p, {4, 8, 40}, 16);
  const shunt_srbcrs_sddmm was = q.on_device;
  const auto refuses = [&](shunt_status s) {
    const bool good = q.launch(1) == s;
    q.on_device = was;
    return good;
  };
  bool refused = q.launch(1) == SHUNT_OK && q.launch(0) == SHUNT_E_ARGUMENT;
  q.on_device.a.bits = 4, refused &= refuses(SHUNT_E_UNSUPPORTED);
  q.on_device.a.bits = q.on_device.b.bits = 2, refused &= refuses(SHUNT_E_ARGUMENT);
  q.on_device.a.rows++, refused &= refuses(SHUNT_E_ARGUMENT);
  q.on_device.b.cols--, refused &= refuses(SHUNT_E_ARGUMENT);
  q.on_device.b.row_bytes += 8, refused &= refuses(SHUNT_E_ARGUMENT);
  q.on_device.b.row_bytes = 32, refused &= refuses(SHUNT_E_ARGUMENT);
  q.on_device.scaling.type = SHUNT_F64, refused &= refuses(SHUNT_E_UNSUPPORTED);
  q.on_device.values = (char *)q.out.device + 4, refused &= refuses(SHUNT_E_ARGUMENT);
  q.device.compute_capability = 75, refused &= refuses(SHUNT_E_UNSUPPORTED);
  check(refused, "other widths, sizes, types, alignments and devices are declined");
}

double time_f16(const Pattern &p, int64_t k)
{
  Buffer offsets((size_t)(p.rows + 1) * 4), columns((size_t)p.nnz() * 4);
  Buffer values((size_t)p.nnz() * 2), a((size_t)(p.rows * k) * 2), b((size_t)(p.cols * k) * 2);
  Random r(1);
  for (size_t i = 0; i < p.offsets.size(); i++)
    store(offsets.host.data(), (int64_t)i, SHUNT_I32, (double)p.offsets[i]);
  for (int64_t e = 0; e < p.nnz(); e++)
    store(columns.host.data(), e, SHUNT_I32, (double)p.columns[(size_t)e]);
  for (Buffer *x : {&a, &b})
    for (size_t i = 0; i < x->host.size() / 2; i++)
      store(x->host.data(), (int64_t)i, SHUNT_F16, r.value());
  for (Buffer *x : {&offsets, &columns, &a, &b}) x->upload();
  shunt_sddmm q = {};
  q.a = {p.rows, k, k, 1, a.device, SHUNT_F16};
  q.b = {k, p.cols, 1, k, b.device, SHUNT_F16};
  q.c = {p.rows,    p.cols,    p.nnz(), offsets.device, columns.device, values.device,
         SHUNT_I32, SHUNT_F16, 0};
  q.alpha.host = 1, q.compute = SHUNT_F32;
  const shunt_device d = this_device();
  Buffer workspace(shunt_vector_csr_sddmm_workspace(&q, &d) + 256);
  return time_graph([&](cudaStream_t s) {
    shunt_vector_csr_sddmm_cuda(&q, &d, workspace.device, workspace.host.size(), s);
  });
}

void time_layer()
{
  for (int height : {8, 4, 2})
    for (double sparsity : {0.8, 0.9, 0.95, 0.98})
      for (int64_t k : {128, 256, 512}) {
        if (height != 8 && k != 256) continue;
        const Pattern p = random_pattern(4096, 4096, 1 - sparsity, height, 17);
        if (height == 8)
          printf("time sddmm 4096 x 4096 V 8 sparsity %g K %lld f16 vector: %.2f us\n", sparsity,
                 (long long)k, time_f16(p, k));
        for (int bits : {16, 8, 4}) {
          Sampled q(p, {height, bits, k, SHUNT_I32, 0, RANDOM_VALUES, true}, 18);
          for (int64_t phases : {1, 2, 3, 4, 6, 8, 13, 26}) {
            const double us = time_graph([&](cudaStream_t s) {
              shunt_srbcrs_sddmm_cuda(&q.on_device, &q.pattern.on_device, phases, &q.device, s);
            });
            printf("time sddmm 4096 x 4096 V %d sparsity %g K %lld bits %d phases %lld: %.2f us\n",
                   height, sparsity, (long long)k, bits, (long long)phases, us);
          }
        }
      }
}

} // namespace

int main(int argc, char **argv)
{
  for (int height : {2, 4, 8})
    for (int bits : {16, 8, 4}) {
      test_sizes(height, bits);
      test_values(height, bits);
    }
  test_wraps();
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_layer();
  return finish();
}
