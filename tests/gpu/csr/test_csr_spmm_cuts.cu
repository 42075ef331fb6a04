// test_csr_spmm_cuts.cu: the csr kernel that cuts by rows, cut in unusual ways: groups of lanes
// narrower than a team, whole chunks, several short rows a team (kernels/csr/split); against a float64
// reference.
//
// Column 0 of A is never used, and row 0 of B is NaN: what is not stored must not be multiplied.
#include <algorithm>

#include "kernels/csr/csr_spmm_launch.cuh"
#include "tests/gpu/common/harness.cuh"

using namespace harness;
using shunt::csr::split_shape;

namespace
{

struct Named {
  const char *name;
  Pattern p;
};

Named from_lengths(const char *name, const std::vector<int64_t> &lengths, int64_t cols)
{
  Random r(lengths.size());
  Named n = {name, {}};
  n.p.rows = (int64_t)lengths.size();
  n.p.cols = cols;
  for (int64_t length : lengths) {
    for (int64_t k = 0; k < length; k++) n.p.columns.push_back(1 + r.below(cols - 1));
    n.p.offsets.push_back(n.p.nnz());
  }
  return n;
}

std::vector<Named> patterns()
{
  std::vector<Named> all;
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < 170; i++) lengths.push_back(i % 7 == 3 ? 10 : i % 5 == 0);
  all.push_back(from_lengths("short and empty rows", lengths, 90));
  for (int64_t i = 0; i < 170; i++)
    lengths[i] = i % 16 == 2 ? 200 : i % 4 == 1 ? 30 + i % 60 : i % 5;
  all.push_back(from_lengths("uneven rows", lengths, 200));
  lengths.assign(90, 2);
  lengths[0] = 600;
  lengths[1] = 300;
  lengths[70] = 1300;
  lengths[89] = 400;
  all.push_back(from_lengths("huge rows among short ones", lengths, 300));
  all.push_back(from_lengths("only huge rows", std::vector<int64_t>(5, 300), 50));
  lengths.assign(200, 0);
  lengths[199] = 1;
  lengths[130] = 70;
  all.push_back(from_lengths("nearly all rows empty", lengths, 10));
  all.push_back(from_lengths("rows as long as a chunk", std::vector<int64_t>(130, 8), 40));
  all.push_back(from_lengths("a single row", {333}, 60));
  all.push_back(from_lengths("no entries", std::vector<int64_t>(40, 0), 5));
  return all;
}

// One product on the device, and what it must be.
struct Product {
  const Pattern &p;
  shunt_type t;
  int64_t n;
  double alpha, beta;
  shunt_type index;
  int base;
  Buffer offsets, columns, values, b, c;
  std::vector<double> want, most;

  Product(const Pattern &p, shunt_type t, int64_t n, bool scaled, uint64_t seed)
      : p(p), t(t), n(n), alpha(scaled ? 1.25 : 1), beta(scaled ? -0.5 : 0),
        index(seed % 2 ? SHUNT_I64 : SHUNT_I32), base((int)(seed / 2 % 2)),
        offsets((p.rows + 1) * shunt_type_size(index)), columns(p.nnz() * shunt_type_size(index)),
        values(p.nnz() * shunt_type_size(t)), b(p.cols * n * shunt_type_size(t)),
        c(p.rows * n * shunt_type_size(t))
  {
    Random r(seed);
    for (int64_t i = 0; i <= p.rows; i++)
      store(offsets.host.data(), i, index, (double)(p.offsets[i] + base));
    for (int64_t i = 0; i < p.nnz(); i++) {
      store(columns.host.data(), i, index, (double)(p.columns[i] + base));
      store(values.host.data(), i, t, r.value());
    }
    for (int64_t i = 0; i < p.cols * n; i++) store(b.host.data(), i, t, i < n ? NAN : r.value());
    for (int64_t i = 0; i < p.rows * n; i++) store(c.host.data(), i, t, scaled ? r.value() : NAN);
    expect();
    for (Buffer *x : {&offsets, &columns, &values, &b}) x->upload();
  }

