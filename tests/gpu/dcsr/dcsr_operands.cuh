// dcsr_operands.cuh: patterns, dcsr matrices on both sides and products for the tests of the dcsr
// kernels.  Dense operands, layouts and the float64 reference are those of row groups.
#pragma once
#include "conv/dcsr/dcsr_conv.h"
#include "kernels/dcsr/dcsr_kernels.h"
#include "tests/gpu/bundle/bundle_operands.cuh"

// ---- patterns ------------------------------------------------------------------------------

enum DcsrKind {
  BY_ELEMENTS,
  BY_CHANCE,
  WITH_EMPTY,
  WITH_LONG,
  FULL,
  HYPERSPARSE,
  REPEATED,
  KINDS_OF_DCSR
};
static const char *const dcsr_kind_name[] = {"elements", "scattered",   "empty rows", "long rows",
                                             "dense",    "hypersparse", "repeated"};

// Three rows in a hundred have entries.
inline Pattern hypersparse_pattern(int64_t rows, int64_t cols, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  for (int64_t i = 0; i < rows; i++) {
    if (r.below(33) == 0)
      for (int64_t j = 0; j < cols; j++)
        if (r.uniform() < 3.0 / (double)cols) p.columns.push_back(j);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

// Entries that stand twice, and one row of one column, over and over.
inline Pattern repeated_pattern(int64_t rows, int64_t cols, double density, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < cols; j++)
      if (r.uniform() < density)
        p.columns.insert(p.columns.end(), i == rows / 2 ? 700 : 1 + (size_t)r.below(3), j);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

inline Pattern dcsr_pattern(DcsrKind kind, int64_t rows, int64_t cols, double density,
                            uint64_t seed)
{
  if (kind == HYPERSPARSE) return hypersparse_pattern(rows, cols, seed);
  if (kind == REPEATED) return repeated_pattern(rows, cols, density / 4, seed);
  return make_pattern((Kind)kind, rows, cols, density, seed);
}

// ---- formats -------------------------------------------------------------------------------

// A dcsr matrix, converted on the host, on both sides; and its sums.
struct Dcsr {
  shunt_dcsr_layout layout;
  size_t bytes;
  Buffer memory, sums_memory, scratch;
  std::vector<char> aligned_memory;
  shunt_dcsr on_host, on_device;
  shunt_dcsr_sums sums;

  static int64_t segments(const shunt_dcsr_source &a, const shunt_dcsr_layout &layout)
  {
    std::vector<char> scratch(shunt_dcsr_scratch_bytes(&a, &layout) + 8);
    int64_t n = 0;
    if (shunt_dcsr_count_host(&a, &layout, scratch.data(), &n, nullptr) != SHUNT_OK) exit(3);
    return n;
  }

  Dcsr(const shunt_dcsr_source &a, int64_t width, shunt_type index, int64_t spare = 0)
      : layout{width, index}, bytes(shunt_dcsr_bytes(&a, &layout, segments(a, layout) + spare)),
        memory(bytes), aligned_memory(bytes + 256)
  {
    const int64_t room = segments(a, layout) + spare;
    std::vector<char> need(shunt_dcsr_scratch_bytes(&a, &layout) + 8);
    char *at = (char *)(((uintptr_t)aligned_memory.data() + 255) & ~(uintptr_t)255);
    shunt_dcsr_lay_out(&a, &layout, room, at, &on_host);
    shunt_dcsr_lay_out(&a, &layout, room, memory.device, &on_device);
    if (shunt_source_to_dcsr_host(&a, &layout, need.data(), &on_host, nullptr) != SHUNT_OK) exit(3);
    memcpy(memory.host.data(), at, bytes);
    memory.upload();
  }
  shunt_status make_sums(const shunt_device &d)
  {
    const size_t need = shunt_dcsr_sums_scratch_bytes(on_host.rows, on_host.room);
    const shunt_type sum = shunt_dcsr_sum_type(on_host.value_type);
    const size_t size = shunt_dcsr_sums_bytes(on_host.rows, on_host.room, sum);
    for (Buffer *x : {&sums_memory, &scratch}) {
      x->host.assign(x == &scratch ? need : size, (char)0xee);
      cudaFree(x->device);
      CUDA_OK(cudaMalloc(&x->device, x->host.size()));
      x->upload();
    }
    shunt_dcsr_sums_lay_out(on_host.rows, on_host.room, sum, sums_memory.device, &sums);
    return shunt_dcsr_sums_cuda(&on_device, &sums, scratch.device, need, &d, 0);
  }
  // The device's sums against the twin's, after they were made.
  bool sums_are_right()
  {
    std::vector<char> twin(sums_memory.host.size() + 256, (char)0xee);
    char *at = (char *)(((uintptr_t)twin.data() + 255) & ~(uintptr_t)255);
    shunt_dcsr_sums wanted;
    shunt_dcsr_sums_lay_out(on_host.rows, on_host.room, shunt_dcsr_sum_type(on_host.value_type), at,
                            &wanted);
    sums_memory.download();
    return shunt_dcsr_sums_host(&on_host, &wanted) == SHUNT_OK &&
           !memcmp(at, sums_memory.host.data(), sums_memory.host.size());
  }
};

// A's host arrays of a Problem as a source.
inline shunt_dcsr_source source_of(const Problem &q)
{
  const shunt_csr a = q.arrays.csr(q.pattern, false, (void *)q.values.host.data(), q.o.type);
  return shunt_dcsr_source_csr(&a);
}

static const shunt_type kTypes[] = {SHUNT_F32, SHUNT_F64};

inline Options some_options(Random &r)
{
  return random_options(r, kTypes[r.below(2)]);
}

// Those that stored strips and whole matrices take.
static const shunt_type kFourTypes[] = {SHUNT_F32, SHUNT_F64, SHUNT_F16, SHUNT_BF16};

inline Options some_options_of_four(Random &r)
{
  Options o = random_options(r, kFourTypes[r.below(4)]);
  o.wide_c = r.below(2);
  return o;
}

inline void print_case(const Problem &q, int64_t n)
{
  printf("# %lld x %lld x %lld, types %d %d, index %d, B %d, C %d, %g %g\n",
         (long long)q.pattern.rows, (long long)q.pattern.cols, (long long)n, (int)q.o.type,
         (int)q.o.c_type(), (int)q.o.index, q.o.b_layout, q.o.c_layout, q.o.alpha, q.o.beta);
}
