/* gpu_peers.c: cuSPARSE and cuBLAS, opened when they are here.

   The command has no link dependency on either: it starts, and times Shunt's own
   kernels, where they are missing or of another major version.  */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "backend/tool/bench/gpu_peers.h"

enum { CUBLAS_WORKSPACE = 64 << 20 };

/* ---- opening ---------------------------------------------------------------- */

void *gpu_open_library(const char *const *names)
{
  char path[512];
  const char *home = getenv("CUDA_HOME");
  for (int i = 0; names[i]; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  for (int i = 0; names[i]; i++) {
    snprintf(path, sizeof path, "%s/lib64/%s", home && *home ? home : "/usr/local/cuda", names[i]);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  return NULL;
}

#define FIND_SPARSE(f) good = (p->sparse.f = (__typeof__(&f))dlsym(p->sparse_library, #f)) && good;
#define FIND_BLAS(f) good = (p->blas.f = (__typeof__(&f))dlsym(p->blas_library, #f)) && good;

static void open_cusparse(struct gpu_peers *p, struct gpu *gpu, int *version)
{
  static const char *const names[] = {"libcusparse.so.12", "libcusparse.so.13", "libcusparse.so",
                                      NULL};
  bool good = (p->sparse_library = gpu_open_library(names)) != NULL;
  if (good) {
    CUSPARSE_FUNCTIONS(FIND_SPARSE)
  }
  if (!good || p->sparse.cusparseCreate(&p->sparse_handle) != CUSPARSE_STATUS_SUCCESS) {
    p->sparse_handle = NULL;
    return;
  }
  p->sparse.cusparseSetStream(p->sparse_handle, gpu->stream);
  p->sparse.cusparseGetVersion(p->sparse_handle, version);
}

static void open_cublas(struct gpu_peers *p, struct gpu *gpu, int *version)
{
  static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL};
  bool good = (p->blas_library = gpu_open_library(names)) != NULL;
  if (good) {
    CUBLAS_FUNCTIONS(FIND_BLAS)
  }
  if (!good || p->blas.cublasCreate_v2(&p->blas_handle) != CUBLAS_STATUS_SUCCESS) {
    p->blas_handle = NULL;
    return;
  }
  p->blas.cublasSetStream_v2(p->blas_handle, gpu->stream);
  /* A workspace of its own: without one, a captured GEMM allocates in the graph. */
  if (cudaMalloc(&p->blas_workspace, CUBLAS_WORKSPACE) == cudaSuccess)
    p->blas.cublasSetWorkspace_v2(p->blas_handle, p->blas_workspace, CUBLAS_WORKSPACE);
  /* Sums of split products stay in f32, as Shunt promises. */
  p->blas.cublasSetMathMode(p->blas_handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  p->blas.cublasGetVersion_v2(p->blas_handle, version);
}

struct gpu_peers *gpu_peers_open(struct gpu *gpu, struct bench_machine *m)
{
  struct gpu_peers *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  open_cusparse(p, gpu, &m->cusparse);
  open_cublas(p, gpu, &m->cublas);
  return p;
}

void gpu_peers_close(struct gpu_peers *p)
{
  if (!p) return;
  if (p->sparse_handle) p->sparse.cusparseDestroy(p->sparse_handle);
  if (p->blas_handle) p->blas.cublasDestroy_v2(p->blas_handle);
  cudaFree(p->blas_workspace);
  gpu_cublaslt_close(p->lt);
  free(p); /* the libraries stay: unloading CUDA's is not safe */
}

bool gpu_has_cusparse(const struct gpu *gpu)
{
  return gpu->peers && gpu->peers->sparse_handle;
}

bool gpu_has_cublas(const struct gpu *gpu)
{
  return gpu->peers && gpu->peers->blas_handle;
}

/* ---- scalars, types, layouts -------------------------------------------------- */

union gpu_scalar gpu_scalar_of(const struct shunt_scalar *s, shunt_type compute)
{
  switch (compute) {
  case SHUNT_F64: return (union gpu_scalar){.f64 = s->host};
  case SHUNT_I32: return (union gpu_scalar){.i32 = (int32_t)s->host};
  case SHUNT_C32: return (union gpu_scalar){.c32 = {(float)s->host, (float)s->imaginary}};
  case SHUNT_C64: return (union gpu_scalar){.c64 = {s->host, s->imaginary}};
  default: return (union gpu_scalar){.f32 = (float)s->host};
  }
}

shunt_type gpu_compute_of(const struct shunt_problem *p)
{
  return p->op == SHUNT_SPMM ? p->spmm.compute : p->sddmm.compute;
}

void gpu_find_scalars(const struct gpu_case *g, struct gpu_scalars *s)
{
  bool spmm = g->p.op == SHUNT_SPMM;
  const struct shunt_scalar *both[2] = {spmm ? &g->p.spmm.alpha : &g->p.sddmm.alpha,
                                        spmm ? &g->p.spmm.beta : &g->p.sddmm.beta};
  for (int i = 0; i < 2; i++) {
    s->host[i] = gpu_scalar_of(both[i], gpu_compute_of(&g->p));
    s->at[i] = both[i]->device ? both[i]->device : &s->host[i];
  }
}

void gpu_peers_scalars(struct gpu_case *g)
{
  struct gpu_peers *p = g->gpu->peers;
  bool device = g->c->device_scalars;
  if (gpu_has_cusparse(g->gpu))
    p->sparse.cusparseSetPointerMode(p->sparse_handle, device ? CUSPARSE_POINTER_MODE_DEVICE
                                                              : CUSPARSE_POINTER_MODE_HOST);
  if (gpu_has_cublas(g->gpu))
    p->blas.cublasSetPointerMode_v2(p->blas_handle, device && g->p.op == SHUNT_SPMM
                                                        ? CUBLAS_POINTER_MODE_DEVICE
                                                        : CUBLAS_POINTER_MODE_HOST);
}

cudaDataType gpu_cuda_type(shunt_type t)
{
  static const cudaDataType type[SHUNT_TYPE_COUNT] = {
      CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F, CUDA_R_8I,  CUDA_R_32I,
      CUDA_R_64I, CUDA_R_64U,  CUDA_R_16I, CUDA_C_32F, CUDA_C_64F, CUDA_R_8U};
  return type[t];
}

bool gpu_is_row_major(const struct shunt_dense *d)
{
  return d->col_stride == 1 && d->row_stride >= d->cols;
}

int gpu_leading(const struct shunt_dense *d)
{
  return (int)(gpu_is_row_major(d) ? d->row_stride : d->col_stride);
}
