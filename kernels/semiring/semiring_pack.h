/* semiring_pack.h: copies between layouts, of elements of 4 or 8 bytes. */
#ifndef SHUNT_SEMIRING_PACK_H
#define SHUNT_SEMIRING_PACK_H

#include <stddef.h>
#include <stdint.h>

/* to(i, j) = from(j, i), both row-major with leading dimensions in elements:

       from, cols x rows             to, rows x cols
       j |....i....|                 i |...j...|

   `size` is 4 or 8 bytes.  */
void shunt_pack_transpose(size_t size, const void *from, int64_t from_stride, void *to,
                          int64_t to_stride, int64_t rows, int64_t cols);

/* to[i] = *value, n elements. */
void shunt_pack_fill(size_t size, const void *value, void *to, int64_t n);

/* to[i] = from[i * stride], n elements, and to[i * stride] = from[i]. */
void shunt_pack_gather(size_t size, const void *from, int64_t stride, void *to, int64_t n);
void shunt_pack_scatter(size_t size, const void *from, void *to, int64_t stride, int64_t n);

#endif
