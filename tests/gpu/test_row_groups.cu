// test_row_groups.cu: the hint of merged column lists, device against host twin, and
// shunt_spmm_csr_groups_cuda against float64: with the right hint, in every shape, and with
// hints that are stale or garbage in every way.
//
// Rows of B that A does not name hold NaN and Inf throughout, as does C where beta is 0 and
// wherever C's layout has gaps.
//   --time   also times hint and kernel on made-up finite-element patterns
#include "conv/row_groups.h"
#include "kernels/row_groups_kernels.h"
#include "tests/gpu/harness.cuh"

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
  shunt_row_groups on_device, on_host;
  std::vector<char> twin;

  explicit Hint(const shunt_csr &device, const shunt_csr &host)
      : bytes(shunt_row_groups_bytes(&host)), memory(bytes), twin(bytes + 256, (char)0xee)
  {
    memset(memory.host.data(), 0xee, bytes);
    memory.upload();
    char *aligned = (char *)(((uintptr_t)twin.data() + 255) & ~(uintptr_t)255);
    const shunt_device d = this_device();
    if (!shunt_row_groups_lay_out(&device, memory.device, &on_device) ||
        !shunt_row_groups_lay_out(&host, aligned, &on_host) ||
        shunt_csr_to_row_groups_host(&host, &on_host) != SHUNT_OK ||
        shunt_csr_to_row_groups_cuda(&device, &on_device, &d, 0) != SHUNT_OK)
      exit(3);
    CUDA_OK(cudaDeviceSynchronize());
    memory.download();
  }
  // The device's array where the host's is, in the copy that came back.
  template <class T> T *mine(T *device_array)
  {
    return (T *)(memory.host.data() + ((char *)device_array - (char *)memory.device));
  }
  shunt_row_groups_counts *counts() { return mine(on_device.counts); }
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
    const int64_t room = on_host.nnz / SHUNT_ROW_GROUPS_LONG;
    const int64_t longs = std::min<int64_t>(on_host.counts->long_groups, room);
    return good && !memcmp(mine(on_device.long_list), on_host.long_list, (size_t)longs * 4);
  }
};

static void test_hint()
{
  Random r(20261121);
  for (int kind = 0; kind < KINDS; kind++) {
    bool good = true, longs = kind != LONG;
    int cases = 0;
    for (int64_t rows : {1, 8, 9, 70})
      for (int form = 0; form < 4; form++) {
        const Pattern p = make_pattern((Kind)kind, rows, kind == LONG ? 700 : 90, 0.15, r.next());
        const Arrays a(p, form & 1 ? SHUNT_I64 : SHUNT_I32, form >> 1);
        Hint h(a.csr(p, true, nullptr, SHUNT_F32), a.csr(p, false, nullptr, SHUNT_F32));
        good = good && h.same() && h.counts()->irregular == 0;
        longs = longs || h.counts()->long_groups == 2;
        cases++;
      }
    check(good && longs, "hint: device and host make the same lists, %s, %d matrices",
          kind_name[kind], cases);
  }
}

