// repair_output.cuh: one launch of shunt_guard_repair_cuda: why it is to repair, its C, and
// what must be in C and in every word afterwards.
//
// C's padding holds NaN bits throughout: it must neither raise an alarm nor change.
#pragma once
#include "tests/gpu/guard/repair_operands.cuh"

namespace harness
{

enum { FLAG = 1, CHANGED = 2, NONFINITE = 4 }; // reasons to repair

// Device words of one output: only_if, verdict, and a canary.
enum { ONLY_IF, VERDICT, CANARY, WORDS };

// Outputs that name no table of their own share this one, under one key, launch after launch with
// grids of all sizes; main makes it.
inline Table *common;

struct How {
  int reasons = 0;
  bool asks_flag = true, asks_print = true, tells = true; // what struct shunt_guard names
  bool of_values = false;                                 // only with asks_print
  double special = NAN; // and where in the product's first row it stands, if NONFINITE
  int64_t at = 0;
  bool separate = false; // the product is a matrix W, not C
  bool column_order = false;
  shunt_type out = SHUNT_F32;
  double alpha = 1, beta = 0;
  int expected = 0; // which wrong fingerprint, if CHANGED
  Table *table = common;
  uintptr_t key = 0x1000;
  bool no_room = false; // the table is full: repaired, and a change told, whatever the reasons
  int64_t wait_cycles = SHUNT_GUARD_WAIT_CYCLES;
  bool overlaps = false; // the launch may begin before the product's end
};

inline double largest(shunt_type t)
{
  if (t == SHUNT_F64) return 0x1.fffffffffffffp1023;
  return t == SHUNT_F16 ? 65504 : t == SHUNT_BF16 ? 0x1.fep127 : 0x1.fffffep127;
}

// What products of t are summed in, and a product that is not C is of.
inline shunt_type sum_type(shunt_type t)
{
  return t == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32;
}

// The output of one launch, and the product when that is another matrix.
//
//   row-major     stride = n + 5         column-major   stride = rows + 3
struct Output {
  Lab &lab;
  How how;
  int64_t row_stride, col_stride, stored;
  Buffer c, w, words;
  uint32_t *pinned; // [0] changed, [1] nonfinite
  std::vector<char> before;

  Output(Lab &lab, const How &how)
      : lab(lab), how(how), row_stride(how.column_order ? 1 : lab.n + 5),
        col_stride(how.column_order ? lab.p.rows + 3 : 1),
        stored(how.column_order ? lab.n * col_stride : lab.p.rows * row_stride),
        c((size_t)stored * shunt_type_size(how.out)),
        w(how.separate ? (size_t)(lab.p.rows * (lab.n + 2)) * shunt_type_size(sum_type(lab.type))
                       : 4),
        words(WORDS * 4)
  {
    CUDA_OK(cudaMallocHost(&pinned, 2 * sizeof *pinned));
    fill();
    set_words();
  }
  ~Output() { cudaFreeHost(pinned); }

  int64_t place(int64_t i, int64_t j) const { return i * row_stride + j * col_stride; }

  // Numbers everywhere, the largest one in the first row of the product; its other rows
  // hold NaN, which nobody may mind, unless they count as C's old content.
  void fill()
  {
    Random r(5);
    std::fill(c.host.begin(), c.host.end(), (char)0xff);
    std::fill(w.host.begin(), w.host.end(), (char)0xff);
    for (int64_t i = 0; i < lab.p.rows; i++)
      for (int64_t j = 0; j < lab.n; j++)
        if (i == 0 || how.beta != 0 || (i + j) % 7)
          store(c.host.data(), place(i, j), how.out, r.value());
    if (how.separate)
      for (int64_t j = 0; j < lab.n; j++) store(w.host.data(), j, sum_type(lab.type), r.value());
    void *first = how.separate ? w.host.data() : c.host.data();
    shunt_type t = how.separate ? sum_type(lab.type) : how.out;
    int64_t step = how.separate ? 1 : col_stride;
    if (how.beta == 0 || how.separate) store(first, 0, t, largest(t));
    if (how.reasons & NONFINITE) store(first, how.at * step, t, how.special);
    c.upload();
    w.upload();
    before = c.host;
  }

