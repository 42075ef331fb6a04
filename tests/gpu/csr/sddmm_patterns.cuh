// sddmm_patterns.cuh: patterns of C for the tests of SDDMM and of the dense product's sampling.
#pragma once
#include "tests/gpu/common/harness.cuh"

namespace harness
{

inline void add_row(Pattern &p, const std::vector<int64_t> &list)
{
  p.columns.insert(p.columns.end(), list.begin(), list.end());
  p.offsets.push_back(p.nnz());
  p.rows++;
}

inline std::vector<int64_t> random_list(Random &r, int64_t cols, double density)
{
  std::vector<int64_t> list;
  for (int64_t j = 0; j < cols; j++)
    if (r.uniform() < density) list.push_back(j);
  return list;
}

// Groups of 8: equal; equal but for one column; one row shorter; empty; unlike.
inline Pattern mixed_groups(int64_t cols, double density, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.cols = cols;
  for (int group = 0; group < 15; group++) {
    std::vector<int64_t> list = random_list(r, cols, density);
    list.push_back(cols - 1);
    for (int row = 0; row < (group == 14 ? 5 : 8); row++) {
      std::vector<int64_t> own = list;
      if (group % 5 == 1 && row == 6) own[own.size() / 2] = 0;
      if (group % 5 == 2 && row == 3) own.pop_back();
      if (group % 5 == 3) own.clear();
      if (group % 5 == 4) own = random_list(r, cols, density);
      add_row(p, own);
    }
  }
  return p;
}

inline Pattern mostly_empty(int64_t cols, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.cols = cols;
  for (int i = 0; i < 700; i++)
    add_row(p, i % 97 == 13 || i == 699 ? random_list(r, cols, 0.05) : std::vector<int64_t>());
  return p;
}

inline Pattern long_row(int64_t cols, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.cols = cols;
  for (int i = 0; i < 60; i++)
    add_row(p, random_list(r, cols, i == 21 ? 0.95 : 1.5 / (double)cols));
  return p;
}

// Threes, twos, fours and ones of rows with the same columns, some of which differ in the middle;
// more rows than a window has, empty ones among them, and one long one.
inline Pattern alike_rows(int64_t cols, uint64_t seed)
{
  static const int chain[] = {3, 3, 2, 1, 4, 6, 3, 5};
  Random r(seed);
  Pattern p;
  p.cols = cols;
  for (int group = 0; group < 30; group++) {
    const std::vector<int64_t> list = random_list(r, cols, group == 17 ? 0.9 : group % 4 * 0.06);
    for (int row = 0; row < chain[group % 8]; row++) {
      std::vector<int64_t> own = list;
      const size_t at = own.size() / 2;
      if (group % 5 == 1 && row == 1 && at > 0 && own[at] > own[at - 1] + 1) own[at]--;
      add_row(p, own);
    }
  }
  return p;
}

// Unsorted lists with repeats; the first half in groups of 8.
inline Pattern unsorted(int64_t cols, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.cols = cols;
  std::vector<int64_t> list;
  for (int i = 0; i < 64; i++) {
    if (i % 8 == 0 || i >= 32) {
      list.clear();
      for (int n = 0; n < 45; n++) list.push_back(r.below(cols));
    }
    add_row(p, list);
  }
  return p;
}

struct Named {
  const char *name;
  Pattern pattern;
};

inline std::vector<Named> patterns()
{
  std::vector<Named> all;
  all.push_back({"random", random_pattern(83, 150, 0.1, 1, 1)});
  all.push_back({"groups of 8, ragged end", random_pattern(83, 150, 0.3, 8, 2)});
  all.push_back({"mixed groups", mixed_groups(170, 0.3, 3)});
  all.push_back({"mostly empty", mostly_empty(90, 4)});
  all.push_back({"long row", long_row(3000, 5)});
  all.push_back({"unsorted, repeated", unsorted(120, 6)});
  all.push_back({"alike rows", alike_rows(700, 12)});
  all.push_back({"dense groups", random_pattern(24, 700, 0.6, 8, 7)});
  all.push_back({"dense rows", random_pattern(37, 500, 0.5, 1, 8)});
  all.push_back({"short rows", random_pattern(400, 50, 0.03, 1, 9)});
  all.push_back({"one entry", random_pattern(1, 1, 2, 1, 10)});
  all.push_back({"no entry", random_pattern(9, 9, -1, 1, 11)});
  return all;
}

} // namespace harness
