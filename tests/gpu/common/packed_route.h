/* packed_route.h: one call of a route that packs, by hand, for the tests of routes; A, B and C stand
   on both sides.  In C, as the routes' headers are.

   make a world's A, B, C and scalars -- begin_call -- pack_call -- call_is_right, also after A
   changed in place -- end_call

   What the route is given has the sizes it asked for, so that the emulator sees what lies outside.
 */
#ifndef PACKED_ROUTE_H
#define PACKED_ROUTE_H

#include <stdlib.h>
#include <string.h>

#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/routes/routes.h"
#include "kernels/csr/csr_kernels.h"
#include "tests/unit/check.h"

static struct shunt_context context;

static uint64_t random_state = 1;
static int below(int n)
{
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int)((random_state >> 33) % (uint64_t)n);
}

/* ---- memory on both sides ------------------------------------------------------- */

struct memory {
  void *host, *device;
  size_t bytes;
};
static void up(const struct memory *m)
{
  if (cudaMemcpy(m->device, m->host, m->bytes, cudaMemcpyHostToDevice) != cudaSuccess) abort();
}
static struct memory get(size_t bytes)
{
  struct memory m = {malloc(bytes), NULL, bytes};
  if (!m.host || cudaMalloc(&m.device, bytes) != cudaSuccess) abort();
  memset(m.host, 0xff, bytes);
  up(&m);
  return m;
}
static void drop(struct memory *m)
{
  free(m->host);
  cudaFree(m->device);
}
static void put(void *to, int64_t i, shunt_type t, int64_t x)
{
  static const uint16_t half[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000}; /* -2 .. 2 */
  switch (t) {
  case SHUNT_I8: ((int8_t *)to)[i] = (int8_t)x; break;
  case SHUNT_I32: ((int32_t *)to)[i] = (int32_t)x; break;
  case SHUNT_I64: ((int64_t *)to)[i] = x; break;
  case SHUNT_F32: ((float *)to)[i] = (float)x; break;
  default: ((uint16_t *)to)[i] = half[((x % 5) + 5) % 5];
  }
}

/* ---- a call ------------------------------------------------------------------------ */

struct packed_call {
  const struct shunt_route *route;
  struct memory offsets, columns, values, b, c, scalars, payload, header, space;
  uint32_t *pinned, note;
  struct shunt_spmm host; /* the same product, of the host's memory */
  struct shunt_problem p;
  struct shunt_profile profile;
  struct shunt_packed_view view;
  struct shunt_call call;
};

/* A, of these offsets and columns, with values at random. */
static void put_a(struct packed_call *w, int64_t rows, int64_t cols, const int64_t *offsets,
                  const int64_t *columns, shunt_type index, shunt_type value)
{
  const int64_t nnz = offsets[rows];
  const size_t size = shunt_type_size(index);
  w->offsets = get((size_t)(rows + 1) * size), w->columns = get((size_t)nnz * size);
  w->values = get((size_t)nnz * shunt_type_size(value));
  for (int64_t i = 0; i <= rows; i++) put(w->offsets.host, i, index, offsets[i]);
  for (int64_t i = 0; i < nnz; i++) {
    put(w->columns.host, i, index, columns[i]);
    put(w->values.host, i, value, below(256) - 128);
  }
  up(&w->offsets), up(&w->columns), up(&w->values);
  w->host.a = (struct shunt_csr){.rows = rows,
                                 .cols = cols,
                                 .nnz = nnz,
                                 .row_offsets = w->offsets.host,
                                 .columns = w->columns.host,
                                 .values = w->values.host,
                                 .index_type = index,
                                 .value_type = value};
}

