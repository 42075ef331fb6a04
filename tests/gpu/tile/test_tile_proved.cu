// test_tile_proved.cu: the product with merged tiles that proves them inside its launch
// (kernels/tile/tile_spmm_proved.cuh) is A B with every split; a change of each of A's arrays, a flag
// and a full table each lead to the exact product; in replayed graphs, too.
#include "conv/tile/tile_conv.h"
#include "kernels/tile/tile_kernels.h"
#include "tests/gpu/common/captured.cuh"
#include "tests/gpu/guard/spmm_proof.cuh"

namespace
{

struct Proved : Proof {
  shunt_tile_layout plan = {SHUNT_TILE_MERGE | SHUNT_TILE_DENSE, 0, -1};
  Buffer tiles;
  shunt_tile v;

  explicit Proved(Problem &problem, int count = 4)
      : Proof(problem, count), tiles(shunt_tile_bytes(&problem.spmm.a, &plan))
  {
    const bool good = shunt_tile_lay_out(&q.spmm.a, &plan, tiles.device, &v) &&
                      shunt_csr_to_tile_cuda(&q.spmm.a, &plan, &v, &q.device, 0) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    if (!good) check(false, "a matrix in merged tiles");
  }
  shunt_status launch(cudaStream_t stream) override
  {
    const shunt_guard r = repair();
    return shunt_tile_spmm_proved_cuda(&s, &v, &r, &q.device, q.workspace.device,
                                       q.workspace.host.size(), stream);
  }
};

// ---- every split, each way in which C may be wrong ---------------------------------------------

// What a device has decides the split: 1 where it has few multiprocessors.
void test_device(int multiprocessors, uint64_t seed)
{
  static const int64_t sizes[][3] = {{1, 9, 8}, {19, 63, 64}, {130, 307, 200}, {300, 700, 72}};
  Random r(seed);
  bool rests = true, repaired = true;
  for (auto &size : sizes)
    for (Kind kind : {EIGHTS, TWOS, HOLES}) {
      if (left_out()) continue;
      Pattern p = make_pattern(kind, size[0], size[1], size[1] < 100 ? 0.4 : 0.12, r.next());
      if (p.nnz() == 0) continue;
      Options o;
      o.type = r.below(2) ? SHUNT_F16 : SHUNT_BF16;
      o.out = r.below(2) ? o.type : SHUNT_F32;
      o.height = height_of(kind);
      o.b_layout = (int)r.below(5);
      o.c_layout = (int)r.below(5);
      if (r.below(2)) o.alpha = -1.5;
      Problem q(p, size[2], o, r.next());
      q.device.multiprocessors = multiprocessors;
      Proved x(q);
      x.wait_cycles = r.below(2) ? SHUNT_GUARD_WAIT_CYCLES : 0;
      rests &= x.runs(0) && x.runs(0);
      x.change();
      repaired &= x.runs(CHANGED) && x.runs(CHANGED);
      x.change();
      repaired &= x.runs(FLAG);
      rests &= x.runs(0);
      if (p.cols < 100) continue;
      move_entry(p, q);
      repaired &= x.runs(CHANGED);
    }
  check(rests, "%d multiprocessors: A B, and nothing to repair", multiprocessors);
  check(repaired, "%d multiprocessors: A B after a change and a flag", multiprocessors);
}

// NaN and Inf are the product's own business: nothing speaks against the tiles.
void test_nonfinite()
{
  const Pattern p = make_pattern(FOURS, 24, 900, 0.1, 5);
  Options o;
  o.height = 4;
  Problem q(p, 72, o, 6);
  Proved x(q);
  for (int64_t row : {0, 9, 22}) {
    const int64_t from = p.offsets[(size_t)row], to = p.offsets[(size_t)row + 1];
    store(q.b.host.data(), q.bl.at(p.columns[(size_t)from], 3 + row), o.type, NAN);
    store(q.b.host.data(), q.bl.at(p.columns[(size_t)to - 1], 40 + row), o.type, -INFINITY);
  }
  q.b.upload();
  bool good = x.runs(0);
  x.change();
  good &= x.runs(CHANGED);
  check(good, "NaN and Inf in B, A as it was and changed");
}

void test_full_table()
{
  const Pattern p = make_pattern(EIGHTS, 300, 400, 0.1, 7);
  bool kept = true, turned_away = true;
  for (int multiprocessors : {1, 4, 132}) {
    Options o;
    Problem q(p, 136, o, 8);
    q.device.multiprocessors = multiprocessors;
    Proved x(q, 1);
    kept &= x.runs(0) && x.runs(0);
    x.key = 0x99000;
    turned_away &= x.runs(0, true);
    x.change();
    turned_away &= x.runs(0, true);
    x.change();
    x.key = 0x1000;
    kept &= x.runs(0);
  }
  check(kept, "a key that has a set keeps it");
  check(turned_away, "without room in the table: A B all the same, and a change told");
}

// Several pieces of work a block; repaired by the last alone, and by those that wait to help.
void test_many_pieces()
{
  const Pattern p = make_pattern(EIGHTS, 16 * 200, 90, 0.1, 9);
  bool good = true;
  for (int multiprocessors : {2, 132}) {
    Options o;
    Problem q(p, 128, o, 10);
    q.device.multiprocessors = multiprocessors;
    Proved x(q);
    for (int64_t cycles : {(int64_t)0, (int64_t)100, (int64_t)SHUNT_GUARD_WAIT_CYCLES}) {
      x.wait_cycles = cycles;
      good &= x.runs(0);
      x.change();
      good &= x.runs(CHANGED);
      x.change();
    }
  }
  check(good, "400 units: A B, repaired or not");
}

void test_replays()
{
  const Pattern p = make_pattern(EIGHTS, 700, 600, 0.1, 11);
  Options o;
  Problem q(p, 64, o, 12);
  Proved x(q);
  Captured calls([&](cudaStream_t stream) {
    return x.launch(stream) == SHUNT_OK && x.launch(stream) == SHUNT_OK;
  });
  bool good = calls.good;
  for (int round = 0; round < 9; round++) {
    const int reasons = round % 3 == 1 ? CHANGED : 0;
    if (reasons) x.change();
    x.reset(reasons);
    calls.replay(3);
    good &= x.right(reasons);
    if (reasons) x.change();
  }
  check(good, "replayed graphs see A change in place, and change back");
}

void test_declined()
{
  const Pattern p = make_pattern(EIGHTS, 16, 64, 0.2, 13);
  Options o;
  o.beta = 0.5;
  Problem with_beta(p, 64, o, 14);
  Proved x(with_beta);
  x.reset(0);
  check(x.launch(0) == SHUNT_E_UNSUPPORTED &&
            !shunt_tile_spmm_proves(&with_beta.spmm, &with_beta.device),
        "beta is declined");
  o.beta = 0;
  Problem plain(p, 64, o, 14);
  Proved y(plain);
  check(shunt_tile_spmm_proves(&plain.spmm, &plain.device), "a small product proves inside");
  y.v.sparse.gather = nullptr;
  check(y.launch(0) == SHUNT_E_UNSUPPORTED, "tiles that are not merged are declined");
}

} // namespace

int main()
{
  for (int multiprocessors : {1, 4, 20, 132})
    test_device(multiprocessors, 100 + (uint64_t)multiprocessors);
  test_nonfinite();
  test_full_table();
  test_many_pieces();
  test_replays();
  test_declined();
  return finish();
}
