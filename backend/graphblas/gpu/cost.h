/* cost.h: what a product takes on the host engine and on the GPUs, in seconds.

   Estimates for the choice between the two, from sizes and machine constants.  Pure.  */
#ifndef SHUNT_GRAPHBLAS_GPU_COST_H
#define SHUNT_GRAPHBLAS_GPU_COST_H

#include "kernels/semiring/semiring_kernels.h"

struct grb_gpu_rates {
  double up, down; /* bytes per second between pinned memory and one device */
  double gather;   /* bytes of B per second in the kernel */
};

/* An H200 on PCIe 5, taken for granted until a device has been measured. */
struct grb_gpu_rates grb_gpu_usual_rates(void);

/* Bytes per second between the program's memory and pinned memory. */
double grb_gpu_copy_rate(int threads);
/* Rows from columns, on the host. */
double grb_gpu_transpose_seconds(int64_t entries, int threads);

/* The product by the host engine. */
double grb_gpu_host_seconds(const struct shunt_host_spmm *p);

/* What one of so many devices has of a product, as shares of the whole; those of B may be more than
   1, if it comes again and again.  */
struct grb_gpu_load {
  int devices;
  double s, b, c;
};
/* Bringing their shares of S to `l->devices`. */
double grb_gpu_upload_seconds(const struct shunt_host_spmm *p, const struct grb_gpu_rates *r,
                              const struct grb_gpu_load *l);
/* B and C; S is there. */
double grb_gpu_stream_seconds(const struct shunt_host_spmm *p, const struct grb_gpu_rates *r,
                              const struct grb_gpu_load *l);
/* What each round costs, besides. */
double grb_gpu_round_seconds(int devices);

#endif
