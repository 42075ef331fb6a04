/* run.c: a product from its arguments to the result, or to why the original has to run. */
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

static struct shunt_verdict run_product(struct grb_product *p)
{
  struct shunt_verdict v = grb_product_read(p);
  if (v.reason != SHUNT_FITS) return v;
  return grb_operand_is_sparse(&p->a) || grb_operand_is_sparse(&p->b) ? grb_spmm(p) : grb_sddmm(p);
}

bool grb_product_run(const struct grb_call *call)
{
  struct grb_product p = {.call = call, .library = call->library, .engine = "original"};
  grb_bump(call->c);
  struct shunt_verdict why = run_product(&p);
  if (why.reason != SHUNT_FITS) {
    grb_bump(call->c);      /* an engine may know a result that C did not get */
    grb_gpu_unpin(call->c); /* the original may give it another array */
  }
  grb_report(&p, why);
  return why.reason == SHUNT_FITS;
}
