// masked_product.cuh: T<M> = A B' for the tests of GraphBLAS' GPU engine: operands of every form,
// compared with the twin on the host.
#pragma once
#include "backend/graphblas/gpu/gpu_engine.h"
#include "backend/graphblas/gpu/gpu_masked.h"
#include "tests/gpu/graphblas/sparse_arrays.cuh"

namespace harness
{

struct Form {
  bool by_column, hyper, iso;
  int index_bytes;
};

inline Form random_form(Random &r)
{
  return {r.below(3) == 0, r.below(3) == 0, r.below(4) == 0, r.below(2) ? 4 : 8};
}

// A sparse matrix in host memory, its indices in ascending order.
struct Operand {
  SparseArrays arrays;
  std::vector<char> values;
  shunt_sparse s = {};

  // mean: entries of a vector; one in 20 has ten times as many.
  Operand(int64_t rows, int64_t cols, double mean, shunt_type type, Form f, uint64_t seed)
  {
    Random r(seed);
    const int64_t vectors = f.by_column ? cols : rows, length = f.by_column ? rows : cols;
    for (int64_t v = 0; v < vectors; v++) {
      const int64_t begin = (int64_t)arrays.indices.size();
      const double share = mean * (r.below(20) == 0 ? 10 : r.below(4) == 0 ? 0 : 1) / length;
      for (int64_t i = 0; i < length; i++)
        if (r.uniform() < share) arrays.indices.push_back(i);
      arrays.end_vector(v, begin, f.hyper);
    }
    arrays.end();
    s.rows = rows;
    s.cols = cols;
    s.by_column = f.by_column;
    s.iso = f.iso;
    arrays.point(s, f.hyper, f.index_bytes);
    fill_values(type, r);
    s.values = values.data();
  }

  void fill_values(shunt_type type, Random &r)
  {
    const bool whole = type != SHUNT_F32 && type != SHUNT_F64;
    values.assign((size_t)(s.iso ? 1 : s.nnz) * shunt_type_size(type), 0);
    for (int64_t p = 0; p < (s.iso ? 1 : s.nnz); p++) {
      if (type == SHUNT_U8)
        values[p] = r.below(2);
      else
        store(values.data(), p, type, whole ? (double)(r.below(200) - 100) : r.value());
    }
  }
};

// What the program gets, or would get.
struct Masked {
  shunt_status begin = SHUNT_E_ARGUMENT, end = SHUNT_E_ARGUMENT;
  std::vector<uint64_t> offsets, indices;
  std::vector<char> values;
  bool done() const { return begin == SHUNT_OK && end == SHUNT_OK; }
};

inline shunt_masked_dot masked_dot(shunt_semiring by, const Operand &m, const Operand &a,
                                   const Operand &b)
{
  static const uint64_t zero = 0;
  shunt_masked_dot x = {by, m.s, a.s, b.s, 4, false};
  const bool pair = by.multiplier == SHUNT_PAIR;
  if (pair || by.multiplier == SHUNT_SECOND) x.a.values = &zero, x.a.iso = true;
  if (pair || by.multiplier == SHUNT_FIRST) x.b.values = &zero, x.b.iso = true;
  x.m.values = &zero, x.m.iso = true;
  return x;
}

inline Masked by_gpu(const shunt_masked_dot &x, const grb_masked_sources &from)
{
  Masked t;
  grb_gpu_masked *work = NULL;
  t.offsets.assign((size_t)x.m.vectors + 1, ~(uint64_t)0);
  t.begin = grb_gpu_masked_begin(&x, &from, t.offsets.data(), &work);
  if (t.begin != SHUNT_OK) return t;
  const size_t n = t.offsets[x.m.vectors], size = shunt_type_size(x.semiring.type);
  t.indices.resize(n + 1);
  t.values.resize((shunt_masked_dot_uniform(&x) ? 1 : n) * size + 1);
  t.end = grb_gpu_masked_finish(work, t.indices.data(), t.values.data());
  return t;
}

// Is it the twin's, floating-point numbers up to rounding?
inline bool is_right(const shunt_masked_dot &x, const Masked &t)
{
  const shunt_type type = x.semiring.type;
  const size_t size = shunt_type_size(type);
  std::vector<char> want((size_t)x.m.nnz * size), exists((size_t)x.m.nnz);
  bool *there = (bool *)exists.data();
  if (!t.done() || shunt_masked_dot_twin(&x, want.data(), there) != SHUNT_OK) return false;
  const bool uniform = shunt_masked_dot_uniform(&x), real = type == SHUNT_F32 || type == SHUNT_F64;
  const auto at = [](const void *array, int bytes, int64_t i) {
    return bytes == 4 ? (int64_t)((const uint32_t *)array)[i] : ((const int64_t *)array)[i];
  };
  uint64_t e = 0;
  for (int64_t v = 0; v < x.m.vectors; v++) {
    if (t.offsets[v] != e) return false;
    const int64_t end = at(x.m.offsets, x.m.offset_bytes, v + 1);
    for (int64_t p = at(x.m.offsets, x.m.offset_bytes, v); p < end; p++) {
      if (!there[p]) continue;
      if (t.indices[e] != (uint64_t)at(x.m.indices, x.m.index_bytes, p)) return false;
      const char *got = t.values.data() + (uniform ? 0 : e * size);
      const double w = real ? load(want.data(), p, type) : 0, g = real ? load(got, 0, type) : 0;
      if (real && !same_value(g, w, tolerance(type, type, x.a.cols, w, x.a.cols))) return false;
      if (!real && memcmp(want.data() + (size_t)p * size, got, size)) return false;
      e++;
    }
  }
  return t.offsets[x.m.vectors] == e;
}

inline grb_gpu_counts masked_counts()
{
  grb_gpu_counts now;
  grb_gpu_read_counts(&now);
  return now;
}

} // namespace harness
