// test_tile_proved.cu: the product with packed tiles that proves them inside its launch
// (kernels/tile/tile_spmm_proved.cuh) is A B with every split; a change of each of A's arrays, a
// flag and a full table each lead to the exact product; in replayed graphs, too.
#include "conv/tile/tile_conv.h"
#include "kernels/tile/tile_kernels.h"
#include "tests/gpu/guard/spmm_proof.cuh"
#include "tests/gpu/vector/vector_spmm_problem.cuh"

namespace
{

struct Proved : Proof<Problem> {
  shunt_tile_layout layout = {SHUNT_TILE_MERGE | SHUNT_TILE_DENSE, 0, -1};
  Buffer tiles;
  shunt_tile v;

  explicit Proved(Problem &problem, int count = 4)
      : Proof(problem, count), tiles(shunt_tile_bytes(&problem.spmm.a, &layout))
  {
    const bool good = shunt_tile_lay_out(&q.spmm.a, &layout, tiles.device, &v) &&
                      shunt_csr_to_tile_cuda(&q.spmm.a, &layout, &v, &q.device, 0) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    if (!good) check(false, "a matrix in tiles");
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
  static const int64_t sizes[][3] = {
      {1, 9, 8}, {19, 63, 64}, {130, sized(307, 150), 200}, {sized(300, 150), sized(700, 330), 72}};
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
      x.each_reason(&rests, &repaired);
      if (p.cols < 100) continue;
      move_entry(p, q);
      repaired &= x.runs(CHANGED);
    }
  check(rests, "%d multiprocessors: A B, and nothing to repair", multiprocessors);
  check(repaired, "%d multiprocessors: A B after a change and a flag", multiprocessors);
}

void test_nonfinite()
{
  const Pattern p = make_pattern(FOURS, 24, 900, 0.1, 5);
  Options o;
  o.height = 4;
  Problem q(p, 72, o, 6);
  check(Proved(q).nonfinite(), "NaN and Inf in B, A as it was and changed");
}

void test_full_table()
{
  const Pattern p = make_pattern(EIGHTS, sized(300, 130), sized(400, 150), 0.1, 7);
  bool keeps = true, turned_away = true;
  for (int multiprocessors : {1, 4, 132}) {
    Options o;
    Problem q(p, 136, o, 8);
    q.device.multiprocessors = multiprocessors;
    Proved(q, 1).full_table(&keeps, &turned_away);
  }
  check(keeps, "a key that has a set keeps it");
  check(turned_away, "without room in the table: A B all the same, and a change told");
}

// Several pieces of work a block.
void test_many_pieces()
{
  const int strips = sized(200, 50);
  const Pattern p = make_pattern(EIGHTS, 16 * strips, 90, 0.1, 9);
  bool good = true;
  for (int multiprocessors : {2, sized(132, 33)}) {
    Options o;
    Problem q(p, 128, o, 10);
    q.device.multiprocessors = multiprocessors;
    good &= Proved(q).any_wait();
  }
  check(good, "%d units: A B, repaired or not", 2 * strips);
}

void test_replays()
{
  const Pattern p = make_pattern(EIGHTS, sized(700, 200), sized(600, 150), 0.1, 11);
  Options o;
  Problem q(p, 64, o, 12);
  check(Proved(q).replays(), "replayed graphs see A change in place, and change back");
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
  check(y.launch(0) == SHUNT_E_UNSUPPORTED, "tiles without merged columns are declined");
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
