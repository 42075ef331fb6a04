// cuda.h: the driver's part that this project uses: contexts, tensor maps.  Also for C.
#ifndef SHUNT_EMULATOR_CUDA_H
#define SHUNT_EMULATOR_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 } CUresult;
typedef struct CUctx_st *CUcontext;
typedef int CUdevice;
typedef struct CUuuid_st {
  char bytes[16];
} CUuuid;

// Of the calling host thread; NULL: none yet.
CUresult cuCtxGetCurrent(CUcontext *c);
CUresult cuCtxSetCurrent(CUcontext c);

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

typedef enum {
  CU_TENSOR_MAP_DATA_TYPE_UINT8,
  CU_TENSOR_MAP_DATA_TYPE_UINT16,
  CU_TENSOR_MAP_DATA_TYPE_UINT32,
  CU_TENSOR_MAP_DATA_TYPE_INT32,
  CU_TENSOR_MAP_DATA_TYPE_UINT64,
  CU_TENSOR_MAP_DATA_TYPE_INT64,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
} CUtensorMapDataType;
typedef enum { CU_TENSOR_MAP_INTERLEAVE_NONE } CUtensorMapInterleave;
typedef enum {
  CU_TENSOR_MAP_SWIZZLE_NONE,
  CU_TENSOR_MAP_SWIZZLE_32B,
  CU_TENSOR_MAP_SWIZZLE_64B,
  CU_TENSOR_MAP_SWIZZLE_128B
} CUtensorMapSwizzle;
typedef enum {
  CU_TENSOR_MAP_L2_PROMOTION_NONE,
  CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B
} CUtensorMapL2promotion;
typedef enum {
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
} CUtensorMapFloatOOBfill;

// Opaque to programs, 128 bytes, as the driver's; what stands in it is the emulator's.
typedef struct CUtensorMap {
  __attribute__((aligned(64))) uint64_t values; // address
  uint64_t sizes[2];                            // elements: along a row, rows
  uint64_t pitch;                               // bytes from row to row
  uint32_t box[2];                              // elements
  uint32_t element, swizzle; // bytes of an element; bytes of a row of the pattern, 0: none
  uint64_t magic;
  uint64_t unused[7];
} CUtensorMap;

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *values, const cuuint64_t *sizes, const cuuint64_t *pitches,
                                const cuuint32_t *box, const cuuint32_t *steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill outside);

#ifdef __cplusplus
}
#endif

#endif
