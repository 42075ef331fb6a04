/* test_gpu_budget.c: what GraphBLAS' GPU engine takes is within the budget of all processes: two
   real processes, a pool and a clock of the test's own, no device.  */
#include "backend/graphblas/gpu/budget.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/graphblas/gpu/device.h"
#include "backend/plan/memory/budget.h"
#include "tests/unit/check.h"
#include "tests/unit/clock.h"

enum { BUDGET = 1000 };
static const unsigned char uuid[16] = {9};
static char folder[] = "/tmp/shunt-budget-XXXXXX";

/* ---- stand-ins ----------------------------------------------------------------------------- */

/* Memory that was given back stays in the pool until it is trimmed, and also then if the host has
   not waited for it. */
static uint64_t pool_has, pool_ends;
static struct grb_gpu_device device;
static struct grb_gpu_resident resident[4];

cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr a,
                                              void *value)
{
  (void)pool;
  *(uint64_t *)value = pool_has;
  return a == cudaMemPoolAttrReservedMemCurrent ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
  (void)pool;
  const uint64_t least = bytes > pool_ends ? bytes : pool_ends;
  if (pool_has > least) pool_has = least;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream)
{
  (void)stream;
  pool_ends = 0;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetLastError(void)
{
  return cudaSuccess;
}

struct grb_gpu_resident *grb_gpu_resident_oldest(struct grb_gpu_resident_list *l)
{
  (void)l;
  for (int i = 0; i < 4; i++)
    if (resident[i].used) return &resident[i];
  return NULL;
}

void grb_gpu_let_go(struct grb_gpu_device *d, struct grb_gpu_resident *e)
{
  d->taken -= e->bytes;
  pool_ends += (uint64_t)e->bytes;
  e->used = false;
}

/* A product that takes so much and keeps a part of it; false: it was not to be had. */
static bool product(int64_t bytes, int64_t kept)
{
  grb_gpu_budget_begin(&device);
  const bool good =
      device.taken + bytes <= device.limit && grb_gpu_budget_take(&device, device.taken + bytes);
  if (good && pool_has < (uint64_t)(device.taken + bytes))
    pool_has = (uint64_t)(device.taken + bytes);
  for (int i = 0; good && kept > 0 && i < 4; i++)
    if (!resident[i].used) {
      resident[i] = (struct grb_gpu_resident){.used = true, .bytes = kept};
      device.taken += kept;
      break;
    }
  grb_gpu_budget_end(&device);
  return good;
}

/* ---- another process ----------------------------------------------------------------------- */

static int to_peer, from_peer;

/* 't' takes 400 of the budget, 'k' keeps nothing, 'w' wants 300, 'a' asks all to let go, 'o': of
   the others. */
static int64_t tell(char what)
{
  int64_t answer = -1;
  if (write(to_peer, &what, 1) != 1 || read(from_peer, &answer, sizeof answer) != sizeof answer)
    return -1;
  return answer;
}

static pid_t peer_start(void)
{
  int down[2], up[2];
  if (pipe(down) || pipe(up)) return -1;
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    char what;
    struct shunt_budget *s = NULL;
    for (int i = 0; i < 1000 && !s; i++) s = shunt_budget_open(folder, uuid); /* it may be locked */
    close(down[1]);
    while (s && read(down[0], &what, 1) == 1) {
      int64_t answer = 0;
      if (what == 't') answer = shunt_budget_take(s, 400, BUDGET);
      if (what == 'k') shunt_budget_keep(s, 0);
      if (what == 'w') shunt_budget_want(s, 300);
      if (what == 'a') answer = shunt_budget_ask(s);
      if (what == 'o') answer = shunt_budget_others(s);
      if (write(up[1], &answer, sizeof answer) != sizeof answer) break;
    }
    exit(0);
  }
  close(down[0]), close(up[1]);
  to_peer = down[1], from_peer = up[0];
  return pid;
}

int main(void)
{
  if (!check(mkdtemp(folder) != NULL, "a folder")) return check_finish();
  device.most = device.limit = BUDGET;
  check(product(900, 0) && grb_gpu_budget_take(&device, 5000), "without a table it is as if alone");
  pool_has = 0;
  device.budget.shared = shunt_budget_open(folder, uuid);
  const pid_t peer = peer_start();
  check(device.budget.shared && tell('o') == 0, "a table");
  check(product(500, 200) && tell('o') == 500, "what the pool has is announced");
  check(product(300, 0) && tell('o') == 500, "and not twice");
  check(tell('t') == 1 && !product(500, 0), "what another keeps is not taken");
  check(product(300, 0), "what the pool has already can be used");
  device.most = 50;
  pool_has = 0;
  device.budget.refused = true; /* as after a product that was declined: it looks again */
  check(product(40, 0) && device.limit == 50 && product(50, 0) && !product(60, 0),
        "one with a budget below what another keeps has its own all the same");
  device.most = BUDGET;
  pool_has = 500;
  tell('w');
  const bool small = product(100, 0);
  check(small && device.limit == 500 && tell('o') <= 500,
        "what another wants is left to it: the limit is %lld", (long long)device.limit);
  check(tell('a') == 1 && !product(10, 0) && device.taken == 0 && tell('o') == 0,
        "when its own allocation fails all goes");
  close(to_peer);
  waitpid(peer, NULL, 0);
  clock_pass(1000); /* it was asked for a second */
  for (int i = 0; i < 130; i++) product(1, 0);
  check(product(900, 0) && device.limit == BUDGET, "and when it ends there is room again");
  shunt_budget_close(device.budget.shared);
  rmdir(folder);
  return check_finish();
}
