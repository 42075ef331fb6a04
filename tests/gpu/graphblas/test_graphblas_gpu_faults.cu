// test_graphblas_gpu_faults.cu: GraphBLAS' GPU engine when CUDA fails, at each of its calls in
// turn, and with a program's threads, contexts and forks.
#include <cuda.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/graphblas/graphblas_gpu_product.cuh"

using namespace harness;

// ---- failures -------------------------------------------------------------------------------

static void test_faults(bool accumulate, int devices)
{
  Case k = medium();
  k.rows = sized(9000, 3000);
  k.cols = sized(300, 100);
  k.density = 0.004;
  /* More pieces of C than a thread has slots, and no thread but one: some pieces are in their place
     before the last are enqueued, so that failures come between.  */
  k.n = sized(320, 160);
  k.threads = devices;
  k.by_column = true;
  k.accumulate = accumulate;
  k.c_by_column = true;
  Product p(k, 50);
  Faults f;
  int rounds = 0;
  grb_gpu_force_devices(devices);
  // Every other call: odd ones where C is overwritten, even ones where it is added to.  In the
  // emulator one call of six, and by two devices others than by one.
  for (long n = 1 + accumulate + sized(0, 2 * (devices - 1)); n < 5000;
       n += sized(2, 6) * every(), rounds++) {
    grb_gpu_forget();
    p.name(1000 + n);
    const long seen = fail_at(p, n, accumulate, f);
    p.name(100000 + n);
    f.bad += p.run() != SHUNT_OK || !(p.wrong() <= 1);
    f.bad += p.run() != SHUNT_OK || !(p.wrong() <= 1);
    if (seen < n) break;
  }
  check(f.bad == 0 && f.refused > sized(10, 5) / every() && rounds < 4999 &&
            (!accumulate || f.finished > 1 / every()),
        "%s: %d faults, accumulate %d, %d devices: %d refused, %d finished on the host, %d bad",
        mode, rounds, accumulate, devices, f.refused, f.finished, f.bad);
  grb_gpu_force_devices(1);
}

// ---- threads, forks, contexts -----------------------------------------------------------------

struct Worker {
  int number, bad;
  const Product *shared;
};

static void *work(void *of)
{
  Worker *w = (Worker *)of;
  Case k = medium();
  for (int i = 0; i < sized(12, 3); i++) {
    Product p(k, 70 + w->number);
    p.x.s = w->shared->x.s;
    p.values = w->shared->values, p.arrays = w->shared->arrays;
    p.from.s = w->shared->from.s;
    p.from.b = {&p.b, (uint64_t)(i + 1), false};
    p.from.c = {&p.c, (uint64_t)(i + 1), false};
    grb_gpu_wise(&p.x, &p.from);
    w->bad += p.run() != SHUNT_OK || !(p.wrong() <= 1);
  }
  return NULL;
}

static void test_threads()
{
  Product shared(medium(), 69);
  shared.from.s = {&shared, 77, false};
  Worker w[4];
  pthread_t t[4];
  int bad = 0;
  for (int i = 0; i < 4; i++) {
    w[i] = {i, 0, &shared};
    pthread_create(&t[i], NULL, work, &w[i]);
  }
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL), bad += w[i].bad;
  check(bad == 0, "%s: four threads share S", mode);
}

static void test_fork()
{
  Product p(medium(), 80);
  p.name(1);
  p.run();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    bool wise = grb_gpu_wise(&p.x, &p.from);
    _exit(!wise && p.run() == SHUNT_E_UNSUPPORTED ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  check(status == 0, "%s: a forked child leaves the GPU alone", mode);
  fine(p, "the parent goes on");
}

static void test_context()
{
  CUresult (*get)(CUcontext *) = NULL;
  cudaDriverEntryPointQueryResult found;
  CUcontext before = NULL, after = NULL;
  CUDA_OK(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", (void **)&get, 12000,
                                           cudaEnableDefault, &found));
  Product p(medium(), 81);
  get(&before);
  p.run();
  get(&after);
  check(before == after, "%s: the thread's context is as it was (%p, then %p)", mode,
        (void *)before, (void *)after);
}

int main()
{
  if (device_count() == 0) {
    skip("no device");
    return finish();
  }
  grb_gpu_force_devices(1);
  // Faults come when the engine runs: one that cannot start stays off.
  test_threads();
  test_context();
  test_faults(false, 1);
  test_faults(true, 1);
  test_faults(true, 2);
  test_fork();
  return finish();
}
