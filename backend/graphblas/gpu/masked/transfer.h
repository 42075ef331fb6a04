/* transfer.h: an array between the program's memory and the first device, in pieces through pinned
   slots, by some threads.

     up      piece --host()--> slot ---bus---> device
     down    device ---bus---> slot --host()--> piece

   Each thread has pieces of its own in turn, and GRB_GPU_SLOTS of them under way.  */
#ifndef SHUNT_GRAPHBLAS_GPU_TRANSFER_H
#define SHUNT_GRAPHBLAS_GPU_TRANSFER_H

#include "backend/graphblas/gpu/device.h"

struct grb_gpu_transfer {
  bool up;
  void *device; /* [count] elements of `size` bytes */
  int64_t count;
  size_t size;
  /* Fills the slot with elements first <= p < first + count, or takes them from it; from any
     thread. */
  void (*host)(const void *context, int64_t first, int64_t count, void *slot);
  const void *context;
};

/* Complete on return.  The devices are held, with one lane at least, none is entered. */
shunt_status grb_gpu_transfer(struct grb_gpu_devices *d, int threads,
                              const struct grb_gpu_transfer *t);

#endif