  shunt_status launch(cudaStream_t stream = 0)
  {
    uint32_t *word = (uint32_t *)words.device;
    const shunt_fingerprint *expected = (const shunt_fingerprint *)lab.expected.device;
    shunt_spmm p = {};
    p.a = lab.a;
    p.b = shunt_dense{lab.p.cols, lab.n, lab.n, 1, lab.b.device, lab.type};
    p.c = shunt_dense{lab.p.rows, lab.n, row_stride, col_stride, c.device, how.out};
    p.alpha.host = how.alpha;
    p.beta.host = how.beta;
    p.compute = sum_type(lab.type);
    p.only_if = how.asks_flag ? word + ONLY_IF : nullptr;
    shunt_dense product = p.c;
    if (how.separate)
      product = shunt_dense{lab.p.rows, lab.n, lab.n + 2, 1, w.device, sum_type(lab.type)};
    shunt_guard r = {};
    r.product = &product;
    if (how.asks_print) r.expected = expected + (how.reasons & CHANGED ? 1 + how.expected % 3 : 0);
    if (how.of_values) r.of_values = true, r.expected += Lab::OF_VALUES;
    r.sets = how.table->sets;
    r.set_count = how.table->count;
    r.key = (const void *)how.key;
    r.wait_cycles = how.wait_cycles;
    r.repaired = how.tells ? word + VERDICT : nullptr;
    r.changed = how.tells ? pinned : nullptr;
    r.nonfinite = how.tells ? pinned + 1 : nullptr;
    static int launches; // every second one as behind a kernel that lets it in
    r.start = how.overlaps     ? SHUNT_GUARD_OVERLAPPED
              : launches++ % 2 ? SHUNT_GUARD_EARLY
                               : SHUNT_GUARD_BEHIND;
    return shunt_guard_repair_cuda(&p, &r, &device, stream);
  }

  bool repaired() const { return how.reasons != 0 || how.no_room; }

  // What every word must say.
  bool words_right()
  {
    words.download();
    const uint32_t *word = (const uint32_t *)words.host.data();
    uint32_t verdict = !how.tells ? 0xdeadbeefu : repaired();
    uint32_t changed = !how.tells              ? 0
                       : how.no_room           ? SHUNT_GUARD_NO_SET
                       : how.reasons & CHANGED ? SHUNT_GUARD_CHANGED
                                               : 0;
    uint32_t nonfinite =
        how.tells && !how.no_room && (how.reasons & (CHANGED | NONFINITE)) == NONFINITE;
    if (word[VERDICT] == verdict && word[CANARY] == 0xdeadbeefu && pinned[0] == changed &&
        pinned[1] == nonfinite && word[ONLY_IF] == (how.reasons & FLAG ? 8u : 0u))
      return true;
    printf("# verdict %u, changed %u, nonfinite %u\n", word[VERDICT], pinned[0], pinned[1]);
    return false;
  }

  bool element_right(int64_t i, int64_t j)
  {
    size_t at = (size_t)(i * lab.n + j);
    double old = how.beta == 0 ? 0 : how.beta * load(before.data(), place(i, j), how.out);
    double want = how.alpha * lab.sum[at] + old, got = load(c.host.data(), place(i, j), how.out);
    int64_t terms = lab.p.offsets[i + 1] - lab.p.offsets[i] + 1;
    double scale = fabs(how.alpha) * lab.scale[at] + fabs(old);
    return same_value(got, want, tolerance(how.out, sum_type(lab.type), scale, want, terms));
  }

  // C is untouched, or right with its padding untouched.
  bool content_right()
  {
    c.download();
    if (!repaired()) return c.host == before;
    size_t size = shunt_type_size(how.out);
    std::vector<char> inside((size_t)stored);
    for (int64_t i = 0; i < lab.p.rows; i++)
      for (int64_t j = 0; j < lab.n; j++) {
        inside[(size_t)place(i, j)] = 1;
        if (element_right(i, j)) continue;
        printf("# (%lld, %lld) is %g, the sum is %g\n", (long long)i, (long long)j,
               load(c.host.data(), place(i, j), how.out), lab.sum[(size_t)(i * lab.n + j)]);
        return false;
      }
    for (size_t at = 0; at < (size_t)stored; at++)
      if (!inside[at] && memcmp(&c.host[at * size], &before[at * size], size) != 0) return false;
    return true;
  }

  void set_words()
  {
    uint32_t *word = (uint32_t *)words.host.data();
    for (int i = 0; i < WORDS; i++) word[i] = 0xdeadbeefu;
    word[ONLY_IF] = how.reasons & FLAG ? 8 : 0;
    words.upload();
    pinned[0] = pinned[1] = 0;
  }

  // Everything as before the launch.
  void reset()
  {
    c.host = before;
    c.upload();
    set_words();
    CUDA_OK(cudaDeviceSynchronize()); // other streams do not wait for these copies
  }

  bool run()
  {
    set_words();
    shunt_status s = launch();
    CUDA_OK(cudaDeviceSynchronize());
    bool good = s == SHUNT_OK && words_right() && content_right();
    if (!good)
      printf("# status %d: %lld x %lld x %lld, C type %d, %s, %s, reasons %d, %g at %lld, alpha %g "
             "beta %g\n",
             (int)s, (long long)lab.p.rows, (long long)lab.p.cols, (long long)lab.n, (int)how.out,
             how.column_order ? "column-major" : "row-major", how.separate ? "W" : "C", how.reasons,
             how.special, (long long)how.at, how.alpha, how.beta);
    return good;
  }
};

inline bool runs(Lab &lab, const How &how)
{
  Output o(lab, how);
  return o.run();
}

inline const char *name_of(shunt_type t)
{
  if (t == SHUNT_F64) return "f64";
  return t == SHUNT_F16 ? "f16" : t == SHUNT_BF16 ? "bf16" : "f32";
}

} // namespace harness
