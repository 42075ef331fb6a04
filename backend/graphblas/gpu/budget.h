/* budget.h: what the engine may take of a device that other processes use, too.

   The budget of the packed copies (plan/memory/budget.h) is also that of what products of GraphBLAS
   take: one for all processes of a user on the device.  What is announced is what the device's pool
   has, as memory that a product gave back stays there.

     begin    before a product: the limit is what the others leave, an equal share at least;
              residents go, and the pool is trimmed, where there is more than that, or where
              another process' own allocation has failed
     take     before an allocation that passes what was announced
     end      after the product: what the pool has is announced

   The device is entered; under the engine's lock.  */
#ifndef SHUNT_GRAPHBLAS_GPU_BUDGET_H
#define SHUNT_GRAPHBLAS_GPU_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct grb_gpu_device;
struct shunt_budget;

/* Of a device; all zero: there is no table, and the process is as if alone. */
struct grb_gpu_budget {
  struct shunt_budget *shared;
  int64_t announced;
  uint32_t products;
  bool refused; /* the last take was */
};

/* Before a product: now and then, and when other processes ask, looks how much of the device this
   process may take, and frees residents beyond that, oldest first.  */
void grb_gpu_budget_begin(struct grb_gpu_device *d);
/* False: the others have not left so much; they hear of it. */
bool grb_gpu_budget_take(struct grb_gpu_device *d, int64_t taken);
void grb_gpu_budget_end(struct grb_gpu_device *d);

#endif
