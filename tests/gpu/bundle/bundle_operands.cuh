// bundle_operands.cuh: patterns, hints and products for the tests of bundles.
//
// Rows of B that A does not name hold NaN and Inf throughout, as does C where beta is 0 and
// wherever C's layout has gaps.
#pragma once
#include "conv/bundle/bundle_conv.h"
#include "kernels/bundle/bundle_kernels.h"
#include "tests/gpu/common/dense_layouts.cuh"

using namespace harness;

// ---- patterns ------------------------------------------------------------------------

enum Kind {
  ELEMENTS, // eights of which one entry in four is missing, as finite elements have them
  SCATTERED,
  EMPTY, // two groups in three without entries, rows without entries in the others
  LONG,  // two groups of long lists among short ones
  DENSE,
  KINDS
};
static const char *const kind_name[KINDS] = {"elements", "scattered", "empty", "long", "dense"};

static Pattern make_pattern(Kind kind, int64_t rows, int64_t cols, double density, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  std::vector<int64_t> list;
  for (int64_t i = 0; i < rows; i++) {
    const bool is_long = kind == LONG && (i / 8 == 1 || i / 8 == 3);
    if (i % 8 == 0 || kind == SCATTERED) {
      list.clear();
      for (int64_t j = 0; j < cols; j++)
        if (kind == DENSE || r.uniform() < (is_long ? 0.97 : density)) list.push_back(j);
      if (kind == EMPTY && i / 8 % 3) list.clear();
    }
    const bool empty = kind == EMPTY && r.below(3) == 0;
    for (int64_t j : list)
      if (!empty && (kind == DENSE || r.uniform() < 0.75)) p.columns.push_back(j);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

// ---- the hint --------------------------------------------------------------------------

// A pattern's CSR arrays on both sides.
struct Arrays {
  Buffer offsets, columns;
  shunt_type index;
  int base;

  Arrays(const Pattern &p, shunt_type index_, int base_)
      : offsets((size_t)(p.rows + 1) * shunt_type_size(index_)),
        columns((size_t)p.nnz() * shunt_type_size(index_) + 8), index(index_), base(base_)
  {
    set(p);
  }
  void set(const Pattern &p)
  {
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, index, (double)(p.offsets[i] + base));
    for (size_t e = 0; e < p.columns.size(); e++)
      store(columns.host.data(), (int64_t)e, index, (double)(p.columns[e] + base));
    offsets.upload();
    columns.upload();
  }
  shunt_csr csr(const Pattern &p, bool device, void *values, shunt_type value) const
  {
    return {p.rows,
            p.cols,
            p.nnz(),
            device ? offsets.device : (const void *)offsets.host.data(),
            device ? columns.device : (const void *)columns.host.data(),
            values,
            index,
            value,
            base};
  }
};

struct Hint {
  size_t bytes;
  Buffer memory;
  shunt_bundle on_device, on_host;
  std::vector<char> twin;

  explicit Hint(const shunt_csr &device, const shunt_csr &host)
      : bytes(shunt_bundle_bytes(&host)), memory(bytes), twin(bytes + 256, (char)0xee)
  {
    memset(memory.host.data(), 0xee, bytes);
    memory.upload();
    char *aligned = (char *)(((uintptr_t)twin.data() + 255) & ~(uintptr_t)255);
    const shunt_device d = this_device();
    if (!shunt_bundle_lay_out(&device, memory.device, &on_device) ||
        !shunt_bundle_lay_out(&host, aligned, &on_host) ||
        shunt_csr_to_bundle_host(&host, &on_host) != SHUNT_OK ||
        shunt_csr_to_bundle_cuda(&device, &on_device, &d, 0) != SHUNT_OK)
      exit(3);
    CUDA_OK(cudaDeviceSynchronize());
    memory.download();
  }
  // The device's array where the host's is, in the copy that came back.
  template <class T> T *mine(T *device_array)
  {
    return (T *)(memory.host.data() + ((char *)device_array - (char *)memory.device));
  }
  shunt_bundle_counts *counts() { return mine(on_device.counts); }
  // Counts and lists; what is between lists is not written by either.  Irregular groups may have
  // left a part of a list.
  bool same()
  {
    const int64_t n = on_host.groups;
    bool good = !memcmp(counts(), on_host.counts, sizeof *on_host.counts) &&
                !memcmp(mine(on_device.begin), on_host.begin, (size_t)n * 4) &&
                !memcmp(mine(on_device.count), on_host.count, (size_t)n * 4);
    for (int64_t g = 0; good && g < n; g++) {
      const uint32_t at = on_host.begin[g], count = on_host.count[g];
      good = !memcmp(mine(on_device.columns) + at, on_host.columns + at, (size_t)count * 4) &&
             !memcmp(mine(on_device.masks) + at, on_host.masks + at, count);
    }
    const int64_t room = on_host.nnz / SHUNT_BUNDLE_LONG;
    const int64_t longs = std::min<int64_t>(on_host.counts->long_groups, room);
    return good && !memcmp(mine(on_device.long_list), on_host.long_list, (size_t)longs * 4);
  }
};

// ---- products ---------------------------------------------------------------------------

struct Options {
  shunt_type type = SHUNT_F32, index = SHUNT_I32;
  int base = 0, b_layout = 0, c_layout = 0;
  double alpha = 1, beta = 0;
  bool device_scalars = false;
  bool wide_c = false; // 2-byte types: C in f32

  shunt_type compute() const { return shunt_type_size(type) == 2 ? SHUNT_F32 : type; }
  shunt_type c_type() const { return wide_c ? compute() : type; }
};

// All operands of one product, on both sides, and the hint of its pattern.
struct Problem {
  Pattern pattern;
  Options o;
  DenseLayout bl, cl;
  Arrays arrays;
  size_t size, c_size, scalar_size;
  Buffer values, b, c, scalars, workspace;
  Hint hint;
  std::vector<char> c_before;
  shunt_device device;
  shunt_spmm spmm;

  Problem(const Pattern &p, int64_t n, const Options &options, uint64_t seed)
      : pattern(p), o(options), bl(dense_layout(o.b_layout, p.cols, n, 4)),
        cl(dense_layout(o.c_layout, p.rows, n, 4)), arrays(p, o.index, o.base),
        size(shunt_type_size(o.type)), c_size(shunt_type_size(o.c_type())),
        scalar_size(shunt_type_size(o.compute())), values((size_t)p.nnz() * size + 8),
        b((size_t)bl.size() * size), c((size_t)cl.size() * c_size), scalars(2 * scalar_size),
        workspace((size_t)(p.cols * (n + 4)) * size),
        hint(arrays.csr(p, true, nullptr, o.type), arrays.csr(p, false, nullptr, o.type)),
        device(this_device())
  {
    fill(seed);
    set_spmm();
  }
  void set_spmm()
  {
    spmm.a = arrays.csr(pattern, true, values.device, o.type);
    spmm.b = bl.view(b.device, o.type);
    spmm.c = cl.view(c.device, o.c_type());
    spmm.alpha = {o.device_scalars ? scalars.device : nullptr, o.alpha};
    spmm.beta = {o.device_scalars ? (char *)scalars.device + scalar_size : nullptr, o.beta};
    spmm.compute = o.compute();
    spmm.only_if = nullptr;
  }
  void fill(uint64_t seed)
  {
    Random r(seed);
    for (int64_t e = 0; e < pattern.nnz(); e++)
      store(values.host.data(), e, o.type, r.below(9) ? r.value() : 0);
    fill_b(r);
    for (int64_t i = 0; i < cl.size(); i++) store(c.host.data(), i, o.c_type(), NAN);
    for (int64_t i = 0; i < cl.rows && o.beta != 0; i++)
      for (int64_t j = 0; j < cl.cols; j++)
        store(c.host.data(), cl.at(i, j), o.c_type(), r.value());
    c_before = c.host;
    store(scalars.host.data(), 0, o.compute(), o.alpha);
    store(scalars.host.data(), 1, o.compute(), o.beta);
    for (Buffer *x : {&values, &c, &scalars}) x->upload();
  }
  // Rows that A names are numbers, all else is poison.
  void fill_b(Random &r)
  {
    std::vector<char> used((size_t)pattern.cols);
    for (int64_t j : pattern.columns) used[(size_t)j] = 1;
    for (int64_t i = 0; i < bl.size(); i++) store(b.host.data(), i, o.type, i % 3 ? NAN : INFINITY);
    for (int64_t j = 0; j < bl.rows; j++)
      for (int64_t k = 0; k < bl.cols && used[(size_t)j]; k++)
        store(b.host.data(), bl.at(j, k), o.type, r.value());
    b.upload();
  }
  double b_at(int64_t j, int64_t k) const { return load(b.host.data(), bl.at(j, k), o.type); }
  void poison(int64_t row, int64_t column, double with)
  {
    store(b.host.data(), bl.at(row, column), o.type, with);
    b.upload();
  }

  // A's pattern and values are now these, at the same addresses; the hint is that of before.
  void change(const Pattern &to, uint64_t seed)
  {
    pattern = to;
    if (arrays.columns.host.size() < (size_t)to.nnz() * shunt_type_size(o.index) ||
        values.host.size() < (size_t)to.nnz() * size)
      exit(3);
    arrays.set(to);
    fill(seed);
    set_spmm();
  }

  // Done when it returns, also for streams that do not wait for the default one.
  void reset_c()
  {
    c.host = c_before;
    c.upload();
    CUDA_OK(cudaDeviceSynchronize());
  }
  shunt_status run(cudaStream_t stream = 0)
  {
    const shunt_bundle_shape shape =
        shunt_bundle_spmm_shape(&spmm, &hint.on_device, hint.counts(), &device);
    return run(shape, stream);
  }
  shunt_status run(const shunt_bundle_shape &shape, cudaStream_t stream = 0)
  {
    return shunt_bundle_spmm_cuda(&spmm, &hint.on_device, &shape, &device, workspace.device,
                                  workspace.host.size(), stream);
  }
  void fetch()
  {
    CUDA_OK(cudaDeviceSynchronize());
    c.download();
  }

  // Element (i, j) against a sum in ascending order of storage.
  bool right(int64_t i, int64_t j) const
  {
    double sum = 0, scale = 0;
    const int64_t begin = pattern.offsets[(size_t)i], end = pattern.offsets[(size_t)i + 1];
    for (int64_t e = begin; e < end; e++) {
      const double t = load(values.host.data(), e, o.type) * b_at(pattern.columns[(size_t)e], j);
      sum += t, scale += fabs(t);
    }
    double want = o.alpha == 0 ? 0 : o.alpha * sum;
    scale *= fabs(o.alpha);
    if (o.beta != 0) {
      const double before = load(c_before.data(), cl.at(i, j), o.c_type());
      want += o.beta * before, scale += fabs(o.beta * before);
    }
    const double got = load(c.host.data(), cl.at(i, j), o.c_type());
    return same_value(got, want, tolerance(o.c_type(), o.compute(), scale, want, end - begin + 1));
  }
  bool right() const
  {
    std::vector<char> inside((size_t)cl.size());
    for (int64_t i = 0; i < cl.rows; i++)
      for (int64_t j = 0; j < cl.cols; j++) {
        inside[(size_t)cl.at(i, j)] = 1;
        if (right(i, j)) continue;
        printf("# C(%lld, %lld) is %g\n", (long long)i, (long long)j,
               load(c.host.data(), cl.at(i, j), o.c_type()));
        return false;
      }
    for (int64_t i = 0; i < cl.size(); i++)
      if (!inside[(size_t)i] &&
          memcmp(&c.host[(size_t)i * c_size], &c_before[(size_t)i * c_size], c_size))
        return false;
    return true;
  }
  bool computes()
  {
    reset_c();
    if (run() != SHUNT_OK) return false;
    fetch();
    return right();
  }
  bool computes(const shunt_bundle_shape &shape)
  {
    reset_c();
    if (run(shape) != SHUNT_OK) return false;
    fetch();
    return right();
  }
};

static Options random_options(Random &r, shunt_type type)
{
  static const double scalars[] = {1, 0, -0.5};
  Options o;
  o.type = type;
  o.index = r.below(2) ? SHUNT_I64 : SHUNT_I32;
  o.base = (int)r.below(2);
  o.b_layout = (int)r.below(DENSE_LAYOUTS);
  o.c_layout = (int)r.below(DENSE_LAYOUTS);
  o.alpha = scalars[r.below(8) ? r.below(2) * 2 : 1];
  o.beta = scalars[r.below(3)];
  o.device_scalars = r.below(2);
  return o;
}
