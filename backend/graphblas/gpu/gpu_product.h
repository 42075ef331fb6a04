/* gpu_product.h: one product on the first so many devices, from what is resident to what stays so.

   In each round (part.h), of which there is one unless parts of S take turns:

     find on each device | S as rows, of each part or once for all, where one is missing | make
     run: the threads are dealt out to the devices and take their tasks
     keep and release on each device

   A round whose parts of S do not fit is done in two halves.  On failure after pieces of C += S (x)
   B were written, in whatever round, the host adds what is missing.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PRODUCT_H
#define SHUNT_GRAPHBLAS_GPU_PRODUCT_H

#include <pthread.h>

#include "backend/graphblas/gpu/gpu_engine.h"
#include "backend/graphblas/gpu/shard.h"

/* deal.devices are open; parts of rows may be empty.  `residents_lock` is
   held while the devices' lists of residents are read or written, never by the caller.  `counts` is
   added to.  Statuses, and what they say about C, as grb_gpu_spmm's.  One product at a time.  */
shunt_status grb_gpu_product(struct grb_gpu_view *v, struct grb_gpu_devices *devices,
                             struct grb_gpu_deal deal, pthread_mutex_t *residents_lock,
                             struct grb_gpu_counts *counts);

#endif
