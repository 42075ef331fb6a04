// repair_operands.cuh: A in CSR with its fingerprints, B, and the tables of sets that the tests
// of shunt_guard_repair_cuda share between launches.
#pragma once
#include "kernels/guard/fingerprint.h"
#include "kernels/guard/guard.h"
#include "tests/gpu/common/harness.cuh"

namespace harness
{

inline shunt_device device; // main sets it

// A table of sets, zeroed once, with a canary behind.
struct Table {
  int count;
  char *sets;
  explicit Table(int count) : count(count)
  {
    CUDA_OK(cudaMalloc(&sets, bytes() + 64));
    CUDA_OK(cudaMemset(sets, 0, bytes()));
    CUDA_OK(cudaMemset(sets + bytes(), 0x33, 64));
    CUDA_OK(cudaDeviceSynchronize());
  }
  ~Table() { cudaFree(sets); }
  Table(const Table &) = delete;
  Table &operator=(const Table &) = delete;
  size_t bytes() const { return (size_t)count * SHUNT_GUARD_SET_BYTES; }
  std::vector<char> content() const
  {
    std::vector<char> all(bytes() + 64);
    CUDA_OK(cudaMemcpy(all.data(), sets, all.size(), cudaMemcpyDeviceToHost));
    return all;
  }
  bool canary_lives() const
  {
    std::vector<char> all = content();
    for (size_t i = bytes(); i < all.size(); i++)
      if (all[i] != 0x33) return false;
    return true;
  }
};

// A in CSR, B, and the product's sums in float64.
struct Lab {
  enum { OF_VALUES = 4, PRINTS = 8 }; // of A, and from OF_VALUES on of its values alone
  Pattern p;
  int64_t n;
  shunt_type type, index;
  int base;
  Buffer offsets, columns, values, b, scratch, expected;
  std::vector<double> a_values, b_values, sum, scale;
  shunt_csr a;

  Lab(const Pattern &p, int64_t n, shunt_type type, shunt_type index, int base, bool sums = true)
      : p(p), n(n), type(type), index(index), base(base),
        offsets(p.offsets.size() * shunt_type_size(index)),
        columns(p.columns.size() * shunt_type_size(index)),
        values(p.columns.size() * shunt_type_size(type)),
        b((size_t)(p.cols * n) * shunt_type_size(type)), scratch(SHUNT_FINGERPRINT_SCRATCH),
        expected(PRINTS * sizeof(shunt_fingerprint))
  {
    Random r(77);
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, index, (double)(p.offsets[i] + base));
    for (size_t i = 0; i < p.columns.size(); i++)
      store(columns.host.data(), (int64_t)i, index, (double)(p.columns[i] + base));
    for (int64_t i = 0; i < p.nnz(); i++) store(values.host.data(), i, type, r.value());
    for (int64_t i = 0; i < p.cols * n; i++) store(b.host.data(), i, type, r.value());
    offsets.upload();
    columns.upload();
    a = shunt_csr{p.rows, p.cols, p.nnz(), offsets.device, columns.device, values.device,
                  index,  type,   base};
    b.upload();
    take_fingerprints(a, 0);
    take_fingerprints(shunt_fp_values_of(&a), OF_VALUES);
    if (sums) refresh();
  }

  // At `at`: [0] that of m, [1] with another lo, [2] with another hi, [3] of m with one value
  // changed.
  void take_fingerprints(const shunt_csr &m, int at)
  {
    shunt_fingerprint *device_at = (shunt_fingerprint *)expected.device + at;
    size_t size = shunt_type_size(type);
    if (p.nnz()) values.host[values.host.size() - size] ^= 1;
    values.upload();
    shunt_status s = shunt_fingerprint_csr_cuda(&m, device_at + 3, &device, scratch.device, 0);
    CUDA_OK(cudaDeviceSynchronize());
    if (p.nnz()) values.host[values.host.size() - size] ^= 1;
    values.upload();
    if (s == SHUNT_OK) s = shunt_fingerprint_csr_cuda(&m, device_at, &device, scratch.device, 0);
    CUDA_OK(cudaDeviceSynchronize());
    expected.download();
    shunt_fingerprint *f = (shunt_fingerprint *)expected.host.data() + at;
    f[1] = f[2] = f[0];
    f[1].lo ^= 1;
    f[2].hi ^= (uint64_t)1 << 51; // the highest bit that is compared
    if (!p.nnz()) f[3] = f[1];
    expected.upload();
    if (s != SHUNT_OK) check(false, "a fingerprint: status %d", (int)s);
  }

  // Device copies of A's values and B, and the sums.
  void refresh()
  {
    values.upload();
    b.upload();
    a_values.resize((size_t)p.nnz());
    b_values.resize((size_t)(p.cols * n));
    for (size_t i = 0; i < a_values.size(); i++)
      a_values[i] = load(values.host.data(), (int64_t)i, type);
    for (size_t i = 0; i < b_values.size(); i++)
      b_values[i] = load(b.host.data(), (int64_t)i, type);
    sum.assign((size_t)(p.rows * n), 0);
    scale.assign((size_t)(p.rows * n), 0);
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t q = p.offsets[i]; q < p.offsets[i + 1]; q++)
        for (int64_t j = 0; j < n; j++) {
          double v = a_values[(size_t)q] * b_values[(size_t)(p.columns[(size_t)q] * n + j)];
          sum[(size_t)(i * n + j)] += v;
          scale[(size_t)(i * n + j)] += fabs(v);
        }
  }
};

} // namespace harness
