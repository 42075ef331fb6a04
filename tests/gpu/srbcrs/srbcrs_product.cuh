// srbcrs_product.cuh: int8 products with A packed in strides, and C as sums of 64 bits have it.
#pragma once
#include "kernels/srbcrs/srbcrs_kernels.h"
#include "tests/gpu/common/dense_layouts.cuh"
#include "tests/gpu/srbcrs/srbcrs_matrices.cuh"

namespace
{

using namespace harness;

static const shunt_srbcrs_shape strips_of_srbcrs[] = {{128, 1, 32}, {64, 1, 32}};
static const shunt_srbcrs_shape whole_of_srbcrs = {SHUNT_SRBCRS_WHOLE_COLUMNS, 1,
                                                   SHUNT_SRBCRS_STRIP_GROUPS};

struct Options {
  shunt_type out = SHUNT_I32;
  int b_layout = 0, c_layout = 0;
  double alpha = 1, beta = 0;
  Values values = RANDOM_VALUES;
  int spread = 0;     // A's vectors
  bool timed = false; // only: A is packed on the device alone
};

struct Product {
  const Pattern &pattern;
  Options o;
  Strides a;
  Buffer &values; // of A
  DenseLayout bl, cl;
  Buffer b, c, workspace;
  shunt_spmm spmm = {};
  shunt_device device;
  std::vector<char> before;
  bool packed;

  Product(const Pattern &of, int height, int share, int64_t n, const Options &with, uint64_t seed)
      : pattern(of), o(with),
        a(of, {height, share, 8, with.spread}, seed % 2 ? SHUNT_I64 : SHUNT_I32,
          (int)(seed / 2 % 2), with.values, seed),
        values(a.values), bl(dense_layout(with.b_layout, pattern.cols, n, 16)),
        cl(dense_layout(with.c_layout, pattern.rows, n, 4)), b((size_t)bl.size()),
        c((size_t)cl.size() * 4), workspace((size_t)(pattern.cols * (n + 16)) + 256),
        device(this_device())
  {
    Random r(seed + 1);
    memset(b.host.data(), 0x77, b.host.size());
    for (int64_t i = 0; i < pattern.cols; i++)
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
    packed = a.pack(!o.timed) && !a.irregular();
  }

  std::vector<int64_t> sums() const
  {
    const int64_t n = cl.cols;
    std::vector<int64_t> sum((size_t)(pattern.rows * n));
    for (int64_t i = 0; i < pattern.rows; i++)
      for (int64_t q = pattern.offsets[(size_t)i]; q < pattern.offsets[(size_t)i + 1]; q++)
        for (int64_t j = 0; j < n; j++)
          sum[(size_t)(i * n + j)] += (int64_t)(int8_t)a.values.host[(size_t)q] *
                                      (int8_t)b.host[(size_t)bl.at(pattern.columns[(size_t)q], j)];
    return sum;
  }

  // C as it has to be, the bytes around its elements included.
  std::vector<char> wanted() const
  {
    std::vector<char> want = before;
    const std::vector<int64_t> sum = sums();
    for (int64_t i = 0; i < pattern.rows; i++)
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
      printf(
          "# V = %d, %lld x %lld x %lld, B in layout %d, C in %d, %d columns by %d warps, strips "
          "of %d groups\n",
          a.layout.height, (long long)pattern.rows, (long long)pattern.cols, (long long)cl.cols,
          o.b_layout, o.c_layout, shape.columns, shape.split, shape.groups);
    return good;
  }
  bool right()
  {
    const std::vector<char> want = wanted();
    bool good = packed;
    for (int columns : {32, 64, 128})
      for (int split : {1, 4}) good = good && right({columns, split, 0}, want);
    return good && right_in_strips(want);
  }
  // In those that the device runs.
  bool right_in_strips(const std::vector<char> &want)
  {
    bool good = packed;
    for (const shunt_srbcrs_shape &s : strips_of_srbcrs)
      if (shunt_srbcrs_spmm_strips_fit(&s, &device)) good = good && right(s, want);
    if (shunt_srbcrs_spmm_whole_fits(&spmm, &whole_of_srbcrs, &device))
      good = good && right(whole_of_srbcrs, want);
    return good;
  }
};

} // namespace
