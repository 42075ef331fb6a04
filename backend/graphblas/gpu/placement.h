/* placement.h: whether a product is worth the way to the GPUs, how many are to share it, and how.

   Times are estimated (cost.h) for every way to deal it out (part.h) to each number of devices:
   what of S is not resident has to be brought, once, and B and C each time.

     columns   needs room for S on each       brings S to each       a share of B to each
     rows      room for a part of S           its part to each       B to each
     turns     room for a small part          S again each time      B once, or in each round

   Turns are for an S that has no room otherwise.  The best way is compared with the host:

     now         if   host - 1.3 stream  >  1.3 upload
     else later  once the sum of (host - 1.3 stream) over products with this S exceeds the upload

   The same bookkeeping decides when CUDA is started: once the products that would have gained
   from it have lost as much time on the host as the start takes.

   Thread-safety: calls with the same struct grb_gpu_placement or the same devices one at a time
   (under the engine's `residents_lock`).  No CUDA call is made.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PLACEMENT_H
#define SHUNT_GRAPHBLAS_GPU_PLACEMENT_H

#include "backend/graphblas/gpu/cost.h"
#include "backend/graphblas/gpu/device.h"
#include "backend/graphblas/gpu/view.h"

/* Products of an S that was not worth its upload yet: what each upload would have gained. */
struct grb_gpu_deferral {
  struct grb_gpu_key key;
  double gain; /* seconds */
};

enum { GRB_GPU_MOST_DEFERRALS = 16 };
/* All zero at first. */
struct grb_gpu_placement {
  struct grb_gpu_rates rates;
  double gain_so_far; /* seconds that the host took longer, before CUDA was started */
  struct grb_gpu_deferral deferrals[GRB_GPU_MOST_DEFERRALS];
  unsigned next_deferral;
  double foregone; /* seconds: what more devices would have saved so far */
  /* For tests; 0 and GRB_GPU_ANY_WAY: as is best. */
  int forced_devices;
  enum grb_gpu_way forced_way;
};

struct grb_gpu_estimate {
  struct grb_gpu_deal deal; /* the best */
  double upload, stream;    /* seconds: of S where it is missing, to stay; of the rest */
  double foregone;          /* more devices would have saved it; negative: what they had to, did */
};

/* Can a GPU gain from it at all?  False for what is small, not built, or written by the host
   faster than the bus brings it.  A few nanoseconds for small products.  */
bool grb_gpu_may_gain(const struct shunt_host_spmm *p);

/* The rates are set.  More devices are taken where they save time at once, or once they would have
   saved what they cost.  If S has no room at all, `stream` is out of reach.  */
struct grb_gpu_estimate grb_gpu_estimate(const struct grb_gpu_placement *l,
                                         const struct grb_gpu_view *v,
                                         struct grb_gpu_devices *devices);
/* In turns, on so many devices, whatever else there is room for.  No rounds: not even for that. */
struct grb_gpu_deal grb_gpu_turns(const struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                                  struct grb_gpu_devices *devices, int count);

/* A GPU has to be better by so much, since the estimates are not exact. */
#define GRB_GPU_MARGIN 1.3
/* This product would gain so many seconds: has the start of CUDA paid, with those before? */
bool grb_gpu_start_pays(struct grb_gpu_placement *l, double gain);

/* Before CUDA is started, with no device open: is it time?  Takes usual rates for granted. */
bool grb_gpu_worth_start(struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                         struct grb_gpu_devices *devices);
/* Afterwards: is the product to go to the GPU? */
bool grb_gpu_worth_product(struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                           struct grb_gpu_devices *devices);

#endif
