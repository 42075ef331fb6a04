// test_sparse24_spmm.cu: shunt_csr_to_sparse24_cuda writes the bytes that its host twin writes, and
// shunt_sparse24_spmm_shaped_cuda computes what its twin computes, in both shapes, and from A
// itself where anything speaks against the copy.
//
// With whole numbers every sum is exact, so the two agree bit by bit; with fractions within the
// error that float sums may have.  C's surroundings must not change.
//   --time   also times 4096 and 8192 square
#include <memory>

#include "tests/gpu/common/broken_patterns.cuh"
#include "tests/gpu/sparse24/sparse24_problem.cuh"
#include "tests/gpu/sparse24/time_sparse24.cuh"

// ---- the conversion --------------------------------------------------------------------------

static shunt_type any_type(Random &r)
{
  static const shunt_type types[] = {SHUNT_F16, SHUNT_BF16, SHUNT_I8};
  return types[r.below(3)];
}

static void test_conversion()
{
  Random r(2411);
  for (double density : {0.0, 0.1, 0.5, 0.7, 0.9, 1.0}) {
    bool good = true;
    for (int64_t rows : {1, 64, 129, 200})
      for (int64_t cols : {1, 63, 130, 272, 700}) {
        Packed k(pattern_24(rows, cols, density, r.next()), any_type(r),
                 r.below(2) ? SHUNT_I64 : SHUNT_I32, (int)r.below(2), false, r.next());
        good = k.pack() && !k.irregular() && k.same() && good;
      }
    check(good, "device and host write the same bytes, density %g", density);
  }
}

static void test_irregular()
{
  for (const BrokenPattern &broken : broken_patterns(pattern_24(40, 700, 0.9, 3))) {
    Packed k(broken.pattern, SHUNT_F16, SHUNT_I32, 1, false, 4);
    check(k.pack() && k.irregular(), "%s is irregular", broken.what);
  }
  Pattern crowded = random_pattern(5, 64, 0.0, 1, 1);
  crowded.columns = {8, 9, 11};
  crowded.offsets = {0, 0, 3, 3, 3, 3};
  Packed k(crowded, SHUNT_F16, SHUNT_I64, 0, false, 5);
  check(k.pack() && k.irregular(), "three entries in four columns are irregular");
}

// ---- the product -----------------------------------------------------------------------------

static Options random_options(Random &r, shunt_sparse24_shape shape, bool integers, double beta = 0)
{
  static const double scalar[] = {1, 0, -2, 0.5}, whole_scalar[] = {1, 0, -2, 3};
  static const int b_layouts[] = {0, 1, 3};
  Options o;
  o.type = r.below(2) ? SHUNT_F16 : SHUNT_BF16;
  o.out = r.below(2) ? o.type : SHUNT_F32;
  o.index = r.below(2) ? SHUNT_I32 : SHUNT_I64;
  o.b_layout = b_layouts[r.below(3)], o.c_layout = (int)r.below(4);
  o.alpha = scalar[r.below(4)];
  o.device_scalars = r.below(2);
  o.shape = shape, o.beta = beta;
  if (!integers) return o;
  o.type = SHUNT_I8, o.b_layout = 3;
  o.out = beta == 0 && r.below(2) ? SHUNT_I32 : SHUNT_F32; // int32 that are added to are declined
  o.alpha = whole_scalar[r.below(4)];
  return o;
}

// Sizes within a tile, at its edges, and with chunks that go round the ring.
static const int64_t sizes[][3] = {{1, 1, 1},     {64, 64, 8},    {130, 70, 128}, {128, 130, 257},
                                   {70, 1100, 9}, {257, 20, 300}, {40, 640, 129}};

// Full quads, and rows of values on 16 bytes.
static const int64_t full_sizes[][3] = {{1, 16, 1},      {64, 64, 8},   {130, 80, 128},
                                        {128, 144, 257}, {70, 1104, 9}, {257, 32, 300},
                                        {40, 640, 129}};

