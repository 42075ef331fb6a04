/* random_csr.h: CSR matrices that own their arrays, for unit tests. */
#ifndef RANDOM_CSR_H
#define RANDOM_CSR_H

#include <stdlib.h>

#include "tests/unit/random.h"

/* The view holds its index arrays as const. */
struct owned {
  struct shunt_csr a;
  void *offsets, *columns;
};

/* No entries yet, and room for some; exactly as large as said, for sanitizers to watch. */
static inline struct owned owned_new(int64_t rows, int64_t cols, int64_t room, shunt_type index,
                                     shunt_type value, int base)
{
  struct owned o;
  size_t size = shunt_type_size(index);

  o.offsets = calloc((size_t)rows + 1, size);
  o.columns = calloc((size_t)room + 1, size);
  o.a = (struct shunt_csr){.rows = rows,
                           .cols = cols,
                           .row_offsets = o.offsets,
                           .columns = o.columns,
                           .index_type = index,
                           .value_type = value,
                           .base = base};
  o.a.values = calloc((size_t)room + 1, shunt_type_size(value));
  return o;
}

static inline void owned_free(struct owned *o)
{
  free(o->offsets);
  free(o->columns);
  free(o->a.values);
}

#endif