static void test_hint_long()
{
  Pattern p; // two groups of one row each: 512 vectors, and one more
  p.rows = 9, p.cols = 513;
  for (int64_t i = 0; i < 9; i++) {
    for (int64_t j = 0; j < (i == 0 ? 512 : i == 8 ? 513 : 0); j++)
      p.columns.push_back(j);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  const Arrays a(p, SHUNT_I32, 0);
  Hint h(a.csr(p, true, nullptr, SHUNT_F32), a.csr(p, false, nullptr, SHUNT_F32));
  check(h.same() && h.counts()->long_groups == 1 && h.mine(h.on_device.long_list)[0] == 1,
        "hint: a group is long from 513 vectors on");
}

// Matrices that break rules: no more than the groups they are in is lost.
static void test_hint_irregular()
{
  const Pattern sound = make_pattern(ELEMENTS, 40, 60, 0.3, 5);
  bool good = true;
  uint32_t irregular = 0;
  for (int i = 0; i < 24; i++) {
    Pattern p = sound;
    Random r(100 + i);
    if (i % 3 == 0) p.columns[(size_t)r.below(p.nnz())] = r.below(60);
    if (i % 3 == 1) p.columns[(size_t)r.below(p.nnz())] = r.below(2) ? 60 : -1;
    if (i % 3 == 2) p.offsets[(size_t)r.below(41)] = r.below(2) ? r.below(p.nnz()) : p.nnz() + 9;
    const Arrays a(p, i & 1 ? SHUNT_I64 : SHUNT_I32, i >> 1 & 1);
    Hint h(a.csr(sound, true, nullptr, SHUNT_F32), a.csr(sound, false, nullptr, SHUNT_F32));
    good = good && h.same();
    irregular += h.counts()->irregular;
  }
  check(good && irregular >= 12, "hint: the same groups are irregular, %u of 24 matrices",
        irregular);
}

// ---- products ---------------------------------------------------------------------------

// Where the elements of a dense matrix are.
struct Layout {
  int64_t rows, cols, row_stride, col_stride, offset;
  int64_t size() const { return offset + (rows - 1) * row_stride + (cols - 1) * col_stride + 1; }
  int64_t at(int64_t i, int64_t j) const { return offset + i * row_stride + j * col_stride; }
};
// 0: row-major packed, 1: row-major and aligned with a gap, 2: row-major, odd leading
// dimension, 3: column-major with a gap, 4: aligned rows at a misaligned address.
enum { LAYOUTS = 5 };
static Layout layout(int kind, int64_t rows, int64_t cols)
{
  const int64_t aligned = (cols + 3) / 4 * 4;
  switch (kind) {
  case 0:
    return {rows, cols, cols, 1, 0};
  case 1:
    return {rows, cols, aligned + 8, 1, 0};
  case 2:
    return {rows, cols, cols + 3, 1, 0};
  case 3:
    return {rows, cols, 1, rows + 1, 0};
  default:
    return {rows, cols, aligned, 1, 1};
  }
}

struct Options {
  shunt_type type = SHUNT_F32, index = SHUNT_I32;
  int base = 0, b_layout = 0, c_layout = 0;
  double alpha = 1, beta = 0;
  bool device_scalars = false;
};

// All operands of one product, on both sides, and the hint of its pattern.
struct Problem {
  Pattern pattern;
  Options o;
  Layout bl, cl;
  Arrays arrays;
  size_t size;
  Buffer values, b, c, scalars, workspace;
  Hint hint;
  std::vector<char> c_before;
  shunt_device device;
  shunt_spmm spmm;

  Problem(const Pattern &p, int64_t n, const Options &options, uint64_t seed)
      : pattern(p), o(options), bl(layout(o.b_layout, p.cols, n)),
        cl(layout(o.c_layout, p.rows, n)), arrays(p, o.index, o.base),
        size(shunt_type_size(o.type)), values((size_t)p.nnz() * size + 8),
        b((size_t)bl.size() * size), c((size_t)cl.size() * size), scalars(2 * size),
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
    spmm.b = {bl.rows,
              bl.cols,
              bl.row_stride,
              bl.col_stride,
              (char *)b.device + bl.offset * (int64_t)size,
              o.type};
    spmm.c = {cl.rows,
              cl.cols,
              cl.row_stride,
              cl.col_stride,
              (char *)c.device + cl.offset * (int64_t)size,
              o.type};
    spmm.alpha = {o.device_scalars ? scalars.device : nullptr, o.alpha};
    spmm.beta = {o.device_scalars ? (char *)scalars.device + size : nullptr, o.beta};
    spmm.compute = o.type;
    spmm.only_if = nullptr;
  }
  void fill(uint64_t seed)
  {
    Random r(seed);
    for (int64_t e = 0; e < pattern.nnz(); e++)
      store(values.host.data(), e, o.type, r.below(9) ? r.value() : 0);
    fill_b(r);
    for (int64_t i = 0; i < cl.size(); i++)
      store(c.host.data(), i, o.type, NAN);
    for (int64_t i = 0; i < cl.rows && o.beta != 0; i++)
      for (int64_t j = 0; j < cl.cols; j++)
        store(c.host.data(), cl.at(i, j), o.type, r.value());
    c_before = c.host;
    store(scalars.host.data(), 0, o.type, o.alpha);
    store(scalars.host.data(), 1, o.type, o.beta);
    for (Buffer *x : {&values, &c, &scalars})
      x->upload();
  }
  // Rows that A names are numbers, all else is poison.
  void fill_b(Random &r)
  {
    std::vector<char> used((size_t)pattern.cols);
    for (int64_t j : pattern.columns)
      used[(size_t)j] = 1;
    for (int64_t i = 0; i < bl.size(); i++)
      store(b.host.data(), i, o.type, i % 3 ? NAN : INFINITY);
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

  void reset_c()
  {
    c.host = c_before;
    c.upload();
  }
  shunt_status run(cudaStream_t stream = 0)
  {
    return shunt_spmm_csr_groups_cuda(&spmm, &hint.on_device, hint.counts(), &device,
                                      workspace.device, workspace.host.size(), stream);
  }
  shunt_status run(const shunt_row_groups_shape &shape)
  {
    return shunt_spmm_csr_groups_shaped_cuda(&spmm, &hint.on_device, &shape, &device,
                                             workspace.device, workspace.host.size(), 0);
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
      const double before = load(c_before.data(), cl.at(i, j), o.type);
      want += o.beta * before, scale += fabs(o.beta * before);
    }
    const double got = load(c.host.data(), cl.at(i, j), o.type);
    if (isnan(want) || isinf(want)) return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= tolerance(o.type, o.type, scale, want, end - begin + 1);
  }
  bool right() const
  {
    std::vector<char> inside((size_t)cl.size());
    for (int64_t i = 0; i < cl.rows; i++)
      for (int64_t j = 0; j < cl.cols; j++) {
        inside[(size_t)cl.at(i, j)] = 1;
        if (right(i, j)) continue;
        printf("# C(%lld, %lld) is %g\n", (long long)i, (long long)j,
               load(c.host.data(), cl.at(i, j), o.type));
        return false;
      }
    for (int64_t i = 0; i < cl.size(); i++)
      if (!inside[(size_t)i] &&
          memcmp(&c.host[(size_t)i * size], &c_before[(size_t)i * size], size))
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
  bool computes(const shunt_row_groups_shape &shape)
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
  o.b_layout = (int)r.below(LAYOUTS);
  o.c_layout = (int)r.below(LAYOUTS);
  o.alpha = scalars[r.below(8) ? r.below(2) * 2 : 1];
  o.beta = scalars[r.below(3)];
  o.device_scalars = r.below(2);
  return o;
}

static void test_widths()
{
  for (shunt_type type : {SHUNT_F32, SHUNT_F64}) {
    Random r(type);
    for (int64_t n : {1, 3, 8, 17, 32, 64, 100, 128, 256}) {
      bool good = true;
      int cases = 0;
      for (int kind = 0; kind < KINDS; kind++)
        for (int turn = 0; turn < 2; turn++) {
          const int64_t rows = kind == LONG ? 33 : n > 100 ? 21 : 53;
          const Pattern p = make_pattern((Kind)kind, rows, kind == LONG ? 640 : 75, 0.3, r.next());
          Options o = random_options(r, type);
          if (turn == 0) o.b_layout = o.c_layout = 0; // what most programs have
          Problem q(p, n, o, r.next());
          if (!q.computes()) {
            good = false;
            printf("# %s, B layout %d, C layout %d, index %d, base %d, alpha %g, beta %g\n",
                   kind_name[kind], o.b_layout, o.c_layout, (int)o.index, o.base, o.alpha, o.beta);
          }
          cases++;
        }
      check(good, "%s, N = %lld, %d products", type == SHUNT_F32 ? "f32" : "f64", (long long)n,
            cases);
    }
  }
}

static void test_shapes()
{
  for (shunt_type type : {SHUNT_F32, SHUNT_F64}) {
    Random r(40 + type);
    for (int slices = 0; slices <= 3; slices++) {
      bool good = true;
      for (int lanes = 2; lanes <= 5; lanes++)
        for (int layout : {1, 2, 3}) {
          Options o = random_options(r, type);
          o.b_layout = o.c_layout = layout;
          const Pattern p = make_pattern(layout == 2 ? LONG : ELEMENTS, 38, layout == 2 ? 620 : 190,
                                         0.5, r.next());
          Problem q(p, layout == 2 ? 21 : 44, o, r.next());
          const uint32_t slots = layout == 2 ? 2 : 0;
          good = good && q.computes({lanes, slices, 2 + (int)r.below(4), slots});
        }
      check(good, "%s, %d warps to a group, all widths of tiles, long groups apart",
            type == SHUNT_F32 ? "f32" : "f64", 1 << slices);
    }
  }
  Problem q(make_pattern(LONG, 38, 620, 0.1, 3), 16, Options(), 4);
  check(q.hint.counts()->long_groups == 2 && q.computes({3, 0, 2, 1}) && q.computes({3, 1, 2, 0}),
        "more long groups than slots are groups like the others");
  check(q.run({1, 0, 2, 0}) == SHUNT_E_UNSUPPORTED && q.run({6, 0, 2, 0}) == SHUNT_E_UNSUPPORTED &&
            q.run({3, 4, 2, 0}) == SHUNT_E_UNSUPPORTED &&
            q.run({3, 0, 6, 1}) == SHUNT_E_UNSUPPORTED &&
            q.run({3, 0, 2, 1000}) == SHUNT_E_UNSUPPORTED,
        "shapes out of range are declined");
}

// ---- what the order of sums is -------------------------------------------------------------

static void test_order()
{
  const Pattern p = make_pattern(ELEMENTS, 24, 100, 0.5, 8);
  Problem q(p, 128, Options(), 9);
  bool same = q.computes({5, 0, 2, 0});
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t j = 0; j < 128; j++) {
      float sum = 0;
      for (int64_t e = p.offsets[(size_t)i]; e < p.offsets[(size_t)i + 1]; e++)
        sum = fmaf((float)load(q.values.host.data(), e, SHUNT_F32),
                   (float)q.b_at(p.columns[(size_t)e], j), sum);
      same = same && sum == (float)load(q.c.host.data(), q.cl.at(i, j), SHUNT_F32);
    }
  check(same, "a whole warp's tile: the bits of FMAs in ascending order");

  // Two warps share a group: the first half of its list, then the second.
  bool halves = q.computes({5, 1, 2, 0});
  for (int64_t i = 0; i < p.rows; i++) {
    const shunt_row_groups &h = q.hint.on_host;
    const uint32_t count = h.count[i / 8], cut = (count + 7) / 8 / 2 * 8;
    for (int64_t j = 0; j < 128; j++) {
      float sum[2] = {};
      for (int64_t e = p.offsets[(size_t)i]; e < p.offsets[(size_t)i + 1]; e++) {
        const int64_t column = p.columns[(size_t)e];
        float &half = sum[column >= h.columns[h.begin[i / 8] + cut]];
        half =
            fmaf((float)load(q.values.host.data(), e, SHUNT_F32), (float)q.b_at(column, j), half);
      }
      halves = halves && sum[0] + sum[1] == (float)load(q.c.host.data(), q.cl.at(i, j), SHUNT_F32);
    }
  }
  check(halves, "two warps to a group: half of the list each, added in order");

  // With 4 lanes a row of B eight parts add up, hinted or not, in different orders.
  for (shunt_type type : {SHUNT_F32, SHUNT_F64})
    for (int slices : {0, 3}) {
      Options o;
      o.type = type;
      Problem narrow(p, 16, o, 10);
      bool good = narrow.computes({2, slices, 2, 0});
      const std::vector<char> hinted = narrow.c.host;
      memset(narrow.hint.mine(narrow.hint.on_device.count), 0,
             (size_t)narrow.hint.on_device.groups * 4);
      narrow.hint.memory.upload();
      good = good && narrow.computes({2, slices, 2, 0});
      // All groups: every row of C has an element that the hint's order made.
      for (int64_t i = 0; i < p.rows; i++)
        good = good && memcmp(&hinted[(size_t)i * 16 * narrow.size],
                              &narrow.c.host[(size_t)i * 16 * narrow.size], 16 * narrow.size) != 0;
      check(good, "%s, %d warps to a group: all sums are made from the hint",
            type == SHUNT_F32 ? "f32" : "f64", 1 << slices);
    }
}

