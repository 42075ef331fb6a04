// ablation_case.cuh: one product on both sides, for the bench and the test of the ablation: A
// packed by the host in both orders, and every kernel under one name.  Host code.
#pragma once
#include "backend/routes/cost/costs.h"
#include "conv/vector/vector_conv.h"
#include "kernels/vector/vector_kernels.h"
#include "tests/bench/ablation/ablation.h"
#include "tests/gpu/common/harness.cuh"
#include "tests/gpu/common/machine.cuh"

namespace ablation
{

using namespace harness;

// The ways to multiply.  OCTET: the octet mapping of today's instructions, one warp for 8 rows x
// 64 columns as in the paper; DIRECT: the same kernel in the shape that Shunt chooses (wider
// tiles, several warps for a group); STRIPS: B through shared memory for 128 or 256 rows.
enum Kernel { FPU, WMMA, OCTET, DIRECT, STRIPS, KERNELS };
static const char *const kernel_name[KERNELS] = {"fpu", "wmma", "octet", "direct", "strips"};

// A packed in one order, in both memories.
struct Packed {
  Buffer memory;
  shunt_vector host = {}, device = {};

  // False: the pattern does not keep to the height.
  Packed(const shunt_csr &a, const shunt_vector_layout &plan)
      : memory(shunt_vector_bytes(&a, &plan) + 256)
  {
    char *aligned = (char *)(((uintptr_t)memory.host.data() + 255) & ~(uintptr_t)255);
    good = shunt_vector_lay_out(&a, &plan, aligned, &host) &&
           shunt_vector_lay_out(&a, &plan, memory.device, &device) &&
           shunt_csr_to_vector_host(&a, &plan, &host) == SHUNT_OK && !host.counts->irregular;
    if (!good) return;
    CUDA_OK(cudaMemcpy(memory.device, aligned, memory.host.size() - 256, cudaMemcpyHostToDevice));
  }
  bool good = false;
};

// A with random values, packed in both orders for aligned sets of `height` rows.
struct Matrix {
  const Pattern &pattern;
  const int height;
  std::vector<char> values;
  shunt_csr csr; // host memory
  Packed sequential, windowed;

  Matrix(const Pattern &pattern_, int height_, uint64_t seed)
      : pattern(pattern_), height(height_),
        values((size_t)pattern.nnz() * 2), csr{pattern.rows,
                                               pattern.cols,
                                               pattern.nnz(),
                                               pattern.offsets.data(),
                                               pattern.columns.data(),
                                               values.data(),
                                               SHUNT_I64,
                                               SHUNT_F16,
                                               0},
        sequential(fill(seed), {SHUNT_VECTOR_SEQUENTIAL, height}),
        windowed(csr, {SHUNT_VECTOR_WINDOWED, height})
  {
  }
  const shunt_csr &fill(uint64_t seed)
  {
    Random r(seed);
    for (int64_t e = 0; e < pattern.nnz(); e++) store(values.data(), e, SHUNT_F16, r.value());
    return csr;
  }
  bool good() const { return sequential.good && windowed.good; }
};

struct Options {
  double alpha = 1, beta = 0;
  int64_t b_gap = 0, c_gap = 0; // leading dimension - n, multiples of 8
};

// A product of it with f16 operands, B and C row-major.  Rows of B that A does not name hold NaN.
struct Case {
  const Matrix &a;
  const int64_t n;
  const Options o;
  Buffer b, c;
  shunt_spmm host = {}, device = {}; // of A's arrays neither has any
  shunt_device gpu;

