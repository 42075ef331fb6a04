/* context.h: what Shunt knows and keeps of one CUDA context.

   struct shunt_context is made by bufferSize, a call that may take its time, and never by SpMM or
   SDDMM.  It lives as long as the process.  CUDA numbers contexts and never repeats a number, so
   what belonged to a destroyed context is never found again.  A forked child finds nothing of its
   parent's, as the CUDA context itself does not survive a fork.

   Thread-safety: all functions may be called from any thread.  */
#ifndef SHUNT_CONTEXT_H
#define SHUNT_CONTEXT_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>

#include "backend/costs/machine.h"
#include "backend/cublas/lazy_init.h"
#include "backend/plan/memory/workspace_limit.h"
#include "kernels/common/device.h"

struct shunt_cache;
struct shunt_budget;
struct shunt_cublaslt;

struct shunt_context {
  unsigned long long id; /* cuCtxGetId */
  int ordinal;           /* CUDA device */
  union {
    struct shunt_device device;   /* for kernels, */
    struct shunt_machine machine; /* which begins with it: for estimates */
  };
  struct shunt_cost_table costs; /* of the machine */
  int64_t memory_bytes;          /* of the whole device */
  cudaMemPool_t pool;            /* what copies are made in */
  struct shunt_cache *cache;
  struct shunt_lazy_init lazy;
  struct shunt_workspace_limit workspace_limit;
  struct shunt_budget *budget; /* of the budget of copies, with other processes; or NULL */
  _Atomic(struct shunt_cublaslt *) gemm; /* NULL until opened, or not to be had */
  bool gemm_tried;
  atomic_bool library_known;
  char library_path[1024]; /* of cuSPARSE, for cublaslt.h; "": not known yet */
};

/* That of the calling thread's current context, or NULL.  No CUDA runtime
   call, no lock: a few tens of nanoseconds.  */
struct shunt_context *shunt_context_find(void);
/* The same, made if it is missing.  NULL when it can't be (no device, no
   memory, a context in capture): the original library runs then.  */
struct shunt_context *shunt_context_make(void);

/* Where cuBLASLt is looked for; see cublaslt.h.  The first to say so counts. */
void shunt_context_know_library(struct shunt_context *context, const char *library_path);
/* Initializes what `set` names (lazy_init.h), whether it pays or not; returns at once where it is.
   Captures, of this thread or of others, stay as they are.  */
void shunt_context_initialize(struct shunt_context *context, uint32_t set);

/* Gives back what the current context's cache has of device memory; waits until the device has it.
   False: it had none.  For the program's allocations that fail.  */
bool shunt_context_release_memory(void);
/* For an allocation of the program's that has failed even then: in round 0 asks other processes to
   give memory back (memory/budget.h), in every round waits for 5 ms.  False: there is nothing to
   wait for, or 0.3 s have passed.  */
bool shunt_context_await_others(int round);
/* The program is about to free the allocation that `memory` is in, or NULL. */
void shunt_context_forget_memory(const void *memory);

/* What a stream is doing. */
struct shunt_capture {
  bool active;
  bool broken; /* capture was invalidated, or the stream cannot be asked */
};
struct shunt_capture shunt_capture_of(cudaStream_t stream);

#endif
