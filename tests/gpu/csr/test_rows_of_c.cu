// test_rows_of_c.cu: products whose C lies by columns, by way of one by rows
// (backend/routes/rows_of_c.h): the same bits as where C is written at once, and nothing beside C.
extern "C" {
#include "backend/routes/routes.h"
#include "backend/routes/rows_of_c.h"
}
#include "kernels/csr/csr_kernels.h"
#include "tests/gpu/csr/csr_spmm_case.cuh"

using namespace harness;

namespace
{

constexpr int64_t kRows = 7900, kColumns = 128; // so many elements that C goes by rows

Pattern some_rows()
{
  std::vector<int64_t> lengths(kRows, 0);
  Random r(3);
  for (int64_t &length : lengths) length = r.below(3);
  lengths[77] = 300;
  return add_column_0(from_lengths(lengths, 200, 4));
}

shunt_machine machine_of(const Case &k)
{
  return {k.d, &shunt_costs_h200};
}

shunt_status run(const Arena &m, const Case &k, size_t workspace_bytes)
{
  const shunt_machine machine = machine_of(k);
  shunt_profile f = {};
  f.rows = k.p.a.rows, f.cols = k.p.a.cols, f.nnz = k.p.a.nnz, f.longest_row = 300;
  return shunt_route_csr_spmm(&k.p, &f, &machine, m.workspace.device, workspace_bytes, nullptr);
}

void test_same_bits(Arena &m, const Pattern &p)
{
  Random r(8);
  for (int which : {0, 1, 4, 5, 6}) {
    const Types &t = kTypes[which];
    const Reference ref = make_reference(p, t, 17);
    const char *what = nullptr;
    int same = 0, cases = 0;
    for (int form = 0; form < 16; form += sized(1, 5), cases++) {
      Options o = vary(t, kColumns, form, r);
      o.c_by_column = true;
      Case k = make_case(m, p, ref, t, o);
      const size_t own = shunt_csr_spmm_workspace(&k.p, &k.d);
      const shunt_status direct = run(m, k, own);
      const std::vector<char> bits = download(m.c, k.c_bytes);
      k = make_case(m, p, ref, t, o);
      const shunt_status by_rows = run(m, k, shunt_route_csr_spmm_workspace(&k.p, &k.d));
      if (direct != SHUNT_OK || by_rows != SHUNT_OK) what = "failed";
      same += download(m.c, k.c_bytes) == bits;
      if (!what) what = verdict(m, k, p, ref, t, o);
    }
    check(!what && same == cases, "%s: %d forms, %d with the bits of one written at once%s%s",
          t.name, cases, same, what ? ": " : "", what ? what : "");
  }
}

void test_bytes(Arena &m, const Pattern &p)
{
  const Types &t = kTypes[4];
  const Reference ref = make_reference(p, t, 18);
  Options o;
  o.n = kColumns, o.c_by_column = true;
  const Case k = make_case(m, p, ref, t, o);
  const auto with = [&](void (*change)(shunt_spmm &)) {
    shunt_spmm q = k.p;
    change(q);
    return shunt_rows_of_c_bytes(&q, SHUNT_ROWS_AS_STORED);
  };
  const size_t bytes = with([](shunt_spmm &) {});
  check(bytes >= kRows * kColumns * 4 && bytes % 256 == 0, "W has room for C, and is aligned");
  check(with([](shunt_spmm &q) { q.c.type = q.b.type = q.a.value_type = SHUNT_F16; }) == bytes &&
            with([](shunt_spmm &q) { q.c.type = q.compute = SHUNT_F64; }) >= 2 * bytes - 256,
        "for C = alpha W + beta C it is of the type that is computed in");
  check(with([](shunt_spmm &q) { q.c.row_stride = q.c.cols, q.c.col_stride = 1; }) == 0 &&
            with([](shunt_spmm &q) { q.c.rows = 100; }) == 0 &&
            with([](shunt_spmm &q) { q.c.rows = (int64_t)1 << 30; }) == 0 &&
            with([](shunt_spmm &q) { q.only_if = (const uint32_t *)&q; }) == 0,
        "none by rows, for few, for more than 1 GiB, and for repairs");
  shunt_spmm narrow = k.p;
  narrow.c.cols = narrow.b.cols = 32;
  narrow.a.rows = narrow.c.rows = narrow.c.col_stride = 70000;
  narrow.a.nnz = 4 * narrow.a.rows;
  check(shunt_rows_of_c_bytes(&narrow, SHUNT_ROWS_BY_LENGTH) > 0 &&
            shunt_rows_of_c_bytes(&narrow, SHUNT_ROWS_AS_STORED) == 0,
        "of few columns where rows are taken in another order,");
  narrow.a.nnz = 3 * narrow.a.rows;
  check(shunt_rows_of_c_bytes(&narrow, SHUNT_ROWS_AS_STORED) > 0, "or are short,");
  narrow.a.rows = narrow.c.rows = narrow.c.col_stride = 800000;
  narrow.a.nnz = 80 * narrow.a.rows;
  check(shunt_rows_of_c_bytes(&narrow, SHUNT_ROWS_AS_STORED) > 0, "or C is far larger than L2");
}

void test_begin(Arena &m, const Pattern &p)
{
  const Types &t = kTypes[4];
  const Reference ref = make_reference(p, t, 19);
  Options o;
  o.n = kColumns, o.c_by_column = true;
  Case k = make_case(m, p, ref, t, o);
  const size_t bytes = shunt_rows_of_c_bytes(&k.p, SHUNT_ROWS_AS_STORED);
  char *w = (char *)m.workspace.device;
  const auto copies = [&](size_t own, size_t has) {
    return shunt_rows_of_c_begin(&k.p, SHUNT_ROWS_AS_STORED, own, w, has).copies;
  };
  check(copies(512, bytes + 512) && !copies(512, bytes + 511) && !copies(0, bytes - 1),
        "W only where the product's own fits behind it");
  const shunt_rows_of_c r = shunt_rows_of_c_begin(&k.p, SHUNT_ROWS_AS_STORED, 512, w, bytes + 512);
  check(r.product.c.values == w && r.workspace == w + bytes && r.workspace_bytes == 512 &&
            r.product.c.col_stride == 1,
        "the product writes W, its own workspace behind");
  check(shunt_rows_of_c_end(&k.p, &r, SHUNT_E_WRITTEN, &k.d, nullptr) == SHUNT_E_CUDA &&
            shunt_rows_of_c_end(&k.p, &r, SHUNT_E_MEMORY, &k.d, nullptr) == SHUNT_E_MEMORY,
        "a product that fails has not written C");
  const shunt_rows_of_c none = shunt_rows_of_c_begin(&k.p, SHUNT_ROWS_AS_STORED, 512, w, 512);
  check(none.product.c.values == k.p.c.values &&
            shunt_rows_of_c_end(&k.p, &none, SHUNT_E_WRITTEN, &k.d, nullptr) == SHUNT_E_WRITTEN,
        "without W what the product says stands");
  k.p.compute = SHUNT_I32, k.p.beta.host = 1;
  check(!copies(0, 2 * bytes), "no W where C = alpha W + beta C cannot be had");
  CUDA_OK(cudaDeviceSynchronize());
  check(download(m.c, k.c_bytes) == k.c_before, "and C is as it was");
}

} // namespace

int main()
{
  Arena m;
  const Pattern p = some_rows();
  test_same_bits(m, p);
  test_bytes(m, p);
  test_begin(m, p);
  return finish();
}
