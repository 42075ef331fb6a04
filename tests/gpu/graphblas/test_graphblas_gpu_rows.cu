// test_graphblas_gpu_rows.cu: products of GraphBLAS' GPU engine whose S is cut into parts of its rows:
// one for each device, where it stays, or so many that they take turns.
//
// The program runs itself again with a small SHUNT_CACHE_MB.
#include "tests/gpu/graphblas/graphblas_gpu_product.cuh"
#include "tests/gpu/graphblas/small_budget.cuh"

using namespace harness;

static int most_devices()
{
  return std::min(device_count(), 3);
}

static void deal(int devices, enum grb_gpu_way way)
{
  grb_gpu_force_devices(devices);
  grb_gpu_force_way(way);
}

static const char *name_of(enum grb_gpu_way way)
{
  return way == GRB_GPU_BY_ROWS ? "rows" : way == GRB_GPU_IN_TURNS ? "turns" : "columns";
}

static uint64_t parts_of(Product &p, const char *what)
{
  const uint64_t before = counts().row_parts;
  fine(p, what);
  return counts().row_parts - before;
}

// ---- every form ---------------------------------------------------------------------------------

static void test_all_forms()
{
  for (int n = 1; n <= most_devices(); n++)
    for (enum grb_gpu_way way : {GRB_GPU_BY_ROWS, GRB_GPU_IN_TURNS}) {
      deal(n, way);
      mode = name_of(way);
      grb_gpu_forget();
      test_forms(sized(120, 30));
    }
  mode = "plain";
}

// Sums of small integers are exact, in whatever order: any other bit is an error.
static void test_bits()
{
  for (int form = 0; form < 8; form++) {
    Case k;
    k.rows = 700;
    k.cols = 300;
    k.n = 20;
    k.density = 0.1;
    k.by_column = form & 1;
    k.hyper = form & 2;
    k.empty_every = form & 2 ? 3 : 0;
    k.c_by_column = form & 4;
    k.present = true;
    Product p(k, 300 + form);
    for (int64_t i = 0; i < p.x.s.nnz; i++) p.set(p.values, i, (double)(i % 17) - 8);
    for (int64_t i = 0; i < Product::places(p.x.b); i++) p.set(p.b, i, (double)(i % 23) - 11);
    p.name(1);
    deal(1, GRB_GPU_BY_COLUMNS);
    grb_gpu_forget();
    bool same = p.run() == SHUNT_OK;
    const std::vector<char> c = p.c;
    const std::vector<int8_t> present = p.present;
    for (int n = 1; n <= most_devices(); n++)
      for (enum grb_gpu_way way : {GRB_GPU_BY_ROWS, GRB_GPU_IN_TURNS})
        for (int again = 0; again < 2; again++) {
          deal(n, way);
          same = same && p.run() == SHUNT_OK && p.c == c && p.present == present;
        }
    check(same, "form %d: whoever computes a row, its bits are the same", form);
  }
}

// ---- what stays ---------------------------------------------------------------------------------

static void test_kept(bool by_column)
{
  Case k = medium();
  k.by_column = by_column;
  Product p(k, 310);
  const int n = most_devices();
  deal(n, GRB_GPU_BY_ROWS);
  grb_gpu_forget();
  p.name(1);
  const uint64_t up = counts().bytes_up;
  uploads(p, "each device gets its part of S, and B", n, n);
  const int64_t expected = p.x.s.nnz * 8 + (k.rows + n) * 4 + n * k.cols * k.n * 4;
  check((int64_t)(counts().bytes_up - up) == expected, "S goes up once: %ld bytes, expected %ld",
        (long)(counts().bytes_up - up), (long)expected);
  uploads(p, "and keeps both", 0, 0);
  p.set(p.values, p.x.s.nnz - 1, 0.75);
  p.from.s.epoch = 2;
  uploads(p, "a value of the last part changed, new epoch", n, 0);
  uploads(p, "kept again", 0, 0);
  for (int64_t i = 0; i < p.x.s.nnz / 2; i++) p.set(p.values, i, 0.25);
  uploads(p, "values changed behind the epoch's back: samples", n, 0);
  for (int64_t i = 0; i < Product::places(p.x.b); i++) p.set(p.b, i, 0.5);
  p.from.b.epoch = 2;
  uploads(p, "B changed", 0, n);
  p.from.s.read_only = true;
  uploads(p, "read-only is never kept", n, 0);
  uploads(p, "read-only is never kept, again", n, 0);
}

