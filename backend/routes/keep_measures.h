/* keep_measures.h: the end of a conversion that is right for every matrix, of which the host wants
   to know what it counted.  */
#ifndef SHUNT_KEEP_MEASURES_H
#define SHUNT_KEEP_MEASURES_H

#include "backend/plan/cache.h"
#include "backend/routes/route.h"

/* made: what the conversion returned, which is handed on if it failed.  Else nothing of the copy is
   irregular, and `bytes` of counts, device memory, become its measures; enqueued behind it.
   SHUNT_E_CUDA: that failed.  */
shunt_status shunt_keep_measures(const struct shunt_call *c, const struct shunt_packed_view *into,
                                 shunt_status made, const void *counts, size_t bytes);

#endif
