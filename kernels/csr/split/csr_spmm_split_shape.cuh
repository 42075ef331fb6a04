// csr_spmm_split_shape.cuh: how the split kernel cuts its work (csr_spmm_split_choice.cuh chooses).
#pragma once
#include "kernels/csr/csr_spmm.cuh"
#include "kernels/csr/csr_work.h"

namespace shunt
{
namespace csr
{

constexpr int kLeastTeamLog2 = 2;          // a batch of a team's columns is then 2 chunks
constexpr int kMostLongLanes = 8;          // of a group of a long block
constexpr int64_t kMostNonzeros = 1 << 30; // of A, and rows: positions fit in an int
constexpr int64_t kMostLimit = SHUNT_CSR_MOST_LIMIT;

struct split_shape {
  int threads;         // of a block: 64, 128 or 256
  int chunk;           // rows of B in flight per lane: 8, or 4 where rows are short
  int lanes_log2;      // threads of a group: they share the columns of a row of C
  int team_log2;       // threads of a team: the groups that share a row from the start
  int long_lanes_log2; // threads of a group in the long blocks, 4 or 8
  int limit;           // rows with more nonzeros are left to the long blocks
  int window;          // nonzeros where a long block looks for beginnings of long rows
  bool search;         // whether there are long blocks
  bool whole;          // whether a way of its own takes full chunks; with search in f32 alone
  int team_rows;       // rows that a team takes as one list; 0: one at a time
  bool unstaged;       // rows of a team each, A not staged in shared memory; where that is built
  int row_warps;       // of a block, which share a row: 2, 4 or 8, where that is built; 0: a team
  int words;           // of a lane: 1, or 2 (csr_spmm_split_words.cuh), with no search and no lists
};

// What a shape is chosen for.
struct split_matrix {
  int64_t rows, nonzeros;
  int64_t longest; // the hint: length of the longest row when somebody looked, or negative
  bool layer;      // cut as a layer is (shunt_csr_is_cut_as_layer)
  bool words;      // of a type whose lanes may have two words
};

// What the kernel reads of it.
struct split_args {
  int lanes_log2, team_log2, long_lanes_log2;
  int limit, window;
  uint32_t long_blocks, long_slices; // the first blocks of the grid; slices of C
  uint32_t row_blocks;               // of each slice of C
  int team_rows;
};

} // namespace csr
} // namespace shunt
