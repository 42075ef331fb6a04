#include "backend/graphblas/gpu/proof.h"

#include <string.h>

#include "backend/graphblas/gpu/pipeline/units.h"
#include "backend/plan/cuda_call.h"

static int64_t bytes_of(const struct grb_gpu_run *r, const struct shunt_full *m)
{
  return m->rows * m->cols * (int64_t)grb_gpu_element(r);
}

static int64_t samples_of(int64_t bytes, int64_t first)
{
  return (bytes - GRB_GPU_SAMPLE - first) / GRB_GPU_SAMPLE_EVERY + 1;
}

/* A signalling NaN, which no arithmetic gives. */
static void write_mark(char *to, size_t size)
{
  const uint32_t of_float = 0x7fa5c3e1;
  const uint64_t of_double = 0x7ff4c3e1a5965a69;
  memcpy(to, size == sizeof of_float ? (const void *)&of_float : &of_double, size);
}

static bool is_marked(const char *at, size_t size)
{
  char mark[sizeof(double)];
  write_mark(mark, size);
  return memcmp(at, mark, size) == 0;
}

void grb_gpu_proof_begin(struct grb_gpu_run *r, char *room)
{
  /* Under the engine's lock; steps through all places of a MiB, far from each other. */
  static uint64_t turn;
  const uint64_t places = GRB_GPU_SAMPLE_EVERY / GRB_GPU_SAMPLE - 1;
  r->sample_first = (int64_t)(turn++ * 40503 % places) * GRB_GPU_SAMPLE;
  r->samples = room;
  if (!r->c_pinned) return;
  const int64_t bytes = bytes_of(r, &r->p->c);
  for (int64_t at = r->sample_first; at + GRB_GPU_SAMPLE <= bytes; at += GRB_GPU_SAMPLE_EVERY)
    write_mark(r->c_pinned + at, grb_gpu_element(r));
}

shunt_status grb_gpu_proof_fetch_b(struct grb_gpu_run *r)
{
  const int64_t count = samples_of(bytes_of(r, &r->p->b), r->sample_first);
  return SHUNT_CUDA(cudaMemcpy2DAsync(
      r->samples, GRB_GPU_SAMPLE, grb_gpu_b_as_sent(r, 0) + r->sample_first, GRB_GPU_SAMPLE_EVERY,
      GRB_GPU_SAMPLE, (size_t)count, cudaMemcpyDeviceToHost, r->device->up));
}

bool grb_gpu_proof_holds(const struct grb_gpu_run *r)
{
  bool good = true;
  if (r->b_pinned) {
    const int64_t count = samples_of(bytes_of(r, &r->p->b), r->sample_first);
    const char *b = r->b_pinned + r->sample_first;
    for (int64_t i = 0; i < count; i++)
      good &= memcmp(b + i * GRB_GPU_SAMPLE_EVERY, r->samples + i * GRB_GPU_SAMPLE,
                     GRB_GPU_SAMPLE) == 0;
  }
  const int64_t bytes = r->c_pinned ? bytes_of(r, &r->p->c) : 0;
  for (int64_t at = r->sample_first; at + GRB_GPU_SAMPLE <= bytes; at += GRB_GPU_SAMPLE_EVERY)
    good &= !is_marked(r->c_pinned + at, grb_gpu_element(r));
  return good;
}
