// broken_patterns.cuh: what CSR arrays may hold that are no matrix with sorted columns.
#pragma once
#include "tests/gpu/common/harness.cuh"

namespace harness
{

struct BrokenPattern {
  const char *what;
  Pattern pattern;
};

// Each way at one place; `p` has at least five rows, of more than 40 entries the first.
inline std::vector<BrokenPattern> broken_patterns(const Pattern &p)
{
  const int64_t row1 = p.offsets[1];
  const struct {
    const char *what;
    int64_t at, value;
    bool offset;
  } ways[] = {{"a repeated column", 5, p.columns[4], false},
              {"a repeated column 40 entries on", 40, p.columns[39], false},
              {"a column out of order", 5, p.cols - 10, false},
              {"a column out of order at a row's end", row1 - 1, 3, false},
              {"a column beyond the last", row1 - 1, p.cols, false},
              {"a column before the first", 0, -1, false},
              {"a column far before the first", 9, -(1 << 30), false},
              {"offsets that descend", 3, p.offsets[4] + 1, true},
              {"an offset out of range", 3, 1 << 30, true},
              {"an offset below the base", 3, -1, true}};
  std::vector<BrokenPattern> all;
  for (auto &w : ways) {
    all.push_back({w.what, p});
    (w.offset ? all.back().pattern.offsets : all.back().pattern.columns)[(size_t)w.at] = w.value;
  }
  return all;
}

} // namespace harness