static void test_determinism()
{
  const Pattern p = make_pattern(LONG, 61, 610, 0.1, 12);
  for (shunt_type type : {SHUNT_F32, SHUNT_F64}) {
    Options o;
    o.type = type;
    o.beta = 0.25;
    Problem q(p, 40, o, 13);
    bool same = q.computes();
    const std::vector<char> first = q.c.host;
    for (int i = 0; i < 3; i++)
      same = q.computes() && q.c.host == first && same;
    check(same, "%s: the same bits on every call", type == SHUNT_F32 ? "f32" : "f64");
  }
}

static void test_capture()
{
  Problem q(make_pattern(ELEMENTS, 61, 80, 0.3, 14), 32, Options(), 15);
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  CUDA_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  const bool good = q.run(s) == SHUNT_OK;
  CUDA_OK(cudaStreamEndCapture(s, &graph));
  CUDA_OK(cudaGraphInstantiate(&replay, graph, 0));
  Pattern other = q.pattern;
  other.columns[3] = other.columns[3] == 0 ? 1 : other.columns[3] - 1;
  q.change(other, 16); // stale by the time it runs
  CUDA_OK(cudaGraphLaunch(replay, s));
  CUDA_OK(cudaStreamSynchronize(s));
  q.fetch();
  check(good && q.right(), "captured, then replayed on a matrix that has changed");
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(s);
}