// Between products the devices become more and fewer, and S changes.
static void test_changes()
{
  Case k = medium();
  k.present = true;
  k.empty_every = 5;
  Product p(k, 311);
  const enum grb_gpu_way ways[] = {GRB_GPU_BY_COLUMNS, GRB_GPU_BY_ROWS, GRB_GPU_IN_TURNS};
  Random r(5);
  int bad = 0;
  grb_gpu_forget();
  for (int i = 0; i < (int)sized(60, 24); i++) {
    deal(1 + (int)r.below(most_devices()), ways[r.below(3)]);
    if (r.below(3) == 0) {
      p.set(p.values, r.below(p.x.s.nnz), r.value());
      p.name(2 + i);
    }
    bad += p.run() != SHUNT_OK || !(p.wrong() <= 1);
  }
  check(bad == 0, "products dealt out anew each time: %d bad", bad);
  deal(1, GRB_GPU_BY_COLUMNS);
  grb_gpu_forget();
  uploads(p, "all of S", 1, 1);
  deal(std::min(most_devices(), 2), GRB_GPU_BY_ROWS); // other parts than the three turns
  p.run();
  deal(1, GRB_GPU_BY_COLUMNS);
  uploads(p, "all of S stayed beside parts", 0, 0);
  deal(1, GRB_GPU_IN_TURNS);
  uploads(p, "nothing of S stays that takes turns, but B", 3, 0);
  uploads(p, "nothing of S stays that takes turns, but B, again", 3, 0);
}

// A C that is not whole on one device is no B of the next product.
static void test_chain()
{
  const int n = most_devices();
  if (n < 2) return skip("one device");
  Case k = medium();
  k.cols = k.rows;
  Product p(k, 312), q(k, 312);
  deal(n, GRB_GPU_BY_ROWS);
  grb_gpu_forget();
  p.name(3);
  uploads(p, "first of a chain", n, n);
  q.from.s = p.from.s;
  q.x.s = p.x.s;
  q.b = p.c;
  q.x.b.values = p.c.data();
  q.from.b = {&p.c, 3, false};
  q.from.c = {&q.c, 1, false};
  uploads(q, "C is B of the next: it goes up, whole", 0, n);
}

// ---- rows that are no use -----------------------------------------------------------------------

static void test_odd_rows()
{
  Case k;
  k.rows = 2;
  k.cols = 400;
  k.n = 33;
  k.density = 0.5;
  for (int form = 0; form < 4; form++) {
    k.by_column = form & 1;
    k.accumulate = form & 2;
    Product few(k, 320);
    deal(most_devices(), GRB_GPU_IN_TURNS);
    fine(few, "more parts than rows");
    Case skewed = k;
    skewed.rows = 900;
    skewed.density = 0;
    skewed.long_row = 1;
    Product one(skewed, 321);
    fine(one, "all entries in one row, and parts without any");
    deal(most_devices(), GRB_GPU_BY_ROWS);
    fine(one, "all entries in one row, parts that stay");
  }
}

// ---- failures -----------------------------------------------------------------------------------

static void test_faults(bool accumulate, int devices, enum grb_gpu_way way)
{
  Case k = medium();
  k.rows = 1500;
  k.cols = 100;
  k.density = 0.02;
  k.n = 64;
  k.threads = devices;
  k.accumulate = accumulate;
  Product p(k, 330);
  Faults f;
  int rounds = 0;
  deal(devices, way);
  for (long n = 1; n < 5000; n += sized(3, 7) * every(), rounds++) {
    grb_gpu_forget();
    p.name(1000 + n);
    const long seen = fail_at(p, n, accumulate, f);
    f.bad += p.run() != SHUNT_OK || !(p.wrong() <= 1);
    if (seen < n) break;
  }
  const bool some = every() > 1; // of the faults, which may be none of those that are refused
  check(f.bad == 0 && rounds < 4999 && (some || f.refused > 3) &&
            (some || !accumulate || way != GRB_GPU_IN_TURNS || f.finished > 1),
        "%s: %d faults, accumulate %d, %d devices: %d refused, %d finished on the host, %d bad",
        name_of(way), rounds, accumulate, devices, f.refused, f.finished, f.bad);
}

// ---- a small budget -----------------------------------------------------------------------------

// S takes so many times the budget of one device.
static Case larger(double times, int64_t budget)
{
  Case k;
  k.rows = k.cols = sized(3000, 1500);
  k.density = times * (double)budget / (8.0 * (double)(k.rows * k.cols));
  k.n = 12;
  return k;
}

