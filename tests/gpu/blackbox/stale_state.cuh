// stale_state.cuh: what stale.cu's program consists of: blocks of device memory, the matrices
// ("slots") that live in them, streams, and the one source of random numbers.  Each thread has
// all of its own.
#pragma once
#include <shared_mutex>
#include <string>
#include <vector>

#include "tests/gpu/blackbox/blackbox.cuh"

using namespace blackbox;

enum {
  USUAL_SIDE = 1024,
  USUAL_N = 256,
  MAX_SIDE = 2048, // with --wide
  MAX_N = 1024,
  PAD = 8,
  BLOCKS = 9,
  SLOTS = 6,
  STREAMS = 4,
  LEGACY = 3, // this one is the legacy default stream
  GRAPHS = 3, // live graphs a slot
  CANARY = 256,
  OUTCOMES = 1 << 14
};
static const int64_t MAX_NNZ = (int64_t)MAX_SIDE * MAX_SIDE;
// Of a block's columns, and of its values: complex matrices have the usual sides only.
static const size_t ENTRY_BYTES = (size_t)MAX_NNZ * 8;
static const size_t DENSE_BYTES = (size_t)(MAX_SIDE + PAD) * (MAX_N + PAD) * 8;
static const size_t WORKSPACE = 64u << 20;

static thread_local uint64_t rng;
static bool strict, only_spmm, mostly_pruned, mostly_single, shuffled, mostly_wide, mostly_integers,
    mostly_turned, mostly_complex, verbose;
static int threads = 1;

// While a stream of any thread is being captured, none may wait for the whole device: captures hold
// it together, what waits for the device alone.
static std::shared_mutex device_at_rest;

static int64_t below(int64_t n)
{
  return random_below(&rng, n);
}
static bool chance(double p)
{
  return random_uniform(&rng) < p;
}
static uint64_t salt()
{
  return random_next(&rng);
}

struct Block { // device memory that one matrix at a time lives in
  void *offsets, *columns, *values, *b, *c, *before, *scalars;
  cudaEvent_t done; // after the last work that touched it
  bool used;
};

// How p.a is described, and how many batches there are: elements from one to the next.
struct Form {
  bool as_csc = false, transposed = false, conjugated = false; // conjugated: what is transposed
  int batches = 1;
  int64_t entries = 0, b_stride = 0, c_stride = 0;
  cusparseOperation_t op_a() const
  {
    if (conjugated) return CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    return as_csc != transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
  }
};

struct Graph {
  cudaGraphExec_t exec;
  Problem p;
  Form form;
  char *workspace;
  size_t workspace_bytes;
  std::string text;
};

struct Slot {
  Problem p;
  Form form;
  int block = -1;
  int group, kind; // how columns_kernel makes the pattern (set_of_row)
  uint64_t seed;
  bool nonfinite;               // b holds a NaN or Inf
  bool flip_b, flip_c;          // descriptor says "transposed"
  std::vector<int64_t> offsets; // base 0
  cusparseSpMatDescr_t sparse = nullptr;
  cusparseDnMatDescr_t b = nullptr, c = nullptr;
  char *workspace, *other_workspace;
  bool promised = false; // preprocess ran: the pattern stays, and so do the descriptors
  int algorithm, lane;   // lane: of the preprocess
  size_t promised_bytes;
  std::vector<Graph> graphs;
  std::vector<char *> graph_workspaces; // free ones
};

static thread_local Block blocks[BLOCKS];
static thread_local Slot slots[SLOTS];
static thread_local cudaStream_t streams[STREAMS];
static thread_local cusparseHandle_t handles[STREAMS];
static thread_local double *sums[STREAMS]; // device: room for the references of transposed products
