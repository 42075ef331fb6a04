#include "backend/graphblas/gpu/device.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/plan/cuda_call.h"
#include "backend/plan/memory/budget.h"

/* The runtime chooses a device per thread and would leave it chosen; the driver's stack of
   contexts is what the program itself may be using.  Through the runtime, so that nothing links
   against libcuda.  */
static struct {
  CUresult (*get)(CUcontext *);
  CUresult (*set)(CUcontext);
  CUresult (*uuid)(CUuuid *, CUdevice); /* NULL: none */
} driver;

static shunt_status from_driver(CUresult r)
{
  return r == CUDA_SUCCESS ? SHUNT_OK : SHUNT_E_CUDA;
}

static shunt_status find_entry(const char *name, void *to)
{
  void *symbol = NULL;
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  shunt_status s =
      SHUNT_CUDA(cudaGetDriverEntryPointByVersion(name, &symbol, 12000, cudaEnableDefault, &found));
  if (s == SHUNT_OK && (found != cudaDriverEntryPointSuccess || !symbol)) s = SHUNT_E_UNSUPPORTED;
  if (s == SHUNT_OK) memcpy(to, &symbol, sizeof symbol);
  return s;
}

shunt_status grb_gpu_enter(const struct grb_gpu_device *d, CUcontext *before)
{
  shunt_status s = SHUNT_TRY_OR(SHUNT_E_CUDA, from_driver(driver.get(before)));
  if (s == SHUNT_OK && *before != d->context)
    s = SHUNT_TRY_OR(SHUNT_E_CUDA, from_driver(driver.set(d->context)));
  cudaGetLastError(); /* an error of long ago is not to be taken for the next launch's */
  return s;
}

void grb_gpu_leave(CUcontext before)
{
  driver.set(before);
}

/* ---- opening ---------------------------------------------------------------------------- */

static shunt_status make_streams(struct grb_gpu_device *d)
{
  cudaStream_t *stream[] = {&d->up, &d->compute, &d->down};
  struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                   .location = {cudaMemLocationTypeDevice, d->ordinal}};
  uint64_t keep = (uint64_t)d->limit;
  shunt_status s = SHUNT_OK;
  for (int i = 0; s == SHUNT_OK && i < 3; i++)
    s = SHUNT_CUDA(cudaStreamCreateWithFlags(stream[i], cudaStreamNonBlocking));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaMemPoolCreate(&d->pool, &props));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMemPoolSetAttribute(d->pool, cudaMemPoolAttrReleaseThreshold, &keep));
  return s;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Bytes per second of copies as large as the pipeline makes them, the best of a few. */
static shunt_status measure(struct grb_gpu_device *d, void *pinned, void *device, bool up,
                            double *rate)
{
  const size_t bytes = GRB_GPU_SLOT_BYTES;
  shunt_status s = SHUNT_OK;
  *rate = 0;
  for (int round = 0; s == SHUNT_OK && round < 4; round++) {
    double begin = now();
    for (int i = 0; s == SHUNT_OK && i < 4; i++)
      s = SHUNT_CUDA(up ? cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, d->up)
                        : cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, d->up));
    if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamSynchronize(d->up));
    double seconds = now() - begin;
    if (s == SHUNT_OK && seconds > 0 && 4 * (double)bytes / seconds > *rate)
      *rate = 4 * (double)bytes / seconds;
  }
  return s;
}

static shunt_status measure_both(struct grb_gpu_device *d)
{
  void *pinned = NULL, *device = NULL;
  shunt_status s = SHUNT_CUDA(cudaHostAlloc(&pinned, GRB_GPU_SLOT_BYTES, cudaHostAllocDefault));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaMalloc(&device, GRB_GPU_SLOT_BYTES));
  if (s == SHUNT_OK) s = measure(d, pinned, device, true, &d->rate_up);
  if (s == SHUNT_OK) s = measure(d, pinned, device, false, &d->rate_down);
  if (device) cudaFree(device);
  if (pinned) cudaFreeHost(pinned);
  return s;
}