// ---- NaN and Inf ----------------------------------------------------------------------------

static void test_nonfinite()
{
  for (shunt_type type : {SHUNT_F32, SHUNT_F64})
    for (int slices = 0; slices <= 2; slices++) {
      bool good = true;
      for (double with : {NAN, INFINITY, -INFINITY})
        for (int layout : {0, 2, 3}) {
          Options o;
          o.type = type, o.b_layout = o.c_layout = layout;
          Problem q(make_pattern(ELEMENTS, 40, 70, 0.5, 17), 20, o, 18);
          for (int64_t row : {q.pattern.columns[0], q.pattern.columns[40], q.pattern.columns[300]})
            q.poison(row, row % 20, with);
          good = good && q.computes({3, slices, 2, 0});
        }
      check(good,
            "%s, %d warps to a group: NaN and Inf of B reach the rows that name them, no other",
            type == SHUNT_F32 ? "f32" : "f64", 1 << slices);
    }
  // Garbage behind a ragged row of the copy of B is no NaN of C's.
  Options o;
  o.b_layout = 3;
  Problem q(make_pattern(ELEMENTS, 24, 70, 0.5, 19), 17, o, 20);
  memset(q.workspace.host.data(), 0xff, q.workspace.host.size());
  q.workspace.upload();
  check(q.computes(), "padding of B's copy holds NaN");
}

