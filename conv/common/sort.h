/* sort.h: a stable sort and a running sum on the device.  Private to conv/.

   CUB has both, but its headers include <iostream>, which makes a library depend on libstdc++, and
   nothing that is preloaded may.

   Both only enqueue, and work in `temporary`, device memory (256-byte aligned) of
   shunt_sort_bytes(n).  `place`: SHUNT_I32 or SHUNT_I64, the type of places and sums, which holds
   n. The same input gives the same bytes.  */
#ifndef SHUNT_CONV_SORT_H
#define SHUNT_CONV_SORT_H

#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enough for either of the two. */
size_t shunt_sort_bytes(int64_t n, shunt_type place);

struct shunt_pairs {
  uint64_t *keys; /* [n] */
  void *places;   /* [n] */
};

/* Sorts *pairs by bits first_bit <= b < last_bit of the keys; those equal in them keep their order.
   *spare are arrays of the same sizes; the two structs are exchanged as often as the
   arrays are, so that *pairs is the sorted one afterwards.  */
shunt_status shunt_sort_pairs(void *temporary, struct shunt_pairs *pairs, struct shunt_pairs *spare,
                              int64_t n, shunt_type place, int first_bit, int last_bit,
                              shunt_stream stream);

/* sums[i] becomes sums[0] + .. + sums[i]. */
shunt_status shunt_running_sum(void *temporary, void *sums, int64_t n, shunt_type place,
                               shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