static void test_in_place(shunt_sparse24_shape shape, Table *table)
{
  Random r(96);
  static Sample sample(5);
  for (auto &s : full_sizes) {
    bool good = true, repaired = true, follows = true;
    for (double beta : {0.0, 0.0, 2.0}) {
      if (sample.leaves_out()) continue;
      Options o = random_options(r, shape, false, beta);
      o.in_place = true, o.whole = r.below(2);
      Product q(pattern_24(s[0], s[1], 1, r.next()), s[2], o, r.next(), table);
      if (r.below(2)) q.device.multiprocessors = 1;
      good &= shunt_sparse24_in_place(&q.on_device.a) && q.packs() && q.runs(0, true);
      q.change_value();
      follows &= q.runs(0);
      q.change();
      repaired &= q.runs(CHANGED) && q.runs(CHANGED | FLAG);
      q.change();
      repaired &= q.runs(FLAG);
      good &= q.runs(0);
    }
    check(good && follows && repaired,
          "in place, tiles of %s columns: %d x %d by %d columns%s, after a value changed%s, a "
          "column, or with a flag%s",
          name_of(shape), (int)s[0], (int)s[1], (int)s[2], good ? "" : " WRONG",
          follows ? "" : " WRONG", repaired ? "" : " WRONG");
  }
}

// Some columns one after the other, and where rows begin: anything that is changed is seen, and C
// is what the changed arrays say.
static void test_compared(shunt_sparse24_shape shape, Table *table)
{
  Random r(97);
  static Sample sample(7);
  for (shunt_type index : {SHUNT_I32, SHUNT_I64}) {
    Options o;
    o.shape = shape, o.in_place = true, o.index = index;
    Product q(pattern_24(75, 592, 1, 23), 8, o, 24, table); // 86 tiles and 3/4, or 173 and a half
    const shunt_sparse24_proof compares = {true, 0};
    q.device.multiprocessors = 3, q.proof = &compares;
    bool rests = q.packs() && shunt_sparse24_compared(&q.on_device.a) && q.runs(0), sees = true;
    const auto changed = [&](Buffer &in, int64_t at, int64_t by) {
      const double was = load(in.host.data(), at, index);
      store(in.host.data(), at, index, was + (double)by), in.upload();
      sees &= q.runs(CHANGED);
      store(in.host.data(), at, index, was), in.upload();
    };
    const int64_t n = q.a.host.nnz;
    for (int64_t at : {(int64_t)0, n - 1, n - 700, n / 2 / 512 * 512, r.below(n), r.below(n)})
      for (int64_t by : {1, 2, 4, 256}) {
        if (sample.leaves_out()) continue;
        const int64_t column = (int64_t)load(q.a.columns.host.data(), at, index);
        changed(q.a.columns, at, column >= by ? -by : by);
      }
    changed(q.a.offsets, 40, 1), changed(q.a.offsets, 74, -2);
    check(rests && q.runs(0) && sees, "columns compared, tiles of %s, %s: %s", name_of(shape),
          index == SHUNT_I32 ? "int32" : "int64", sees ? "any change is seen" : "WRONG");
  }
}

// Blocks with fewer tiles of C than others prove more of A: as the route says, some, or all.
static void test_spared(shunt_sparse24_shape shape, Table *table)
{
  Random r(98);
  static Sample sample(5);
  bool rests = true, sees = true;
  const auto proves = [&](Product &q) {
    rests &= q.runs(0);
    q.change();
    sees &= q.runs(CHANGED);
    q.change();
    rests &= q.runs(0);
  };
  for (bool in_place : {true, false})
    for (int blocks : {2, 4, 8}) {
      if (sample.leaves_out()) continue;
      Options o;
      o.shape = shape, o.in_place = in_place, o.index = r.below(2) ? SHUNT_I32 : SHUNT_I64;
      Product q(pattern_24(300, sized(4112, 1040), 1, 25), 8, o, 26, table);
      q.device.multiprocessors = blocks;
      rests &= q.packs();
      proves(q);
      if (!in_place || blocks == 4) continue;
      const int all = (int)shunt_sparse24_column_tiles(&q.on_device.a);
      const shunt_sparse24_proof proof = {true, blocks == 2 ? all : all / 3};
      q.proof = &proof;
      proves(q);
    }
  check(rests && sees, "blocks with time prove more, tiles of %s%s", name_of(shape),
        rests && sees ? "" : " WRONG");
}

static void test_products(shunt_sparse24_shape shape, bool integers, bool whole, Table *table)
{
  Random r(whole ? 91 : 92);
  for (auto &s : sizes) {
    bool good = true;
    for (int repeat = 0; repeat < sized(4, 2); repeat++) {
      Options o = random_options(r, shape, integers);
      o.whole = whole;
      Product q(pattern_24(s[0], s[1], r.below(3) ? 1 : 0.3, r.next()), s[2], o, r.next(), table);
      if (r.below(2)) q.device.multiprocessors = 1;
      good = q.packs() && q.runs(0, true) && good;
    }
    check(good, "tiles of %s columns%s, %s: %d x %d by %d columns", name_of(shape),
          integers ? " in int8" : "", whole ? "whole numbers" : "fractions", (int)s[0], (int)s[1],
          (int)s[2]);
  }
}

