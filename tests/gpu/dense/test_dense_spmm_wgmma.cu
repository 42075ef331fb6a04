// test_dense_spmm_wgmma.cu: the product with a dense copy of A that proves the copy inside is
// A B in every shape, order and type; A changed in place, a NaN or Inf in B, a flag and a full
// table each lead to the exact product; on several streams and in replayed graphs, too.
#include <memory>

#include "kernels/dense/dense_kernels.h"
#include "tests/gpu/common/captured.cuh"
#include "tests/gpu/dense/dense_spmm_problem.cuh"

namespace
{

const shunt_dense_shape shapes[] = {{64, 64, 1},  {64, 64, 2},   {64, 64, 4},
                                    {128, 64, 1}, {128, 128, 1}, {128, 256, 1}};

// Without a proof nothing of A is read: a change is not seen.  What else speaks against C still is.
void test_trusted(Problem &x, bool *rests, bool *repaired)
{
  x.proves = false;
  x.change();
  x.reset(0);
  *rests &= x.launch() == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  x.change();
  *rests &= x.words_right(0) && x.content_right();
  *repaired &= x.runs(FLAG);
  const int64_t k = x.c.k - 1, j = x.c.n / 2;
  const double old = load(x.b.host.data(), x.b_at(k, j), x.c.type);
  x.set_b(k, j, NAN);
  *repaired &= x.runs(NONFINITE);
  x.set_b(k, j, old);
  x.proves = true;
}

// ---- every shape of tile and size, each way in which C may be wrong ----------------------------

void test_reasons(Problem &x, bool *rests, bool *repaired)
{
  *rests &= x.runs(0);
  if (x.p.nnz() == 0) return;
  x.change();
  *repaired &= x.runs(CHANGED);
  x.change();
  *repaired &= x.runs(FLAG);
  const int64_t k = x.c.k / 2, j = x.c.n - 1;
  const double old = load(x.b.host.data(), x.b_at(k, j), x.c.type);
  for (double odd : {(double)NAN, (double)INFINITY}) {
    x.set_b(k, j, odd);
    *repaired &= x.runs(NONFINITE);
  }
  x.set_b(k, j, old);
  *rests &= x.runs(0);
  test_trusted(x, rests, repaired);
}

void test_shape(const shunt_dense_shape &shape, Table *table)
{
  const int64_t sizes[][3] = {
      {1, 260, 8}, {130, sized(300, 150), 72}, {300, 333, 264}, {70, sized(1000, 340), 33}};
  static Sample sample(3);
  bool rests = true, repaired = true;
  int turn = shape.columns / 64 + shape.split / 2;
  for (const auto &size : sizes)
    for (int form = 0; form < 4; form++, turn++) {
      if (sample.leaves_out() || beyond(size[0], 130)) continue;
      const bool many = shape.split > 2; // of fewer tiles, with longer rows
      Case c = {many ? sized(size[0] / 2 + 1, size[0]) : size[0], size[1] + (many ? 256 : 0),
                size[2]};
      c.shape = shape;
      c.b_columns = form & 1;
      c.c_columns = form & 2;
      c.c_odd = turn % 3 == 1;
      c.type = turn % 2 ? SHUNT_BF16 : SHUNT_F16;
      c.out = turn % 5 == 2 ? SHUNT_F32 : c.type;
      c.index = turn % 4 < 2 ? SHUNT_I32 : SHUNT_I64;
      c.base = turn % 3 == 0;
      c.alpha = turn % 3 ? 1 : -0.5;
      c.alpha_on_device = turn % 2;
      Problem x(c, table);
      test_reasons(x, &rests, &repaired);
    }
  check(rests, "tiles of %d x %d, split %d: A B, and nothing to repair", shape.rows, shape.columns,
        shape.split);
  check(repaired, "tiles of %d x %d, split %d: A B after a change, a flag, a NaN or Inf",
        shape.rows, shape.columns, shape.split);
}

// More tiles than multiprocessors.
void test_rounds(Table *table)
{
  const shunt_device all = device;
  device.multiprocessors = 3;
  for (const shunt_dense_shape &shape :
       {shunt_dense_shape{128, 64, 1}, shunt_dense_shape{128, 128, 1},
        shunt_dense_shape{128, 256, 1}}) {
    bool rests = true, repaired = true;
    for (int form = sized(0, shape.columns / 256); form < 3; form += sized(1, 2)) {
      Case c = {300 + 128 * form, sized(200, 120), 2 * shape.columns + 40};
      c.shape = shape;
      c.b_columns = form == 1;
      c.c_odd = form == 2;
      Problem x(c, table);
      test_reasons(x, &rests, &repaired);
    }
    check(rests && repaired, "tiles of %d columns, several a block: A B, repaired or not",
          shape.columns);
  }
  device = all;
}

// Columns where PyTorch's are if the number of entries is odd, and elsewhere: a change at their
// end, their begin, and behind the first tile that is hashed.
void test_shifts(Table *table)
{
  bool good = true;
  for (int shift : {4, 8, 12}) {
    Case c = {130, 260, 200};
    c.index = shift == 8 ? SHUNT_I64 : SHUNT_I32;
    c.shift = shift;
    c.shape = {128, shift == 4 ? 256 : shift == 8 ? 64 : 128, 1};
    Problem x(c, table);
    good &= x.runs(0);
    const size_t size = shunt_type_size(c.index), bytes = (size_t)x.p.nnz() * size;
    for (size_t at :
         {(size_t)0, 4096 - size, (size_t)4096, 8192 - size, bytes / 16 * 8, bytes - size}) {
      x.columns.host[(size_t)shift + at] ^= 1;
      x.columns.upload();
      x.reset(CHANGED);
      good &= x.launch() == SHUNT_OK;
      CUDA_OK(cudaDeviceSynchronize());
      good &= x.words_right(CHANGED);
      x.columns.host[(size_t)shift + at] ^= 1;
      x.columns.upload();
    }
    good &= x.runs(0);
  }
  check(good, "columns off 16 bytes: A B, and each change is seen");
}

// A tile for each multiprocessor; the same bits each time.
void test_repeats(Table *table)
{
  constexpr int calls = sized(20, 2);
  for (const shunt_dense_shape &shape :
       {shunt_dense_shape{64, 64, 4}, shunt_dense_shape{64, 64, 2}, shunt_dense_shape{64, 64, 1},
        shunt_dense_shape{128, 256, 1}}) {
    const bool many = shape.split > 2;
    Case c = {64 * (many ? sized(12, 3) : sized(32, 4)), many ? 600 : sized(400, 150),
              2 * shape.columns - 8};
    c.density = 0.02;
    c.shape = shape;
    Problem x(c, table);
    bool good = x.runs(0), same = true;
    const std::vector<char> first = x.out.host;
    for (int i = 0; i < calls; i++) {
      x.reset(0);
      good &= x.launch() == SHUNT_OK;
      CUDA_OK(cudaDeviceSynchronize());
      x.out.download();
      same &= x.out.host == first;
    }
    check(good && same, "tiles of %d columns, split %d: right, and %d times the same bits",
          shape.columns, shape.split, calls);
    // Who repairs comes behind all who store, whether they wait to help or not.
    bool repaired = true;
    x.change();
    for (int cycles : {0, 100, (int)SHUNT_GUARD_WAIT_CYCLES}) {
      x.wait_cycles = cycles;
      repaired &= x.runs(CHANGED) && x.runs(CHANGED);
      x.change();
      repaired &= x.runs(0);
      x.change();
    }
    check(repaired, "and a change is repaired, by the last block alone or by all");
  }
}

// ---- the table ----------------------------------------------------------------------------------

void test_full_table()
{
  bool kept = true, turned_away = true;
  for (const shunt_dense_shape &shape : {shunt_dense_shape{64, 64, 2}, shunt_dense_shape{64, 64, 1},
                                         shunt_dense_shape{128, 128, 1}}) {
    Table one(1);
    Case c = {sized(300, 200), sized(400, 150), 136};
    c.shape = shape;
    Problem x(c, &one);
    kept &= x.runs(0) && x.runs(0);
    x.key = 0x99000;
    for (int round = 0; round < 3; round++) {
      if (round) x.change();
      turned_away &= x.runs(0, true);
    }
    x.key = 0x1000;
    kept &= x.runs(0);
  }
  check(kept, "a key that has a set keeps it");
  check(turned_away, "without room in the table: A B all the same, and a change told");
}

// ---- at the same time, again and again ---------------------------------------------------------

void test_streams()
{
  const int streams = 3;
  Table table(8);
  std::vector<std::unique_ptr<Problem>> problems;
  std::vector<cudaStream_t> at(streams);
  for (int k = 0; k < streams; k++) {
    CUDA_OK(cudaStreamCreateWithFlags(&at[(size_t)k], cudaStreamNonBlocking));
    Case c = {sized(1000, 260), sized(500, 150), k == 2 ? 200 : 64};
    c.shape = k == 2 ? shunt_dense_shape{128, 256, 1} : shunt_dense_shape{64, 64, 2};
    problems.emplace_back(new Problem(c, &table));
    problems.back()->key = 0x4000 + (uintptr_t)k * 256;
  }
  problems[1]->change();
  int declined = 0;
  for (int k = 0; k < streams; k++) problems[(size_t)k]->reset(0);
  for (int round = 0; round < sized(100, 3) / every(); round++)
    for (int k = 0; k < streams; k++)
      declined += problems[(size_t)k]->launch(at[(size_t)k]) != SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  check(!declined, "%d streams, one of which has a changed A: launched (%d declined)", streams,
        declined);
  for (int k = 0; k < streams; k++) {
    check(problems[(size_t)k]->words_right(k == 1 ? CHANGED : 0), "stream %d: what it says of A",
          k);
    check(problems[(size_t)k]->content_right(), "stream %d: A B", k);
    cudaStreamDestroy(at[(size_t)k]);
  }
}

void test_replays()
{
  Table table(8);
  Case c = {sized(700, 200), sized(600, 150), 56};
  c.shape = {64, 64, 2};
  Problem x(c, &table);
  Captured calls([&](cudaStream_t stream) {
    return x.launch(stream) == SHUNT_OK && x.launch(stream) == SHUNT_OK;
  });
  bool good = calls.good;
  for (int round = 0; round < sized(12, 3); round++) {
    const int reasons = round % 3 == 1 ? CHANGED : 0;
    if (reasons) x.change();
    x.reset(reasons);
    calls.replay(3);
    good &= x.words_right(reasons) && x.content_right();
    if (reasons) x.change();
  }
  check(good, "replayed graphs see A change in place, and change back");
}

// ---- what is not served -------------------------------------------------------------------------

void test_refused(Table *table)
{
  Case c = {40, 48, 16};
  Problem x(c, table);
  const shunt_spmm right = x.s;
  shunt_guard r = x.repair();
  shunt_dense copy = x.copy;
  bool refused = true;
  auto says = [&](shunt_status s) {
    refused &= shunt_dense_spmm_proved_cuda(&x.s, &copy, &c.shape, &r, &device, 0) == s;
    x.s = right;
    copy = x.copy;
    r = x.repair();
  };
  x.s.beta.host = 1, says(SHUNT_E_UNSUPPORTED);
  x.s.beta.device = x.alpha.device, says(SHUNT_E_UNSUPPORTED);
  x.s.b.values = (char *)x.b.device + 2, says(SHUNT_E_UNSUPPORTED);
  x.s.b.row_stride += 1, says(SHUNT_E_UNSUPPORTED);
  x.s.a.value_type = x.s.b.type = SHUNT_F32, says(SHUNT_E_UNSUPPORTED);
  copy.row_stride += 4, says(SHUNT_E_UNSUPPORTED);
  copy.cols -= 1, says(SHUNT_E_ARGUMENT);
  r.sets = nullptr, says(SHUNT_E_ARGUMENT);
  r.set_count = 3, says(SHUNT_E_ARGUMENT);
  const shunt_dense_shape odd_shapes[] = {
      {128, 128, 2}, {128, 192, 1}, {64, 64, 3}, {128, 96, 1}, {}};
  for (const shunt_dense_shape &odd : odd_shapes)
    refused &=
        shunt_dense_spmm_proved_cuda(&x.s, &copy, &odd, &r, &device, 0) == SHUNT_E_UNSUPPORTED;
  shunt_device old = device;
  old.compute_capability = 80;
  refused &=
      shunt_dense_spmm_proved_cuda(&x.s, &copy, &c.shape, &r, &old, 0) == SHUNT_E_UNSUPPORTED;
  check(refused, "beta, odd addresses, other types, devices and shapes are refused");
  check(x.runs(0), "and the same without any of them is not");
}

} // namespace

int main()
{
  device = this_device();
  device.multiprocessors = sized(device.multiprocessors, 32);
  if (device.compute_capability != 90) {
    skip("wgmma is of compute capability 9.0");
    return finish();
  }
  Table table(2);
  for (const shunt_dense_shape &shape : shapes) test_shape(shape, &table);
  test_rounds(&table);
  test_shifts(&table);
  test_repeats(&table);
  test_full_table();
  test_streams();
  test_replays();
  test_refused(&table);
  return finish();
}
