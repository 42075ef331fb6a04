// test_spmm_whole24.cu: shunt_csr_to_whole24_cuda writes the bytes that its host twin writes, and
// shunt_spmm_whole24_cuda computes what its twin computes, in both shapes, and from A itself where
// anything speaks against the copy.
//
// With whole numbers every sum is exact, so the two agree bit by bit; with fractions within the
// error that float sums may have.  C's surroundings must not change.
//   --time   also times 4096 and 8192 square
#include <memory>

#include "conv/whole24.h"
#include "kernels/whole24_kernels.h"
#include "tests/gpu/harness.cuh"

using namespace harness;

// At most two entries in each four columns.
static Pattern pattern_24(int64_t rows, int64_t cols, double density, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = rows, p.cols = cols;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t quad = 0; quad < cols; quad += 4) {
      const int64_t a = r.below(4), b = (a + 1 + r.below(3)) % 4;
      for (int64_t j : {std::min(a, b), std::max(a, b)})
        if (quad + j < cols && r.uniform() < density) p.columns.push_back(quad + j);
    }
    p.offsets.push_back(p.nnz());
  }
  return p;
}

// A pattern as CSR with values, and packed, in both memories.
struct Packed {
  Buffer offsets, columns, values, tiles, word;
  shunt_csr host, device;
  shunt_whole24 on_host, on_device;

  Packed(const Pattern &p, shunt_type type, shunt_type index, int base, bool whole, uint64_t seed)
      : offsets(p.offsets.size() * shunt_type_size(index)),
        columns(p.columns.size() * shunt_type_size(index)), values(p.columns.size() * 2), word(8)
  {
    Random r(seed);
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), i, index, (double)(p.offsets[i] + base));
    for (size_t i = 0; i < p.columns.size(); i++) {
      store(columns.host.data(), i, index, (double)(p.columns[i] + base));
      store(values.host.data(), i, type, whole ? (double)(r.below(9) - 4) : r.value());
    }
    memset(word.host.data(), 0, 8);
    for (Buffer *b : {&offsets, &columns, &values, &word})
      b->upload();
    host = {p.rows, p.cols, p.nnz(), offsets.host.data(), columns.host.data(), values.host.data(),
            index,  type,   base};
    device = host;
    device.row_offsets = offsets.device, device.columns = columns.device;
    device.values = values.device;
    const size_t bytes = shunt_whole24_bytes(&host);
    CUDA_OK(cudaFree(tiles.device));
    CUDA_OK(cudaMalloc(&tiles.device, bytes + 512));
    CUDA_OK(cudaMemset(tiles.device, 0xff, bytes + 512));
    tiles.host.assign(bytes + 512, (char)0xff);
    shunt_whole24_lay_out(&host, tiles.host.data(), &on_host);
    shunt_whole24_lay_out(&host, tiles.device, &on_device);
  }
  bool pack_on_device()
  {
    const shunt_device d = this_device();
    return shunt_csr_to_whole24_cuda(&device, &on_device, (uint32_t *)word.device, &d, 0) ==
           SHUNT_OK;
  }
  // On both sides; `irregular` of both in `word`.
  bool pack()
  {
    uint32_t *words = (uint32_t *)word.host.data();
    if (!pack_on_device()) return false;
    CUDA_OK(cudaDeviceSynchronize());
    word.download();
    words[1] = 0;
    return shunt_csr_to_whole24_host(&host, &on_host, &words[1]) == SHUNT_OK &&
           words[0] == words[1];
  }
  bool irregular() const { return *(const uint32_t *)word.host.data() == SHUNT_IRREGULAR; }
  bool same() // and nothing behind the tiles was written
  {
    std::vector<char> there(tiles.host.size());
    CUDA_OK(cudaMemcpy(there.data(), tiles.device, there.size(), cudaMemcpyDeviceToHost));
    return there == tiles.host;
  }
};

// ---- the conversion --------------------------------------------------------------------------

static void test_conversion()
{
  Random r(2411);
  for (double density : {0.0, 0.1, 0.7, 1.0}) {
    bool good = true;
    for (int64_t rows : {1, 64, 129, 200})
      for (int64_t cols : {1, 63, 130, 700}) {
        Packed k(pattern_24(rows, cols, density, r.next()), r.below(2) ? SHUNT_F16 : SHUNT_BF16,
                 r.below(2) ? SHUNT_I64 : SHUNT_I32, (int)r.below(2), false, r.next());
        good = k.pack() && !k.irregular() && k.same() && good;
      }
    check(good, "device and host write the same bytes, density %g", density);
  }
}

