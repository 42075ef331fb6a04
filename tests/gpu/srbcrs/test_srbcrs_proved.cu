// test_srbcrs_proved.cu: the product with packed strides that proves them inside its launch
// (kernels/srbcrs/srbcrs_spmm_proved.cuh) has the bits of sums of 64 bits, for every V and shape; a
// change of each of A's arrays, a flag and a full table each lead to the exact product; in replayed
// graphs, too.
//   --time   also times layers of 4096 x 4096: alone, proved inside, and with the proof behind
//   --strips such times of strips, only
#include "tests/gpu/guard/spmm_proof.cuh"
#include "tests/gpu/srbcrs/srbcrs_product.cuh"

namespace
{

const shunt_srbcrs_shape shapes[] = {{32, 1}, {32, 4}, {64, 1}, {64, 4}};

// Strips with the proof inside, in one round of blocks.
bool has_strips()
{
  const shunt_device d = this_device();
  const shunt_srbcrs_shape &s = strips_of_srbcrs[0];
  return shunt_srbcrs_spmm_strips_fit(&s, &d);
}

// Bytes of C that are not as they have to be.
int64_t wrong_elements(Product &q, const std::vector<char> &before)
{
  q.before = before;
  const std::vector<char> want = q.wanted();
  int64_t wrong = 0;
  for (size_t i = 0; i < want.size(); i++) wrong += want[i] != q.c.host[i];
  return wrong;
}

struct Proved : Proof<Product> {
  shunt_srbcrs_shape shape;

