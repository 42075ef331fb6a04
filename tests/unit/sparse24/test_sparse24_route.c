/* test_sparse24_route.c: the `sparse24` route: which matrices it packs.  */
#include "backend/plan/context.h"
#include "backend/routes/routes.h"
#include "kernels/sparse24/sparse24_kernels.h"
#include "tests/unit/check.h"

static struct shunt_context context = {.machine = {{132, 90, 232448, 60 << 20}, &shunt_costs_h200},
                                       .memory_bytes = (int64_t)140 << 30};

int main(void)
{
  const struct shunt_route *r = &shunt_route_sparse24;
  struct shunt_problem p = {.op = SHUNT_SPMM, .op_a = 'N', .op_b = 'N', .batches = 1};
  struct shunt_profile f = {.rows = 1024, .cols = 1024, .nnz = 1024 * 512};
  struct shunt_call c = {.problem = &p, .context = &context, .forced = true};
  p.spmm.a = (struct shunt_csr){
      .rows = 1024, .cols = 1024, .nnz = f.nnz, .index_type = SHUNT_I32, .value_type = SHUNT_F16};
  p.spmm.b = p.spmm.c = (struct shunt_dense){1024, 128, 128, 1, NULL, SHUNT_F16};
  p.spmm.alpha.host = 1;
  p.spmm.compute = SHUNT_F32;
  if (!shunt_sparse24_spmm_built()) {
    check_skip("built without these kernels");
    return check_finish();
  }
  check(r->pack_bytes(&c) > 0, "unprofiled: it might be packed");
  c.profile = &f;
  check(r->pack_bytes(&c) > 0, "a 2:4 matrix is packed");
  f.crowded_rows = 1;
  check(r->pack_bytes(&c) == 0, "not with one crowded row, though the route is forced");
  f.crowded_rows = 0;
  f.unsorted_rows = 1;
  check(r->pack_bytes(&c) == 0, "nor with one unsorted row");
  return check_finish();
}