static void close_device(struct grb_gpu_device *d)
{
  cudaStream_t stream[] = {d->up, d->compute, d->down};
  shunt_budget_close(d->budget.shared);
  if (d->pool) cudaMemPoolDestroy(d->pool);
  for (int i = 0; i < 3; i++)
    if (stream[i]) cudaStreamDestroy(stream[i]);
  memset(d, 0, sizeof *d);
}

/* The runtime numbers devices as the driver does. */
static struct shunt_budget *open_budget(int ordinal)
{
  CUuuid u;
  unsigned char uuid[16];
  if (!driver.uuid || driver.uuid(&u, ordinal) != CUDA_SUCCESS) return NULL;
  memcpy(uuid, u.bytes, sizeof uuid);
  return shunt_budget_open("/dev/shm", uuid);
}

static shunt_status open_device(struct grb_gpu_device *d, int ordinal, int64_t limit)
{
  int64_t memory = 0;
  memset(d, 0, sizeof *d);
  d->ordinal = ordinal;
  shunt_status s = SHUNT_CUDA(cudaSetDevice(ordinal));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaFree(NULL)); /* makes the context, if that did not */
  if (s == SHUNT_OK) s = SHUNT_TRY_OR(SHUNT_E_CUDA, from_driver(driver.get(&d->context)));
  if (s == SHUNT_OK) s = shunt_device_read(d->ordinal, &d->about, &memory);
  d->most = d->limit = limit >= 0 ? limit : memory / 10;
  if (s == SHUNT_OK) s = make_streams(d);
  if (s == SHUNT_OK) s = measure_both(d);
  if (s == SHUNT_OK) d->budget.shared = open_budget(d->ordinal);
  if (s != SHUNT_OK) close_device(d);
  return s;
}

shunt_status grb_gpu_devices_open(struct grb_gpu_devices *d, int wanted, int64_t limit)
{
  CUcontext before = NULL;
  shunt_status s = SHUNT_OK;
  if (d->count >= wanted || (d->count > 0 && d->count == d->visible)) return SHUNT_OK;
  if (d->visible == 0) {
    if (SHUNT_CUDA(cudaGetDeviceCount(&d->visible)) != SHUNT_OK) d->visible = 0;
    if (d->visible == 0) return SHUNT_E_UNSUPPORTED;
    if (d->visible > GRB_GPU_MOST_DEVICES) d->visible = GRB_GPU_MOST_DEVICES;
    s = find_entry("cuCtxGetCurrent", &driver.get);
    if (s == SHUNT_OK) s = find_entry("cuCtxSetCurrent", &driver.set);
    if (s == SHUNT_OK && find_entry("cuDeviceGetUuid", &driver.uuid) != SHUNT_OK)
      driver.uuid = NULL;
  }
  if (s == SHUNT_OK) s = SHUNT_TRY_OR(SHUNT_E_CUDA, from_driver(driver.get(&before)));
  if (s == SHUNT_OK) {
    /* One that can't be opened ends the search: they are alike on most machines. */
    while (s == SHUNT_OK && d->count < wanted && d->count < d->visible)
      if ((s = open_device(&d->device[d->count], d->count, limit)) == SHUNT_OK) d->count++;
    driver.set(before);
  }
  if (s != SHUNT_OK) d->visible = d->count;
  return d->count > 0 ? SHUNT_OK : s;
}

/* ---- lanes and events ------------------------------------------------------------------- */

static shunt_status make_events(cudaEvent_t *event, int *count, int wanted)
{
  shunt_status s = SHUNT_OK;
  while (s == SHUNT_OK && *count < wanted)
    if ((s = SHUNT_CUDA(cudaEventCreateWithFlags(&event[*count], cudaEventDisableTiming))) ==
        SHUNT_OK)
      ++*count;
  return s;
}

shunt_status grb_gpu_events(struct grb_gpu_device *d, int count)
{
  if (count > d->event_count) {
    cudaEvent_t *larger = SHUNT_TRY_OR(NULL, realloc(d->events, (size_t)count * sizeof *larger));
    if (!larger) return SHUNT_E_MEMORY;
    d->events = larger;
  }
  return make_events(d->events, &d->event_count, count);
}