// Many tiles of the fingerprint for each of few warps, arrays on any address.
// One of A's arrays, behind so many bytes of another buffer.
struct Moved {
  Buffer buffer;
  char *at;
  Moved(const Buffer &from, size_t by) : buffer(from.host.size() + by)
  {
    at = (char *)buffer.device + by;
    CUDA_OK(cudaMemcpy(at, from.device, from.host.size(), cudaMemcpyDeviceToDevice));
  }
  // One byte, on both sides.
  void flip(Buffer &original, size_t byte, int bits)
  {
    original.host[byte] ^= (char)bits;
    CUDA_OK(cudaMemcpy(at + byte, &original.host[byte], 1, cudaMemcpyHostToDevice));
  }
};

// Two of the elements are changed, in the byte given, and change back.
static bool changes_are_seen(Product &q, Moved &moved, Buffer &array, size_t size, size_t byte,
                             int bits)
{
  const size_t n = array.host.size() / size;
  bool sees = true;
  for (size_t at : {n / 3, n - 1})
    for (int reason : {(int)CHANGED, 0}) {
      moved.flip(array, at * size + byte, bits);
      sees &= q.runs(reason);
    }
  return sees;
}

static void test_moved(shunt_type type, shunt_type index, size_t of_index, size_t of_values,
                       Table *table)
{
  const size_t size = shunt_type_size(type);
  Options o;
  o.type = type, o.out = type == SHUNT_I8 ? SHUNT_I32 : type, o.b_layout = 3, o.index = index;
  Product q(pattern_24(sized(301, 200), sized(700, 400), 0.9, 21), 8, o, 22, table);
  q.device.multiprocessors = 3;
  bool rests = q.packs();
  Moved offsets(q.a.offsets, of_index), columns(q.a.columns, of_index);
  Moved values(q.a.values, of_values);
  q.on_device.a.row_offsets = offsets.at;
  q.on_device.a.columns = columns.at;
  q.on_device.a.values = values.at;
  rests &= q.runs(0);
  bool sees = changes_are_seen(q, columns, q.a.columns, shunt_type_size(index), 0, 1);
  sees &= changes_are_seen(q, values, q.a.values, size, size - 1, 0x80);
  check(rests && sees, "few warps prove %s, columns of %d bits, %d and %d bytes off 16%s%s",
        size == 1 ? "int8" : "fp16", (int)shunt_type_size(index) * 8, (int)of_index, (int)of_values,
        rests ? "" : ": WRONG FINGERPRINT", sees ? "" : ": CHANGE NOT SEEN");
}

static void test_proof(shunt_type type, Table *table)
{
  for (shunt_type index : {SHUNT_I32, SHUNT_I64}) {
    test_moved(type, index, 0, 0, table);
    test_moved(type, index, 8, 0, table);
    test_moved(type, index, 0, 8, table);
    test_moved(type, index, 8, 8, table);
    test_moved(type, index, shunt_type_size(index), shunt_type_size(type), table);
  }
}

// Each way in which the copy may be wrong, with and without beta.
static void test_reasons(shunt_sparse24_shape shape, bool integers, Table *table)
{
  Random r(93);
  static Sample sample(5);
  const char *what = integers ? " in int8" : "";
  for (double beta : {0.0, 2.0}) {
    bool rests = true, repaired = true;
    for (auto &s : sizes) {
      if (sample.leaves_out()) continue;
      Options o = random_options(r, shape, integers, beta);
      Product q(pattern_24(s[0], s[1], 1, r.next()), s[2], o, r.next(), table);
      rests &= q.packs() && q.runs(0);
      if (q.a.host.nnz == 0) continue;
      q.change();
      repaired &= q.runs(CHANGED) && q.runs(CHANGED | FLAG);
      q.change();
      repaired &= q.runs(FLAG);
      rests &= q.runs(0);
    }
    check(rests, "tiles of %s columns%s, beta %g: A B, and nothing to repair", name_of(shape), what,
          beta);
    check(repaired, "tiles of %s columns%s, beta %g: A B after a change, or with a flag",
          name_of(shape), what, beta);
  }
}

