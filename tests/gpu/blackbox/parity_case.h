// parity_case.h: what one odd call of parity.cu is made of.
#pragma once
#include <string>
#include <vector>

#include "tests/clients/common.h"

namespace parity
{

enum Format { CSR, COO, CSC, BSR, ELL };
enum Array { NO_ARRAY = 0, OFFSETS = 1, COLUMNS = 2, VALUES = 4, FIRST = 8, SECOND = 16 };
enum Special {
  NAN_SPARSE = 1,
  INF_SPARSE = 2,
  NAN_DENSE = 4,
  INF_DENSE = 8,
  NAN_OLD = 16, // in C, where beta is not 0
  INF_OLD = 32,
  ZERO_TIMES_INF = 64 // a stored zero meets an Inf
};
enum Stage { BUFFER_SIZE = 1, PREPROCESS = 2, COMPUTE = 4 };

// SpMM: op(A)[m, k] sparse, op(B)[k, n], C[m, n].  SDDMM: op(A)[m, k] and op(B)[k, n]
// dense, C[m, n] sparse.  FIRST and SECOND are the dense operands in the order of
// the arguments (B and C; A and B).
struct Case {
  std::string name;
  bool sddmm = false;
  Format format = CSR;
  int op_a = 0, op_b = 0; // cusparseOperation_t, or nonsense
  int algorithm = 0;
  cudaDataType type_a = CUDA_R_32F, type_b = CUDA_R_32F, type_c = CUDA_R_32F;
  cudaDataType compute = CUDA_R_32F;
  bool wide = false, mixed_index = false;
  int base = 0;
  int64_t m = 48, k = 40, n = 24;
  double density = 0.2;
  int group = 1, block = 4;
  int order_first = CUSPARSE_ORDER_ROW, order_second = CUSPARSE_ORDER_ROW;
  int64_t extra_first = 0, extra_second = 0; // leading dimension beyond the packed one
  double alpha = 1, beta = 0;
  double alpha_imaginary = 0, beta_imaginary = 0; // of complex types
  bool device_scalars = false;
  int null_argument = 0; // position from 1 in the call, 0: none
  int null_stage = 0;    // in which of the three calls
  int null_array = NO_ARRAY;
  bool null_buffer = false;
  int special = 0;
  bool unsorted = false, repeated = false;
  int misaligned = NO_ARRAY;
  int batches = 1;
  bool broadcast = false;    // one sparse matrix for the whole batch
  int batches_second = 0;    // another count for the second dense operand
  bool own_offsets = false;  // row offsets of its own for every batch
  bool shared_first = false; // one first dense operand for the whole batch
  bool side_by_side = false; // row-major batches within one leading dimension
  int64_t gap = 0;           // elements between batches of the dense operands
  bool preprocess = false;
  int64_t grow_first_rows = 0, grow_first_cols = 0; // mismatched descriptors
  int64_t grow_second_rows = 0, grow_second_cols = 0;
  int repeats = 1;
  bool statuses_only = false; // the original's numbers vary from run to run, or are not defined
  double magnitude = 1;       // of the values
};

inline std::string text(const char *format, ...)
{
  char line[160];
  va_list ap;
  va_start(ap, format);
  vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  return line;
}

inline Case typed(cudaDataType t)
{
  Case c;
  c.type_a = c.type_b = c.type_c = t;
  c.compute = t == CUDA_R_16F || t == CUDA_R_16BF ? CUDA_R_32F : t;
  return c;
}

struct List {
  std::vector<Case> all;
  void add(Case c, const std::string &name)
  {
    c.name = (c.sddmm ? "sddmm, " : "spmm, ") + name;
    all.push_back(c);
  }
};

// Bit by bit, what Case::special says.
static const char *const SPECIAL[] = {"NaN sparse", "Inf sparse", "NaN dense", "Inf dense",
                                      "NaN old",    "Inf old",    "0 x Inf"};

// c with each of them alone.
inline void add_specials(List &l, const Case &c, const std::string &what)
{
  for (int bit = 0; bit < 7; bit++) {
    Case d = c;
    d.special = 1 << bit;
    d.beta = bit == 4 || bit == 5 ? 1 : 0;
    l.add(d, what + ", " + SPECIAL[bit]);
  }
}

static const cudaDataType HALF_AND_SINGLE[] = {CUDA_R_16F, CUDA_R_32F};
static const cudaDataType FLOATS[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F};

} // namespace parity