static shunt_status lane_events(struct grb_gpu_device *d, int lanes)
{
  CUcontext before;
  shunt_status s = grb_gpu_enter(d, &before);
  if (s != SHUNT_OK) return s;
  s = make_events(&d->slot_done[0][0], &d->slot_events, lanes * GRB_GPU_SLOTS);
  grb_gpu_leave(before);
  return s;
}

shunt_status grb_gpu_lanes(struct grb_gpu_devices *d, int lanes)
{
  CUcontext before;
  shunt_status s = SHUNT_OK;
  if (lanes > GRB_GPU_MOST_LANES) lanes = GRB_GPU_MOST_LANES;
  if (d->lanes < lanes) {
    s = grb_gpu_enter(&d->device[0], &before);
    if (s != SHUNT_OK) return s;
    while (s == SHUNT_OK && d->lanes < lanes)
      if ((s = SHUNT_CUDA(
               cudaHostAlloc((void **)&d->lane[d->lanes],
                             GRB_GPU_SLOTS * (size_t)GRB_GPU_SLOT_BYTES + GRB_GPU_LANE_SAMPLES,
                             cudaHostAllocPortable))) == SHUNT_OK)
        d->lanes++;
    grb_gpu_leave(before);
  }
  if (d->lanes == 0) return s;
  s = SHUNT_OK;
  for (int i = 0; s == SHUNT_OK && i < d->count; i++)
    if (d->device[i].slot_events < d->lanes * GRB_GPU_SLOTS)
      s = lane_events(&d->device[i], d->lanes);
  return s;
}

/* ---- memory ----------------------------------------------------------------------------- */

void grb_gpu_let_go(struct grb_gpu_device *d, struct grb_gpu_resident *e)
{
  grb_gpu_release(d, e->memory, e->bytes);
  free(e->empty);
  memset(e, 0, sizeof *e);
}

struct grb_gpu_resident *grb_gpu_prove(struct grb_gpu_device *d, struct grb_gpu_resident *e,
                                       uint64_t hash)
{
  if (e->hash != hash) {
    grb_gpu_let_go(d, e);
    return NULL;
  }
  e->held = true;
  grb_gpu_resident_touch(&d->residents, e);
  return e;
}

bool grb_gpu_keep(struct grb_gpu_device *d, struct grb_gpu_resident what,
                  const struct grb_gpu_key *key, uint64_t hash)
{
  struct grb_gpu_resident *e = grb_gpu_resident_unused(&d->residents), *old;
  if (!e && (old = grb_gpu_resident_oldest(&d->residents))) {
    grb_gpu_let_go(d, old);
    e = old;
  }
  if (!e) return false;
  *e = what;
  e->used = true;
  e->key = *key;
  e->hash = hash;
  grb_gpu_resident_touch(&d->residents, e);
  return true;
}

shunt_status grb_gpu_allocate(struct grb_gpu_device *d, int64_t bytes, void **out)
{
  struct grb_gpu_resident *oldest;
  *out = NULL;
  if (bytes <= 0) return SHUNT_OK;
  while (d->taken + bytes > d->limit) {
    if (!(oldest = grb_gpu_resident_oldest(&d->residents))) return SHUNT_E_MEMORY;
    grb_gpu_let_go(d, oldest);
  }
  while (!grb_gpu_budget_take(d, d->taken + bytes)) {
    if (!(oldest = grb_gpu_resident_oldest(&d->residents))) return SHUNT_E_MEMORY;
    grb_gpu_let_go(d, oldest);
  }
  shunt_status s;
  while ((s = SHUNT_CUDA(cudaMallocFromPoolAsync(out, (size_t)bytes, d->pool, d->compute))) ==
             SHUNT_E_MEMORY &&
         (oldest = grb_gpu_resident_oldest(&d->residents)))
    grb_gpu_let_go(d, oldest); /* others use the device as well */
  cudaGetLastError();
  if (s == SHUNT_OK) d->taken += bytes;
  return s;
}

void grb_gpu_release(struct grb_gpu_device *d, void *memory, int64_t bytes)
{
  if (!memory) return;
  cudaFreeAsync(memory, d->compute);
  d->taken -= bytes;
}
