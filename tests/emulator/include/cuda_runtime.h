// cuda_runtime.h: the device language and the part of the runtime that this project uses, for
// the emulator (emulator.h).  Names and meanings are the CUDA Programming Guide's and the
// runtime's; what is missing here is missing because nothing needs it yet.
#ifndef SHUNT_EMULATOR_CUDA_RUNTIME_H
#define SHUNT_EMULATOR_CUDA_RUNTIME_H

// The standard library before the qualifiers: __noinline__ is also its own attribute's name.
#include <algorithm>
#include <functional>
#include <limits.h>
#include <math.h>
#include <memory>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

#include "emulator.h"

#define CUDART_VERSION 13000
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __CUDA_ARCH_LIST__ 900
#define __device__
#define __host__
#define __global__
#define __constant__ static
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

#include "device_functions.h"
#include "runtime_api.h"

#endif