// ---- stale hints -----------------------------------------------------------------------------

// One product after A has changed in place; the hint is of before.
static void test_stale(const char *what, void (*change)(Pattern &, Random &))
{
  bool good = true;
  for (shunt_type type : {SHUNT_F32, SHUNT_F64})
    for (int slices : {0, 2})
      for (int turn = 0; turn < 4; turn++) {
        Random r(1000 + turn);
        Options o = random_options(r, type);
        Problem q(
            make_pattern(turn == 3 ? LONG : ELEMENTS, 45, turn == 3 ? 620 : 80, 0.4, r.next()),
            turn == 1 ? 9 : 36, o, r.next());
        Pattern to = q.pattern;
        change(to, r);
        q.change(to, r.next());
        good =
            good && q.computes({turn == 2 ? 4 : 2, slices, 3, turn == 3 ? 2u : 0u}) && q.computes();
      }
  check(good, "stale hint: %s", what);
}

static void other_values(Pattern &, Random &) {}
static void moved_column(Pattern &p, Random &r)
{
  for (int i = 0; i < 3; i++) {
    const size_t e = (size_t)r.below(p.nnz());
    p.columns[e] = p.columns[e] == 0 ? p.cols - 1 : p.columns[e] - 1;
  }
}
static void last_column(Pattern &p, Random &)
{
  p.columns.back() = p.columns.back() == 0 ? 1 : 0;
}
static void swapped(Pattern &p, Random &r)
{
  const size_t e = (size_t)r.below(p.nnz() - 1);
  std::swap(p.columns[e], p.columns[e + 1]);
}
static void lengths(Pattern &p, Random &r) // entries change rows
{
  for (int i = 0; i < 4; i++) {
    const size_t row = 1 + (size_t)r.below(p.rows - 1);
    if (p.offsets[row] > p.offsets[row - 1]) p.offsets[row]--;
  }
}
static void longer_group(Pattern &p, Random &)
{
  p.offsets[8] = std::min(p.offsets[9], p.offsets[8] + 1);
}
static void shorter(Pattern &p, Random &) // fewer entries than the lists have
{
  p.columns.resize(p.columns.size() / 2);
  for (int64_t &x : p.offsets)
    x = std::min(x, (int64_t)p.columns.size());
}
static void no_entries(Pattern &p, Random &)
{
  p.columns.clear();
  for (int64_t &x : p.offsets)
    x = 0;
}
static void emptied_rows(Pattern &p, Random &) // all of a group's in its first row
{
  for (int i = 17; i < 24; i++)
    p.offsets[(size_t)i] = p.offsets[24];
}
static void another(Pattern &p, Random &r) // of the same shape, fewer entries
{
  Pattern q = make_pattern(SCATTERED, p.rows, p.cols, 0.15, r.next());
  if (q.nnz() <= p.nnz()) p = q;
}