static void test_irregular()
{
  const Pattern p = pattern_24(40, 700, 0.9, 3);
  const int64_t row1 = p.offsets[1];
  struct {
    const char *what;
    int64_t at, value;
    bool offset;
  } cases[] = {{"a repeated column", 5, p.columns[4], false},
               {"a column out of order", 5, 690, false},
               {"a column out of order at a row's end", row1 - 1, 3, false},
               {"a column beyond the last", row1 - 1, 700, false},
               {"a column before the first", 0, -1, false},
               {"offsets that descend", 3, p.offsets[4] + 1, true},
               {"an offset out of range", 3, 1 << 30, true},
               {"an offset below the base", 3, -1, true}};
  for (auto &c : cases) {
    Pattern broken = p;
    (c.offset ? broken.offsets : broken.columns)[(size_t)c.at] = c.value;
    Packed k(broken, SHUNT_F16, SHUNT_I32, 1, false, 4);
    check(k.pack() && k.irregular(), "%s is irregular", c.what);
  }
  Pattern crowded = random_pattern(5, 64, 0.0, 1, 1);
  crowded.columns = {8, 9, 11};
  crowded.offsets = {0, 0, 3, 3, 3, 3};
  Packed k(crowded, SHUNT_F16, SHUNT_I64, 0, false, 5);
  check(k.pack() && k.irregular(), "three entries in four columns are irregular");
}

// ---- the product -----------------------------------------------------------------------------

// 0: row-major packed, 1: row-major with a gap, 2: row-major, odd leading dimension,
// 3: column-major with a gap.
static shunt_dense layout(int kind, int64_t rows, int64_t cols, void *values, shunt_type t)
{
  const int64_t wide = (cols + 7) / 8 * 8, tall = (rows + 7) / 8 * 8;
  const int64_t lead = kind == 0 ? wide : kind == 1 ? wide + 8 : kind == 2 ? cols | 1 : tall + 8;
  return {rows, cols, kind == 3 ? 1 : lead, kind == 3 ? lead : 1, values, t};
}
static int64_t size_of(const shunt_dense &m)
{
  return (m.rows - 1) * m.row_stride + (m.cols - 1) * m.col_stride + 1;
}

struct Options {
  shunt_type type = SHUNT_F16, out = SHUNT_F16, index = SHUNT_I32;
  int b_layout = 0, c_layout = 0, columns = 256;
  double alpha = 1, beta = 0; // beta not 0: the product goes to W
  bool device_scalars = false, whole = true;
  double bad = 0; // a NaN or Inf, at bad_at of B
  int64_t bad_at = 0;
};

enum { CHANGED = 1, NONFINITE = 2, FLAG = 4, NO_ROOM = 8 }; // what speaks against the copy
enum { VERDICT, ONLY_IF, WORDS };

// Sets for the launches that name no table of their own.
struct Table {
  int count;
  Buffer sets;
  explicit Table(int count_) : count(count_), sets((size_t)count_ * SHUNT_REPAIR_SET_BYTES)
  {
    CUDA_OK(cudaMemset(sets.device, 0, (size_t)count * SHUNT_REPAIR_SET_BYTES));
  }
};

struct Product {
  Options o;
  Packed a;
  Buffer b, c, w, scalars, words, print, scratch;
  Table *table;
  uintptr_t key = 0x1000;
  bool proves = true;
  uint32_t *pinned; // changed, nonfinite
  shunt_device device = this_device();
  shunt_spmm on_device = {}, on_host;
  shunt_dense product = {};

