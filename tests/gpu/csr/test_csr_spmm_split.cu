// test_csr_spmm_split.cu: the kernel of shunt_csr_spmm_split_cuda against a float64
// reference, however it is told to cut the work.
#include "kernels/csr/csr_spmm_launch.cuh"
#include "tests/gpu/csr/csr_spmm_case.cuh"

using namespace harness;

namespace
{

// S: what is stored, T: what is computed with.
template <class S, class T, int V>
shunt_status run_split(const Case &k, const shunt::csr::split_shape &s)
{
  using namespace shunt::csr;
  shunt::csr::layout how = {};
  how.split = true;
  how.b_stride = k.p.b.row_stride;
  args<T> a = make_args<T>(&k.p, how, nullptr);
  a.b_row_bytes = (uint32_t)(a.b_row_stride * sizeof(S));
  return launch_split<S, S, T, V>(a, s, &k.d, nullptr);
}

void test_split_shapes(Arena &m, const std::vector<Named> &all)
{
  static const int limits[] = {0, 1, 7, 64, 500, 1 << 20};
  static const int windows[] = {1, 16, 300, 2048, 1 << 20};
  static const int64_t widths[] = {4, 20, 32, 100, 128};
  Random r(44);
  Sample matrices(2), sample(23);
  for (int which : {4, 5}) {
    const Types &t = kTypes[which];
    for (const Named &pattern : all) {
      if (matrices.leaves_out()) continue;
      Reference ref = make_reference(pattern.p, t, 83);
      int wrong = 0, cases = 0;
      for (int lanes = 1; lanes <= 5; lanes++)
        for (int team = lanes > 2 ? lanes : 2; team <= 5; team++)
          for (int turn = 0; turn < 6; turn++, cases++) {
            if (left_out() || sample.leaves_out()) continue;
            Options o = vary(t, widths[r.below(5)], (int)r.below(16) & 14, r);
            o.b_gap = o.b_shift = 0;
            shunt::csr::split_shape s = {};
            s.words = 1;
            s.threads = 64 << turn % 3;
            s.chunk = turn % 2 ? 4 : 8;
            s.lanes_log2 = lanes;
            s.team_log2 = team;
            s.long_lanes_log2 = 2 + (int)r.below(2);
            s.limit = limits[r.below(6)];
            s.window = windows[r.below(5)];
            s.search = turn < 4;
            s.whole = !s.search || turn % 2;
            if (!s.search) s.limit = 1 << 24;
            Case k = make_case(m, pattern.p, ref, t, o);
            shunt_status status =
                which == 4 ? run_split<float, float, 4>(k, s) : run_split<double, double, 2>(k, s);
            cudaError_t e = cudaDeviceSynchronize();
            const char *what = status != SHUNT_OK || e != cudaSuccess
                                   ? "failed"
                                   : verdict(m, k, pattern.p, ref, t, o);
            if (!what) continue;
            if (wrong++ < 3)
              printf("# %s: %d threads, chunk %d, lanes %d, team %d, long %d, limit %d, window %d, "
                     "whole %d: %s: %s\n",
                     t.name, s.threads, s.chunk, 1 << lanes, 1 << team, 1 << s.long_lanes_log2,
                     s.limit, s.window, s.whole, describe(o), what);
          }
      check(!wrong, "%s, %s: %d ways to cut by rows", t.name, pattern.name, cases);
    }
  }
}

// One of several ways to cut: its shape, and loads of 16 bytes in a row of B; false: no such way.
using Cut = bool (*)(int way, Random &r, shunt::csr::split_shape &s, int64_t &loads);

void print_shape(const char *type, const shunt::csr::split_shape &s, const Options &o,
                 const char *what)
{
  printf("# %s: %d threads, lanes %d, team %d, long %d, limit %d, window %d, %d warps a row, "
         "unstaged %d, %d words: %s: %s\n",
         type, s.threads, 1 << s.lanes_log2, 1 << s.team_log2,
         s.search ? 1 << s.long_lanes_log2 : 0, s.limit, s.window, s.row_warps, s.unstaged, s.words,
         describe(o), what);
}

// In f16, f32 and f64; of all ways and patterns a sample.
void test_cuts(Arena &m, const std::vector<Named> &all, const char *name, int ways, int one_in,
               Cut cut)
{
  Random r(45);
  Sample matrices(2), sample(one_in);
  for (int which : {0, 4, 5}) {
    const Types &t = kTypes[which];
    for (const Named &pattern : all) {
      if (matrices.leaves_out()) continue;
      const Reference ref = make_reference(pattern.p, t, 85);
      int wrong = 0;
      for (int way = 0; way < ways; way++) {
        shunt::csr::split_shape s = {};
        int64_t loads = 1;
        s.words = 1;
        if (left_out() || sample.leaves_out() || !cut(way, r, s, loads)) continue;
        const int64_t n = std::min(loads * 16 / (int64_t)shunt_type_size(t.in), kWidest - 1);
        Options o = vary(t, n, (int)r.below(16) & 14, r);
        o.b_gap = o.b_shift = 0;
        const Case k = make_case(m, pattern.p, ref, t, o);
        const shunt_status status = which == 0   ? run_split<__half, float, 8>(k, s)
                                    : which == 4 ? run_split<float, float, 4>(k, s)
                                                 : run_split<double, double, 2>(k, s);
        const cudaError_t e = cudaDeviceSynchronize();
        const char *what =
            status != SHUNT_OK || e != cudaSuccess ? "failed" : verdict(m, k, pattern.p, ref, t, o);
        if (what && wrong++ < 3) print_shape(t.name, s, o, what);
      }
      check(!wrong, "%s, %s: %d ways to cut %s", t.name, pattern.name, ways, name);
    }
  }
}

// A not staged: teams from one group to a whole warp, with long blocks and without.
bool cut_unstaged(int way, Random &r, shunt::csr::split_shape &s, int64_t &loads)
{
  static const int limits[] = {0, 3, 64, 500};
  const int turn = way % 4;
  loads = 1 + r.below(5);
  s.unstaged = true;
  s.threads = 64 << turn % 3;
  s.lanes_log2 = way / 4 % 6, s.team_log2 = way / 24;
  s.long_lanes_log2 = 1 + (int)r.below(3);
  s.search = turn % 2;
  s.limit = s.search ? limits[r.below(4)] : 1 << 24;
  s.window = 1 + (int)r.below(600);
  return s.lanes_log2 <= s.team_log2;
}

// A block each row, whose warps share it: staged, and not.
bool cut_blocks(int way, Random &r, shunt::csr::split_shape &s, int64_t &loads)
{
  loads = 1 + r.below(20);
  s.unstaged = way % 2;
  s.row_warps = 2 << way / 2 % 3;
  s.lanes_log2 = way / 6;
  return s.lanes_log2 || s.unstaged;
}

// Two words a lane, of as many slices of C as there are; one where C is not whole slices.
bool cut_words(int way, Random &r, shunt::csr::split_shape &s, int64_t &loads)
{
  s.words = 2;
  s.threads = 128;
  s.whole = true, s.chunk = 4;
  s.limit = 1 << 24;
  s.lanes_log2 = way % 6, s.team_log2 = way / 6;
  loads = way % 5 ? (int64_t)(1 + r.below(3)) << (s.lanes_log2 + 1) : 1 + r.below(70);
  return s.lanes_log2 > 0 && s.team_log2 > 1 && s.lanes_log2 <= s.team_log2;
}

// On a device like an H200.
shunt::csr::split_shape choose(int64_t rows, int64_t each, int64_t longest, int64_t n, int V,
                               int size, bool words = false)
{
  shunt_device d = {};
  d.multiprocessors = 132;
  const shunt::csr::split_matrix a = {rows, rows * each, longest, false, words};
  return shunt::csr::choose_split(a, n, V, size, &d);
}

// Where A is not staged, and with what teams.
void test_chooses_unstaged()
{
  const auto is = [](const shunt::csr::split_shape &s, int lanes_log2, int team_log2) {
    return s.unstaged && s.lanes_log2 == lanes_log2 && s.team_log2 == team_log2;
  };
  check(is(choose(60000, 5, 5, 8, 4, 4), 1, 1) && is(choose(60000, 5, 5, 8, 8, 2), 0, 1) &&
            is(choose(41000, 74, 81, 8, 4, 4), 1, 3) && is(choose(4096, 41, 60, 2, 2, 8), 0, 4),
        "narrow C: teams of as many groups as rows are long, and few");
  check(!choose(41000, 74, 81, 12, 4, 4).unstaged && !choose(900, 74, 81, 8, 4, 4).unstaged,
        "wider C, and few rows: staged");
  check(!choose(41000, 74, -1, 8, 4, 4).unstaged && !choose(20000, 4, 170, 8, 4, 4).unstaged &&
            choose(45000, 71, 2400, 8, 4, 4).search && choose(45000, 71, 2400, 8, 4, 4).unstaged,
        "rows that differ much: staged, unless long blocks have the long ones");
}

// Short rows: how many a team takes as one list, and where each has a group that reads A itself.
void test_chooses_short()
{
  const auto rows = [](int64_t rows, int64_t each, int64_t longest, int64_t n, int V, int size) {
    const shunt::csr::split_shape s = choose(rows, each, longest, n, V, size);
    return s.unstaged ? -1 : s.team_rows;
  };
  check(rows(91000, 7, 7, 32, 2, 8) == 11 && rows(43000, 8, 19, 128, 4, 4) == 11 &&
            rows(20000, 9, 20, 64, 4, 4) == 4 && rows(120000, 3, 4, 128, 8, 2) == 15,
        "lists as long as lets all of them run at once");
  check(rows(91000, 7, 7, 128, 2, 8) == 8 && rows(200000, 11, 27, 128, 4, 4) == 8,
        "of 8 rows where they would not");
  check(rows(60000, 12, 27, 128, 4, 4) == 0 && rows(60000, 9, 97, 128, 4, 4) == 0 &&
            rows(3000, 5, 9, 128, 4, 4) == 0,
        "none of longer rows, nor of few");
  check(rows(91000, 7, 7, 32, 4, 4) == -1 && rows(91000, 7, 7, 16, 4, 4) == -1 &&
            rows(27000, 7, 7, 32, 2, 8) == -1,
        "rows alike: a group each, in narrow products and small ones");
  check(rows(91000, 7, 11, 16, 4, 4) == 0 && rows(91000, 12, 12, 16, 4, 4) == 0,
        "not where they differ, nor longer ones");
}

// Wide C of rows that differ little, and are not too short: two words a lane.
void test_chooses_words()
{
  const auto is = [](const shunt::csr::split_shape &s, int lanes_log2, int team_log2) {
    return s.words == 2 && s.lanes_log2 == lanes_log2 && s.team_log2 == team_log2 && !s.team_rows;
  };
  check(is(choose(70000, 25, 33, 128, 2, 8, true), 5, 5) &&
            is(choose(70000, 25, 33, 64, 4, 4, true), 3, 3) &&
            is(choose(70000, 25, 33, 256, 8, 2, true), 4, 4) &&
            is(choose(70000, 25, 33, 96, 2, 8, true), 3, 3),
        "groups as wide as C, or as whole slices let them be");
  check(is(choose(43000, 35, 50, 64, 4, 4, true), 3, 4) &&
            is(choose(20000, 119, 162, 64, 2, 8, true), 4, 5),
        "more groups a row where it is long");
  check(choose(70000, 25, 33, 128, 2, 8).words == 1 &&
            choose(70000, 25, 33, 32, 4, 4, true).words == 1 &&
            choose(70000, 25, 33, 100, 4, 4, true).words == 1,
        "not of complex numbers, narrow C, nor where slices are not whole");
  check(choose(70000, 25, 900, 128, 2, 8, true).words == 1 &&
            choose(12000, 12, 90, 32, 2, 8, true).words == 1 &&
            choose(70000, 25, -1, 128, 2, 8, true).words == 1,
        "nor where a row would end last, or nobody counted them");
  check(choose(65000, 6, 17, 128, 2, 8, true).words == 1 &&
            choose(65000, 6, 17, 128, 8, 2, true).words == 2 &&
            choose(43000, 60, 126, 256, 8, 2, true).words == 1,
        "short rows go as lists, but in f16, where long ones gain nothing");
  check(is(choose(91000, 7, 7, 32, 4, 4, true), 2, 2) &&
            is(choose(120000, 3, 4, 64, 8, 2, true), 2, 2) &&
            choose(20000, 7, 7, 32, 4, 4, true).words == 1 &&
            choose(91000, 9, 9, 32, 4, 4, true).words == 1,
        "and many where a row of C has 128 bytes, which 4 lanes have");
}

// A layer whose rows differ: of 100 nonzeros, 50 more in each eighth row, and one much longer.
Pattern uneven_layer(int64_t longest)
{
  std::vector<int64_t> lengths;
  for (int i = 0; i < 90; i++) lengths.push_back(i == 57 ? longest : i % 8 ? 100 : 150);
  return add_column_0(from_lengths(lengths, 500, 19));
}

// Of an H200, a layer whose rows have `each` entries, the longest `longest`.
shunt::csr::split_shape choose_layer(int64_t rows, int64_t each, int64_t longest, int64_t n, int V,
                                     bool words = true)
{
  shunt_device d = {};
  d.multiprocessors = 132;
  const shunt::csr::split_matrix a = {rows, rows * each, longest, true, words};
  return shunt::csr::choose_split(a, n, V, 16 / V, &d);
}

// The fewer the rows, the more warps has each; where nobody counted them, rules choose.
void test_chooses_layers()
{
  const auto warps = [](int64_t rows, int64_t each, int64_t n, int V) {
    return choose_layer(rows, each, each + 40, n, V).row_warps;
  };
  check(warps(128, 800, 8, 4) == 8 && warps(512, 512, 32, 2) >= 4 && warps(1024, 400, 128, 8) >= 4,
        "few rows: a block each");
  check(warps(8192, 60, 128, 4) == 0 && warps(4096, 20, 64, 2) == 0 && warps(400, 12, 8, 8) == 0,
        "many rows, and short ones: a team each");
  check(choose_layer(512, 512, -1, 8, 4).search && !choose_layer(512, 512, -1, 8, 4).row_warps &&
            !choose_layer(20000, 900, 1000, 8, 4).row_warps,
        "rows that nobody counted, and too many entries: as others");
  check(choose_layer(2000, 30, 80, 32, 4).limit == 1 << 24 &&
            !choose_layer(2000, 30, 2000, 32, 4).search,
        "no row is long");
  const shunt::csr::split_shape many = choose_layer(100000, 10, 27, 256, 4);
  check(many.words == 2 && many.lanes_log2 == 5 && many.team_log2 == 5 && !many.unstaged &&
            !many.row_warps && choose_layer(100000, 10, 27, 256, 4, false).words == 1 &&
            choose_layer(2000, 10, 27, 256, 4).words == 1,
        "many short rows: two words a lane, of real numbers");
}

// What is chosen is right, however long the longest is, and when it has grown since.
void test_layers(Arena &m, const Types &t, int64_t longest, int64_t counted)
{
  const Pattern p = uneven_layer(longest);
  Reference ref = make_reference(p, t, 84);
  const char *what = nullptr;
  for (int64_t n : {8, 16, 32, 104, 256}) {
    Options o;
    o.n = n;
    Case k = make_case(m, p, ref, t, o);
    shunt_status status = launch(m, k, true, counted);
    cudaError_t e = cudaDeviceSynchronize();
    const char *wrong =
        status != SHUNT_OK || e != cudaSuccess ? "failed" : verdict(m, k, p, ref, t, o);
    if (wrong) what = wrong;
  }
  check(!what, "%s: a row of %lld, said to be of %lld, among others of 100%s%s", t.name,
        (long long)longest, (long long)counted, what ? ": " : "", what ? what : "");
}

} // namespace

int main()
{
  Arena m;
  test_split_shapes(m, patterns());
  test_cuts(m, patterns(), "by rows that are not staged", 144, 7, cut_unstaged);
  test_cuts(m, patterns(), "by two words a lane", 36, 2, cut_words);
  test_chooses_unstaged();
  test_chooses_short();
  test_chooses_words();
  test_cuts(m, patterns(), "by a block each row", 36, 5, cut_blocks);
  test_chooses_layers();
  for (int which : {0, 4, 5}) {
    test_layers(m, kTypes[which], 300, 300);
    test_layers(m, kTypes[which], 1400, 1400);
    test_layers(m, kTypes[which], 1400, 100);
  }
  return finish();
}
