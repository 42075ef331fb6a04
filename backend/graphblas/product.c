#include "backend/graphblas/product.h"

#include <string.h>
#include <time.h>

#include "backend/graphblas/measure.h"
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

static void begin(struct grb_product *p, const struct grb_call *call)
{
  explicit_bzero(p, sizeof *p); /* by wide stores: an initialiser becomes one of 8 bytes a word */
  p->call = call;
  p->library = call->library;
  p->engine = "original";
}

/* Reads and chooses anew. */
static struct shunt_outcome read_again(struct grb_product *p)
{
  const struct grb_product measured = *p;
  begin(p, measured.call);
  p->problem = measured.problem;
  p->original_us = measured.original_us;
  p->aside_us = measured.aside_us;
  GRB_CONTINUE(grb_read(p));
  return grb_choose(p);
}

static struct shunt_outcome run(struct grb_product *p, bool told)
{
  const struct shunt_outcome readable = grb_read(p);
  if (told) grb_report_pictures(p);
  GRB_CONTINUE(readable);
  GRB_CONTINUE(grb_choose(p));
  if (told && grb_measure_original(p)) GRB_CONTINUE(read_again(p));
  GRB_CONTINUE(p->method->compute(p));
  return grb_commit(p);
}

/* Microseconds of a clock; negative: it cannot be read. */
static double now(void)
{
  struct timespec t;
  if (clock_gettime(CLOCK_MONOTONIC, &t) != 0) return -1;
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static double since(double start)
{
  return start < 0 ? -1 : now() - start;
}

/* Whether the log is wanted is asked once: calls that are passed through are to cost little. */
bool grb_product_run(const struct grb_call *call, struct grb_passed_on *left)
{
  const bool told = shunt_log_wanted();
  const double start = told ? now() : -1;
  struct grb_product p;
  begin(&p, call);
  grb_bump(call->c);
  struct shunt_outcome why = run(&p, told);
  const bool taken = why.reason == SHUNT_FITS;
  if (!taken) {
    grb_bump(call->c);      /* an engine may know a result that C did not get */
    grb_gpu_unpin(call->c); /* the original may give it another array */
  }
  const double us = taken && start >= 0 ? since(start) - p.aside_us : -1;
  left->decision = told ? grb_report(&p, why, us) : NULL;
  if (taken && told) grb_measure(&p, left->decision, us);
  left->started = told ? now() : -1;
  return taken;
}

void grb_product_passed_on(const struct grb_passed_on *left)
{
  if (left->decision) shunt_log_took(left->decision, since(left->started));
}