  Product(const Pattern &p, int64_t n, const Options &o_, uint64_t seed, Table *t)
      : o(o_), a(p, o.type, o.index, 0, o.whole, seed),
        b((size_t)size_of(layout(o.b_layout, p.cols, n, nullptr, o.type)) * 2),
        c((size_t)size_of(layout(o.c_layout, p.rows, n, nullptr, o.out)) * shunt_type_size(o.out)),
        w(o.beta != 0 ? (size_t)(p.rows * n * 4) : 4), scalars(8), words(WORDS * 4),
        print(sizeof(shunt_fingerprint)), scratch(SHUNT_FINGERPRINT_SCRATCH), table(t)
  {
    Random r(seed + 1);
    CUDA_OK(cudaMallocHost(&pinned, 2 * sizeof *pinned));
    for (int64_t i = 0; i < (int64_t)b.host.size() / 2; i++)
      store(b.host.data(), i, o.type, o.whole ? (double)(r.below(9) - 4) : r.value());
    if (o.bad != 0) store(b.host.data(), o.bad_at, o.type, o.bad);
    ((float *)scalars.host.data())[0] = (float)o.alpha;
    ((float *)scalars.host.data())[1] = (float)o.beta;
    for (Buffer *x : {&b, &scalars})
      x->upload();
    on_host = on_device;
    fill(on_device, a.device, b.device, c.device, (const float *)scalars.device, n);
    fill(on_host, a.host, b.host.data(), c.host.data(), (const float *)scalars.host.data(), n);
    on_device.only_if = (const uint32_t *)words.device + ONLY_IF;
    product = on_device.c;
    if (o.beta != 0) product = {p.rows, n, n, 1, w.device, SHUNT_F32};
    CUDA_OK(cudaDeviceSynchronize());
    if (shunt_fingerprint_csr_cuda(&a.device, (shunt_fingerprint *)print.device, &device,
                                   scratch.device, 0) != SHUNT_OK)
      check(false, "a fingerprint");
    CUDA_OK(cudaDeviceSynchronize());
  }
  ~Product() { cudaFreeHost(pinned); }
  Product(const Product &) = delete;

  void fill(shunt_spmm &p, const shunt_csr &csr, void *b_at, void *c_at, const float *scalar,
            int64_t n)
  {
    p.a = csr;
    p.b = layout(o.b_layout, csr.cols, n, b_at, o.type);
    p.c = layout(o.c_layout, csr.rows, n, c_at, o.out);
    p.alpha = {o.device_scalars ? scalar : nullptr, o.alpha};
    p.beta = {o.device_scalars && o.beta != 0 ? scalar + 1 : nullptr, o.beta};
    p.compute = SHUNT_F32;
  }
  shunt_repair repair() const
  {
    shunt_repair r = {};
    r.product = &product;
    r.expected = proves ? (const shunt_fingerprint *)print.device : nullptr;
    r.sets = table->sets.device;
    r.set_count = table->count;
    r.key = (const void *)key;
    r.wait_cycles = SHUNT_REPAIR_WAIT_CYCLES;
    r.verdict = (uint32_t *)words.device + VERDICT;
    r.changed = pinned, r.nonfinite = pinned + 1;
    return r;
  }
  shunt_status run(cudaStream_t stream = 0)
  {
    const shunt_repair r = repair();
    return shunt_spmm_whole24_shaped_cuda(&on_device, &a.on_device, o.columns, &r, &device,
                                          stream);
  }

  // Before a launch: C, W and the words as nobody may leave them.  With beta C's elements count.
  void reset(int reasons)
  {
    uint32_t *word = (uint32_t *)words.host.data();
    word[VERDICT] = 77;
    word[ONLY_IF] = reasons & FLAG ? 4 : 0;
    words.upload();
    memset(c.host.data(), 0xff, c.host.size());
    memset(w.host.data(), 0xff, w.host.size());
    const shunt_dense &m = on_host.c;
    if (o.beta != 0)
      for (int64_t i = 0; i < m.rows; i++)
        for (int64_t j = 0; j < m.cols; j++)
          store(c.host.data(), i * m.row_stride + j * m.col_stride, o.out, (double)((i + j) % 5));
    c.upload(), w.upload();
    pinned[0] = pinned[1] = 0;
    CUDA_OK(cudaDeviceSynchronize());
  }
  bool words_right(int reasons)
  {
    words.download();
    const uint32_t *word = (const uint32_t *)words.host.data();
    const uint32_t changed = (reasons & (CHANGED | NO_ROOM)) != 0;
    const uint32_t nonfinite = !changed && (reasons & NONFINITE);
    if (word[VERDICT] == (uint32_t)(reasons != 0) && pinned[0] == changed &&
        pinned[1] == nonfinite)
      return true;
    printf("# verdict %u, changed %u, nonfinite %u for reasons %d\n", word[VERDICT], pinned[0],
           pinned[1], reasons);
    return false;
  }

