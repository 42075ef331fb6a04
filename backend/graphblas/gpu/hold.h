/* hold.h: inside of the engine: the devices, for products of whatever kind.

   Products take turns: whoever has the devices has them alone, but for the lists of residents,
   which others read meanwhile to estimate theirs.  */
#ifndef SHUNT_GRAPHBLAS_GPU_HOLD_H
#define SHUNT_GRAPHBLAS_GPU_HOLD_H

#include "backend/graphblas/gpu/gpu_engine.h"
#include "backend/graphblas/gpu/placement.h"

/* Is a product worth the way to the GPU, or CUDA's start?  No CUDA call is made, lists of residents
   are locked.  False while another thread starts CUDA, or if there is no device.  */
typedef bool (*grb_gpu_question)(struct grb_gpu_placement *l, struct grb_gpu_devices *d,
                                 bool started, const void *context);
bool grb_gpu_ask(grb_gpu_question worth, const void *context);

/* CUDA is started if need be; one device at least is open.  NULL: there is none. */
struct grb_gpu_devices *grb_gpu_hold(void);
/* s: what became of the product. */
void grb_gpu_give(shunt_status s);
/* Between the two: */
struct grb_gpu_counts *grb_gpu_held_counts(void);
void grb_gpu_lock_residents(bool lock);

#endif
