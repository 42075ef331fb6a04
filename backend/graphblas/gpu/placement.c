#include "backend/graphblas/gpu/placement.h"

#include <string.h>

#include "backend/graphblas/gpu/gpu_cut.h"
#include "backend/graphblas/gpu/gpu_semiring.h"
#include "backend/options/options.h"

/* Of multiply-adds: below it a product is over before a GPU has begun. */
enum { LEAST_WORK = 4000000 };
/* Seconds: what the start of CUDA takes. */
#define START 0.4

bool grb_gpu_may_gain(const struct shunt_host_spmm *p)
{
  if (p->s.nnz < LEAST_WORK / 4096 || (double)p->s.nnz * (double)p->c.cols < LEAST_WORK)
    return false;
  /* The host writes such a C faster than the bus brings it. */
  return grb_gpu_built(p) && !grb_gpu_constant_b(p);
}

struct grb_gpu_estimate grb_gpu_estimate(const struct grb_gpu_view *v,
                                         struct grb_gpu_devices *devices,
                                         const struct grb_gpu_rates *rates)
{
  struct grb_gpu_estimate best = {1, 0, 1e30};
  int most = devices->visible > 0 ? devices->visible : 1;
  if (most > v->threads) most = v->threads;
  if (most > grb_gpu_pieces(v->p)) most = (int)grb_gpu_pieces(v->p);
  for (int n = 1; n <= most; n++) {
    int missing = 0;
    bool b_resident = true;
    for (int i = 0; i < n; i++) {
      struct grb_gpu_resident_list *residents = &devices->device[i].residents;
      bool open = i < devices->count;
      if (!open || !grb_gpu_view_find_sparse(v, residents)) missing++;
      if (!open || !grb_gpu_view_find_dense(v, residents, grb_gpu_share_begin(v->p, i, n),
                                            grb_gpu_share_begin(v->p, i + 1, n)))
        b_resident = false;
    }
    struct grb_gpu_estimate e = {n, missing ? grb_gpu_upload_seconds(v->p, rates, missing) : 0,
                                 grb_gpu_stream_seconds(v->p, rates, b_resident, n)};
    /* Each has narrower parts of the rows, and all share the host's memory. */
    if (n > 1 && GRB_GPU_MARGIN * (e.upload + e.stream) > best.upload + best.stream) continue;
    /* A device that is not open yet costs a second start. */
    if (n > 1 && n > devices->count && e.upload + e.stream + START > best.upload + best.stream)
      continue;
    if (e.upload + e.stream < best.upload + best.stream) best = e;
  }
  return best;
}

/* An upload that pays only over several products is made once those that went by without would
   have paid it.  */
static bool upload_pays_later(struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                              double gain, double upload)
{
  struct grb_gpu_deferral *s = NULL;
  if (!v->s_keyed || gain <= 0) return false;
  for (unsigned i = 0; !s && i < GRB_GPU_MOST_DEFERRALS; i++)
    if (memcmp(&l->deferrals[i].key, &v->s_key, sizeof v->s_key) == 0) s = &l->deferrals[i];
  if (!s) {
    s = &l->deferrals[l->next_deferral++ % GRB_GPU_MOST_DEFERRALS];
    *s = (struct grb_gpu_deferral){v->s_key, 0};
  }
  s->gain += gain;
  return s->gain > upload;
}

/* Of a device: S, and the narrowest strips. */
static int64_t least_bytes(const struct shunt_host_spmm *p)
{
  const int64_t size = (int64_t)shunt_type_size(p->semiring.type);
  return p->s.nnz * (4 + size) + 4 * p->s.rows +
         16 * (GRB_GPU_RING_B * p->s.cols + GRB_GPU_RING_C * p->s.rows);
}

static bool fits(const struct shunt_host_spmm *p, const struct grb_gpu_devices *devices)
{
  int64_t limit = devices->count > 0 ? devices->device[0].most : shunt_options()->cache_bytes;
  return limit < 0 || least_bytes(p) <= limit;
}

bool grb_gpu_start_pays(struct grb_gpu_placement *l, double gain)
{
  return gain > 0 && (l->gain_so_far += gain) > START;
}

bool grb_gpu_worth_start(struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                         struct grb_gpu_devices *devices)
{
  if (!fits(v->p, devices)) return false;
  l->rates = grb_gpu_usual_rates();
  struct grb_gpu_estimate e = grb_gpu_estimate(v, devices, &l->rates);
  double gain = grb_gpu_host_seconds(v->p) - GRB_GPU_MARGIN * e.stream;
  return grb_gpu_start_pays(l, gain);
}

bool grb_gpu_worth_product(struct grb_gpu_placement *l, const struct grb_gpu_view *v,
                           struct grb_gpu_devices *devices)
{
  if (!fits(v->p, devices)) return false;
  struct grb_gpu_estimate e = grb_gpu_estimate(v, devices, &l->rates);
  double gain = grb_gpu_host_seconds(v->p) - GRB_GPU_MARGIN * e.stream;
  return gain > GRB_GPU_MARGIN * e.upload || upload_pays_later(l, v, gain, e.upload);
}