  Case(const Matrix &a_, int64_t n_, const Options &options, uint64_t seed)
      : a(a_), n(n_), o(options), b((size_t)(a.pattern.cols * (n + o.b_gap)) * 2),
        c((size_t)(a.pattern.rows * (n + o.c_gap)) * 2), gpu(this_device())
  {
    fill(seed);
    b.upload();
    c.upload();
    host.a = a.csr;
    host.a.row_offsets = host.a.columns = host.a.values = nullptr;
    host.b = {a.pattern.cols, n, n + o.b_gap, 1, b.host.data(), SHUNT_F16};
    host.c = {a.pattern.rows, n, n + o.c_gap, 1, c.host.data(), SHUNT_F16};
    host.alpha = {nullptr, o.alpha};
    host.beta = {nullptr, o.beta};
    host.compute = SHUNT_F32;
    device = host;
    device.b.values = b.device;
    device.c.values = c.device;
  }
  void fill(uint64_t seed)
  {
    Random r(seed);
    std::vector<char> used((size_t)a.pattern.cols);
    for (int64_t column : a.pattern.columns) used[(size_t)column] = 1;
    const int64_t pitch = n + o.b_gap;
    for (int64_t i = 0; i < a.pattern.cols * pitch; i++)
      store(b.host.data(), i, SHUNT_F16,
            used[(size_t)(i / pitch)] && i % pitch < n ? r.value() : (double)NAN);
    for (int64_t i = 0; i < a.pattern.rows * (n + o.c_gap); i++)
      store(c.host.data(), i, SHUNT_F16, o.beta == 0 ? (double)NAN : r.value());
  }

  // The shape of the three kernels that are Shunt's.
  shunt_vector_shape shape(Kernel k) const
  {
    if (k == OCTET) return {0, 64, 0};
    const shunt_vector &v = k == STRIPS ? a.windowed.device : a.sequential.device;
    const shunt_vector_shape s = shunt_choose_vector_shape_of(&device, &v, machine_of(gpu));
    return k == STRIPS && s.rows == 0 ? shunt_vector_shape{256, 64, 0} : s;
  }

  shunt_status run(Kernel k, cudaStream_t stream) const
  {
    if (k == FPU) return shunt_ablation_fpu_cuda(&device, &a.sequential.device, stream);
    if (k == WMMA) return shunt_ablation_wmma_cuda(&device, &a.sequential.device, stream);
    const shunt_vector_shape s = shape(k);
    const shunt_vector &v = k == STRIPS ? a.windowed.device : a.sequential.device;
    return shunt_vector_packed_spmm_shaped_cuda(&device, &v, &s, &gpu, nullptr, 0, stream);
  }

  // The rows of groups first .. first + count - 1 of C, by the C twin from what `c` has in host
  // memory.
  bool twin(int64_t first, int64_t count, std::vector<char> &want) const
  {
    shunt_vector v = a.sequential.host;
    shunt_spmm p = host;
    const int64_t row = first * 8, row_bytes = p.c.row_stride * 2;
    p.c.rows = v.rows = p.a.rows = std::min(count * 8, a.pattern.rows - row);
    v.groups = count;
    v.begin += first;
    v.count += first;
    want.assign(c.host.begin() + row * row_bytes, c.host.begin() + (row + v.rows) * row_bytes);
    p.c.values = want.data();
    return shunt_vector_packed_spmm_host(&p, &v) == SHUNT_OK;
  }
};

// Elements of `got`, all of C, that are not what the twin has for the rows from group `first` on;
// elements between the rows must not have changed.
inline int64_t wrong_elements(const Case &q, const std::vector<char> &got, int64_t first,
                              const std::vector<char> &want)
{
  const std::vector<int64_t> &offsets = q.a.pattern.offsets;
  const int64_t pitch = q.host.c.row_stride, begin = first * 8 * pitch;
  int64_t wrong = 0;
  for (int64_t i = 0; i < (int64_t)want.size() / 2; i++) {
    const int64_t row = first * 8 + i / pitch, column = i % pitch;
    const int64_t terms = offsets[(size_t)row + 1] - offsets[(size_t)row] + 2;
    const double x = load(got.data(), begin + i, SHUNT_F16), y = load(want.data(), i, SHUNT_F16);
    // Two sums of `terms` products of at most 1, each rounded once.
    const double size = (double)terms * fabs(q.o.alpha) + fabs(q.o.beta);
    const double allowed = 2 * tolerance(SHUNT_F16, SHUNT_F32, size, y, terms);
    const bool good = column >= q.n
                          ? !memcmp(&got[(size_t)(begin + i) * 2], &want[(size_t)i * 2], 2)
                      : isnan(y) ? isnan(x)
                      : isinf(y) ? x == y
                                 : fabs(x - y) <= allowed;
    if (!good && wrong++ < 2)
      printf("# (%lld, %lld): got %g, want %g\n", (long long)row, (long long)column, x, y);
  }
  return wrong;
}

} // namespace ablation
