// csr_spmm_operands.cuh: the types, patterns and values that shunt_csr_spmm_merge_cuda is tested
// with, and what the products must be, in float64.
#pragma once
#include "tests/gpu/common/harness.cuh"

namespace harness
{

inline constexpr int64_t kWidest = 257;

struct Types {
  shunt_type in, out, compute;
  const char *name;
};
inline const Types kTypes[] = {
    {SHUNT_F16, SHUNT_F16, SHUNT_F32, "f16->f16"},
    {SHUNT_F16, SHUNT_F32, SHUNT_F32, "f16->f32"},
    {SHUNT_BF16, SHUNT_BF16, SHUNT_F32, "bf16->bf16"},
    {SHUNT_BF16, SHUNT_F32, SHUNT_F32, "bf16->f32"},
    {SHUNT_F32, SHUNT_F32, SHUNT_F32, "f32->f32"},
    {SHUNT_F64, SHUNT_F64, SHUNT_F64, "f64->f64"},
    {SHUNT_I8, SHUNT_I32, SHUNT_I32, "i8->i32"},
    {SHUNT_I8, SHUNT_F32, SHUNT_F32, "i8->f32"},
};

// ---- patterns -----------------------------------------------------------------
// Column 0 is never used (add_column_0 makes room for it): B holds NaN there.
struct Named {
  const char *name;
  Pattern p;
};

inline Pattern add_column_0(Pattern p)
{
  p.cols++;
  for (int64_t &c : p.columns) c++;
  return p;
}

inline Pattern from_lengths(const std::vector<int64_t> &lengths, int64_t cols, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = (int64_t)lengths.size();
  p.cols = cols;
  for (int64_t length : lengths) {
    for (int64_t k = 0; k < length; k++) p.columns.push_back(r.below(cols)); // unsorted, repeated
    p.offsets.push_back(p.nnz());
  }
  return p;
}

inline std::vector<Named> patterns()
{
  std::vector<Named> all;
  all.push_back({"random", random_pattern(150, 200, 0.06, 1, 1)});
  all.push_back({"bundles", random_pattern(160, 120, 0.2, 4, 2)});
  all.push_back({"skewed", skewed_pattern(300, 400, 8, 3)});
  std::vector<int64_t> lengths(200, 0);
  for (int64_t i = 3; i < 200; i += 7) lengths[i] = i % 5 * 9;
  all.push_back({"empty rows", from_lengths(lengths, 90, 4)});
  lengths.assign(120, 2);
  lengths[60] = 6000;
  all.push_back({"one huge row", from_lengths(lengths, 500, 5)});
  all.push_back({"single row", from_lengths({1500}, 300, 6)});
  lengths.assign(1300, 0);
  lengths[700] = 5;
  lengths[1299] = 1;
  all.push_back({"many empty rows", from_lengths(lengths, 10, 7)});
  lengths.assign(100, 23);
  all.push_back({"duplicates, unsorted", from_lengths(lengths, 9, 8)});
  lengths.clear();
  for (int i = 0; i < 400; i++) lengths.push_back(i % 9 == 0 ? 256 : i % 2); // ends on tile edges
  all.push_back({"edges", from_lengths(lengths, 64, 9)});
  lengths.clear();
  for (int64_t edge : {128, 256, 512, 1024}) // where the split kernel's limits are
    for (int64_t length : {edge - 1, (int64_t)3, edge, (int64_t)0, edge + 1})
      lengths.push_back(length);
  all.push_back({"limits", from_lengths(lengths, 70, 12)});
  lengths.assign(45, 2);
  lengths[0] = 1100;
  lengths[44] = 2300;
  all.push_back({"first and last row long", from_lengths(lengths, 800, 13)});
  all.push_back({"all rows long", from_lengths(std::vector<int64_t>(11, 1100), 50, 14)});
  lengths.clear();
  for (int64_t i = 0; i < 242; i++)
    lengths.push_back(i % 16 == 2 ? 200 : i % 4 == 1 ? 30 + i % 60 : i % 5);
  all.push_back({"uneven neighbours", from_lengths(lengths, 90, 15)});
  lengths.assign(1500, 1);
  for (int64_t i = 20; i < 1500; i += 24) lengths[i] = 190 + i % 3;
  all.push_back({"more long rows than a list holds", from_lengths(lengths, 40, 16)});
  all.push_back({"no entries", from_lengths(std::vector<int64_t>(40, 0), 5, 10)});
  for (Named &n : all) n.p = add_column_0(n.p);
  return all;
}

// ---- one pattern with values, and what the product must be ---------------------
// Columns of B do not depend on n: the reference for kWidest serves all widths.
struct Reference {
  std::vector<double> a, b, c;    // values as stored; c: old content
  std::vector<double> sum, scale; // of products, of their absolute values
};

inline double stored(shunt_type t, double v)
{
  char one[8];
  store(one, 0, t, t == SHUNT_I8 ? floor(v * 100) : t == SHUNT_I32 ? floor(v * 1000) : v);
  return load(one, 0, t);
}

inline Reference make_reference(const Pattern &p, const Types &t, uint64_t seed)
{
  Random r(seed);
  Reference ref;
  std::vector<char> used(p.cols, 0);
  for (int64_t c : p.columns) used[c] = 1;
  for (int64_t i = 0; i < p.nnz(); i++) ref.a.push_back(stored(t.in, r.value()));
  for (int64_t k = 0; k < p.cols; k++)
    for (int64_t j = 0; j < kWidest; j++)
      ref.b.push_back(used[k] || t.in == SHUNT_I8 ? stored(t.in, r.value())
                      : j % 3                     ? (double)NAN
                                                  : (double)INFINITY);
  for (int64_t i = 0; i < p.rows * kWidest; i++) ref.c.push_back(stored(t.out, r.value()));
  ref.sum.assign(p.rows * kWidest, 0);
  ref.scale.assign(p.rows * kWidest, 0);
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t q = p.offsets[i]; q < p.offsets[i + 1]; q++)
      for (int64_t j = 0; j < kWidest; j++) {
        double x = ref.a[q] * ref.b[p.columns[q] * kWidest + j];
        ref.sum[i * kWidest + j] += x;
        ref.scale[i * kWidest + j] += fabs(x);
      }
  return ref;
}

} // namespace harness
