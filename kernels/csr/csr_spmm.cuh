// csr_spmm.cuh: what the files of the csr kernel share: the words, the way
// work is cut, the launch layout and the arguments of the device code.
//
//   C = alpha A B + beta C,   A m x k in CSR, B k x n, C m x n
//
// How work is cut.  Walking A gives one list of rows + nonzeros items: the
// nonzeros of row 0, the end of row 0, the nonzeros of row 1, the end of row 1 ..
// An empty row is one item, a long row many.  The list is cut into tiles of equal
// length; one block multiplies one tile (by all of B's columns, or a part of them
// when tiles are few), so a block's work does not depend on how long rows are.
//
//   items   a a a a |b b b b b b b b b b b b b b b b b |c c c|d|e|f f f|
//           <--- tile 0 ---><--- tile 1 ---><--- tile 2 ---><--- tile 3 -
//                     tail of b     head of b    head of b
//
// A row that lies in one tile is written to C by that tile.  A row that was cut
// leaves partial sums in the workspace: the tile where it begins fills its tail
// slot, the tiles that continue it fill their head slots; a second kernel (join)
// adds them in the order of the tiles and writes C.  No atomics on numbers: the
// same inputs give the same bits.
//
// Inside a block.  `lanes` neighbouring threads form a group; a group holds
// lanes x V columns of one row of C in registers (V elements of 16 bytes a load)
// and walks a run of the tile's nonzeros; the block's groups cut the tile into
// runs of equal length, multiples of 8.
//
//   tile's nonzeros  |....run 0....|....run 1....|....run 2....|   e = row end
//                       e      e              e
//                       |      |              '- cut by runs: run 1 keeps its piece,
//                       |      |                 adds what run 0 left open, stores
//                       '------'- whole rows: stored at once
//
// When columns are wider than a group, the block walks the same tile again for the
// next `lanes` x V columns (a pass): A stays in shared memory and the slice of B
// that a pass gathers stays in L1 where neighbouring rows share columns.
//
// Index words: tile, group, run, pass as above; `position` counts nonzeros of A,
// `local` counts them from the tile's first.
#pragma once
#include <stdint.h>

#include "kernels/common/csr_operands.cuh"
#include "kernels/common/device.h"

namespace shunt
{
namespace csr
{

constexpr int kThreads = 256;     // of a block
constexpr int kBlocksPerSm = 4;   // resident blocks that registers are limited for
constexpr int kBlocksOfLarge = 3; // the same, where a sum has 16 bytes
constexpr int kTileMax = 1024;    // items of a tile: what is staged in shared memory
constexpr int kTileMin = 256;
constexpr int kChunk = 8;     // nonzeros whose rows of B are in flight per lane
constexpr int kSegment = 128; // bytes of a row of B that one group gathers: an L1 line

// A cut row as its first tile describes it: `row`, and how many tiles follow;
// row < 0 where no row begins in a tile and leaves it.
struct cut_row {
  int32_t row;
  int32_t more;
};

// Sizes: a function of sizes, types, strides and the device alone (workspace).
struct layout {
  bool direct;     // not cut at all: the guarded kernel, one launch, no workspace
  bool split;      // by rows, one launch, no workspace (csr_spmm_split.cuh)
  int64_t longest; // of split: length of the longest row, as far as known; -1
  bool layer;      // of split: A is cut as a layer is (csr_layers.h)
  bool copies_b;   // B is column-major and is copied to the workspace first
  int tile;        // items of a tile
  int64_t tiles;
  int passes_per_block; // wanted; in units of kSegment bytes of B
  int64_t pitch;        // elements (compute type) from one head or tail slot to the next
  int64_t b_stride;     // of the B that the kernel reads
  size_t cuts_at, heads_at, tails_at, b_at, bytes; // in the workspace
};
layout make_layout(const struct shunt_spmm *p, const struct shunt_device *d);

// What the kernels read.  Of the merge and the split kernel b_col_stride is 1.
template <class T> struct args : csr_operands<T> {
  uint32_t b_row_bytes; // b_row_stride in bytes
  bool c_vector;        // rows of C can be read and written V elements at once

  int tile;
  int lanes_log2;
  int passes;
  int buffers;                                   // of open sums in shared memory
  int row_of_at, columns_at, values_at, open_at; // bytes into shared memory
  int64_t pitch;
  cut_row *cuts; // [tiles]
  T *heads;      // [tiles][pitch]
  T *tails;      // [tiles][pitch]
};

// One per stored type of A and B; each in a translation unit of its own.
// SHUNT_E_UNSUPPORTED for a type of C or a compute type that was not built.
shunt_status launch_f16(const shunt_spmm *, const shunt_device *, const layout &, void *,
                        shunt_stream);
shunt_status launch_bf16(const shunt_spmm *, const shunt_device *, const layout &, void *,
                         shunt_stream);
shunt_status launch_f32(const shunt_spmm *, const shunt_device *, const layout &, void *,
                        shunt_stream);
shunt_status launch_f64(const shunt_spmm *, const shunt_device *, const layout &, void *,
                        shunt_stream);
shunt_status launch_i8(const shunt_spmm *, const shunt_device *, const layout &, void *,
                       shunt_stream);
shunt_status launch_c32(const shunt_spmm *, const shunt_device *, const layout &, void *,
                        shunt_stream);
shunt_status launch_c64(const shunt_spmm *, const shunt_device *, const layout &, void *,
                        shunt_stream);

// A in another type than B: f32 with f16 or bf16 into B's type or f32, and the reverse into f32; cut
// into tiles only.
shunt_status launch_mixed(const shunt_spmm *, const shunt_device *, const layout &, void *,
                          shunt_stream);

// The whole call with a layout of the caller's making (tests tune with it).
shunt_status run(const shunt_spmm *p, const shunt_device *d, const layout &how, void *workspace,
                 shunt_stream stream);

} // namespace csr
} // namespace shunt