// ---- garbage hints ----------------------------------------------------------------------------

static void test_garbage(const char *what, void (*spoil)(Hint &, Random &))
{
  bool good = true;
  for (shunt_type type : {SHUNT_F32, SHUNT_F64})
    for (int slices : {0, 1, 3})
      for (int turn = 0; turn < 4; turn++) {
        Random r(2000 + turn);
        Problem q(
            make_pattern(turn == 3 ? LONG : ELEMENTS, 45, turn == 3 ? 620 : 80, 0.4, r.next()),
            turn == 1 ? 9 : 36, random_options(r, type), r.next());
        spoil(q.hint, r);
        q.hint.memory.upload();
        good = good && q.computes({3, slices, 2, turn == 3 ? 2u : 0u});
      }
  check(good, "garbage hint: %s", what);
}
static void random_bytes(void *at, size_t bytes, Random &r)
{
  for (size_t i = 0; i < bytes; i++)
    ((char *)at)[i] = (char)r.next();
}
static void garbage_masks(Hint &h, Random &r)
{
  random_bytes(h.mine(h.on_device.masks), (size_t)h.on_device.nnz, r);
}
static void zero_masks(Hint &h, Random &r)
{
  uint8_t *masks = h.mine(h.on_device.masks);
  for (int i = 0; i < 5; i++)
    masks[r.below(h.on_device.nnz)] = 0;
}
// A vector of no row behind each list: its column is nobody's, and must not be used.
static void hidden_columns(Hint &h, Random &)
{
  for (int64_t g = 0; g < h.on_device.groups; g++) {
    uint32_t *count = h.mine(h.on_device.count) + g;
    const uint32_t at = h.mine(h.on_device.begin)[g] + *count;
    if (*count % 32 == 0 || *count >= SHUNT_ROW_GROUPS_LONG || at >= h.on_device.nnz) continue;
    h.mine(h.on_device.columns)[at] = 0x7ffffff;
    h.mine(h.on_device.masks)[at] = 0;
    ++*count;
  }
}
static void full_masks(Hint &h, Random &)
{
  memset(h.mine(h.on_device.masks), 0xff, (size_t)h.on_device.nnz);
}
static void garbage_columns(Hint &h, Random &r)
{
  random_bytes(h.mine(h.on_device.columns), (size_t)h.on_device.nnz * 4, r);
}
static void a_garbage_column(Hint &h, Random &r)
{
  for (int i = 0; i < 4; i++)
    h.mine(h.on_device.columns)[r.below(h.on_device.nnz)] = 0x7fffffff;
}
static void garbage_begins(Hint &h, Random &r)
{
  random_bytes(h.mine(h.on_device.begin), (size_t)h.on_device.groups * 4, r);
}
static void shifted_begins(Hint &h, Random &)
{
  for (int64_t g = 0; g < h.on_device.groups; g++)
    h.mine(h.on_device.begin)[g]++;
}
// Counts that keep to which groups are long, which long_list is to know.
static void garbage_counts(Hint &h, Random &r)
{
  uint32_t *count = h.mine(h.on_device.count);
  for (int64_t g = 0; g < h.on_device.groups; g++)
    count[g] = count[g] > SHUNT_ROW_GROUPS_LONG
                   ? SHUNT_ROW_GROUPS_LONG + 1 + (uint32_t)r.below(1 << 30)
                   : (uint32_t)r.below(SHUNT_ROW_GROUPS_LONG);
}
static void all_zero(Hint &h, Random &)
{
  memset(h.memory.host.data(), 0, h.memory.host.size());
}