  bool same_value(double got, double want) const
  {
    if (isnan(want)) return isnan(got);
    if (o.whole || isinf(want)) return got == want;
    const double terms = (double)on_host.b.rows;
    return fabs(got - want) <=
           2 * tolerance(o.out, SHUNT_F32, fabs(o.alpha) * terms, want, on_host.b.rows);
  }
  bool same_values(const Buffer &got, const Buffer &want, shunt_type type) const
  {
    bool good = true;
    for (size_t i = 0; i < got.host.size() / shunt_type_size(type); i++)
      good = good && same_value(load(got.host.data(), (int64_t)i, type),
                                load(want.host.data(), (int64_t)i, type));
    return good;
  }
  // The whole of C's memory, and of W's, against A's own product, or the twin's.
  bool content_right(int reasons, bool by_twin)
  {
    Buffer want_w(w.host.size()), want(c.host.size());
    want.host = c.host, want_w.host = w.host;
    shunt_spmm p = on_host;
    p.c.values = want.host.data();
    if (o.beta != 0 && reasons == 0) { // W is the product, C is left alone
      p.c = {p.c.rows, p.c.cols, p.c.cols, 1, want_w.host.data(), SHUNT_F32};
      p.alpha = {nullptr, 1}, p.beta = {nullptr, 0};
    }
    const shunt_status s =
        by_twin ? shunt_spmm_whole24_host(&p, &a.on_host) : shunt_spmm_csr_host(&p);
    const std::vector<char> c_was = c.host;
    c.download(), w.download();
    bool good = s == SHUNT_OK && same_values(c, want, o.out) &&
                (o.beta == 0 || reasons != 0 || same_values(w, want_w, SHUNT_F32));
    c.host = c_was;
    return good;
  }
  bool runs(int reasons, bool by_twin = false)
  {
    reset(reasons);
    const shunt_status s = run();
    CUDA_OK(cudaDeviceSynchronize());
    if (s == SHUNT_OK && words_right(reasons) && content_right(reasons, by_twin)) return true;
    printf("# status %d, types %d %d, layouts %d %d, alpha %g, beta %g, reasons %d\n", (int)s,
           o.type, o.out, o.b_layout, o.c_layout, o.alpha, o.beta, reasons);
    return false;
  }
  bool packs() { return a.pack() && !a.irregular(); }
  // The sign of A's last value, and back.
  void change()
  {
    if (a.host.nnz == 0) return;
    a.values.host[a.values.host.size() - 1] ^= (char)0x80;
    a.values.upload();
  }
};

static Options random_options(Random &r, int columns)
{
  static const double scalar[] = {1, 0, -2, 0.5};
  static const int b_layouts[] = {0, 1, 3};
  Options o;
  o.type = r.below(2) ? SHUNT_F16 : SHUNT_BF16;
  o.out = r.below(2) ? o.type : SHUNT_F32;
  o.index = r.below(2) ? SHUNT_I32 : SHUNT_I64;
  o.b_layout = b_layouts[r.below(3)], o.c_layout = (int)r.below(4);
  o.alpha = scalar[r.below(4)];
  o.device_scalars = r.below(2);
  o.columns = columns;
  return o;
}

// Sizes within a tile, at its edges, and with chunks that go round the ring.
static const int64_t sizes[][3] = {{1, 1, 1},     {64, 64, 8},    {130, 70, 128}, {128, 130, 257},
                                   {70, 1100, 9}, {257, 20, 300}, {40, 640, 129}};

static void test_products(int columns, bool whole, Table *table)
{
  Random r(whole ? 91 : 92);
  for (auto &s : sizes) {
    bool good = true;
    for (int repeat = 0; repeat < 4; repeat++) {
      Options o = random_options(r, columns);
      o.whole = whole;
      Product q(pattern_24(s[0], s[1], r.below(3) ? 1 : 0.3, r.next()), s[2], o, r.next(), table);
      if (r.below(2)) q.device.multiprocessors = 1;
      good = q.packs() && q.runs(0, true) && good;
    }
    check(good, "tiles of %d columns, %s: %d x %d by %d columns", columns,
          whole ? "whole numbers" : "fractions", (int)s[0], (int)s[1], (int)s[2]);
  }
}

