/* routes.h: the rows that table.c lists; each is defined in the file of its name. */
#ifndef SHUNT_ROUTES_H
#define SHUNT_ROUTES_H

#include "backend/costs/machine.h"
#include "backend/routes/route.h"

/* SpMM by one of the two csr kernels; f: a hint, NULL where nothing is known.  For the route and
   for `shunt bench`, which has no planner between.  With the workspace of shunt_csr_spmm_workspace
   it is right, and with this one as fast as it can be.  */
size_t shunt_route_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d);
shunt_status shunt_route_csr_spmm(const struct shunt_spmm *p, const struct shunt_profile *f,
                                  const struct shunt_machine *m, void *workspace,
                                  size_t workspace_bytes, shunt_stream stream);
/* SDDMM by one of the csr kernels; f NULL where nothing is known. */
shunt_status shunt_route_csr_sddmm(const struct shunt_sddmm *p, const struct shunt_profile *f,
                                   const struct shunt_device *d, void *workspace,
                                   size_t workspace_bytes, shunt_stream stream);

extern const struct shunt_route shunt_route_csr, shunt_route_bundle, shunt_route_sorted,
    shunt_route_vector, shunt_route_sparse24, shunt_route_srbcrs, shunt_route_tile,
    shunt_route_dense, shunt_route_bsr;

#endif
