// vector_list.cuh: the vectors of V rows of A, taken out of the packed steps of their group, 16
// at a time, by the Lanes lanes of a subwarp.
//
// The packed format has one list for 8 rows; the paper's has one for V.  The lanes look at one
// slot each and append, in order, those whose mask has a bit among the V rows:
//
//     slots of the group     0  1  2  3  4  5  6  7 ...          V = 2, rows 2 and 3 of the group
//     mask & 0b1100          .  x  .  .  x  x  .  x
//                               |        |  |     |
//     ring of places         0  1  2  3  ...  15 | 16 ...        head: next tile of 16
//
// The ring lies in shared memory; what a place holds beside its column is for the kernel to
// say (Put).  All subwarps of a warp go together: the functions are called by all 32 lanes.
#pragma once
#include "kernels/vector/vector_packed_spmm_common.cuh"

namespace shunt
{
namespace vector
{

template <int V, int Lanes> struct vector_list {
  static constexpr int kTile = 16; // vectors that are multiplied together
  // One tile less a vector and what one look adds; for whole warps, a tile in use beside them.
  static constexpr int kPlaces = Lanes == 32 ? 64 : 32;

  const uint32_t *columns; // of the group's slots
  const uint8_t *masks;
  const __half *values;
  int lane, row;         // of the subwarp; first of the V rows in their group
  uint32_t first, end;   // slots that are looked at next, by lane `first + lane`; all slots
  uint32_t mask, column; // of this lane's slot, read ahead
  int head, filled;      // first place of the next tile, places from there on that are used

  // Rows row .. row + V - 1 of `group`; nothing at all when `exists` is false.
  __device__ __forceinline__ void start(const arguments &p, bool exists, int group, int row_)
  {
    const uint64_t step = exists ? p.begin[group] : 0;
    columns = p.columns + step * kStep;
    masks = p.masks + step * kStep;
    values = reinterpret_cast<const __half *>(p.values) + step * (kStep * kGroup);
    lane = threadIdx.x % Lanes, row = row_;
    first = 0, end = exists ? p.count[group] * kStep : 0;
    head = filled = 0;
    look();
  }

  __device__ __forceinline__ void look()
  {
    const uint32_t slot = first + lane;
    const bool there = slot < end;
    mask = there ? masks[slot] >> row & ((1u << V) - 1) : 0;
    column = there ? columns[slot] : 0;
  }

  // Puts what is missing of the next tile into its places; false when the list is at its end.
  // The lanes of a warp get the answers of their subwarps; __syncwarp before the tile is read.
  template <class Put> __device__ __forceinline__ bool next_tile(Put &put)
  {
    while (__any_sync(~0u, filled < kTile && first < end)) append(put);
    __syncwarp();
    if (filled == 0) return false;
    // A tile that is not full: zeros times a row of B that is read already.  A NaN that comes
    // of it is repaired at the store.
    for (int i = filled + lane; i < kTile; i += Lanes) put.nothing(head + i, head);
    if (filled < kTile) filled = kTile;
    return true;
  }
  __device__ __forceinline__ void drop_tile()
  {
    head = (head + kTile) % kPlaces;
    filled -= kTile;
  }

  template <class Put> __device__ __forceinline__ void append(Put &put)
  {
    const bool wanted = filled < kTile && first < end, hit = wanted && mask != 0;
    const uint32_t hits =
        __ballot_sync(~0u, hit) >> (threadIdx.x % 32 - lane) & (~0u >> (32 - Lanes));
    if (hit) {
      const uint32_t slot = first + lane, s = slot % kStep;
      const __half *from = values + static_cast<uint64_t>(slot / kStep) * (kStep * kGroup) +
                           row * kStep + (s % 8 / 2 * 4 + s / 8 * 2 + s % 2);
      __half x[V];
#pragma unroll
      for (int r = 0; r < V; r++) x[r] = from[r * kStep];
      put((head + filled + __popc(hits & ((1u << lane) - 1))) % kPlaces, column, x);
    }
    if (wanted) {
      filled += __popc(hits);
      first += Lanes;
      look();
    }
  }
};

// The V rows of unit `unit` of the matrix.
template <int V> struct unit_rows {
  int group, row;
  bool exists;
  __device__ __forceinline__ unit_rows(const arguments &p, int unit)
      : group(unit / (kGroup / V)), row(unit % (kGroup / V) * V),
        exists(group < p.groups && group * kGroup + row < p.rows)
  {
  }
};

// Units of a matrix, those beyond its last row in the last group included.
inline int units_of(const arguments &p, int v)
{
  return p.groups * (kGroup / v);
}

} // namespace vector
} // namespace shunt
