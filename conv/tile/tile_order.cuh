// tile_order.cuh: the search of host_tile_order.c by one warp, to the same result.
//
//   lane c    column c as a set of rows, and its rank in the list of columns: moving a
//             column to the front changes ranks, nothing is moved
//   lane q    (and q + 8, ..) quad q: rows with one entry or more, rows with two, and the
//             residues modulo 8 of the columns in its pair of quads
#pragma once
#include "conv/tile/tile_conv.h"

namespace shunt
{
namespace tile
{

constexpr unsigned kAll = 0xffffffffu;

// Place among the columns by entries, most first, then by number.
__device__ __forceinline__ int rank_by_entries(uint32_t column)
{
  const int lane = threadIdx.x % 32, mine = __popc(column);
  int rank = 0;
  for (int entries = SHUNT_TILE_ROWS; entries >= 0; entries--) {
    const unsigned equal = __ballot_sync(kAll, mine == entries);
    if (entries > mine) rank += __popc(equal);
    if (entries == mine) rank += __popc(equal & ((1u << lane) - 1));
  }
  return rank;
}

// Puts the columns into quads in the order of their ranks; returns how many found a place.
// place: of lane's column in the packed tile.
__device__ __forceinline__ int place_columns(uint32_t column, int rank, bool strict, int &place)
{
  constexpr unsigned kNowhere = ~0u;
  const int lane = threadIdx.x % 32, q = lane % SHUNT_TILE_QUADS;
  uint32_t one = 0, two = 0, residues = 0;
  int filled = 0;
  for (int n = 0; n < SHUNT_TILE_COLS; n++) {
    const int from = __ffs(__ballot_sync(kAll, rank == n)) - 1;
    const uint32_t rows = __shfl_sync(kAll, column, from);
    const int clash = residues >> from % 8 & 1;
    const bool fits = filled < 4 && !(two & rows) && !(strict && clash);
    const unsigned key = fits ? (__popc(one & rows) + clash) * SHUNT_TILE_QUADS + q : kNowhere;
    const unsigned best = __reduce_min_sync(kAll, key);
    if (best == kNowhere) return n;
    const int quad = best % SHUNT_TILE_QUADS;
    const int at = 4 * quad + __shfl_sync(kAll, filled, quad);
    if (lane == from) place = at;
    if (q / 2 == quad / 2) residues |= 1u << from % 8;
    if (q == quad) {
      two |= one & rows;
      one |= rows;
      filled++;
    }
  }
  return SHUNT_TILE_COLS;
}

// row: lane r's row of the tile, zero in lanes that have none.  True when place holds,
// in lane c, where column c stands in an order that makes the tile 2:4.
__device__ __forceinline__ bool find_order(uint32_t row, int &place)
{
  const int lane = threadIdx.x % 32;
  if (__any_sync(kAll, __popc(row) > 2 * SHUNT_TILE_QUADS)) return false;
  uint32_t column = 0;
#pragma unroll
  for (int r = 0; r < SHUNT_TILE_ROWS; r++) column |= (__shfl_sync(kAll, row, r) >> lane & 1) << r;

  const int first_rank = rank_by_entries(column);
  for (int strict = 1; strict >= 0; strict--) {
    int rank = first_rank;
    for (int i = 0; i < SHUNT_TILE_TRIES; i++) {
      const int placed = place_columns(column, rank, strict, place);
      if (placed == SHUNT_TILE_COLS) return true;
      rank = rank == placed ? 0 : rank + (rank < placed);
    }
  }
  return false;
}

} // namespace tile
} // namespace shunt