static void test_beyond(int64_t budget)
{
  for (int n = 1; n <= most_devices(); n++)
    for (int form = 0; form < 4; form++) {
      Case k = larger(n + 0.6, budget);
      k.by_column = form == 1;
      k.accumulate = form == 2;
      k.hyper = form == 3;
      k.empty_every = form == 3 ? 4 : 0;
      k.b_by_column = form == 3;
      k.type = form == 2 ? SHUNT_F64 : SHUNT_F32;
      Product p(k, 340 + form);
      p.name(10 + form);
      deal(n, GRB_GPU_ANY_WAY);
      grb_gpu_forget();
      const uint64_t parts = parts_of(p, "S beyond the budget of all devices");
      check(parts > (uint64_t)n && parts_of(p, "once more") == parts,
            "%d devices: %d parts take turns, each time", n, (int)parts);
    }
}

static void test_fits_together(int64_t budget)
{
  if (most_devices() < 2) return skip("one device");
  Case k = larger(1.3, budget);
  Product p(k, 350);
  p.name(30);
  deal(2, GRB_GPU_ANY_WAY);
  grb_gpu_forget();
  uploads(p, "an S beyond one device's budget has room on two", 2, 2);
  uploads(p, "where it stays", 0, 0);
  check(parts_of(p, "in parts") == 2, "one part each");
}

// By column the rows are cut evenly, not knowing where entries are: a part that is too large is
// halved until it fits.
static void test_halves(int64_t budget, bool at_end)
{
  Case k = larger(0.1, budget);
  k.by_column = true;
  k.accumulate = at_end; // rows that are done are not to be done again
  Product p(k, 360);
  SparseArrays a;
  const int64_t dense = 3 * budget / 8 / k.cols;
  for (int64_t j = 0; j < k.cols; j++) {
    const int64_t begin = (int64_t)a.indices.size();
    for (int64_t i = 0; i < dense; i++) a.indices.push_back(at_end ? k.rows - 1 - i : i);
    a.end_vector(j, begin, false);
  }
  a.end();
  p.arrays = a;
  p.arrays.point(p.x.s, false, 8);
  p.values.resize(p.x.s.nnz * 4);
  for (int64_t i = 0; i < p.x.s.nnz; i++) p.set(p.values, i, 1.0 / (1 + i % 5));
  p.x.s.values = p.values.data();
  p.name(40);
  for (int n = 1; n <= most_devices(); n++) {
    deal(n, GRB_GPU_ANY_WAY);
    const uint64_t parts = parts_of(p, at_end ? "entries at the end alone" : "at the beginning");
    check(parts > 4, "halved: %d devices, %d parts", n, (int)parts);
  }
}

static void test_wise(int64_t budget)
{
  Case k = larger(3, budget);
  k.n = 256;
  k.threads = 1;
  Product p(k, 370);
  p.name(50);
  deal(1, GRB_GPU_ANY_WAY);
  bool wise = false;
  for (int i = 0; i < 100 && !wise; i++) wise = grb_gpu_wise(&p.x, &p.from);
  check(wise, "an S beyond the budget is worth it where the host has enough to do");
  k.n = 8;
  k.threads = 16;
  Product q(k, 371);
  q.name(51);
  wise = false;
  for (int i = 0; i < 100 && !wise; i++) wise = grb_gpu_wise(&q.x, &q.from);
  check(!wise, "and not where it is done as soon as S has come");
}

static int run_small()
{
  const int64_t budget = (int64_t)atoi(getenv("SHUNT_CACHE_MB")) << 20;
  test_wise(budget);
  test_beyond(budget);
  test_fits_together(budget);
  test_halves(budget, false);
  test_halves(budget, true);
  return finish();
}

int main(int argc, char **argv)
{
  mode = argc > 1 ? argv[1] : "plain";
  if (argc == 1) {
    const SmallBudget alone;
    again("SHUNT_CACHE_MB", emulated ? "1" : "4", "small");
  }
  if (device_count() == 0) {
    skip("no device");
    return finish();
  }
  if (argc > 1) return run_small();
  test_all_forms();
  test_bits();
  test_kept(false);
  test_kept(true);
  test_changes();
  test_chain();
  test_odd_rows();
  for (int accumulate = 0; accumulate < 2; accumulate++) {
    test_faults(accumulate, 1, GRB_GPU_IN_TURNS);
    test_faults(accumulate, most_devices(), GRB_GPU_IN_TURNS);
    test_faults(accumulate, most_devices(), GRB_GPU_BY_ROWS);
  }
  return finish();
}
