/* semiring_pack.c: copies between layouts.  Elements are moved as integers of their size.

   A transpose goes by squares of one vector of 16 bytes a side, held in registers: every
   machine has these vectors, and memory is slower than they are.  `from` is read in as many short
   runs as it has lines, too many for the hardware to prefetch.  */
#include "kernels/semiring/semiring_pack.h"

typedef uint32_t u32 __attribute__((may_alias));
typedef uint64_t u64 __attribute__((may_alias));

typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t two __attribute__((vector_size(16), aligned(8), may_alias));

static void square_u32(const u32 *from, int64_t from_stride, u32 *to, int64_t to_stride)
{
  typedef uint32_t vec __attribute__((vector_size(16)));
  const vec a = *(const four *)from, b = *(const four *)(from + from_stride);
  const vec c = *(const four *)(from + 2 * from_stride),
            d = *(const four *)(from + 3 * from_stride);
  const vec ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const vec ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const vec cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const vec cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  *(four *)to = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  *(four *)(to + to_stride) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  *(four *)(to + 2 * to_stride) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  *(four *)(to + 3 * to_stride) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

static void square_u64(const u64 *from, int64_t from_stride, u64 *to, int64_t to_stride)
{
  typedef uint64_t vec __attribute__((vector_size(16)));
  const vec a = *(const two *)from, b = *(const two *)(from + from_stride);
  *(two *)to = __builtin_shufflevector(a, b, 0, 2);
  *(two *)(to + to_stride) = __builtin_shufflevector(a, b, 1, 3);
}

enum {
  SIDE_u32 = 4,
  SIDE_u64 = 2,
  LINE = 64,
  AHEAD = 256 /* bytes of a line of `from` between a prefetch and its use */
};

#define PACK(WORD)                                                                                 \
  static void transpose_##WORD(const WORD *from, int64_t from_stride, WORD *to, int64_t to_stride, \
                               int64_t rows, int64_t cols)                                         \
  {                                                                                                \
    const int64_t side = SIDE_##WORD, i_end = rows / side * side, j_end = cols / side * side;      \
    const int64_t line = LINE / (int64_t)sizeof *to, ahead = AHEAD / (int64_t)sizeof *to;          \
    for (int64_t i = 0; i < i_end; i += side) {                                                    \
      if (i % line == 0 && i + ahead < rows)                                                       \
        for (int64_t j = 0; j < cols; j++)                                                         \
          __builtin_prefetch(from + j * from_stride + i + ahead, 0, 2);                            \
      for (int64_t j = 0; j < j_end; j += side)                                                    \
        square_##WORD(from + j * from_stride + i, from_stride, to + i * to_stride + j, to_stride); \
    }                                                                                              \
    for (int64_t i = 0; i < rows; i++)                                                             \
      for (int64_t j = i < i_end ? j_end : 0; j < cols; j++)                                       \
        to[i * to_stride + j] = from[j * from_stride + i];                                         \
  }                                                                                                \
  static void fill_##WORD(WORD value, WORD *to, int64_t n)                                         \
  {                                                                                                \
    for (int64_t i = 0; i < n; i++) to[i] = value;                                                 \
  }                                                                                                \
  static void gather_##WORD(const WORD *from, int64_t stride, WORD *to, int64_t n)                 \
  {                                                                                                \
    for (int64_t i = 0; i < n; i++) to[i] = from[i * stride];                                      \
  }                                                                                                \
  static void scatter_##WORD(const WORD *from, WORD *to, int64_t stride, int64_t n)                \
  {                                                                                                \
    for (int64_t i = 0; i < n; i++) to[i * stride] = from[i];                                      \
  }
PACK(u32)
PACK(u64)

void shunt_pack_transpose(size_t size, const void *from, int64_t from_stride, void *to,
                          int64_t to_stride, int64_t rows, int64_t cols)
{
  if (size == 4)
    transpose_u32(from, from_stride, to, to_stride, rows, cols);
  else
    transpose_u64(from, from_stride, to, to_stride, rows, cols);
}

void shunt_pack_fill(size_t size, const void *value, void *to, int64_t n)
{
  if (size == 4)
    fill_u32(*(const u32 *)value, to, n);
  else
    fill_u64(*(const u64 *)value, to, n);
}

void shunt_pack_gather(size_t size, const void *from, int64_t stride, void *to, int64_t n)
{
  if (size == 4)
    gather_u32(from, stride, to, n);
  else
    gather_u64(from, stride, to, n);
}

void shunt_pack_scatter(size_t size, const void *from, void *to, int64_t stride, int64_t n)
{
  if (size == 4)
    scatter_u32(from, to, stride, n);
  else
    scatter_u64(from, to, stride, n);
}
