/* host_attention_row.h: one row of attention over the `vector` format, as the twin computes it
   (host_attention.c), for the host engine to fall back on. */
#ifndef SHUNT_HOST_ATTENTION_ROW_H
#define SHUNT_HOST_ATTENTION_ROW_H

#include "kernels/vector/attention/attention_kernels.h"

/* Row `row` of problem z = batch * heads + head, checked operands. */
void shunt_vector_attention_row(const struct shunt_vector_attention *p,
                                const struct shunt_vector *v, int64_t z, int64_t row);

#endif
