#include "backend/graphblas/product.h"

#include <time.h>

#include "backend/graphblas/report.h"
#ifdef SHUNT_HAVE_CUDA
#include "backend/graphblas/epoch/epochs.h"
#include "backend/graphblas/gpu/gpu_engine.h"
#else
static void grb_bump(const void *handle)
{
  (void)handle;
}
static void grb_gpu_unpin(const void *handle)
{
  (void)handle;
}
#endif

static struct shunt_verdict run(struct grb_product *p)
{
  GRB_CONTINUE(grb_read(p));
  GRB_CONTINUE(grb_choose(p));
  GRB_CONTINUE(p->method->compute(p));
  return grb_commit(p);
}

/* Microseconds of a clock; negative where nobody reads them. */
static double now(void)
{
  struct timespec t;
  if (!shunt_log_wanted() || clock_gettime(CLOCK_MONOTONIC, &t) != 0) return -1;
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static double since(double start)
{
  return start < 0 ? -1 : now() - start;
}

bool grb_product_run(const struct grb_call *call, struct grb_left *left)
{
  const double start = now();
  struct grb_product p = {.call = call, .library = call->library, .engine = "original"};
  grb_bump(call->c);
  struct shunt_verdict why = run(&p);
  if (why.reason != SHUNT_FITS) {
    grb_bump(call->c);      /* an engine may know a result that C did not get */
    grb_gpu_unpin(call->c); /* the original may give it another array */
  }
  left->decision = grb_report(&p, why, why.reason == SHUNT_FITS ? since(start) : -1);
  left->started = now();
  return why.reason == SHUNT_FITS;
}

void grb_product_left(const struct grb_left *left)
{
  shunt_log_took(left->decision, since(left->started));
}