/* w->host and the profile are there; b: B on the device; alpha on the device, too, and beta. */
static void begin_call(struct packed_call *w, const struct shunt_route *route, void *b,
                       bool alpha_on_device, bool beta_on_device)
{
  w->route = route;
  w->p = (struct shunt_problem){
      .op = SHUNT_SPMM, .op_a = 'N', .op_b = 'N', .batches = 1, .spmm = w->host};
  struct shunt_spmm *on = &w->p.spmm;
  on->a.row_offsets = w->offsets.device, on->a.columns = w->columns.device;
  on->a.values = w->values.device;
  on->b.values = b, on->c.values = w->c.device;
  if (alpha_on_device) on->alpha = (struct shunt_scalar){.device = w->scalars.device};
  if (beta_on_device) on->beta = (struct shunt_scalar){.device = (char *)w->scalars.device + 4};
  w->call = (struct shunt_call){
      .problem = &w->p, .context = &context, .profile = &w->profile, .will_pack = true};
  w->space = get(route->workspace(&w->p, &context));
  w->call.workspace = w->space.device, w->call.workspace_bytes = w->space.bytes;
}

static void end_call(struct packed_call *w)
{
  struct memory *all[] = {&w->offsets, &w->columns, &w->values, &w->b,    &w->c,
                          &w->scalars, &w->payload, &w->header, &w->space};
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
    if (all[i]->host) drop(all[i]);
  if (w->pinned) cudaFreeHost(w->pinned);
}

/* of_values: a fingerprint of the values is taken, too. */
static shunt_status pack_call(struct packed_call *w, bool of_values)
{
  const size_t bytes = w->route->pack_bytes(&w->call);
  if (!bytes) return SHUNT_E_UNSUPPORTED;
  w->payload = get(bytes), w->header = get(64);
  if (cudaMallocHost((void **)&w->pinned, 8) != cudaSuccess) abort();
  w->pinned[0] = w->pinned[1] = 0;
  char *header = w->header.device;
  if (of_values) w->p.pattern_epoch = 1;
  w->view = (struct shunt_packed_view){
      .irregular = (uint32_t *)header,
      .fingerprint = (struct shunt_fingerprint *)(header + 16),
      .of_values = of_values ? (struct shunt_fingerprint *)(header + 32) : NULL,
      .payload = w->payload.device,
      .payload_bytes = bytes,
      .note = &w->note,
      .changed = w->pinned,
      .nonfinite = w->pinned + 1};
  const shunt_status r = w->route->pack(&w->call, &w->view);
  if (cudaDeviceSynchronize() != cudaSuccess) return SHUNT_E_CUDA;
  w->call.packed = &w->view;
  return r;
}

static uint32_t irregular(const struct packed_call *w)
{
  uint32_t word = 77;
  cudaMemcpy(&word, w->view.irregular, 4, cudaMemcpyDeviceToHost);
  return word;
}

/* The whole of C's memory, gaps and all, is what the plain loop makes of it. */
static bool call_is_right(struct packed_call *w, bool changed)
{
  char *want = malloc(w->c.bytes), *got = malloc(w->c.bytes);
  struct shunt_spmm p = w->host;
  memcpy(want, w->c.host, w->c.bytes);
  p.c.values = want;
  up(&w->c);
  w->pinned[0] = w->pinned[1] = 0;
  const shunt_status by_host = shunt_csr_spmm_host(&p), r = w->route->run(&w->call);
  const cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(got, w->c.device, w->c.bytes, cudaMemcpyDeviceToHost);
  const bool same = !memcmp(got, want, w->c.bytes);
  const bool good = by_host == SHUNT_OK && r == SHUNT_OK && e == cudaSuccess && same &&
                    w->pinned[0] == (uint32_t)changed && w->pinned[1] == 0;
  if (!good)
    printf("# host %d, run %d, cuda %d, same %d, changed %u, nonfinite %u\n", by_host, r, (int)e,
           same, w->pinned[0], w->pinned[1]);
  free(want), free(got);
  return good;
}

static enum shunt_reason fits(const struct packed_call *w)
{
  return w->route->fits(&w->p, &context).reason;
}
static enum shunt_reason expects(const struct packed_call *w)
{
  double us = -1;
  const enum shunt_reason r = w->route->expect(&w->call, &us).reason;
  return us > 0 ? r : SHUNT_R_SHAPE;
}

#endif