// Many tiles of the fingerprint for each of few warps, arrays on any address.
static void test_proof(Table *table)
{
  bool rests = true, sees = true;
  for (int odd = 0; odd < 4; odd++)
    for (int blocks : {1, 3}) {
      Options o;
      o.index = odd & 2 ? SHUNT_I64 : SHUNT_I32;
      Product q(pattern_24(301, 700, 0.9, 21), 8, o, 22, table);
      q.device.multiprocessors = blocks;
      rests &= q.packs();
      Buffer elsewhere(q.a.values.host.size() + 16);
      if (odd & 1) {
        char *moved = (char *)elsewhere.device + 2;
        CUDA_OK(cudaMemcpy(moved, q.a.values.device, q.a.values.host.size(),
                           cudaMemcpyDeviceToDevice));
        q.on_device.a.values = moved;
      }
      rests &= q.runs(0);
      const int64_t n = q.a.host.nnz;
      for (int64_t at : {(int64_t)0, n / 3, n - 1}) {
        char *value = (char *)const_cast<void *>(q.on_device.a.values) + 2 * at, was[2], is[2];
        memcpy(was, q.a.values.host.data() + 2 * at, 2);
        is[0] = was[0], is[1] = (char)(was[1] ^ 0x80);
        for (const char *bytes : {is, was}) {
          CUDA_OK(cudaMemcpy(value, bytes, 2, cudaMemcpyHostToDevice));
          memcpy(q.a.values.host.data() + 2 * at, bytes, 2);
          sees &= q.runs(bytes == is ? CHANGED : 0);
        }
      }
    }
  check(rests, "a proof by few warps comes to the same fingerprint");
  check(sees, "a changed value is seen, and that it changed back");
}

// Each way in which the copy may be wrong, with and without beta.
static void test_reasons(int columns, Table *table)
{
  Random r(93);
  for (double beta : {0.0, 2.0}) {
    bool rests = true, repaired = true;
    for (auto &s : sizes) {
      Options o = random_options(r, columns);
      o.beta = beta;
      Product q(pattern_24(s[0], s[1], 1, r.next()), s[2], o, r.next(), table);
      rests &= q.packs() && q.runs(0);
      if (q.a.host.nnz == 0) continue;
      q.change();
      repaired &= q.runs(CHANGED) && q.runs(CHANGED | FLAG);
      q.change();
      repaired &= q.runs(FLAG);
      rests &= q.runs(0);
    }
    check(rests, "tiles of %d columns, beta %g: A B, and nothing to repair", columns, beta);
    check(repaired, "tiles of %d columns, beta %g: A B after a change, or with a flag", columns,
          beta);
  }
}

