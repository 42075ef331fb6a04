/* frontier_bits.h: inside of the frontier products: bits that say which rows have which nodes, by
   row (a bit for each node) or by node (a bit for each row of a group).  */
#ifndef SHUNT_SEMIRING_FRONTIER_BITS_H
#define SHUNT_SEMIRING_FRONTIER_BITS_H

#include "kernels/semiring/frontier/frontier_kernels.h"
#include "kernels/semiring/semiring_operands.h"

/* Nodes begin <= j < end; begin is a multiple of 64. */
struct shunt_range {
  int64_t begin, end;
};

/* The column or row of entry q; `wide`, whether indices have 8 bytes, is a constant where loops are
   inlined for it.  */
static inline __attribute__((always_inline)) int64_t shunt_index_of(const struct shunt_sparse *s,
                                                                    bool wide, int64_t q)
{
  return shunt_index_at(s->indices, wide ? 8 : 4, q);
}

/* The part of a row's entries that is in the range.  Indices ascend. */
struct shunt_line shunt_line_within(const struct shunt_sparse *s, struct shunt_line line,
                                    struct shunt_range range);

/* Bit j of w[i] becomes bit i of w[j]. */
void shunt_bits_transpose(uint64_t w[64]);

/* By row: bit j - begin of `bits` says whether row i has node j. */
void shunt_bits_of_row(const struct shunt_lines *x, int64_t i, struct shunt_range range,
                       uint64_t *bits);

/* By node: bit s of out[j] says whether row first + s has node j.  At most 64 rows, or 8. */
void shunt_bits_words(const struct shunt_lines *x, int64_t first, int rows,
                      struct shunt_range range, uint64_t *out);
void shunt_bits_bytes(const struct shunt_lines *x, int64_t first, int rows,
                      struct shunt_range range, uint8_t *out);

/* Row s of n <= 64 bytes that are by node: bit j of the result is bit s of bytes[j]. */
uint64_t shunt_bits_pick(const uint8_t *bytes, int s, int64_t n);

/* A byte, 0 or 1, for each of n bits. */
void shunt_bits_spread(const uint64_t *bits, int64_t n, int8_t *present);

#endif
