// test_graphblas_cuda_kept.cu: what the GPU engine of the GraphBLAS face keeps on the device
// from one product to the next, and what it must not keep.
#include "tests/gpu/graphblas_cuda_product.cuh"

using namespace harness;

static void test_kept_sparse(bool by_column)
{
  Case k = medium();
  k.by_column = by_column;
  Product p(k, 11);
  shunt_grb_cuda_forget();
  p.sparse = {&p, 5, false};
  uploads(p, "S is new", 1, 1);
  uploads(p, "S is kept", 0, 1);
  for (int64_t i = 0; i < p.x.s.nnz; i++)
    p.set(p.values, i, 0.25);
  p.sparse.epoch = 6;
  uploads(p, "values changed in place, new epoch", 1, 1);
  uploads(p, "kept again", 0, 1);
  p.set(p.values, p.x.s.nnz / 3, 0.75);
  p.sparse.epoch = 7;
  uploads(p, "one value changed, new epoch", 1, 1);
  std::vector<char> moved = p.values;
  p.x.s.values = moved.data();
  uploads(p, "same epoch, another array", 1, 1);
  for (int64_t i = 0; i < p.x.s.nnz; i++)
    store(moved.data(), i, k.type, -0.5), p.set(p.values, i, -0.5);
  uploads(p, "all values changed behind the epoch's back: samples", 1, 1);
  p.sparse.read_only = true;
  uploads(p, "read-only is never kept", 1, 1);
  uploads(p, "read-only is never kept, again", 1, 1);
  p.sparse = {&p, 0, false};
  uploads(p, "unknown epoch is never kept", 1, 1);
  uploads(p, "unknown epoch is never kept, again", 1, 1);
  p.sparse = {NULL, 9, false};
  uploads(p, "no handle is never kept", 1, 1);
  uploads(p, "no handle is never kept, again", 1, 1);
}

static void test_kept_ones()
{
  Case k = medium();
  Product p(k, 12);
  shunt_grb_cuda_forget();
  p.sparse = {&p, 5, false};
  uploads(p, "PLUS_TIMES", 1, 1);
  p.x.semiring.multiplier = SHUNT_SECOND;
  uploads(p, "PLUS_SECOND of the same S has values of its own", 1, 1);
  uploads(p, "and keeps them", 0, 1);
  p.x.semiring.multiplier = SHUNT_TIMES;
  uploads(p, "PLUS_TIMES again", 0, 1);
}

// C of one product is B of the next.
static void test_chain(bool c_by_column)
{
  Case k = medium();
  k.cols = k.rows;
  k.b_by_column = k.c_by_column = c_by_column;
  Product p(k, 13);
  shunt_grb_cuda_forget();
  p.name(3);
  uploads(p, "first of a chain", 1, 1);
  std::vector<char> first = p.c;
  Product q(k, 13);
  q.sparse = p.sparse;
  q.x.s = p.x.s;
  q.out = {&q.c, 1, false};
  auto next = [&](std::vector<char> &from, uint64_t epoch) {
    q.b = from;
    q.x.b.values = from.data();
    q.dense = {&p.c, epoch, false};
    q.out.epoch++;
  };
  next(p.c, 3);
  uploads(q, "C is B of the next: nothing is sent", 0, 0);
  uploads(q, "and once more", 0, 0);
  for (int64_t i = 0; i < Product::places(p.x.c); i++)
    p.set(p.c, i, 0.125);
  next(p.c, 4);
  uploads(q, "C was written since", 0, 1);
  next(first, 4);
  uploads(q, "another array", 0, 1);
}

static void test_kept_results_of_missing_rows()
{
  Case k = medium();
  k.cols = k.rows;
  k.empty_every = 10;
  k.present = true;
  Product p(k, 14);
  shunt_grb_cuda_forget();
  p.name(3);
  uploads(p, "rows without entries", 1, 1);
  uploads(p, "rows without entries, S kept", 0, 0);
  Product q(k, 15);
  q.x.s = p.x.s;
  q.sparse = p.sparse;
  q.values = p.values, q.offsets = p.offsets, q.indices = p.indices, q.ids = p.ids;
  q.b = p.c;
  q.x.b.values = p.c.data();
  q.dense = {&p.c, 3, false};
  uploads(q, "a C with missing elements is not kept", 0, 1);
}

int main()
{
  if (device_count() == 0) {
    skip("no device");
    return finish();
  }
  shunt_grb_cuda_force_devices(1);
  test_kept_sparse(false);
  test_kept_sparse(true);
  test_kept_ones();
  test_chain(false);
  test_chain(true);
  test_kept_results_of_missing_rows();
  return finish();
}