// Rows without padding, so that only a zero of A's own makes NaN; and rows with much of it.
static void test_nonfinite(int columns, Table *table)
{
  for (double bad : {(double)NAN, (double)INFINITY})
    for (double density : {1.0, 0.1})
      for (double beta : {0.0, 1.0}) {
        Options o;
        o.columns = columns, o.out = SHUNT_F32, o.beta = beta;
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

static void test_full_table()
{
  Table one(1);
  Random r(95);
  bool kept = true, turned_away = true;
  for (double beta : {0.0, 2.0}) {
    Options o = random_options(r, 128);
    o.beta = beta;
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
  bool good = true;
  for (int k = 0; k < streams; k++) {
    CUDA_OK(cudaStreamCreateWithFlags(&at[(size_t)k], cudaStreamNonBlocking));
    Options o;
    o.columns = k == 2 ? 256 : 128;
    const Pattern p = pattern_24(300, 130, 1, 31 + (uint64_t)k);
    products.emplace_back(new Product(p, 136, o, 32, &table));
    products.back()->key = 0x4000 + (uintptr_t)k * 256;
    good &= products.back()->packs();
  }
  products[1]->change();
  for (int k = 0; k < streams; k++)
    products[(size_t)k]->reset(0);
  for (int round = 0; round < std::max(1, 12 / every()); round++)
    for (int k = 0; k < streams; k++)
      good &= products[(size_t)k]->run(at[(size_t)k]) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  for (int k = 0; k < streams; k++) {
    const int reasons = k == 1 ? CHANGED : 0;
    good &= products[(size_t)k]->words_right(reasons);
    good &= products[(size_t)k]->content_right(reasons, false);
    cudaStreamDestroy(at[(size_t)k]);
  }
  check(good, "%d streams, one of which has a changed A", streams);
}

static void test_replays()
{
  Table table(8);
  Options o;
  o.columns = 128;
  Product q(pattern_24(300, 130, 1, 41), 136, o, 42, &table);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  bool good = q.packs();
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  good &= q.run(stream) == SHUNT_OK && q.run(stream) == SHUNT_OK;
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&replay, graph, 0));
  for (int round = 0; round < 6; round++) {
    const int reasons = round % 3 == 1 ? CHANGED : 0;
    if (reasons) q.change();
    q.reset(reasons);
    for (int again = 0; again < 3; again++)
      CUDA_OK(cudaGraphLaunch(replay, stream));
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
  check(status([](Product &q) { q.o.columns = 64; }) == SHUNT_E_UNSUPPORTED, "tiles of 64 columns");
  check(status([](Product &q) { q.on_device.c.type = SHUNT_F64; }) == SHUNT_E_UNSUPPORTED, "f64");
  check(status([](Product &q) { q.on_device.c.rows = 69; }) == SHUNT_E_ARGUMENT, "another size");
  check(status([](Product &q) { q.product.cols = 8; }) == SHUNT_E_ARGUMENT, "another product");
  check(status([](Product &q) { q.key = 0; }) == SHUNT_E_ARGUMENT, "no key");
}

// B and C reshaped within their memory: by rows, or by columns `pitch` apart.
static void reshape(Product &q, int64_t n, int64_t pitch)
{
  shunt_dense &b = q.on_device.b, &c = q.on_device.c;
  b.cols = c.cols = c.row_stride = n;
  b.row_stride = pitch ? 1 : n;
  b.col_stride = pitch ? pitch : 1;
  q.product = c;
}

static void time_shapes(Product &q)
{
  const shunt_dense &b = q.on_device.b;
  const int64_t m = b.rows, n = b.cols;
  for (int columns : {128, 256}) {
    double us[2];
    q.o.columns = columns;
    for (int proves : {0, 1}) {
      q.proves = proves;
      us[proves] = time_graph([&](cudaStream_t s) {
        if (q.run(s) != SHUNT_OK) exit(3);
      });
    }
    printf("time whole24 %d^2 x %d, %s, B by %s, tiles of %d%s: %.2f us alone, %.2f with the "
           "proof, %.0f TFLOP/s of dense\n",
           (int)m, (int)n, q.o.index == SHUNT_I32 ? "int32" : "int64",
           b.col_stride == 1    ? "rows"
           : b.col_stride == m ? "columns"
                                : "columns (+ 8)",
           columns,
           columns == shunt_spmm_whole24_columns(&q.on_device, &q.device) ? " (chosen)" : "", us[0],
           us[1], 2e-6 * (double)m * (double)m * (double)n / us[1]);
  }
}

static void time_products(Table *table)
{
  Options o;
  o.whole = false, o.b_layout = 3;
  for (int64_t m : {4096, 8192}) {
    const Pattern pattern = pattern_24(m, m, 1, 7);
    for (shunt_type index : {SHUNT_I32, SHUNT_I64}) {
      o.index = index;
      Product q(pattern, 2048, o, 8, table);
      if (!q.a.pack_on_device()) exit(3);
      q.reset(0);
      for (int64_t n : {128, 256, 512, 1024, 2048})
        for (int64_t pitch : {(int64_t)0, m, m + 8})
          if (pitch == 0 || (index == SHUNT_I32 && n >= 512)) {
            reshape(q, n, pitch);
            time_shapes(q);
          }
    }
  }
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
  for (int columns : {128, 256}) {
    test_products(columns, true, &table);
    test_products(columns, false, &table);
    test_reasons(columns, &table);
    test_nonfinite(columns, &table);
  }
  test_proof(&table);
  test_full_table();
  test_streams();
  test_replays();
  test_declined(&table);
  if (argc > 1 && !strcmp(argv[1], "--time")) time_products(&table);
  return finish();
}