// ---- declined
// ------------------------------------------------------------------------------------

static void test_declined()
{
  Options o;
  o.b_layout = 3;
  Problem q(make_pattern(ELEMENTS, 24, 40, 0.3, 30), 12, o, 31);
  const shunt_spmm was = q.spmm;
  const shunt_row_groups hint = q.hint.on_device;
  const auto status = [&](void (*change)(shunt_spmm &, shunt_row_groups &)) {
    change(q.spmm, q.hint.on_device);
    const shunt_status s = q.run();
    q.spmm = was, q.hint.on_device = hint;
    return s;
  };
  using S = shunt_spmm &;
  using G = shunt_row_groups &;
  check(status([](S p, G) { p.a.value_type = p.b.type = p.c.type = SHUNT_F16; }) ==
                SHUNT_E_UNSUPPORTED &&
            status([](S p, G) { p.c.type = SHUNT_F64; }) == SHUNT_E_UNSUPPORTED &&
            status([](S p, G) { p.compute = SHUNT_F64; }) == SHUNT_E_UNSUPPORTED &&
            status([](S p, G) { p.a.index_type = SHUNT_F32; }) == SHUNT_E_UNSUPPORTED &&
            status([](S p, G) { p.a.nnz = INT32_MAX; }) == SHUNT_E_UNSUPPORTED &&
            status([](S p, G) { p.only_if = (const uint32_t *)p.c.values; }) == SHUNT_E_UNSUPPORTED,
        "types and sizes that it was not built for are declined");
  check(status([](S p, G) { p.b.rows++; }) == SHUNT_E_ARGUMENT &&
            status([](S p, G) { p.c.cols++; }) == SHUNT_E_ARGUMENT &&
            status([](S p, G) { p.a.rows = p.c.rows = 0; }) == SHUNT_E_ARGUMENT &&
            status([](S, G g) { g.rows++; }) == SHUNT_E_ARGUMENT &&
            status([](S, G g) { g.cols--; }) == SHUNT_E_ARGUMENT &&
            status([](S, G g) { g.nnz = -1; }) == SHUNT_E_ARGUMENT,
        "sizes that do not match are refused");
  const size_t needed = shunt_spmm_csr_groups_workspace(&q.spmm);
  const auto with = [&](void *at, size_t bytes) {
    return shunt_spmm_csr_groups_cuda(&q.spmm, &q.hint.on_device, nullptr, &q.device, at, bytes, 0);
  };
  check(needed > 0 && needed <= q.workspace.host.size() &&
            with(nullptr, needed) == SHUNT_E_WORKSPACE &&
            with(q.workspace.device, needed - 1) == SHUNT_E_WORKSPACE &&
            with((char *)q.workspace.device + 16, needed) == SHUNT_E_WORKSPACE &&
            with(q.workspace.device, needed) == SHUNT_OK,
        "workspace for a column-major B: asked for, and needed");
  CUDA_OK(cudaDeviceSynchronize());
  q.fetch();
  check(q.right(), "nothing known of the counts: right all the same");
  q.hint.counts()->long_groups = 100; // of another hint; the device's own say 0
  check(q.computes(), "counts known of another hint: right all the same");
  Options row_major;
  Problem r(make_pattern(ELEMENTS, 24, 40, 0.3, 30), 12, row_major, 31);
  check(shunt_spmm_csr_groups_workspace(&r.spmm) == 0 &&
            shunt_spmm_csr_groups_cuda(&r.spmm, &r.hint.on_device, nullptr, &r.device, nullptr, 0,
                                       0) == SHUNT_OK,
        "a row-major B needs no workspace");
  CUDA_OK(cudaDeviceSynchronize());
}