// Rows without padding, so that only a zero of A's own makes NaN; and rows with much of it.
static void test_nonfinite(shunt_sparse24_shape shape, Table *table)
{
  for (double bad : {(double)NAN, (double)INFINITY})
    for (double density : {1.0, 0.1})
      for (double beta : {0.0, 1.0}) {
        Options o;
        o.shape = shape, o.out = SHUNT_F32, o.beta = beta;
        o.bad = bad, o.bad_at = 5 * 8 + 3;
        Product q(pattern_24(150, 64, density, 7), 8, o, 8, table);
        bool right = q.packs(), told = false;
        q.reset(0);
        right &= q.run() == SHUNT_OK;
        CUDA_OK(cudaDeviceSynchronize());
        told = q.pinned[1];
        right &= q.content_right(told ? NONFINITE : 0, false);
        check(right && (told || density == 1), "%g of B, density %g, beta %g: exact%s", bad,
              density, beta, told ? ", and told" : "");
      }
}

// In place no zero was filled up: what is NaN is right, and told to nobody.
static void test_nonfinite_in_place(shunt_sparse24_shape shape, Table *table)
{
  for (double bad : {(double)NAN, (double)INFINITY}) {
    Options o;
    o.shape = shape, o.out = SHUNT_F32, o.in_place = true;
    o.bad = bad, o.bad_at = 5 * 8 + 3;
    Product q(pattern_24(150, 64, 1, 7), 8, o, 8, table);
    check(q.packs() && q.runs(0), "in place, %g of B: exact, and no repair", bad);
  }
}

static void test_full_table()
{
  Table one(1);
  Random r(95);
  bool kept = true, turned_away = true;
  for (double beta : {0.0, 2.0}) {
    Options o = random_options(r, SHUNT_SPARSE24_128, r.below(2), beta);
    Product q(pattern_24(300, 200, 0.8, 5), 136, o, 6, &one);
    if (beta != 0) q.device.multiprocessors = 2; // several tiles a block
    kept &= q.packs() && q.runs(0) && q.runs(0);
    q.key = 0x99000;
    for (int round = 0; round < 3; round++) {
      if (round) q.change();
      turned_away &= q.runs(NO_ROOM);
    }
    q.key = 0x1000;
    kept &= q.runs(0);
  }
  check(kept, "a key that has a set keeps it");
  check(turned_away, "without room in the table: A B all the same, and a change told");
}

// ---- at the same time, again and again ---------------------------------------------------------

static void test_streams()
{
  const int streams = 3;
  Table table(8);
  std::vector<std::unique_ptr<Product>> products;
  std::vector<cudaStream_t> at(streams);
  int declined = 0;
  for (int k = 0; k < streams; k++) {
    CUDA_OK(cudaStreamCreateWithFlags(&at[(size_t)k], cudaStreamNonBlocking));
    Options o;
    o.shape = k == 2 ? SHUNT_SPARSE24_256 : SHUNT_SPARSE24_128;
    const Pattern p = pattern_24(sized(300, 140), 130, 1, 31 + (uint64_t)k);
    products.emplace_back(new Product(p, 136, o, 32, &table));
    products.back()->key = 0x4000 + (uintptr_t)k * 256;
    declined += !products.back()->packs();
  }
  products[1]->change();
  for (int k = 0; k < streams; k++) products[(size_t)k]->reset(0);
  for (int round = 0; round < std::max(1, 12 / every()); round++)
    for (int k = 0; k < streams; k++)
      declined += products[(size_t)k]->run(at[(size_t)k]) != SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  check(!declined, "%d streams, one of which has a changed A: packed and launched (%d declined)",
        streams, declined);
  for (int k = 0; k < streams; k++) {
    const int reasons = k == 1 ? CHANGED : 0;
    check(products[(size_t)k]->words_right(reasons), "stream %d: what it says of A", k);
    check(products[(size_t)k]->content_right(reasons, false), "stream %d: A B", k);
    cudaStreamDestroy(at[(size_t)k]);
  }
}

static void test_replays()
{
  Table table(8);
  Options o;
  o.shape = SHUNT_SPARSE24_128;
  Product q(pattern_24(sized(300, 140), 130, 1, 41), 136, o, 42, &table);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  bool good = q.packs();
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  good &= q.run(stream) == SHUNT_OK && q.run(stream) == SHUNT_OK;
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&replay, graph, 0));
  for (int round = 0; round < sized(6, 3); round++) {
    const int reasons = round % 3 == 1 ? CHANGED : 0;
    if (reasons) q.change();
    q.reset(reasons);
    for (int again = 0; again < 3; again++) CUDA_OK(cudaGraphLaunch(replay, stream));
    CUDA_OK(cudaDeviceSynchronize());
    good &= q.words_right(reasons) && q.content_right(reasons, false);
    if (reasons) q.change();
  }
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  check(good, "replayed graphs see A change in place, and change back");
}

