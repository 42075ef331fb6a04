// integer_operands.cuh: dense matrices of 16-, 8- and 4-bit integers on both sides, and what the
// scaled results of their products have to be.
#pragma once
#include "kernels/srbcrs/host_srbcrs_integers.h"
#include "tests/gpu/srbcrs/srbcrs_matrices.cuh"

namespace harness
{

// Rows are `extra` bytes (a multiple of 16) longer than they need be; what no element fills is
// garbage.
struct Integers {
  Buffer memory;
  shunt_integers host, device;

  Integers(int bits, int64_t rows, int64_t cols, Values kind, uint64_t seed, int64_t extra = 16,
           bool is_unsigned = false)
      : memory((size_t)(rows * row_bytes(bits, cols, extra)) + 16)
  {
    Random r(seed);
    char *first = (char *)(((uintptr_t)memory.host.data() + 15) & ~(uintptr_t)15);
    for (char &byte : memory.host) byte = (char)r.next();
    host = {first, bits, rows, cols, row_bytes(bits, cols, extra), is_unsigned};
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < cols; j++)
        put(i, j, integer_of(kind, bits, j, r) + (is_unsigned ? INT64_C(1) << (bits - 1) : 0));
    device = host;
    device.values = memory.device;
    CUDA_OK(
        cudaMemcpy(memory.device, first, (size_t)(rows * host.row_bytes), cudaMemcpyHostToDevice));
  }
  static int64_t row_bytes(int bits, int64_t cols, int64_t extra)
  {
    return ((cols * bits + 7) / 8 + 15) / 16 * 16 + extra;
  }
  void put(int64_t i, int64_t j, int64_t x)
  {
    char *row = (char *)host.values + i * host.row_bytes;
    if (host.bits == 16)
      ((int16_t *)row)[j] = (int16_t)x;
    else if (host.bits == 8)
      row[j] = (char)x;
    else
      row[j / 2] =
          (char)(((unsigned char)row[j / 2] & (j % 2 ? 0x0f : 0xf0)) | (x & 15) << j % 2 * 4);
  }
};

// One way to scale, with its vectors on both sides.
struct Scaling {
  Buffer rows, cols;
  shunt_scaling host, device;

  Scaling(shunt_type type, int64_t m, int64_t n, int which, uint64_t seed)
      : rows((size_t)m * 4), cols((size_t)n * 4)
  {
    Random r(seed);
    for (Buffer *b : {&rows, &cols}) {
      for (size_t i = 0; i < b->host.size() / 4; i++)
        store(b->host.data(), (int64_t)i, SHUNT_F32, r.value());
      b->upload();
    }
    host = {type, 0x1.3p-12f, which & 1 && which & 2 ? (const float *)rows.host.data() : nullptr,
            which & 1 ? (const float *)rows.host.data() : nullptr,
            which & 2 ? (const float *)cols.host.data() : nullptr};
    device = host;
    if (host.tensor_scale) device.tensor_scale = (const float *)rows.device;
    if (host.row_scales) device.row_scales = (const float *)rows.device;
    if (host.col_scales) device.col_scales = (const float *)cols.device;
  }
};

} // namespace harness
