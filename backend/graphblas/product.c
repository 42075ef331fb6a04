#include "backend/graphblas/product.h"

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

bool grb_product_run(const struct grb_call *call)
{
  struct grb_product p = {.call = call, .library = call->library, .engine = "original"};
  grb_bump(call->c);
  struct shunt_verdict why = run(&p);
  if (why.reason != SHUNT_FITS) {
    grb_bump(call->c);      /* an engine may know a result that C did not get */
    grb_gpu_unpin(call->c); /* the original may give it another array */
  }
  grb_report(&p, why);
  return why.reason == SHUNT_FITS;
}
