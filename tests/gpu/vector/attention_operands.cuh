// attention_operands.cuh: what the tests of SDDMM, softmax and attention over the `vector` format
// share: patterns packed in both memories, dense matrices for each (batch, head), comparison.
#pragma once
#include "conv/vector/vector_conv.h"
#include "kernels/vector/attention/attention_kernels.h"
#include "tests/gpu/common/harness.cuh"

namespace harness
{

enum Kind {
  EIGHTS, // aligned sets of 8 rows with one list
  HOLES,  // of which one entry in five is missing
  EMPTY,  // two groups in three without entries
  ALL,    // every column
  KINDS
};
static const char *const kind_name[KINDS] = {"eights", "holes", "empty", "all"};

static Pattern make_pattern(Kind kind, int64_t rows, int64_t cols, double density, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  std::vector<int64_t> list;
  for (int64_t i = 0; i < rows; i++) {
    if (i % 8 == 0) {
      list.clear();
      for (int64_t j = 0; j < cols; j++)
        if (kind == ALL || r.uniform() < density) list.push_back(j);
      if (kind == EMPTY && i / 8 % 3) list.clear();
    }
    for (int64_t j : list)
      if (kind != HOLES || r.uniform() < 0.8) p.columns.push_back(j);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

// A pattern packed on the host, and a copy of the bytes on the device.
struct PackedPattern {
  Pattern pattern;
  shunt_type type;
  shunt_vector_layout layout;
  std::vector<uint16_t> entries;
  Buffer memory;
  shunt_vector host, device;
  int64_t value_count; // elements of one set of values

  PackedPattern(const Pattern &p, shunt_type t, shunt_vector_order order)
      : pattern(p), type(t), layout{order, 1}, entries((size_t)p.nnz() + 1), memory(bytes() + 256)
  {
    const shunt_csr a = csr();
    const size_t skip = (256 - (uintptr_t)memory.host.data() % 256) % 256;
    memset(memory.host.data(), 0xff, memory.host.size());
    if (!shunt_vector_lay_out(&a, &layout, memory.host.data() + skip, &host) ||
        !shunt_vector_lay_out(&a, &layout, memory.device, &device) ||
        shunt_csr_to_vector_host(&a, &layout, &host) != SHUNT_OK || host.counts->irregular) {
      printf("not ok - the test's pattern does not fit\n");
      exit(3);
    }
    CUDA_OK(cudaMemcpy(memory.device, memory.host.data() + skip, bytes(), cudaMemcpyHostToDevice));
    value_count = (shunt_vector_room(&a, &layout).steps + 1) * SHUNT_VECTOR_STEP_VALUES;
  }
  shunt_csr csr()
  {
    return {pattern.rows,
            pattern.cols,
            pattern.nnz(),
            pattern.offsets.data(),
            pattern.columns.data(),
            entries.data(),
            SHUNT_I64,
            type,
            0};
  }
  size_t bytes()
  {
    const shunt_csr a = csr();
    return shunt_vector_bytes(&a, &layout);
  }
  bool named(int64_t column) const
  {
    return std::find(pattern.columns.begin(), pattern.columns.end(), column) !=
           pattern.columns.end();
  }
};

// How the matrices of a problem lie: 0 [batch][head][row][d], 1 [batch][row][head][d],
// 2 rows and pointer not aligned.
struct Layout {
  int kind;
  int64_t batches, heads;
};

// A matrix for each (batch, head), in both memories; what is no element is NaN.
struct Tensor {
  shunt_type type;
  Layout layout;
  int64_t rows, d;
  Buffer at;
  shunt_heads heads; // strides

  Tensor(shunt_type t, Layout l, int64_t rows_, int64_t d_)
      : type(t), layout(l), rows(rows_), d(d_), at((size_t)size() * 2 + 64), heads(strides())
  {
    memset(at.host.data(), 0xff, at.host.size());
  }
  shunt_heads strides() const
  {
    const int64_t pitch = layout.kind == 2 ? d + 1 : (d + 7) / 8 * 8 + 8;
    if (layout.kind == 1)
      return {nullptr, layout.heads * pitch, pitch, rows * layout.heads * pitch};
    return {nullptr, pitch, rows * pitch, layout.heads * rows * pitch};
  }
  int64_t size() const { return layout.batches * strides().batch_stride; }
  int64_t place(int64_t z, int64_t i, int64_t c) const
  {
    return (layout.kind == 2) + z / layout.heads * heads.batch_stride +
           z % layout.heads * heads.head_stride + i * heads.row_stride + c;
  }
  void set(int64_t z, int64_t i, int64_t c, double x)
  {
    store(at.host.data(), place(z, i, c), type, x);
  }
  void fill(Random &r, double size)
  {
    for (int64_t z = 0; z < layout.batches * layout.heads; z++)
      for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < d; c++) set(z, i, c, size * r.value());
  }
  void fill_row(int64_t i, double x)
  {
    for (int64_t z = 0; z < layout.batches * layout.heads; z++)
      for (int64_t c = 0; c < d; c++) set(z, i, c, x);
  }
  shunt_heads in(bool on_device)
  {
    shunt_heads h = heads;
    h.values = (char *)(on_device ? at.device : at.host.data()) + (layout.kind == 2) * 2;
    return h;
  }
};

// Elements of `got` (device, downloaded) that are too far from `want`: by more than `relative`
// units of the type's precision of the value and `absolute` of 1.
static int64_t different(const std::vector<char> &got, const std::vector<char> &want, shunt_type t,
                         double relative, double absolute)
{
  const double unit = t == SHUNT_F16 ? 0x1p-11 : 0x1p-8;
  int64_t wrong = 0;
  for (size_t i = 0; i < got.size() / 2; i++) {
    const double x = load(got.data(), (int64_t)i, t), y = load(want.data(), (int64_t)i, t);
    if (same_value(x, y, unit * (relative * fabs(y) + absolute))) continue;
    if (wrong++ < 3) printf("# element %zu: got %g, want %g\n", i, x, y);
  }
  return wrong;
}

} // namespace harness
