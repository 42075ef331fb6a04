/* device.h: the GPUs of this machine, as the GraphBLAS engine holds them.

   A device has three streams of its own (copies up, kernels, copies down), a memory pool,
   and a limit on what is taken from it.  The calling thread's CUDA context is
   left as it was found: everything runs between grb_gpu_enter and grb_gpu_leave.

   Thread-safety: grb_gpu_devices_open, _allocate and _release under the engine's lock; entering
   and leaving from any thread.  */
#ifndef SHUNT_GRAPHBLAS_GPU_DEVICE_H
#define SHUNT_GRAPHBLAS_GPU_DEVICE_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "backend/graphblas/gpu/budget.h"
#include "backend/graphblas/gpu/resident.h"
#include "kernels/common/device.h"

enum {
  GRB_GPU_MOST_DEVICES = 16,
  GRB_GPU_MOST_LANES = 64, /* threads that copy */
  GRB_GPU_SLOTS = 4,       /* of a lane, in whichever direction */
  /* A piece costs the bus 2 to 4 us on top of its bytes, and the driver 5; most blocks of B and C
     (gpu_cut.h) fit.  */
  GRB_GPU_SLOT_BYTES = 5 << 19,
  /* Behind the slots of a lane, for samples (proof.h). */
  GRB_GPU_LANE_SAMPLES = 1 << 16
};

struct grb_gpu_device {
  int ordinal;
  CUcontext context; /* the primary one */
  struct shunt_device about;
  int64_t most;  /* bytes that all processes may take together, */
  int64_t limit; /* and this one, now */
  int64_t taken;
  struct grb_gpu_budget budget;
  cudaMemPool_t pool;
  cudaStream_t up, compute, down;
  double rate_up, rate_down; /* measured, bytes per second, pinned memory */
  cudaEvent_t slot_done[GRB_GPU_MOST_LANES][GRB_GPU_SLOTS];
  int slot_events; /* how many of these exist */
  cudaEvent_t *events;
  int event_count;
  struct grb_gpu_resident_list residents;
};

struct grb_gpu_devices {
  int visible; /* what CUDA shows */
  int count;   /* the first so many that are of use are open */
  struct grb_gpu_device device[GRB_GPU_MOST_DEVICES];
  char *lane[GRB_GPU_MOST_LANES]; /* pinned: GRB_GPU_SLOTS slots each */
  int lanes;
};

/* Opens devices until `wanted` are open, or as many as there are.  `limit` < 0: a tenth of each
   device's memory.  SHUNT_OK if there is one at least; takes its time (CUDA starts).  */
shunt_status grb_gpu_devices_open(struct grb_gpu_devices *d, int wanted, int64_t limit);

/* Makes the device's context current, and gives back the one that was. */
shunt_status grb_gpu_enter(const struct grb_gpu_device *d, CUcontext *before);
void grb_gpu_leave(CUcontext before);

/* At least so many lanes, and events of every open device for each.  SHUNT_OK with fewer, if
   there is one at least: d->lanes says how many.  No device is entered.  */
shunt_status grb_gpu_lanes(struct grb_gpu_devices *d, int lanes);
/* At least so many events in d->events.  The device is entered. */
shunt_status grb_gpu_events(struct grb_gpu_device *d, int count);

/* Device memory in order of the compute stream, aligned to 256 bytes; 0 bytes: NULL.  What is kept
   is let go, the least recently used first, until the limit allows it.  The device is entered.  */
shunt_status grb_gpu_allocate(struct grb_gpu_device *d, int64_t bytes, void **out);
void grb_gpu_release(struct grb_gpu_device *d, void *memory, int64_t bytes);
/* Holds `e` if its hash says that it is fresh, else lets go of it: NULL.  The device is entered. */
struct grb_gpu_resident *grb_gpu_prove(struct grb_gpu_device *d, struct grb_gpu_resident *e,
                                       uint64_t hash);
/* The memory of `what` stays under this key; false: there is no place.  The device is entered. */
bool grb_gpu_keep(struct grb_gpu_device *d, struct grb_gpu_resident what,
                  const struct grb_gpu_key *key, uint64_t hash);
/* Lets go of an entry.  The device is entered. */
void grb_gpu_let_go(struct grb_gpu_device *d, struct grb_gpu_resident *e);

#endif