static void test_declined(Table *table)
{
  const Pattern p = pattern_24(70, 64, 1, 5);
  Options o;
  auto status = [&](void (*change)(Product &)) {
    Product q(p, 16, o, 6, table);
    change(q);
    return q.a.pack() ? q.run() : SHUNT_E_CUDA;
  };
  check(status([](Product &) {}) == SHUNT_OK, "is taken");
  check(status([](Product &q) { q.on_device.beta.host = 1; }) == SHUNT_E_UNSUPPORTED, "beta");
  check(status([](Product &q) { q.device.compute_capability = 80; }) == SHUNT_E_UNSUPPORTED,
        "another device");
  check(status([](Product &q) { q.device.shared_per_block = 100000; }) == SHUNT_E_UNSUPPORTED,
        "little shared memory");
  check(status([](Product &q) { q.on_device.b.row_stride = 17; }) == SHUNT_E_UNSUPPORTED,
        "rows of B not on 16 bytes");
  o.type = SHUNT_I8, o.out = SHUNT_I32, o.b_layout = 3;
  check(status([](Product &) {}) == SHUNT_OK, "int8 is taken");
  check(status([](Product &q) { q.on_device.c.type = SHUNT_F32; }) == SHUNT_E_UNSUPPORTED,
        "int8 into f32 computing in int32");
  check(status([](Product &q) { std::swap(q.on_device.b.row_stride, q.on_device.b.col_stride); }) ==
            SHUNT_E_UNSUPPORTED,
        "int8 and B by rows");
  o.beta = 2;
  check(status([](Product &) {}) == SHUNT_E_UNSUPPORTED, "int32 that are added to");
  o = Options();
  check(status([](Product &q) { q.o.shape = SHUNT_SPARSE24_NONE; }) == SHUNT_E_UNSUPPORTED,
        "no shape");
  check(status([](Product &q) { q.on_device.c.type = SHUNT_F64; }) == SHUNT_E_UNSUPPORTED, "f64");
  o.in_place = true;
  check(status([](Product &) {}) == SHUNT_OK, "in place");
  check(status([](Product &q) { q.on_device.a.nnz--; }) == SHUNT_E_UNSUPPORTED,
        "in place, a quad not full");
  check(status([](Product &q) {
          q.on_device.a.values = (char *)const_cast<void *>(q.on_device.a.values) + 2;
        }) == SHUNT_E_UNSUPPORTED,
        "in place, values off 16 bytes");
  static const shunt_sparse24_proof compares = {true, 0}, spares = {true, 1 << 20},
                                    hashes_and_spares = {false, 1};
  check(status([](Product &q) { q.proof = &spares; }) == SHUNT_E_ARGUMENT,
        "more spared than there is");
  check(status([](Product &q) { q.proof = &hashes_and_spares; }) == SHUNT_E_ARGUMENT,
        "columns spared that are not compared");
  o.in_place = false;
  check(status([](Product &q) { q.proof = &compares; }) == SHUNT_E_ARGUMENT,
        "columns compared of a copy");
  check(status([](Product &q) { q.on_device.c.rows = 69; }) == SHUNT_E_ARGUMENT, "another size");
  check(status([](Product &q) { q.product.cols = 8; }) == SHUNT_E_ARGUMENT, "another product");
  check(status([](Product &q) { q.key = 0; }) == SHUNT_E_ARGUMENT, "no key");
}

int main(int argc, char **argv)
{
  test_conversion();
  test_irregular();
  if (this_device().compute_capability != 90) {
    skip("wgmma.sp needs compute capability 9.0");
    return finish();
  }
  Table table(2);
  for (shunt_sparse24_shape shape :
       {SHUNT_SPARSE24_128, SHUNT_SPARSE24_256, SHUNT_SPARSE24_2X128}) {
    for (bool integers : {false, true}) {
      test_products(shape, integers, true, &table);
      test_products(shape, integers, false, &table);
      test_reasons(shape, integers, &table);
    }
    test_nonfinite(shape, &table);
    test_in_place(shape, &table);
    test_compared(shape, &table);
    test_spared(shape, &table);
    test_nonfinite_in_place(shape, &table);
  }
  test_proof(SHUNT_F16, &table);
  test_proof(SHUNT_I8, &table);
  test_full_table();
  test_streams();
  test_replays();
  test_declined(&table);
  if (argc > 1 && !strcmp(argv[1], "--time")) time_products(&table);
  return finish();
}
