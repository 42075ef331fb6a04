/* fill.h: a value all over a piece of device memory. */
#ifndef SHUNT_GRAPHBLAS_GPU_FILL_H
#define SHUNT_GRAPHBLAS_GPU_FILL_H

#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* to[i] = value for i < count; type SHUNT_F32 or SHUNT_F64.  Enqueues one kernel. */
shunt_status grb_gpu_fill(void *to, int64_t count, shunt_type type, double value,
                          shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
