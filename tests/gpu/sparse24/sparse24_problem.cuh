// sparse24_problem.cuh: 2:4 matrices as CSR and packed, on both sides, products with them,
// their proof and what must come of them; for test_sparse24_spmm.cu.
//
// Before a launch C, W and what lies behind the tiles hold NaN bits: what is not the result may not
// change.
#pragma once
#include "backend/routes/cost/costs.h"
#include "conv/sparse24/sparse24_conv.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/sparse24/sparse24_kernels.h"
#include "tests/gpu/common/harness.cuh"
#include "tests/gpu/common/machine.cuh"

namespace
{

using namespace harness;

// At most two entries in each four columns.
Pattern pattern_24(int64_t rows, int64_t cols, double density, uint64_t seed)
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

// A value that sums up exactly, or any.
double some_value(Random &r, shunt_type type, bool whole)
{
  if (whole) return (double)(r.below(9) - 4);
  return type == SHUNT_I8 ? (double)(r.below(256) - 128) : r.value();
}

// A pattern as CSR with values, and packed, in both memories.
struct Packed {
  Buffer offsets, columns, values, tiles, word;
  shunt_csr host, device;
  shunt_sparse24 on_host, on_device;

  Packed(const Pattern &p, shunt_type type, shunt_type index, int base, bool whole, uint64_t seed)
      : offsets(p.offsets.size() * shunt_type_size(index)),
        columns(p.columns.size() * shunt_type_size(index)),
        values(p.columns.size() * shunt_type_size(type)), word(8)
  {
    Random r(seed);
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), i, index, (double)(p.offsets[i] + base));
    for (size_t i = 0; i < p.columns.size(); i++) {
      store(columns.host.data(), i, index, (double)(p.columns[i] + base));
      store(values.host.data(), i, type, some_value(r, type, whole));
    }
    memset(word.host.data(), 0, 8);
    for (Buffer *b : {&offsets, &columns, &values, &word}) b->upload();
    host = {p.rows, p.cols, p.nnz(), offsets.host.data(), columns.host.data(), values.host.data(),
            index,  type,   base};
    device = host;
    device.row_offsets = offsets.device, device.columns = columns.device;
    device.values = values.device;
    const size_t bytes = shunt_sparse24_bytes(&host);
    CUDA_OK(cudaFree(tiles.device));
    CUDA_OK(cudaMalloc(&tiles.device, bytes + 512));
    CUDA_OK(cudaMemset(tiles.device, 0xff, bytes + 512));
    tiles.host.assign(bytes + 512, (char)0xff);
    shunt_sparse24_lay_out(&host, tiles.host.data(), &on_host);
    shunt_sparse24_lay_out(&host, tiles.device, &on_device);
  }
  bool pack_on_device()
  {
    const shunt_device d = this_device();
    return shunt_csr_to_sparse24_cuda(&device, &on_device, (uint32_t *)word.device, &d, 0) ==
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
    return shunt_csr_to_sparse24_host(&host, &on_host, &words[1]) == SHUNT_OK &&
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

// 0: row-major packed, 1: row-major with a gap, 2: row-major, odd leading dimension,
// 3: column-major with a gap.
shunt_dense layout(int kind, int64_t rows, int64_t cols, void *values, shunt_type t)
{
  const int64_t piece = 16 / (int64_t)shunt_type_size(t) < 8 ? 8 : 16 / (int64_t)shunt_type_size(t);
  const int64_t wide = (cols + 7) / 8 * 8, tall = (rows + piece - 1) / piece * piece;
  const int64_t lead = kind == 0   ? wide
                       : kind == 1 ? wide + 8
                       : kind == 2 ? cols | 1
                                   : tall + piece;
  return {rows, cols, kind == 3 ? 1 : lead, kind == 3 ? lead : 1, values, t};
}
int64_t size_of(const shunt_dense &m)
{
  return (m.rows - 1) * m.row_stride + (m.cols - 1) * m.col_stride + 1;
}

struct Options {
  shunt_type type = SHUNT_F16, out = SHUNT_F16, index = SHUNT_I32;
  int b_layout = 0, c_layout = 0;
  shunt_sparse24_shape shape = SHUNT_SPARSE24_256;
  double alpha = 1, beta = 0; // beta not 0: the product goes to W
  bool in_place = false;      // A's values are read where they are
  bool device_scalars = false, whole = true;
  double bad = 0; // a NaN or Inf, at bad_at of B
  int64_t bad_at = 0;
};

inline const char *name_of(shunt_sparse24_shape shape)
{
  static const char *const names[] = {"no", "128", "256", "2 x 128"};
  return names[shape];
}

enum { CHANGED = 1, NONFINITE = 2, FLAG = 4, NO_ROOM = 8 }; // what speaks against the copy
enum { VERDICT, ONLY_IF, WORDS };

// Sets for the launches that name no table of their own.
struct Table {
  int count;
  Buffer sets;
  explicit Table(int count_) : count(count_), sets((size_t)count_ * SHUNT_GUARD_SET_BYTES)
  {
    CUDA_OK(cudaMemset(sets.device, 0, (size_t)count * SHUNT_GUARD_SET_BYTES));
  }
};

struct Product {
  Options o;
  Packed a;
  Buffer b, c, w, scalars, words, print, scratch;
  Table *table;
  uintptr_t key = 0x1000;
  bool proves = true;
  const shunt_sparse24_proof *proof = nullptr; // as the route does
  char other_column = 0;                       // its low byte
  uint32_t *pinned;                            // changed, nonfinite
  shunt_device device = this_device();
  shunt_spmm on_device = {}, on_host;
  shunt_dense product = {};

  Product(const Pattern &p, int64_t n, const Options &o_, uint64_t seed, Table *t)
      : o(o_), a(p, o.type, o.index, 0, o.whole, seed),
        b((size_t)size_of(layout(o.b_layout, p.cols, n, nullptr, o.type)) *
          shunt_type_size(o.type)),
        c((size_t)size_of(layout(o.c_layout, p.rows, n, nullptr, o.out)) * shunt_type_size(o.out)),
        w(o.beta != 0 ? (size_t)(p.rows * n * 4) : 4), scalars(8), words(WORDS * 4),
        print(sizeof(shunt_fingerprint)), scratch(SHUNT_FINGERPRINT_SCRATCH), table(t)
  {
    Random r(seed + 1);
    CUDA_OK(cudaMallocHost(&pinned, 2 * sizeof *pinned));
    for (int64_t i = 0; i < (int64_t)(b.host.size() / shunt_type_size(o.type)); i++)
      store(b.host.data(), i, o.type, some_value(r, o.type, o.whole));
    if (o.bad != 0) store(b.host.data(), o.bad_at, o.type, o.bad);
    store(scalars.host.data(), 0, compute(), o.alpha);
    store(scalars.host.data(), 1, compute(), o.beta);
    for (Buffer *x : {&b, &scalars}) x->upload();
    on_host = on_device;
    fill(on_device, a.device, b.device, c.device, (const float *)scalars.device, n);
    fill(on_host, a.host, b.host.data(), c.host.data(), (const float *)scalars.host.data(), n);
    on_device.only_if = (const uint32_t *)words.device + ONLY_IF;
    product = on_device.c;
    if (o.beta != 0) product = {p.rows, n, n, 1, w.device, SHUNT_F32};
    CUDA_OK(cudaDeviceSynchronize());
    shunt_csr hashed = a.device;
    if (o.in_place) hashed.values = nullptr;
    if (shunt_fingerprint_csr_cuda(&hashed, (shunt_fingerprint *)print.device, &device,
                                   scratch.device, 0) != SHUNT_OK)
      check(false, "a fingerprint");
    CUDA_OK(cudaDeviceSynchronize());
  }
  ~Product() { cudaFreeHost(pinned); }
  Product(const Product &) = delete;

  shunt_type compute() const { return o.out == SHUNT_I32 ? SHUNT_I32 : SHUNT_F32; }
  void fill(shunt_spmm &p, const shunt_csr &csr, void *b_at, void *c_at, const float *scalar,
            int64_t n)
  {
    p.a = csr;
    p.b = layout(o.b_layout, csr.cols, n, b_at, o.type);
    p.c = layout(o.c_layout, csr.rows, n, c_at, o.out);
    p.alpha = {o.device_scalars ? scalar : nullptr, o.alpha};
    p.beta = {o.device_scalars && o.beta != 0 ? scalar + 1 : nullptr, o.beta};
    p.compute = compute();
  }
  shunt_guard repair() const
  {
    shunt_guard r = {};
    r.product = &product;
    r.expected = proves ? (const shunt_fingerprint *)print.device : nullptr;
    r.sets = table->sets.device;
    r.set_count = table->count;
    r.key = (const void *)key;
    r.wait_cycles = SHUNT_GUARD_WAIT_CYCLES;
    r.repaired = (uint32_t *)words.device + VERDICT;
    r.changed = pinned, r.nonfinite = pinned + 1;
    return r;
  }
  shunt_status run(cudaStream_t stream = 0)
  {
    const shunt_guard r = repair();
    const shunt_sparse24_proof how =
        proof ? *proof
              : shunt_choose_sparse24_proof(&on_device, o.shape, o.in_place, machine_of(device));
    return shunt_sparse24_spmm_shaped_cuda(&on_device, &a.on_device, o.shape, o.in_place, &how, &r,
                                           &device, stream);
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
    const uint32_t changed = reasons & NO_ROOM   ? SHUNT_GUARD_NO_SET
                             : reasons & CHANGED ? SHUNT_GUARD_CHANGED
                                                 : 0;
    const uint32_t nonfinite = !changed && (reasons & NONFINITE);
    if (word[VERDICT] == (uint32_t)(reasons != 0) && pinned[0] == changed && pinned[1] == nonfinite)
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
        by_twin ? shunt_sparse24_spmm_host(&p, &a.on_host) : shunt_csr_spmm_host(&p);
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
  void change_value()
  {
    if (a.host.nnz == 0) return;
    a.values.host[a.values.host.size() - 1] ^= (char)0x80;
    a.values.upload();
  }
  // What the proof is to see, and back: in place, the last column instead of the values.
  void change()
  {
    if (!o.in_place) return change_value();
    std::swap(other_column, a.columns.host[a.columns.host.size() - shunt_type_size(o.index)]);
    a.columns.upload();
  }
};

} // namespace
