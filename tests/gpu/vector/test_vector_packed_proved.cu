// test_vector_packed_proved.cu: the product with a packed copy of A that proves the copy inside
// (kernels/vector/vector_packed_spmm_proved.cuh) is A B in every shape; a change of each of A's
// arrays, a flag and a full table each lead to the exact product; with rows in another order, and
// in replayed graphs.
//   --only-time   times small products: alone, with the proof inside, and with it behind
#include "tests/gpu/common/machine.cuh"
#include "tests/gpu/guard/spmm_proof.cuh"
#include "tests/gpu/vector/vector_spmm_problem.cuh"

namespace
{

const shunt_vector_shape shapes[] = {{0, 64, 0}, {0, 64, 1},  {0, 64, 2},
                                     {0, 64, 3}, {0, 128, 0}, {0, 128, 1}};

struct Proved : Proof<Problem> {
  shunt_vector_shape shape;

  Proved(Problem &problem, const shunt_vector_shape &shape, int count = 4)
      : Proof(problem, count), shape(shape)
  {
  }
  shunt_status launch(cudaStream_t stream) override
  {
    const shunt_guard r = repair();
    return shunt_vector_packed_spmm_proved_shaped_cuda(
        &s, &q.v, &shape, shunt_choose_vector_brief(&s, &q.v, machine_of(q.device)), &r, &q.device,
        stream);
  }
};

// ---- every shape, each way in which C may be wrong ----------------------------------------------

void test_shape(const shunt_vector_shape &shape, uint64_t seed)
{
  static const int64_t sizes[][3] = {
      {1, 9, 8}, {9, 63, 64}, {130, sized(307, 150), 200}, {sized(300, 150), sized(700, 330), 72}};
  Random r(seed);
  char name[40];
  name_shape(shape, name);
  bool rests = true, repaired = true;
  for (auto &size : sizes)
    for (Kind kind : {EIGHTS, TWOS, HOLES}) {
      if (left_out()) continue;
      Pattern p = make_pattern(kind, size[0], size[1], size[1] < 100 ? 0.4 : 0.12, r.next());
      if (p.nnz() == 0) continue;
      Options o;
      o.type = r.below(2) ? SHUNT_F16 : SHUNT_BF16;
      o.out = r.below(2) ? o.type : SHUNT_F32;
      o.c_layout = (int)r.below(5);
      o.height = height_of(kind);
      if (r.below(2)) o.listed = true, o.height = 1;
      if (r.below(2)) o.order = SHUNT_VECTOR_SEQUENTIAL;
      if (r.below(2)) o.alpha = -1.5;
      o.device_scalars = false;
      Problem q(p, size[2], o, r.next());
      Proved x(q, shape);
      x.wait_cycles = r.below(2) ? SHUNT_GUARD_WAIT_CYCLES : 0;
      x.each_reason(&rests, &repaired);
      if (p.cols < 100) continue;
      move_entry(p, q);
      repaired &= x.runs(CHANGED);
    }
  check(rests, "%s: A B, and nothing to repair", name);
  check(repaired, "%s: A B after a change and a flag", name);
}

void test_nonfinite(const shunt_vector_shape &shape)
{
  const Pattern p = make_pattern(FOURS, 24, 900, 0.1, 5);
  char name[40];
  name_shape(shape, name);
  Options o;
  o.height = 4;
  Problem q(p, 72, o, 6);
  check(Proved(q, shape).nonfinite(), "%s: NaN and Inf in B, A as it was and changed", name);
}

void test_full_table()
{
  const Pattern p = make_pattern(EIGHTS, sized(300, 130), sized(400, 150), 0.1, 7);
  bool keeps = true, turned_away = true;
  for (bool listed : {false, true})
    for (const shunt_vector_shape &shape : shapes) {
      Options o;
      o.listed = listed;
      o.height = listed ? 1 : 8;
      Problem q(p, 136, o, 8);
      Proved(q, shape, 1).full_table(&keeps, &turned_away);
    }
  check(keeps, "a key that has a set keeps it");
  check(turned_away, "without room in the table: A B all the same, and a change told");
}

// Several pieces of work a block.
void test_many_pieces()
{
  const int pieces = sized(700, 175);
  const Pattern p = make_pattern(EIGHTS, 8 * pieces, 90, 0.1, 9);
  bool good = true;
  for (const shunt_vector_shape &shape :
       {shunt_vector_shape{0, 64, 3}, shunt_vector_shape{0, 128, 0}}) {
    Options o;
    Problem q(p, shape.tile, o, 10);
    Proved x(q, shape);
    q.device.multiprocessors = shape.tile == 128 ? 2 : sized(132, 33);
    good &= x.any_wait();
  }
  check(good, "%d pieces: A B, repaired or not", pieces);
}

void test_replays()
{
  const Pattern p = make_pattern(EIGHTS, sized(700, 200), sized(600, 150), 0.1, 11);
  Options o;
  Problem q(p, 64, o, 12);
  check(Proved(q, {0, 64, 2}).replays(), "replayed graphs see A change in place, and change back");
}

void test_declined()
{
  const Pattern p = make_pattern(EIGHTS, 16, 64, 0.2, 13);
  Options o;
  o.beta = 0.5;
  Problem with_beta(p, 64, o, 14);
  Proved x(with_beta, {0, 64, 0});
  x.reset(0);
  check(x.launch(0) == SHUNT_E_UNSUPPORTED, "beta is declined");
  o.beta = 0;
  o.b_layout = 3;
  Problem by_columns(p, 64, o, 14);
  Proved y(by_columns, {0, 64, 0});
  y.reset(0);
  check(y.launch(0) == SHUNT_E_UNSUPPORTED, "so is a column-major B");
  o.b_layout = 0;
  Problem plain(p, 64, o, 14);
  Proved strips(plain, {256, 64, 0}), pairs(plain, {0, 128, 0, 1});
  strips.reset(0);
  check(strips.launch(0) == SHUNT_E_UNSUPPORTED && pairs.launch(0) == SHUNT_E_UNSUPPORTED,
        "so are strips and pairs");
}

// ---- timing -------------------------------------------------------------------------------------

void time_case(Kind kind, int64_t rows, int64_t cols, double zeros, int64_t n)
{
  const Pattern p = make_pattern(kind, rows, cols, 1 - zeros, 17);
  Options o;
  o.height = height_of(kind);
  o.order = SHUNT_VECTOR_SEQUENTIAL;
  Problem q(p, n, o, 18);
  q.v.height = o.height;
  const shunt_vector_shape shape =
      shunt_choose_vector_shape_of(&q.spmm, &q.v, machine_of(q.device));
  Proved x(q, shape);
  x.reset(0);
  if (shape.rows || shape.pairs) return;
  const auto launched = [](shunt_status s) {
    if (s != SHUNT_OK) exit(3);
  };
  const auto alone = [&](cudaStream_t stream) {
    launched(
        shunt_vector_packed_spmm_shaped_cuda(&q.spmm, &q.v, &shape, &q.device, nullptr, 0, stream));
  };
  const double product = time_graph(alone);
  const double inside = time_graph([&](cudaStream_t stream) { launched(x.launch(stream)); });
  x.start = SHUNT_GUARD_EARLY;
  const shunt_dense none = {};
  const double behind = time_graph([&](cudaStream_t stream) {
    alone(stream);
    shunt_guard r = x.repair();
    r.product = &none;
    launched(shunt_guard_repair_cuda(&x.s, &r, &q.device, stream));
  });
  printf("time %5lld %5lld %4lld V=%d %.2f tile %3d slices %d arrays %5.2f MB: alone %6.2f, proved "
         "inside %6.2f, behind %6.2f us\n",
         (long long)rows, (long long)cols, (long long)n,
         kind == EIGHTS  ? 8
         : kind == FOURS ? 4
                         : 2,
         zeros, shape.tile, 1 << shape.log2_slices, (double)p.nnz() * 10e-6, product, inside,
         behind);
  fflush(stdout);
}

void time_small()
{
  static const int64_t sizes[][2] = {
      {4096, 4096}, {512, 1024}, {2048, 1024}, {4096, 2048}, {16384, 1024}};
  for (auto &size : sizes)
    for (Kind kind : {EIGHTS, TWOS})
      for (double zeros : {0.8, 0.95, 0.98})
        for (int64_t n : {64, 256, 1024})
          if (n < 1024 || size[0] == 4096) time_case(kind, size[0], size[1], zeros, n);
}

} // namespace

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], "--only-time")) {
    time_small();
    return 0;
  }
  for (const shunt_vector_shape &shape : shapes) {
    test_shape(shape, 20261122);
    test_nonfinite(shape);
  }
  test_full_table();
  test_many_pieces();
  test_replays();
  test_declined();
  return finish();
}