  void expect()
  {
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t j = 0; j < n; j++) {
        double old = beta != 0 ? beta * load(c.host.data(), i * n + j, t) : 0, sum = 0;
        double scale = fabs(old);
        for (int64_t q = p.offsets[i]; q < p.offsets[i + 1]; q++) {
          double x = load(values.host.data(), q, t) * load(b.host.data(), p.columns[q] * n + j, t);
          sum += x;
          scale += fabs(alpha * x);
        }
        want.push_back(alpha * sum + old);
        most.push_back(tolerance(t, t, scale, want.back(), p.offsets[i + 1] - p.offsets[i] + 1));
      }
  }

  template <class T, int V> bool right(const split_shape &s)
  {
    using namespace shunt::csr;
    c.upload();
    shunt_spmm x = {};
    x.a = {p.rows, p.cols, p.nnz(), offsets.device, columns.device, values.device, index, t, base};
    x.b = {p.cols, n, n, 1, b.device, t};
    x.c = {p.rows, n, n, 1, c.device, t};
    x.alpha.host = alpha;
    x.beta.host = beta;
    x.compute = t;
    layout how = {};
    how.split = true;
    how.b_stride = n;
    args<T> a = make_args<T>(&x, how, nullptr);
    a.b_row_bytes = (uint32_t)(n * sizeof(T));
    static const shunt_device d = this_device();
    if (launch_split<T, T, T, V>(a, s, &d, nullptr) != SHUNT_OK) return false;
    std::vector<char> before = c.host;
    c.download();
    before.swap(c.host);
    int64_t wrong = 0;
    for (size_t i = 0; i < want.size(); i++)
      wrong += !(fabs(load(before.data(), (int64_t)i, t) - want[i]) <= most[i]);
    return !wrong;
  }
};

// Rows one at a time, or (short) several a team; with and without long blocks.
split_shape make_shape(int lanes, int team, bool is_short, Random &r)
{
  static const int limits[] = {0, 7, 150, 1 << 20}, rows[] = {1, 3, 8, 16};
  split_shape s = {};
  s.threads = 64 << r.below(3);
  s.chunk = r.below(2) ? 4 : 8;
  s.lanes_log2 = lanes;
  s.team_log2 = team;
  s.long_lanes_log2 = 1 + (int)r.below(3);
  s.search = !is_short || r.below(2);
  s.limit = s.search ? limits[r.below(4)] : shunt::csr::kMostLimit;
  s.window = 1 << (3 + r.below(9));
  s.whole = !is_short && r.below(3);
  s.team_rows = is_short ? std::min(rows[r.below(4)], shunt::csr::kTeamRows >> (5 - lanes)) : 0;
  return s;
}

void test_cuts(const Named &pattern, shunt_type t)
{
  static Sample sample(5);
  static const int64_t widths[] = {4, 20, 68};
  Random r(t);
  int wrong = 0, cases = 0;
  for (int64_t n : widths) {
    Product x(pattern.p, t, n, n % 8 == 4, (uint64_t)(n / 4 + t));
    for (int lanes = 1; lanes <= 5; lanes++)
      for (int team = std::max(2, lanes); team <= 5; team++)
        for (bool is_short : {false, true}) {
          if (is_short && team != lanes) continue;
          const split_shape s = make_shape(lanes, team, is_short, r);
          if (sample.leaves_out()) continue;
          cases++;
          if (t == SHUNT_F32 ? x.right<float, 4>(s) : x.right<double, 2>(s)) continue;
          if (wrong++ < 3)
            printf("# n %lld, %d threads, chunk %d, %d lanes, %d a team, limit %d, window %d, "
                   "%d rows, whole %d\n",
                   (long long)n, s.threads, s.chunk, 1 << lanes, 1 << team, s.limit, s.window,
                   s.team_rows, s.whole);
        }
  }
  check(!wrong, "%s, %s: %d ways to cut", t == SHUNT_F32 ? "f32" : "f64", pattern.name, cases);
}

} // namespace

int main()
{
  for (const Named &pattern : patterns())
    for (shunt_type t : {SHUNT_F32, SHUNT_F64}) test_cuts(pattern, t);
  return finish();
}
