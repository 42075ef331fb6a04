// sparse24_from_csr.cu: CSR to the `sparse24` format, in one launch: a block per tile, a thread per
// row of the tile, which finds its first entry there by bisection and writes 64 bytes of values and
// the metadata of its 64 or 128 columns, 16 of them in half a word, all of its own.
//
//   row   | .. c c c | c c c c .. c | c ..       the thread of (row, chunk) packs these
//                      ^ first column of the chunk, or behind
//
// Bisection finds its way only in rows that ascend.  So each thread also looks at its share of
// the row's positions, whether each column is above the one before: together they look at all.
//
// A tile reads its entries from the lines of 64 rows; a line is read by two blocks at most.
// Measured: see tests/bench/sparse24.md.
#include <cuda_runtime.h>

#include "conv/sparse24/sparse24_conv.h"

namespace shunt
{
namespace sparse24
{
namespace
{

constexpr int kRows = SHUNT_SPARSE24_ROWS;

struct pack_job {
  struct shunt_sparse24 v;
  const void *offsets, *columns;
  const void *values;
  int64_t nnz;
  int base;
  uint32_t *irregular;
};

// Unsigned, so that garbage wraps (to a place that the checks refuse).
template <class I> __device__ __forceinline__ int64_t from_base(I index, int64_t base)
{
  return (int64_t)((uint64_t)(int64_t)index - (uint64_t)base);
}

// A row of A: its entries are p with begin <= p < end.
template <class I, class V> struct row_view {
  const pack_job &j;
  int64_t row, begin = 0, end = 0;
  bool bad = false;

  __device__ __forceinline__ row_view(const pack_job &job, int64_t row_) : j(job), row(row_)
  {
    if (row >= j.v.rows) return;
    const I *offsets = static_cast<const I *>(j.offsets) + row;
    begin = from_base(offsets[0], j.base);
    end = from_base(offsets[1], j.base);
    bad = begin < 0 || end < begin || end > j.nnz;
    if (bad) begin = end = 0;
  }
  __device__ __forceinline__ int64_t column(int64_t p) const
  {
    return from_base(static_cast<const I *>(j.columns)[p], j.base);
  }
  // The first entry at or behind a column.
  __device__ __forceinline__ int64_t find(int64_t first) const
  {
    int64_t low = begin, high = end;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (column(middle) < first)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  // Is share `s` of `shares` of the row's positions in order, and in range?
  __device__ __forceinline__ bool in_order(int64_t s, int64_t shares) const
  {
    const int64_t to = begin + (end - begin) * (s + 1) / shares;
    bool good = true;
    for (int64_t p = begin + (end - begin) * s / shares; p < to; p++) {
      const int64_t c = column(p), before = p > begin ? column(p - 1) : -1;
      good &= before < c && c < j.v.cols;
    }
    return good;
  }
};

// Two values of four columns, the first in the low bits, and where they stand.
struct packed_quad {
  uint32_t values, pair;
  bool crowded;
};

// The entries in columns first .. first + 3; p goes past them.
template <class I, class V>
__device__ __forceinline__ packed_quad pack_quad(const row_view<I, V> &row, int64_t &p,
                                                 int64_t first)
{
  constexpr int width = 8 * sizeof(V);
  uint32_t bits = 0, found = 0, v[2] = {0, 0};
  for (; p < row.end; p++) {
    const int64_t c = row.column(p) - first;
    if (c >= 4) break;
    bits |= 1u << (c & 3);
    v[found++ & 1] = static_cast<const V *>(row.j.values)[p];
  }
  const uint32_t pair = shunt_tile_pair(found > 2 ? 0 : bits);
  const bool second = found == 1 && !(bits >> (pair & 3) & 1); // alone, and at the quad's end
  return {second ? v[0] << width : v[0] | v[1] << width, pair, found > 2};
}

// Positions of 16 columns of a row of which all quads are full.
template <class I>
__device__ __forceinline__ void put_positions(const pack_job &j, int64_t row, int64_t column,
                                              uint32_t half)
{
  constexpr int pieces = sizeof(I) / 2, bits = 16 / pieces;
  unsigned char *to = static_cast<unsigned char *>(j.v.positions);
  const int64_t first = (row * j.v.cols + column) / 16 * pieces;
#pragma unroll
  for (int i = 0; i < pieces; i++)
    to[shunt_sparse24_position(first + i)] =
        static_cast<unsigned char>(half >> (i * bits) & ((1 << bits) - 1));
}
// And zeros to the end of the last tile.
template <class I> __device__ __forceinline__ void close_positions(const pack_job &j)
{
  const int64_t pieces = j.nnz * static_cast<int64_t>(sizeof(I)) / 16;
  for (int64_t i = pieces + threadIdx.x; i < shunt_sparse24_position_bytes(pieces); i += kRows)
    static_cast<unsigned char *>(j.v.positions)[shunt_sparse24_position(i)] = 0;
}

// V: the bits of a value.  16 bytes of values are those of 16 columns, or of 32 in int8.
template <class I, class V>
__global__ void __launch_bounds__(kRows) pack_kernel(const __grid_constant__ pack_job j)
{
  constexpr int size = sizeof(V), cols = 128 / size, quads = 8 / size, bits = 16 * size;
  const int64_t tile = blockIdx.x, chunk = tile % j.v.chunks;
  const int r = threadIdx.x;
  const row_view<I, V> row(j, tile / j.v.chunks * kRows + r);
  char *to = static_cast<char *>(j.v.tiles) + tile * shunt_sparse24_tile_bytes(size);
  bool bad = row.bad || !row.in_order(chunk, j.v.chunks);
  int64_t p = row.find(chunk * cols);
  for (int s = 0; s < 4; s++) {
    uint32_t values[4] = {0, 0, 0, 0}, half[2] = {0, 0};
#pragma unroll
    for (int q = 0; q < quads; q++) {
      const packed_quad k = pack_quad<I, V>(row, p, chunk * cols + (s * quads + q) * 4);
      values[q * size / 2] |= k.values << q * bits % 32;
      half[q / 4] |= k.pair << (4 * (q % 4));
      bad |= k.crowded;
    }
    *reinterpret_cast<uint4 *>(to + shunt_sparse24_value(r, s * 16)) =
        make_uint4(values[0], values[1], values[2], values[3]);
#pragma unroll
    for (int i = 0; i < quads / 4; i++)
      *reinterpret_cast<uint16_t *>(to + shunt_sparse24_half(r, s * quads / 4 + i, size)) =
          static_cast<uint16_t>(half[i]);
    const int64_t column = chunk * cols + s * 16;
    if (size == 2 && j.v.positions && row.row < j.v.rows && column < j.v.cols)
      put_positions<I>(j, row.row, column, half[0]);
  }
  if (j.v.positions && tile == 0) close_positions<I>(j);
  if (__syncthreads_or(bad) && r == 0)
    atomicOr(j.irregular, static_cast<uint32_t>(SHUNT_IRREGULAR));
}

template <class V> const void *kernel_of(shunt_type index)
{
  return index == SHUNT_I32 ? reinterpret_cast<const void *>(&pack_kernel<int32_t, V>)
                            : reinterpret_cast<const void *>(&pack_kernel<int64_t, V>);
}

} // namespace
} // namespace sparse24
} // namespace shunt

using namespace shunt::sparse24;

extern "C" shunt_status
shunt_csr_to_sparse24_cuda(const struct shunt_csr *a, const struct shunt_sparse24 *v,
                           uint32_t *irregular, const struct shunt_device *d, shunt_stream stream)
{
  (void)d;
  const size_t bytes = shunt_sparse24_bytes(a);
  if (bytes == 0 || v->bands * v->chunks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  if (v->rows != a->rows || v->cols != a->cols) return SHUNT_E_ARGUMENT;
  if (v->positions && !shunt_sparse24_full(a)) return SHUNT_E_ARGUMENT;
  pack_job j = {*v, a->row_offsets, a->columns, a->values, a->nnz, a->base, irregular};
  void *parameters[] = {&j};
  const void *kernel = shunt_type_size(a->value_type) == 1 ? kernel_of<uint8_t>(a->index_type)
                                                           : kernel_of<uint16_t>(a->index_type);
  return cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(v->bands * v->chunks)), dim3(kRows),
                          parameters, 0, stream) == cudaSuccess
             ? SHUNT_OK
             : SHUNT_E_CUDA;
}
