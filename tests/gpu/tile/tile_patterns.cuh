// tile_patterns.cuh: patterns for the tests of `tile`, and a matrix packed on both sides.
#pragma once
#include "conv/tile/tile_conv.h"
#include "tests/gpu/common/harness.cuh"

namespace harness
{

enum TileKind {
  ANYWHERE,
  TWO_OF_FOUR, // at most two of aligned four
  RUNS,        // neighbours: dense tiles that another order of columns makes 2:4
  TILES,       // tile by tile: nothing, few, or full
  TILE_KINDS
};
static const char *const tile_kind_name[TILE_KINDS] = {"anywhere", "2:4", "runs", "tiles"};

inline Pattern tile_pattern(TileKind kind, int64_t rows, int64_t cols, double density,
                            uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  std::vector<double> share((size_t)(cols / 32 + 1));
  for (int64_t i = 0; i < rows; i++) {
    int64_t run = 0, in_quad = 0;
    for (int64_t j = 0; j < cols; j++) {
      if (j % 4 == 0) in_quad = 0;
      if (j % 32 == 0) {
        if (i % 16 == 0)
          share[(size_t)(j / 32)] = kind == TILES ? density * (double)r.below(4) : density;
        run = kind == RUNS && r.uniform() < 4 * density ? 1 + r.below(16) : 0;
      }
      bool there = kind == RUNS ? run-- > 0 : r.uniform() < share[(size_t)(j / 32)];
      if (kind == TWO_OF_FOUR) there = there && in_quad < 2;
      in_quad += there;
      if (there) p.columns.push_back(j);
    }
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

// Two of every four, as pruned weights have them.
inline Pattern pruned_pattern(int64_t rows, int64_t cols, uint64_t seed)
{
  static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  Random r(seed);
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < cols; j += 4)
      for (int64_t k : pairs[r.below(6)])
        if (j + k < cols) p.columns.push_back(j + k);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

// A pattern as CSR on both sides, and room for its packed form.  One value in nine is a
// stored zero; the others are whole numbers from -4 to 4 or fractions.
struct Tiles {
  Buffer offsets, columns, values;
  shunt_csr host, device;
  shunt_tile_layout layout;
  size_t bytes;
  Buffer memory, twin;
  shunt_tile on_device, on_host;

  Tiles(const Pattern &p, shunt_tile_layout with, shunt_type type, shunt_type index, int base,
        bool whole, uint64_t seed)
      : offsets((size_t)(p.rows + 1) * shunt_type_size(index)),
        columns((size_t)p.nnz() * shunt_type_size(index)), values((size_t)p.nnz() * 2),
        layout(with), bytes(size_of(p, with, type, index)), memory(bytes + 256), twin(bytes + 256)
  {
    Random r(seed);
    host = {p.rows, p.cols, p.nnz(), offsets.host.data(), columns.host.data(), values.host.data(),
            index,  type,   base};
    device = host;
    device.row_offsets = offsets.device, device.columns = columns.device;
    device.values = values.device;
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, index, (double)(p.offsets[i] + base));
    for (int64_t e = 0; e < p.nnz(); e++) {
      const double x = whole ? (double)(r.below(9) - 4) : r.value();
      store(columns.host.data(), e, index, (double)(p.columns[(size_t)e] + base));
      store(values.host.data(), e, type, r.below(9) ? x : 0);
    }
  }
  static size_t size_of(const Pattern &p, const shunt_tile_layout &with, shunt_type type,
                        shunt_type index)
  {
    const shunt_csr a = {p.rows, p.cols, p.nnz(), nullptr, nullptr, nullptr, index, type, 0};
    return shunt_tile_bytes(&a, &with);
  }

  // Packs on the device; what is not written stays 0xee.
  bool pack_on_device()
  {
    for (Buffer *x : {&offsets, &columns, &values}) x->upload();
    memset(memory.host.data(), 0xee, memory.host.size());
    memory.upload();
    const shunt_device d = this_device();
    const bool good = shunt_tile_lay_out(&host, &layout, memory.device, &on_device) &&
                      shunt_csr_to_tile_cuda(&device, &layout, &on_device, &d, 0) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    memory.download();
    return good;
  }
  // On both sides.
  bool pack()
  {
    memset(twin.host.data(), 0xee, twin.host.size());
    char *aligned = (char *)(((uintptr_t)twin.host.data() + 255) & ~(uintptr_t)255);
    return shunt_tile_lay_out(&host, &layout, aligned, &on_host) &&
           shunt_csr_to_tile_host(&host, &layout, &on_host) == SHUNT_OK && pack_on_device();
  }
  bool same() const { return !memcmp(memory.host.data(), on_host.census, bytes); }
  bool inside() const
  {
    for (size_t i = bytes; i < memory.host.size(); i++)
      if (memory.host[i] != (char)0xee) return false;
    return true;
  }
  const shunt_tile_census &census() const { return *(const shunt_tile_census *)memory.host.data(); }
};

} // namespace harness
