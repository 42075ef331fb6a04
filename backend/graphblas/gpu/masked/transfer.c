#include "backend/graphblas/gpu/masked/transfer.h"

#include <stdatomic.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "backend/plan/cuda_call.h"

struct copy {
  const struct grb_gpu_transfer *t;
  struct grb_gpu_device *device;
  int lane;
  char *memory;          /* of the lane */
  int64_t piece, pieces; /* elements of a piece; how many pieces */
};

static int64_t count_of(const struct copy *c, int64_t piece)
{
  const int64_t left = c->t->count - piece * c->piece;
  return left < c->piece ? left : c->piece;
}

static char *slot_memory(const struct copy *c, int slot)
{
  return c->memory + slot * (int64_t)GRB_GPU_SLOT_BYTES;
}

static shunt_status enqueue(const struct copy *c, int64_t piece, int slot)
{
  const struct grb_gpu_transfer *t = c->t;
  const int64_t first = piece * c->piece, count = count_of(c, piece);
  const size_t bytes = (size_t)count * t->size;
  char *device = (char *)t->device + first * (int64_t)t->size, *memory = slot_memory(c, slot);
  cudaStream_t stream = t->up ? c->device->up : c->device->down;
  if (t->up) t->host(t->context, first, count, memory);
  const shunt_status s =
      SHUNT_CUDA(t->up ? cudaMemcpyAsync(device, memory, bytes, cudaMemcpyHostToDevice, stream)
                       : cudaMemcpyAsync(memory, device, bytes, cudaMemcpyDeviceToHost, stream));
  if (s != SHUNT_OK) return s;
  return SHUNT_CUDA(cudaEventRecord(c->device->slot_done[c->lane][slot], stream));
}

static shunt_status settle(const struct copy *c, int64_t piece, int slot)
{
  const struct grb_gpu_transfer *t = c->t;
  const shunt_status s = SHUNT_CUDA(cudaEventSynchronize(c->device->slot_done[c->lane][slot]));
  if (s == SHUNT_OK && !t->up)
    t->host(t->context, piece * c->piece, count_of(c, piece), slot_memory(c, slot));
  return s;
}

/* Pieces first, first + step, ... */
static shunt_status copy_pieces(const struct copy *c, int64_t first, int64_t step)
{
  shunt_status s = SHUNT_OK;
  int64_t begun = 0, done = 0;
  while (s == SHUNT_OK && (first + begun * step < c->pieces || done < begun)) {
    const bool more = first + begun * step < c->pieces;
    if (begun - done == GRB_GPU_SLOTS || !more) {
      s = settle(c, first + done * step, (int)(done % GRB_GPU_SLOTS));
      done++;
    } else {
      s = enqueue(c, first + begun * step, (int)(begun % GRB_GPU_SLOTS));
      begun++;
    }
  }
  return s;
}

static shunt_status copy_share(struct copy c, int number, int present)
{
  CUcontext before;
  shunt_status s = grb_gpu_enter(c.device, &before);
  if (s != SHUNT_OK) return s;
  s = copy_pieces(&c, number, present);
  /* What failed half-way may still use the slots. */
  if (s != SHUNT_OK) cudaStreamSynchronize(c.t->up ? c.device->up : c.device->down);
  grb_gpu_leave(before);
  return s;
}

/* More wait for the driver's locks (gpu_product.c). */
enum { MOST_THREADS = 16 };

shunt_status grb_gpu_transfer(struct grb_gpu_devices *d, int threads,
                              const struct grb_gpu_transfer *t)
{
  struct copy c = {.t = t, .device = &d->device[0], .piece = GRB_GPU_SLOT_BYTES / (int64_t)t->size};
  atomic_int status = SHUNT_OK;
  c.pieces = (t->count + c.piece - 1) / c.piece;
  if (threads > d->lanes) threads = d->lanes;
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  if (threads > c.pieces) threads = (int)c.pieces;
  if (c.pieces == 0) return SHUNT_OK;
#pragma omp parallel num_threads(threads)
  {
#ifdef _OPENMP
    const int number = omp_get_thread_num(), present = omp_get_num_threads();
#else
    const int number = 0, present = 1;
#endif
    struct copy mine = c;
    mine.lane = number;
    mine.memory = d->lane[number];
    const shunt_status s = copy_share(mine, number, present);
    if (s != SHUNT_OK) atomic_store(&status, (int)s);
  }
  return (shunt_status)atomic_load(&status);
}
