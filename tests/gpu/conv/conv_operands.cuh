// conv_operands.cuh: a CSR matrix in both memories, and the device words that conversions, profile
// and fingerprint report to.
#ifndef SHUNT_TEST_CONV_OPERANDS_CUH
#define SHUNT_TEST_CONV_OPERANDS_CUH

#include "kernels/guard/guard.h"
#include "tests/gpu/common/harness.cuh"

namespace harness
{

// `skew` elements before each array, so that its address is aligned to no more than
// its element.
struct Matrix {
  Pattern pattern;
  shunt_type index, value;
  int base;
  size_t isize, vsize, skew;
  Buffer offsets, columns, values;
  shunt_csr host, dev;

  Matrix(const Pattern &p, shunt_type index, shunt_type value, int base, size_t skew = 0,
         uint64_t seed = 1)
      : pattern(p), index(index), value(value), base(base), isize(shunt_type_size(index)),
        vsize(shunt_type_size(value)), skew(skew), offsets((p.offsets.size() + skew) * isize),
        columns((p.columns.size() + skew) * isize), values((p.columns.size() + skew) * vsize)
  {
    Random r(seed);
    for (size_t i = 0; i < p.offsets.size(); i++) put(offsets, i, p.offsets[i] + base);
    for (size_t i = 0; i < p.columns.size(); i++) {
      put(columns, i, p.columns[i] + base);
      for (int64_t j = 0; j < parts(); j++)
        store(values.host.data() + skew * vsize, (int64_t)i * parts() + j, part(), r.value() * 100);
    }
    host = shunt_csr{p.rows,
                     p.cols,
                     p.nnz(),
                     offsets.host.data() + skew * isize,
                     columns.host.data() + skew * isize,
                     values.host.data() + skew * vsize,
                     index,
                     value,
                     base};
    dev = host;
    dev.row_offsets = (char *)offsets.device + skew * isize;
    dev.columns = (char *)columns.device + skew * isize;
    dev.values = (char *)values.device + skew * vsize;
    upload();
  }
  // Of complex values: real and imaginary.
  int64_t parts() const { return shunt_type_is_complex(value) ? 2 : 1; }
  shunt_type part() const
  {
    return value == SHUNT_C32 ? SHUNT_F32 : value == SHUNT_C64 ? SHUNT_F64 : value;
  }
  void put(Buffer &b, size_t i, int64_t v)
  {
    char *at = b.host.data() + (skew + i) * isize;
    if (index == SHUNT_I32) {
      int32_t w = (int32_t)v;
      memcpy(at, &w, 4);
    } else {
      memcpy(at, &v, 8);
    }
  }
  void upload()
  {
    offsets.upload();
    columns.upload();
    values.upload();
  }
};

// Device words that kernels report to.
struct Words {
  uint32_t *flag;
  shunt_fingerprint *print;
  void *scratch; // and a canary behind
  Words()
  {
    CUDA_OK(cudaMalloc(&flag, 256));
    CUDA_OK(cudaMalloc(&print, 256));
    CUDA_OK(cudaMalloc(&scratch, SHUNT_FINGERPRINT_SCRATCH + sizeof *print));
    CUDA_OK(cudaMemset(scratch, 0x5a, SHUNT_FINGERPRINT_SCRATCH + sizeof *print));
  }
  void set(uint32_t v) { CUDA_OK(cudaMemcpy(flag, &v, 4, cudaMemcpyHostToDevice)); }
  void clear() { set(0); }
  uint32_t get()
  {
    uint32_t v;
    CUDA_OK(cudaMemcpy(&v, flag, 4, cudaMemcpyDeviceToHost));
    return v;
  }
};

} // namespace harness

#endif
