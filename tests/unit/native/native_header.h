/* native_header.h: see native_header.c. */
#ifndef NATIVE_HEADER_H
#define NATIVE_HEADER_H

#include <stddef.h>

enum { NATIVE_HEADER_FACTS = 42 };
extern const size_t native_header_facts[NATIVE_HEADER_FACTS];

/* What to compare, as each of the two sees it. */
#define NATIVE_HEADER_LIST                                                                         \
  SHUNT_OK, SHUNT_E_UNSUPPORTED, SHUNT_E_WORKSPACE, SHUNT_E_MEMORY, SHUNT_E_CUDA,                  \
      SHUNT_E_ARGUMENT, SHUNT_E_INPUT, SHUNT_E_WRITTEN, SHUNT_F16, SHUNT_BF16, SHUNT_F32,          \
      SHUNT_F64, SHUNT_I8, SHUNT_I32, SHUNT_I64, sizeof(struct shunt_csr),                         \
      offsetof(struct shunt_csr, rows), offsetof(struct shunt_csr, cols),                          \
      offsetof(struct shunt_csr, nnz), offsetof(struct shunt_csr, row_offsets),                    \
      offsetof(struct shunt_csr, columns), offsetof(struct shunt_csr, values),                     \
      offsetof(struct shunt_csr, index_type), offsetof(struct shunt_csr, value_type),              \
      offsetof(struct shunt_csr, base), sizeof(shunt_status), sizeof(shunt_type), SHUNT_I16,       \
      SHUNT_U8, sizeof(struct shunt_integers), offsetof(struct shunt_integers, values),            \
      offsetof(struct shunt_integers, bits), offsetof(struct shunt_integers, rows),                \
      offsetof(struct shunt_integers, cols), offsetof(struct shunt_integers, row_bytes),           \
      offsetof(struct shunt_integers, is_unsigned), sizeof(struct shunt_scaling),                  \
      offsetof(struct shunt_scaling, type), offsetof(struct shunt_scaling, scale),                 \
      offsetof(struct shunt_scaling, tensor_scale), offsetof(struct shunt_scaling, row_scales),    \
      offsetof(struct shunt_scaling, col_scales)

#endif