  Proved(Product &product, const shunt_srbcrs_shape &with, int count = 4)
      : Proof(product, count), shape(with)
  {
    if (!q.packed) check(false, "a matrix in strides");
  }
  shunt_status launch(cudaStream_t stream) override
  {
    const shunt_guard r = repair();
    return shunt_srbcrs_spmm_proved_shaped_cuda(&s, &q.a.on_device, &shape, &r, &q.device,
                                                q.workspace.device, q.workspace.host.size(),
                                                stream);
  }
};

// ---- the arrays change -------------------------------------------------------------------------

// The first row that has entries, and is not the last.
int64_t some_row(const Pattern &p)
{
  int64_t row = 0;
  while (row + 2 < p.rows && p.offsets[(size_t)row] == p.offsets[(size_t)row + 1]) row++;
  return row;
}
// The first entry of a row moves to a column in front, which its group does not have there.
void change_columns(Pattern &p, Product &q)
{
  const int64_t e = p.offsets[(size_t)some_row(p)];
  p.columns[(size_t)e] = p.columns[(size_t)e] ? 0 : 1;
  store(q.a.columns.host.data(), e, q.spmm.a.index_type,
        (double)(p.columns[(size_t)e] + q.spmm.a.base));
  q.a.columns.upload();
}
// The last entry of a row becomes the first of the next.
void change_offsets(Pattern &p, Product &q)
{
  const int64_t row = some_row(p) + 1;
  p.offsets[(size_t)row]--;
  store(q.a.offsets.host.data(), row, q.spmm.a.index_type,
        (double)(p.offsets[(size_t)row] + q.spmm.a.base));
  q.a.offsets.upload();
}

// ---- every shape, each way in which C may be wrong ----------------------------------------------

void test_shape(int height, const shunt_srbcrs_shape &shape, uint64_t seed)
{
  static const int64_t sizes[][3] = {{1, 9, 8}, {19, 63, 64}, {70, 307, 200}, {130, 200, 72}};
  Random r(seed);
  bool rests = true, repaired = true;
  for (auto &size : sizes)
    for (int share : {1, height}) {
      if (left_out()) continue;
      Pattern p = random_pattern(size[0], size[1], size[1] < 100 ? 0.6 : 0.2, share, r.next());
      Options o;
      o.spread = shape.groups > 0;
      o.out = r.below(2) ? SHUNT_I32 : SHUNT_F32;
      o.b_layout = (int)r.below(DENSE_LAYOUTS), o.c_layout = (int)r.below(DENSE_LAYOUTS);
      if (r.below(2)) o.alpha = -3;
      Product q(p, height, share, size[2], o, r.next());
      if (r.below(2) && !shape.groups) q.device.multiprocessors = 1 + (int)r.below(8);
      Proved x(q, shape);
      x.wait_cycles = r.below(2) ? SHUNT_GUARD_WAIT_CYCLES : 0;
      x.each_reason(&rests, &repaired);
      if (p.rows < 2) continue;
      change_columns(p, q);
      repaired &= x.runs(CHANGED);
      change_offsets(p, q);
      repaired &= x.runs(CHANGED);
    }
  check(rests, "V = %d, %d columns by %d warps, %d groups: A B, and nothing to repair", height,
        shape.columns, shape.split, shape.groups);
  check(repaired, "V = %d, %d columns by %d warps, %d groups: A B after each change and a flag",
        height, shape.columns, shape.split, shape.groups);
}

void test_full_table()
{
  const Pattern p = random_pattern(300, 400, 0.1, 8, 7);
  bool keeps = true, turned_away = true;
  for (int multiprocessors : {1, 4, 132})
    for (const shunt_srbcrs_shape &shape : shapes) {
      if (left_out()) continue;
      Options o;
      o.out = shape.split == 1 ? SHUNT_I32 : SHUNT_F32;
      Product q(p, 8, 8, 136, o, 8);
      q.device.multiprocessors = multiprocessors;
      Proved(q, shape, 1).full_table(&keeps, &turned_away);
    }
  check(keeps, "a key that has a set keeps it");
  check(turned_away, "without room in the table: A B all the same, and a change told");
}

// Several pieces of work a block, groups of V = 2 that a block has by halves.
void test_many_pieces()
{
  const Pattern p = random_pattern(sized(1201, 601), 90, 0.1, 2, 9);
  bool good = true;
  for (int multiprocessors : {2, 132})
    for (const shunt_srbcrs_shape &shape : shapes) {
      if (left_out()) continue;
      Product q(p, 2, 2, 128, {}, 10);
      q.device.multiprocessors = multiprocessors;
      good &= Proved(q, shape).any_wait();
    }
  check(good, "%lld groups: A B, repaired or not", (long long)(p.rows + 1) / 2);
}

// Sums that wrap do in the repair, too.
void test_values()
{
  const Pattern p = random_pattern(16, sized(4000, 500), 0.9, 8, 11);
  bool good = true;
  for (int kind = 0; kind < VALUES; kind++) {
    Options o;
    o.values = (Values)kind;
    Product q(p, 8, 8, 40, o, 12);
    good &= Proved(q, {64, 4}).any_wait();
  }
  check(good, "random and extreme values");
}

// Several blocks each way; strides within reach, and some that reach further than the window.
void test_strips()
{
  const int64_t cols = sized(5000, 2100);
  bool good = true, keeps = true, turned_away = true;
  for (const shunt_srbcrs_shape &shape : strips_of_srbcrs)
    for (double part : {0.1, 0.004}) {
      if (left_out()) continue;
      const Pattern p = random_pattern(290, cols, part, 4, 21);
      Options o;
      o.spread = 1;
      Product q(p, 4, 4, 136, o, 22);
      good &= Proved(q, shape).any_wait();
      Proved(q, shape, 1).full_table(&keeps, &turned_away);
      q.device.multiprocessors = 5;
      good &= shunt_srbcrs_spmm_proved_rounds(&q.spmm, 4, &shape, &q.device) == 0 &&
              shunt_srbcrs_spmm_proved_rounds(&q.spmm, 4, &whole_of_srbcrs, &q.device) == 0;
    }
  check(good, "strips: A B, repaired or not, in one round or not at all");
  check(keeps && turned_away, "strips: with and without room in the table");
}

void test_replays()
{
  const Pattern p = random_pattern(sized(700, 200), 600, 0.1, 4, 13);
  Product q(p, 4, 4, 64, {}, 14);
  check(Proved(q, {64, 1}).replays() && Proved(q, {32, 4}).replays(),
        "replayed graphs see A change in place, and change back");
}

void test_declined()
{
  const Pattern p = random_pattern(16, 64, 0.2, 8, 15);
  Options o;
  o.beta = 2;
  Product with_beta(p, 8, 8, 64, o, 16);
  Proved x(with_beta, {64, 1});
  x.reset(0);
  bool refused = x.launch(0) == SHUNT_E_UNSUPPORTED;
  refused &= shunt_srbcrs_spmm_proved_rounds(&with_beta.spmm, 8, &x.shape, &x.q.device) == 0;
  Product plain(p, 8, 8, 64, {}, 16);
  Proved y(plain, {128, 1});
  y.reset(0);
  refused &= y.launch(0) == SHUNT_E_UNSUPPORTED;
  y.shape = {64, 1};
  plain.device.compute_capability = 75;
  refused &= y.launch(0) == SHUNT_E_UNSUPPORTED;
  check(refused, "beta, wide shapes and old devices are declined");
  const double rounds = shunt_srbcrs_spmm_proved_rounds(&plain.spmm, 8, &y.shape, &plain.device);
  check(rounds > 0 && rounds <= 1, "a small product is one round");
}

// ---- times --------------------------------------------------------------------------------------

struct Times {
  double alone, behind;
};

// Of the product in this shape, and with the proof behind it.
Times time_apart(Proved &x, const shunt_srbcrs_shape &shape)
{
  Product &q = x.q;
  const shunt_dense none = {}; // integers have no NaN to look for
  shunt_guard r = x.repair();
  r.product = &none, r.start = SHUNT_GUARD_EARLY;
  auto multiply = [&](cudaStream_t stream) {
    shunt_srbcrs_spmm_shaped_cuda(&q.spmm, &q.a.on_device, &shape, &q.device, q.workspace.device,
                                  q.workspace.host.size(), stream);
  };
  const double alone = time_graph(multiply);
  return {alone, time_graph([&](cudaStream_t stream) {
            multiply(stream);
            shunt_guard_repair_cuda(&x.s, &r, &q.device, stream);
          })};
}

void time_inside(Proved &x, const Times &apart, double sparsity, const shunt_srbcrs_shape &shape)
{
  const Product &q = x.q;
  x.shape = shape;
  printf("time %lld x %lld V %d sparsity %g N %lld columns %d split %d groups %d: inside %.2f us, "
         "behind %.2f, alone %.2f\n",
         (long long)q.pattern.rows, (long long)q.pattern.cols, q.a.layout.height, sparsity,
         (long long)q.cl.cols, shape.columns, shape.split, shape.groups,
         time_graph([&](cudaStream_t stream) { x.launch(stream); }), apart.behind, apart.alone);
  x.words.download();
  check(((const uint32_t *)x.words.host.data())[VERDICT] == 0, "all that was timed stood");
}

void time_layers()
{
  for (int height : {4, 8})
    for (double sparsity : {0.8, 0.9, 0.95, 0.98})
      for (int64_t n : {32, 64, 128, 256, 512, 1024}) {
        const Pattern p = random_pattern(4096, 4096, 1 - sparsity, height, 17);
        Options o;
        o.b_layout = 1, o.c_layout = 1, o.timed = true;
        Product q(p, height, height, n, o, 18);
        Proved x(q, shapes[0]);
        x.reset(0);
        const Times apart = time_apart(x, shunt_srbcrs_spmm_shape(&q.spmm, height, &q.device));
        for (const shunt_srbcrs_shape &shape : shapes) time_inside(x, apart, sparsity, shape);
      }
}

// Those of one round, beside gathers.
void time_strips()
{
  for (int64_t side : {4096, 8192})
    for (double sparsity : {0.8, 0.9}) {
      const Pattern p = random_pattern(side, side, 1 - sparsity, 8, 17);
      for (int64_t n : {256, 512, 1024}) {
        Options o;
        o.b_layout = 1, o.c_layout = 1, o.spread = 1, o.timed = true;
        Product q(p, 8, 8, n, o, 18);
        Proved x(q, shapes[0]);
        x.reset(0);
        time_inside(x, time_apart(x, {64, 1, 0}), sparsity, {64, 1, 0});
        for (const shunt_srbcrs_shape &shape : strips_of_srbcrs) {
          if (shunt_srbcrs_spmm_proved_rounds(&q.spmm, 8, &shape, &q.device) == 0) continue;
          time_inside(x, time_apart(x, shape), sparsity, shape);
        }
      }
    }
}

} // namespace

int main(int argc, char **argv)
{
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc > 1 && !strcmp(argv[1], "--strips")) {
    time_strips();
    return finish();
  }
  for (int height : {2, 4, 8})
    for (const shunt_srbcrs_shape &shape : shapes)
      test_shape(height, shape, 100 * (uint64_t)height + (uint64_t)(shape.columns + shape.split));
  if (has_strips()) {
    for (int height : {2, 4, 8})
      for (const shunt_srbcrs_shape &shape : strips_of_srbcrs)
        test_shape(height, shape, 100 * (uint64_t)height + (uint64_t)(shape.columns + 7));
    test_strips();
  }
  test_full_table();
  test_many_pieces();
  test_values();
  test_replays();
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_layers();
  return finish();
}
