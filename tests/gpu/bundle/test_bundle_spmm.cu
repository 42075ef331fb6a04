// test_bundle_spmm.cu: the bundles' column lists (the hint), device against host twin, and
// shunt_bundle_spmm_cuda against float64 with the right hint, in every shape (bundle_operands.cuh;
// other hints: test_bundle_stale.cu).
//   --time   also times hint and kernel on made-up finite-element patterns
#include "tests/gpu/bundle/bundle_operands.cuh"
#include "tests/gpu/common/captured.cuh"

// ---- the hint ------------------------------------------------------------------------

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
    for (int64_t j = 0; j < (i == 0 ? 512 : i == 8 ? 513 : 0); j++) p.columns.push_back(j);
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

// ---- the product ---------------------------------------------------------------------

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
    const shunt_bundle &h = q.hint.on_host;
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
}

// A fault that leaves a NaN would pass unseen, as such groups are computed row by row.  Parts and
// slices add up in other orders than rows do: so the bits tell who made a sum.
static void test_made_from_hint()
{
  const Pattern p = make_pattern(ELEMENTS, 24, 260, 0.5, 8); // five chunks a group
  for (shunt_type type : {SHUNT_F32, SHUNT_F64})
    for (int slices : {0, 1, 3}) {
      bool good = true;
      for (int lanes = 2; lanes <= 5; lanes++) {
        const int64_t n = lanes < 4 ? 16 : 64;
        Options o;
        o.type = type;
        Problem q(p, n, o, 10);
        if (slices == 0 && lanes == 5) continue; // one part, one slice: as rows do
        good = good && q.computes({lanes, slices, 2, 0});
        const std::vector<char> hinted = q.c.host;
        memset(q.hint.mine(q.hint.on_device.count), 0, (size_t)q.hint.on_device.groups * 4);
        q.hint.memory.upload();
        good = good && q.computes({lanes, slices, 2, 0});
        // All groups: every row of C has an element that the hint's order made.
        const size_t row = (size_t)n * q.size;
        for (size_t i = 0; i < (size_t)p.rows; i++)
          good = good && memcmp(&hinted[i * row], &q.c.host[i * row], row) != 0;
      }
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
    for (int i = 0; i < 3; i++) same = q.computes() && q.c.host == first && same;
    check(same, "%s: the same bits on every call", type == SHUNT_F32 ? "f32" : "f64");
  }
}

static void test_capture()
{
  Problem q(make_pattern(ELEMENTS, 61, 80, 0.3, 14), 32, Options(), 15);
  Captured calls([&](cudaStream_t s) { return q.run(s) == SHUNT_OK; });
  Pattern other = q.pattern;
  other.columns[3] = other.columns[3] == 0 ? 1 : other.columns[3] - 1;
  q.change(other, 16); // stale by the time it runs
  calls.replay();
  q.fetch();
  check(calls.good && q.right(), "captured, then replayed on a matrix that has changed");
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

// ---- declined ------------------------------------------------------------------------

// Nothing is known of the counts.
static shunt_status launch(const shunt_spmm &p, const shunt_bundle &hint, const shunt_device &d,
                           void *workspace, size_t bytes)
{
  const shunt_bundle_shape shape = shunt_bundle_spmm_shape(&p, &hint, nullptr, &d);
  return shunt_bundle_spmm_cuda(&p, &hint, &shape, &d, workspace, bytes, 0);
}

static void test_declined()
{
  Options o;
  o.b_layout = 3;
  Problem q(make_pattern(ELEMENTS, 24, 40, 0.3, 30), 12, o, 31);
  const shunt_spmm was = q.spmm;
  const shunt_bundle hint = q.hint.on_device;
  const auto status = [&](void (*change)(shunt_spmm &, shunt_bundle &)) {
    change(q.spmm, q.hint.on_device);
    const shunt_status s = q.run();
    q.spmm = was, q.hint.on_device = hint;
    return s;
  };
  using S = shunt_spmm &;
  using G = shunt_bundle &;
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
  const size_t needed = shunt_bundle_spmm_workspace(&q.spmm);
  const auto with = [&](void *at, size_t bytes) {
    return launch(q.spmm, q.hint.on_device, q.device, at, bytes);
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
  check(shunt_bundle_spmm_workspace(&r.spmm) == 0 &&
            launch(r.spmm, r.hint.on_device, r.device, nullptr, 0) == SHUNT_OK,
        "a row-major B needs no workspace");
  CUDA_OK(cudaDeviceSynchronize());
}

// ---- timing --------------------------------------------------------------------------

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
        for (int k = 0; k < unknowns; k++) p.columns.push_back(j * unknowns + k);
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
        if (shunt_csr_to_bundle_cuda(&a, &q.hint.on_device, &q.device, s) != SHUNT_OK) exit(3);
      });
      const shunt_bundle_shape chosen =
          shunt_bundle_spmm_shape(&q.spmm, &q.hint.on_device, q.hint.counts(), &q.device);
      printf("time bundle %s n %lld: %lld rows, %lld entries, sharing %.2f, hint %.1f us\n",
             type == SHUNT_F32 ? "f32" : "f64", (long long)n, (long long)p.rows, (long long)p.nnz(),
             (double)p.nnz() / (double)q.hint.counts()->vectors, make);
      for (int lanes = 2; lanes <= 5; lanes++)
        for (int slices = 0; slices <= 2; slices++) {
          const shunt_bundle_shape s = {lanes, slices, 2, 0};
          const double us = time_graph([&](cudaStream_t stream) {
            if (shunt_bundle_spmm_cuda(&q.spmm, &q.hint.on_device, &s, &q.device, nullptr, 0,
                                       stream) != SHUNT_OK)
              exit(3);
          });
          printf("time bundle %s n %lld lanes %d slices %d: %.2f us, %.2f TB/s of B%s\n",
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
  test_made_from_hint();
  test_widths();
  test_shapes();
  test_determinism();
  test_capture();
  test_nonfinite();
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_products();
  return finish();
}
