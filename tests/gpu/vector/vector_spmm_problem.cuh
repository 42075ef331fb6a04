// vector_spmm_problem.cuh: products with A packed, for the tests of packed vectors.
//
// Rows of B that no vector names hold NaN and Inf throughout.
#pragma once
#include "backend/routes/cost/costs.h"
#include "conv/vector/vector_conv.h"
#include "kernels/vector/vector_kernels.h"
#include "tests/gpu/common/spmm_reference.cuh"

namespace
{

using namespace harness;

// ---- patterns ------------------------------------------------------------------------

enum Kind {
  EIGHTS, // aligned sets of 8 rows with one list
  SIXTEENS,
  NEARLY, // sixteens whose second eights lack an entry in the middle here and there
  FOURS,
  TWOS,
  HOLES, // eights of which one entry in ten is missing
  EMPTY, // eights, two groups in three without entries
  DENSE, // eights, all columns
  KINDS
};
const char *const kind_name[KINDS] = {"eights", "sixteens", "nearly sixteens", "fours",
                                      "twos",   "holes",    "empty",           "dense"};

Pattern make_pattern(Kind kind, int64_t rows, int64_t cols, double density, uint64_t seed)
{
  Random r(seed);
  const bool wide = kind == SIXTEENS || kind == NEARLY;
  const int share = wide ? 16 : kind == FOURS ? 4 : kind == TWOS ? 2 : 8;
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  std::vector<int64_t> list;
  for (int64_t i = 0; i < rows; i++) {
    if (i % share == 0) {
      list.clear();
      for (int64_t j = 0; j < cols; j++)
        if (kind == DENSE || r.uniform() < density) list.push_back(j);
      if (kind == EMPTY && i / 8 % 3) list.clear();
    }
    if (kind == NEARLY && i % 48 == 24 && !list.empty())
      list.erase(list.begin() + (ptrdiff_t)(list.size() / 2));
    for (int64_t j : list)
      if (kind != HOLES || r.uniform() < 0.9) p.columns.push_back(j);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

// What the conversion is told: the memory must do for the pattern.
[[maybe_unused]] int height_of(Kind kind)
{
  return kind == FOURS || kind == HOLES ? 4 : kind == TWOS ? 2 : kind == EIGHTS ? 8 : 16;
}

// ---- problems ------------------------------------------------------------------------

struct Options {
  shunt_type type = SHUNT_F16, out = SHUNT_F16;
  int b_layout = 0, c_layout = 0, height = 8;
  shunt_vector_order order = SHUNT_VECTOR_WINDOWED;
  double alpha = 1, beta = 0;
  bool device_scalars = false;
  bool listed = false; // rows stand in another order
};

// All operands of one product, on both sides; A packed on the device.
struct Problem {
  const Pattern &pattern;
  Options o;
  DenseLayout bl, cl;
  Buffer offsets, columns, values, b, c, scalars, packed, workspace;
  shunt_device device;
  shunt_vector_layout layout;
  shunt_vector v;
  shunt_vector_counts counts;
  shunt_spmm spmm;

  Problem(const Pattern &pattern_, int64_t n, const Options &options, uint64_t seed)
      : pattern(pattern_), o(options), bl(dense_layout(o.b_layout, pattern.cols, n)),
        cl(dense_layout(o.c_layout, pattern.rows, n)), offsets((pattern.rows + 1) * 8),
        columns(pattern.nnz() * 8), values(pattern.nnz() * width()), b(bl.size() * width()),
        c(cl.size() * shunt_type_size(o.out)), scalars(2 * sizeof(float)), packed(bytes()),
        workspace((size_t)(pattern.cols * (n + 8)) * width() + 64),
        device(this_device()), layout{o.order, o.height, o.listed}
  {
    memcpy(offsets.host.data(), pattern.offsets.data(), offsets.host.size());
    memcpy(columns.host.data(), pattern.columns.data(), columns.host.size());
    fill(seed);
    for (Buffer *x : {&offsets, &columns, &values, &b, &c, &scalars}) x->upload();

    spmm.a = csr(offsets.device, columns.device, values.device);
    spmm.b = bl.view(b.device, o.type);
    spmm.c = cl.view(c.device, o.out);
    const float *s = (const float *)scalars.device;
    spmm.alpha = {o.device_scalars ? s : nullptr, o.alpha};
    spmm.beta = {o.device_scalars ? s + 1 : nullptr, o.beta};
    spmm.compute = SHUNT_F32;
    spmm.only_if = nullptr;
    pack();
  }
  size_t width() const { return shunt_type_size(o.type); }
  shunt_csr csr(const void *f, const void *j, void *x) const
  {
    return {pattern.rows, pattern.cols, pattern.nnz(), f, j, x, SHUNT_I64, o.type, 0};
  }
  size_t bytes() const
  {
    const shunt_vector_layout with = {o.order, o.height, o.listed};
    const shunt_csr a = csr(nullptr, nullptr, nullptr);
    return shunt_vector_bytes(&a, &with);
  }
  void fill(uint64_t seed)
  {
    Random r(seed);
    for (int64_t e = 0; e < pattern.nnz(); e++) store(values.host.data(), e, o.type, r.value());
    fill_dense(*this, r);
    ((float *)scalars.host.data())[0] = (float)o.alpha;
    ((float *)scalars.host.data())[1] = (float)o.beta;
  }
  // Some order of the rows.
  std::vector<uint32_t> row_list() const
  {
    std::vector<uint32_t> list((size_t)pattern.rows);
    Random r(pattern.rows);
    for (size_t i = 0; i < list.size(); i++) {
      const size_t j = (size_t)r.below((int64_t)i + 1);
      list[i] = list[j];
      list[j] = (uint32_t)i;
    }
    return list;
  }
  void pack()
  {
    if (!shunt_vector_lay_out(&spmm.a, &layout, packed.device, &v)) exit(3);
    if (o.listed)
      CUDA_OK(cudaMemcpy(v.row_of, row_list().data(), (size_t)pattern.rows * 4,
                         cudaMemcpyHostToDevice));
    if (shunt_csr_to_vector_cuda(&spmm.a, &layout, &v, &device, 0) != SHUNT_OK) exit(3);
    CUDA_OK(cudaMemcpy(&counts, v.counts, sizeof counts, cudaMemcpyDeviceToHost));
    if (counts.irregular) {
      printf("not ok - the test's pattern does not fit its memory\n");
      exit(3);
    }
  }
};

// One call over a poisoned workspace; the wrong elements of C, which is put back: 0 when right.
template <class Call> int64_t run_once(Problem &q, const Call &call, double error = 0)
{
  const std::vector<char> before = q.c.host;
  memset(q.workspace.host.data(), 0xff, q.workspace.host.size());
  q.workspace.upload();
  const shunt_status status = call();
  if (status != SHUNT_OK) {
    printf("# status %d\n", status);
    return 1;
  }
  CUDA_OK(cudaDeviceSynchronize());
  q.c.download();
  const int64_t wrong = wrong_elements(q, before, error);
  q.c.host = before;
  q.c.upload();
  return wrong;
}

// The twin on the same operands.
[[maybe_unused]] bool twin_is_right(Problem &q)
{
  const std::vector<char> before = q.c.host;
  std::vector<char> memory(q.packed.host.size() + 256);
  char *aligned = (char *)(((uintptr_t)memory.data() + 255) & ~(uintptr_t)255);
  shunt_spmm host = q.spmm;
  shunt_vector v;
  host.a = q.csr(q.offsets.host.data(), q.columns.host.data(), q.values.host.data());
  host.b.values = q.b.host.data();
  host.c.values = q.c.host.data();
  return shunt_vector_lay_out(&host.a, &q.layout, aligned, &v) &&
         shunt_csr_to_vector_host(&host.a, &q.layout, &v) == SHUNT_OK &&
         shunt_vector_packed_spmm_host(&host, &v) == SHUNT_OK && wrong_elements(q, before) == 0;
}

[[maybe_unused]] void name_shape(const shunt_vector_shape &s, char (&name)[40])
{
  if (s.rows == 0)
    snprintf(name, sizeof name, "%s/%d/%d", s.pairs ? "pairs" : "direct", s.tile,
             1 << s.log2_slices);
  else
    snprintf(name, sizeof name, "strips/%dx%d", s.rows, s.tile);
}

} // namespace
