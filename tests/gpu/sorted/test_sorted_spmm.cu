// test_sorted_spmm.cu: the order of rows by length, device against host twin, and
// shunt_sorted_spmm_cuda against float64: in every shape, from the right order and from any other.
#include <algorithm>

#include "conv/sorted/sorted_conv.h"
#include "kernels/sorted/sorted_kernels.h"
#include "tests/gpu/common/captured.cuh"
#include "tests/gpu/csr/csr_spmm_case.cuh"

using namespace harness;

namespace
{

// An order of a case's rows, made on the device and on the host.
struct Order {
  Buffer memory, stale{256};
  std::vector<char> mine;
  shunt_sorted on_device, on_host;
  bool same;

  explicit Order(const Case &k, const Pattern &p, const Options &o)
      : memory(shunt_sorted_bytes(&k.p.a)), mine(shunt_sorted_bytes(&k.p.a) + 256)
  {
    const std::vector<char> offsets = index_array(p.offsets, o.index, o.base);
    shunt_csr host = k.p.a;
    host.row_offsets = offsets.data();
    void *at = mine.data() + (256 - (uintptr_t)mine.data() % 256) % 256;
    shunt_sorted_lay_out(&k.p.a, memory.device, &on_device);
    shunt_sorted_lay_out(&host, at, &on_host);
    const bool made = shunt_csr_to_sorted_host(&host, &on_host) == SHUNT_OK &&
                      shunt_csr_to_sorted_cuda(&k.p.a, &on_device, &k.d, nullptr) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    same = made && is(on_device.order, on_host.order, p.rows * 4) &&
           is(on_device.kind, on_host.kind, p.rows) &&
           is(on_device.counts, on_host.counts, sizeof *on_host.counts);
    CUDA_OK(cudaMemset(stale.device, 0, 4));
    on_device.stale = (uint32_t *)stale.device;
  }
  const shunt_sorted_counts *known() const { return on_host.counts; }
  bool is_stale() const
  {
    uint32_t word;
    CUDA_OK(cudaMemcpy(&word, stale.device, 4, cudaMemcpyDeviceToHost));
    return word != 0;
  }
  // Another order in its place.
  void put(const std::vector<uint32_t> &order)
  {
    CUDA_OK(cudaMemcpy(on_device.order, order.data(), order.size() * 4, cudaMemcpyHostToDevice));
  }

private:
  static bool is(const void *device, const void *host, size_t bytes)
  {
    std::vector<char> x(bytes);
    CUDA_OK(cudaMemcpy(x.data(), device, bytes, cudaMemcpyDeviceToHost));
    return memcmp(x.data(), host, bytes) == 0;
  }
};

shunt_status run(const Arena &m, const Case &k, const Order &v, const shunt_sorted_shape &s)
{
  return shunt_sorted_spmm_cuda(&k.p, &v.on_device, v.known(), &s, &k.d, m.workspace.device,
                                shunt_sorted_spmm_workspace(&k.p), nullptr);
}

// NULL, or what is wrong with the product.
const char *multiply(const Arena &m, const Case &k, const Pattern &p, const Reference &r,
                     const Types &t, const Options &o, const Order &v, const shunt_sorted_shape &s)
{
  const shunt_status status = run(m, k, v, s);
  const cudaError_t e = cudaDeviceSynchronize();
  return status != SHUNT_OK || e != cudaSuccess ? "failed" : verdict(m, k, p, r, t, o);
}

// What the kernel takes: rows of B whole loads, where they stand, or in any other layout, to be copied.
Options options_of(const Types &t, int64_t n, Random &r)
{
  const int64_t load = 16 / (int64_t)shunt_type_size(t.in);
  Options o = vary(t, n * load, (int)r.below(16), r);
  if (r.below(3) == 0) {
    if (!o.b_by_column) o.b_gap = 1 + load * r.below(2);
    return o;
  }
  o.b_by_column = false;
  o.b_gap = load * r.below(2);
  o.b_shift = 0;
  return o;
}

// For C of so many columns, in loads of 16 bytes.
shunt_sorted_shape any_shape(int64_t loads, Random &r)
{
  static const int limits[] = {0, 16, 32, 64, 128, 256, 512, 1024, 2048};
  static const int briefs[] = {0, 4, 8, 16};
  shunt_sorted_shape s = {};
  if (r.below(2)) s.share = 4 << r.below(5);
  s.chunk = r.below(2) ? 4 : 8;
  s.lanes_log2 = s.share ? (int)r.below(6) : 1 + (int)r.below(5);
  s.team_log2 = std::max(2, s.lanes_log2) + (int)r.below(6 - std::max(2, s.lanes_log2));
  s.long_lanes_log2 = 1 + (int)r.below(5);
  s.wide = limits[r.below(6)];
  s.limit = limits[r.below(9)];
  s.huge = limits[r.below(9)];
  s.cluster = 1 << r.below(4);
  if (s.lanes_log2 >= 2) s.brief = briefs[r.below(4)];
  if (s.brief) s.chunk = 4;
  while (s.brief && s.spread < 2 && s.brief << s.spread < 4 << s.lanes_log2 && r.below(2))
    s.spread++;
  s.words = 1;
  if (s.share || loads % (2 << s.lanes_log2) || r.below(2)) return s;
  s.words = 2, s.chunk = 4;
  s.brief = s.spread = 0;
  return s;
}

void test_order()
{
  Arena m;
  bool good = true;
  int cases = 0;
  for (const Named &pattern : patterns())
    for (int form = 0; form < 4; form++, cases++) {
      const Types &t = kTypes[4];
      const Reference ref = make_reference(pattern.p, t, 7);
      Options o;
      o.n = 4;
      o.index = form & 1 ? SHUNT_I64 : SHUNT_I32, o.base = form >> 1;
      const Case k = make_case(m, pattern.p, ref, t, o);
      good = good && Order(k, pattern.p, o).same;
    }
  check(good, "device and host make the same order, %d matrices", cases);
}

// More rows than a run has, and more runs than a block.
void test_long_order()
{
  Random r(5);
  std::vector<int32_t> offsets(1, 0);
  const int64_t rows = sized(300000, 5000);
  for (int64_t i = 0; i < rows; i++)
    offsets.push_back(offsets.back() + (int)(r.below(9) ? r.below(6) : r.below(3000)));
  Buffer device(offsets.size() * 4);
  CUDA_OK(cudaMemcpy(device.device, offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
  shunt_csr a = {};
  a.rows = rows, a.nnz = offsets.back(), a.index_type = SHUNT_I32;
  shunt_sorted v, w;
  Buffer memory(shunt_sorted_bytes(&a));
  std::vector<char> mine(shunt_sorted_bytes(&a) + 256);
  shunt_sorted_lay_out(&a, memory.device, &v);
  shunt_sorted_lay_out(&a, mine.data() + (256 - (uintptr_t)mine.data() % 256) % 256, &w);
  a.row_offsets = offsets.data();
  bool good = shunt_csr_to_sorted_host(&a, &w) == SHUNT_OK;
  a.row_offsets = device.device;
  const shunt_device d = this_device();
  good = good && shunt_csr_to_sorted_cuda(&a, &v, &d, nullptr) == SHUNT_OK;
  std::vector<uint32_t> order(rows);
  CUDA_OK(cudaMemcpy(order.data(), v.order, rows * 4, cudaMemcpyDeviceToHost));
  check(good && v.runs > 8 && memcmp(order.data(), w.order, rows * 4) == 0,
        "%lld rows in %lld runs", (long long)rows, (long long)v.runs);
}

void test_shapes(Arena &m, const std::vector<Named> &all)
{
  static const int64_t loads[] = {1, 2, 3, 5, 8, 9, 16, 32};
  Random r(61);
  Sample matrices(3), sample(4);
  for (int which = 0; which < 6; which++) {
    const Types &t = kTypes[which];
    for (const Named &pattern : all) {
      if (matrices.leaves_out()) continue;
      const Reference ref = make_reference(pattern.p, t, 91);
      int wrong = 0, cases = 0;
      for (int turn = 0; turn < 24; turn++, cases++) {
        const int64_t load = 16 / (int64_t)shunt_type_size(t.in);
        const int64_t n = std::min(loads[r.below(8)], kWidest / load);
        const Options o = options_of(t, n, r);
        const shunt_sorted_shape shape = any_shape(n, r);
        if (left_out() || sample.leaves_out()) continue;
        const Case k = make_case(m, pattern.p, ref, t, o);
        const Order v(k, pattern.p, o);
        const char *what = multiply(m, k, pattern.p, ref, t, o, v, shape);
        if (!what && v.is_stale()) what = "said to be stale";
        if (!what) continue;
        if (wrong++ < 3)
          printf(
              "# chunk %d, lanes %d, team %d, long lanes %d, wide %d, limit %d, huge %d, cluster "
              "%d, brief %d, spread %d, share %d, words %d: %s: %s\n",
              shape.chunk, 1 << shape.lanes_log2, 1 << shape.team_log2, 1 << shape.long_lanes_log2,
              shape.wide, shape.limit, shape.huge, shape.cluster, shape.brief, shape.spread,
              shape.share, shape.words, describe(o), what);
      }
      check(!wrong, "%s, %s: %d shapes", t.name, pattern.name, cases);
    }
  }
}

// The shape that is chosen, for all widths; with clusters, and as a device without them has it.
void test_chosen(Arena &m, const Named &pattern)
{
  for (int which : {0, 2, 4, 5}) {
    const Types &t = kTypes[which];
    const int64_t load = 16 / (int64_t)shunt_type_size(t.in);
    const Reference ref = make_reference(pattern.p, t, 92);
    const char *what = nullptr;
    for (int64_t n : {load, 2 * load, 4 * load, 16 * load, 256 / load * load})
      for (int multiprocessors : {1, 132}) {
        Options o;
        o.n = n, o.multiprocessors = multiprocessors;
        Case k = make_case(m, pattern.p, ref, t, o);
        const Order v(k, pattern.p, o);
        for (int capability : {k.d.compute_capability, 80}) {
          k.d.compute_capability = capability;
          const shunt_sorted_shape s = shunt_sorted_spmm_shape(&k.p, v.known(), &k.d);
          if (!what) what = multiply(m, k, pattern.p, ref, t, o, v, s);
        }
      }
    check(!what, "%s, %s: the chosen shapes%s%s", t.name, pattern.name, what ? ": " : "",
          what ? what : "");
  }
}

// Orders of another matrix: each row is still taken once.
void test_any_order(Arena &m, const Named &pattern)
{
  Random r(63);
  const Types &t = kTypes[4];
  const Reference ref = make_reference(pattern.p, t, 93);
  Options o;
  o.n = 64;
  const Case k = make_case(m, pattern.p, ref, t, o);
  const char *what = nullptr;
  std::vector<uint32_t> order(pattern.p.rows);
  for (int turn = 0; turn < sized(20, 6) && !what; turn++) {
    Order v(k, pattern.p, o);
    for (size_t i = 0; i < order.size(); i++) order[i] = turn ? (uint32_t)i : order.size() - 1 - i;
    for (size_t i = order.size(); turn > 1 && i > 1; i--)
      std::swap(order[i - 1], order[r.below((int64_t)i)]);
    v.put(order);
    what = multiply(m, k, pattern.p, ref, t, o, v, any_shape(o.n / 4, r));
  }
  check(!what, "%s: right from any order of rows%s%s", pattern.name, what ? ": " : "",
        what ? what : "");
}

// Rows of `lengths`, of which row 17 has grown since to `grown` entries: right, and told of.
void test_grown(Arena &m, const char *name, std::vector<int64_t> lengths, int64_t grown, int brief,
                int share = 0)
{
  const Pattern before = add_column_0(from_lengths(lengths, 600, 41));
  lengths[17] = grown;
  const Pattern after = add_column_0(from_lengths(lengths, 600, 42));
  const Types &t = kTypes[4];
  const Reference old_values = make_reference(before, t, 95), ref = make_reference(after, t, 94);
  Options o;
  o.n = share ? 8 : 32;
  const Case was = make_case(m, before, old_values, t, o);
  const Order v(was, before, o);
  const Case k = make_case(m, after, ref, t, o);
  shunt_sorted_shape s = shunt_sorted_spmm_shape(&k.p, v.known(), &k.d);
  s.brief = brief, s.share = share, s.spread = 0;
  if (brief) s.words = 1, s.chunk = 4, s.lanes_log2 = s.team_log2 = 3;
  shunt_sorted_counts none = {};
  const shunt_status status =
      shunt_sorted_spmm_cuda(&k.p, &v.on_device, &none, &s, &k.d, nullptr, 0, nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  check(status == SHUNT_OK && !verdict(m, k, after, ref, t, o) && !v.is_stale(),
        "%s, without counts: right, and nothing is said", name);
  const char *what = multiply(m, k, after, ref, t, o, v, s);
  check(!what && v.is_stale(), "%s: right, and told of%s%s", name, what ? ": " : "",
        what ? what : "");
}

void test_stale(Arena &m)
{
  const std::vector<int64_t> threes(300, 3);
  std::vector<int64_t> some(300, 9);
  for (size_t i = 0; i < some.size(); i += 2) some[i] = i % 3;
  test_grown(m, "a row that has grown", threes, 500, 0);
  test_grown(m, "one by as much as makes it wide", threes, 64, 0);
  test_grown(m, "one in a list", threes, 500, 4);
  test_grown(m, "one in a list of several levels", some, 40, 16);
  test_grown(m, "one that a group has", threes, 40, 0, 8);
  test_grown(m, "one by as much as makes its team larger", threes, 4, 0, 4);
}

void test_nan(Arena &m, const Pattern &p, int64_t n)
{
  const Types &t = kTypes[4];
  Reference ref = make_reference(p, t, 79);
  Options o;
  o.n = n;
  const int64_t poisoned = p.columns[5];
  ref.b[poisoned * kWidest + 3] = NAN;
  const Case k = make_case(m, p, ref, t, o);
  const Order v(k, p, o);
  run(m, k, v, shunt_sorted_spmm_shape(&k.p, v.known(), &k.d));
  const std::vector<char> c = download(m.c, k.c_bytes);
  int wrong = 0, met = 0;
  for (int64_t i = 0; i < p.rows; i++) {
    bool stores = false;
    for (int64_t q = p.offsets[i]; q < p.offsets[i + 1]; q++) stores |= p.columns[q] == poisoned;
    met += stores;
    wrong += (bool)std::isnan(load(c.data(), i * n + 3, t.out)) != stores;
  }
  check(!wrong && met,
        "N = %lld: a NaN of B reaches the %d rows that store its column, and no other",
        (long long)n, met);
}

void test_repeats(Arena &m, const Named &pattern, int64_t n)
{
  for (int which : {0, 4, 5}) {
    const Types &t = kTypes[which];
    const Reference ref = make_reference(pattern.p, t, 80);
    Options o;
    o.n = n;
    std::vector<char> first;
    int differ = 0;
    for (int i = 0; i < sized(20, 3); i++) {
      const Case k = make_case(m, pattern.p, ref, t, o);
      const Order v(k, pattern.p, o);
      run(m, k, v, shunt_sorted_spmm_shape(&k.p, v.known(), &k.d));
      const std::vector<char> c = download(m.c, k.c_bytes);
      if (i == 0) first = c;
      differ += c != first;
    }
    check(!differ, "%s, %s, N = %lld: repeats give the same bits", t.name, pattern.name,
          (long long)n);
  }
}

void test_capture(Arena &m, const Pattern &p)
{
  const Types &t = kTypes[4];
  Options o;
  o.n = 128, o.scalars_on_device = true, o.b_by_column = true;
  Reference ref = make_reference(p, t, 81);
  Case k = make_case(m, p, ref, t, o);
  const Order v(k, p, o);
  const shunt_sorted_shape s = shunt_sorted_spmm_shape(&k.p, v.known(), &k.d);
  Captured calls([&](cudaStream_t stream) {
    return shunt_csr_to_sorted_cuda(&k.p.a, &v.on_device, &k.d, stream) == SHUNT_OK &&
           shunt_sorted_spmm_cuda(&k.p, &v.on_device, v.known(), &s, &k.d, m.workspace.device,
                                  shunt_sorted_spmm_workspace(&k.p), stream) == SHUNT_OK;
  });
  int wrong = !calls.good;
  for (int replay = 0; replay < 3; replay++) {
    o.alpha = 1 + replay;
    o.beta = replay == 1 ? 0.5 : 0;
    ref = make_reference(p, t, 82 + replay);
    k = make_case(m, p, ref, t, o);
    calls.replay();
    wrong += verdict(m, k, p, ref, t, o) != nullptr;
  }
  check(!wrong, "captured, sorting and product: replays read values and scalars anew");
}

void test_declined(Arena &m, const Pattern &p)
{
  const Types &t = kTypes[4];
  Options o;
  o.n = 32;
  const Reference ref = make_reference(p, t, 90);
  Case k = make_case(m, p, ref, t, o);
  Order v(k, p, o);
  const shunt_sorted_shape s = shunt_sorted_spmm_shape(&k.p, v.known(), &k.d);
  const shunt_spmm was = k.p;
  const auto with = [&](void (*change)(shunt_spmm &)) {
    change(k.p);
    const shunt_status status = run(m, k, v, s);
    k.p = was;
    return status;
  };
  check(with([](shunt_spmm &p) { p.c.type = SHUNT_F64; }) == SHUNT_E_UNSUPPORTED &&
            with([](shunt_spmm &p) { p.compute = SHUNT_F64; }) == SHUNT_E_UNSUPPORTED &&
            with([](shunt_spmm &p) { p.a.value_type = SHUNT_F16; }) == SHUNT_E_UNSUPPORTED &&
            with([](shunt_spmm &p) { p.b.cols = p.c.cols = 31; }) == SHUNT_E_UNSUPPORTED &&
            with([](shunt_spmm &p) { p.b.values = (char *)p.b.values + 4; }) ==
                SHUNT_E_UNSUPPORTED &&
            with([](shunt_spmm &p) { p.a.nnz = INT64_C(1) << 30; }) == SHUNT_E_UNSUPPORTED &&
            with([](shunt_spmm &p) { p.only_if = (const uint32_t *)p.c.values; }) ==
                SHUNT_E_UNSUPPORTED,
        "types, layouts and sizes that it was not built for are declined");
  check(with([](shunt_spmm &p) { p.b.rows++; }) == SHUNT_E_ARGUMENT &&
            with([](shunt_spmm &p) { p.a.rows++, p.c.rows++; }) == SHUNT_E_ARGUMENT,
        "sizes that do not match are refused");
  k.p.b.row_stride = 1, k.p.b.col_stride = k.p.b.rows;
  const size_t bytes = shunt_sorted_spmm_workspace(&k.p);
  const auto given = [&](void *workspace, size_t bytes) {
    return shunt_sorted_spmm_cuda(&k.p, &v.on_device, v.known(), &s, &k.d, workspace, bytes,
                                  nullptr);
  };
  check(bytes > 0 && given(m.workspace.device, bytes - 1) == SHUNT_E_WORKSPACE &&
            given(nullptr, bytes) == SHUNT_E_WORKSPACE &&
            given((char *)m.workspace.device + 16, bytes) == SHUNT_E_WORKSPACE,
        "a workspace too small, none, or one that is not aligned is refused");
  k.p = was;
  const auto shaped = [&](void (*change)(shunt_sorted_shape &)) {
    shunt_sorted_shape other = s;
    change(other);
    return run(m, k, v, other);
  };
  using S = shunt_sorted_shape &;
  check(shaped([](S s) { s.chunk = 5; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.lanes_log2 = 0; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.team_log2 = s.lanes_log2 - 1; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.long_lanes_log2 = 6; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.cluster = 3; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.chunk = 4, s.brief = 5; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.chunk = 8, s.brief = 8; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.chunk = 4, s.brief = 4, s.lanes_log2 = 1; }) ==
                SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.chunk = 4, s.brief = 8, s.lanes_log2 = 2, s.spread = 2; }) ==
                SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.words = 3, s.chunk = 4; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.words = 2, s.chunk = 4, s.lanes_log2 = s.team_log2 = 5; }) ==
                SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.limit = 100; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.share = 12; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.share = 128; }) == SHUNT_E_UNSUPPORTED &&
            shaped([](S s) { s.share = 8, s.lanes_log2 = 6; }) == SHUNT_E_UNSUPPORTED,
        "shapes out of range are declined");
  CUDA_OK(cudaDeviceSynchronize());
  check(download(m.c, k.c_bytes) == k.c_before, "what is declined leaves C alone");
}

} // namespace

int main()
{
  Arena m;
  std::vector<Named> all = patterns();
  test_order();
  test_long_order();
  test_shapes(m, all);
  for (const Named &n : all)
    if (!left_out()) test_chosen(m, n);
  test_any_order(m, all[2]);
  test_any_order(m, all[9]);
  test_stale(m);
  test_nan(m, all[0].p, 64);
  test_nan(m, all[0].p, 8);
  for (int64_t n : {8, 64}) test_repeats(m, all[2], n);
  for (int64_t n : {8, 64}) test_repeats(m, all[10], n);
  test_capture(m, all[10].p);
  test_declined(m, all[0].p);
  return finish();
}