// ---- timing
// ---------------------------------------------------------------------------------------

// Nodes in a row, each with `unknowns` rows, joined to neighbours up to `reach` nodes away with
// gaps, which is what finite elements look like after a bandwidth-reducing order.
static Pattern element_pattern(int64_t nodes, int unknowns, int64_t reach, double share)
{
  Random r(77);
  Pattern p;
  p.rows = p.cols = nodes * unknowns;
  for (int64_t i = 0; i < nodes; i++) {
    std::vector<int64_t> list;
    for (int64_t j = std::max<int64_t>(0, i - reach); j < std::min(nodes, i + reach + 1); j++)
      if (j == i || r.uniform() < share) list.push_back(j);
    for (int u = 0; u < unknowns; u++) {
      for (int64_t j : list)
        for (int k = 0; k < unknowns; k++)
          p.columns.push_back(j * unknowns + k);
      p.offsets.push_back((int64_t)p.columns.size());
    }
  }
  return p;
}

static void time_products()
{
  const Pattern p = element_pattern(7400, 6, 60, 0.06);
  for (shunt_type type : {SHUNT_F32, SHUNT_F64})
    for (int64_t n : {8, 32, 128}) {
      Options o;
      o.type = type;
      Problem q(p, n, o, 1);
      const shunt_csr a = q.spmm.a;
      const double make = time_graph([&](cudaStream_t s) {
        if (shunt_csr_to_row_groups_cuda(&a, &q.hint.on_device, &q.device, s) != SHUNT_OK) exit(3);
      });
      const shunt_row_groups_shape chosen =
          shunt_spmm_csr_groups_shape(&q.spmm, &q.hint.on_device, q.hint.counts(), &q.device);
      printf("time groups %s n %lld: %lld rows, %lld entries, sharing %.2f, hint %.1f us\n",
             type == SHUNT_F32 ? "f32" : "f64", (long long)n, (long long)p.rows, (long long)p.nnz(),
             shunt_row_groups_sharing(&q.hint.on_device, q.hint.counts()), make);
      for (int lanes = 2; lanes <= 5; lanes++)
        for (int slices = 0; slices <= 2; slices++) {
          const shunt_row_groups_shape s = {lanes, slices, 2, 0};
          const double us = time_graph([&](cudaStream_t stream) {
            if (shunt_spmm_csr_groups_shaped_cuda(&q.spmm, &q.hint.on_device, &s, &q.device,
                                                  nullptr, 0, stream) != SHUNT_OK)
              exit(3);
          });
          printf("time groups %s n %lld lanes %d slices %d: %.2f us, %.2f TB/s of B%s\n",
                 type == SHUNT_F32 ? "f32" : "f64", (long long)n, 1 << lanes, 1 << slices, us,
                 (double)q.hint.counts()->vectors * (double)n * (double)q.size / us * 1e-6,
                 lanes == chosen.lanes_log2 && slices == chosen.slices_log2 ? " (chosen)" : "");
        }
    }
}

int main(int argc, char **argv)
{
  test_hint();
  test_hint_long();
  test_hint_irregular();
  test_order();
  test_widths();
  test_shapes();
  test_determinism();
  test_capture();
  test_nonfinite();
  test_stale("other values only", other_values);
  test_stale("columns moved", moved_column);
  test_stale("the very last column moved", last_column);
  test_stale("two entries exchanged", swapped);
  test_stale("entries of one row now of the next", lengths);
  test_stale("an entry of the next group", longer_group);
  test_stale("half of the entries gone", shorter);
  test_stale("no entries left", no_entries);
  test_stale("a group's entries all in one row", emptied_rows);
  test_stale("another matrix of the same shape", another);
  test_garbage("masks", garbage_masks);
  test_garbage("masks of no row", zero_masks);
  test_garbage("vectors of no row", hidden_columns);
  test_garbage("masks of all rows", full_masks);
  test_garbage("columns", garbage_columns);
  test_garbage("columns far outside", a_garbage_column);
  test_garbage("where lists begin", garbage_begins);
  test_garbage("lists one off", shifted_begins);
  test_garbage("how long lists are", garbage_counts);
  test_garbage("all zero", all_zero);
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_products();
  return finish();
}
