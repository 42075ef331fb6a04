// dense_spmm_problem.cuh: a product with a dense copy of A, its proof and what must come of them;
// for test_dense_spmm_wgmma.cu.
//
// C's padding, D's padding and what surrounds B hold NaN bits: none of it may be read or change.
#pragma once
#include "kernels/dense/dense_kernels.h"
#include "tests/gpu/common/harness.cuh"

namespace
{

using namespace harness;

shunt_device device;

enum { CHANGED = 1, NONFINITE = 2, FLAG = 4 }; // what speaks against the copy
enum { VERDICT, ONLY_IF, WORDS };
enum { UNWRITTEN = 77 }; // of the verdict

struct Case {
  int64_t m, k, n;
  double density = 0.3;
  shunt_type type = SHUNT_F16, out = SHUNT_F16, index = SHUNT_I32;
  int base = 0;
  bool b_columns = false, c_columns = false; // column-major
  bool c_odd = false;                        // C on no multiple of 16 bytes
  int shift = 0;                             // A's columns are so many bytes off a multiple of 16
  double alpha = 1;
  bool alpha_on_device = false;
  shunt_dense_shape shape = {64, 64, 1};
};

int64_t round_up(int64_t n, int64_t to)
{
  return (n + to - 1) / to * to;
}

// Sets for the launches of all problems that name no table of their own.
struct Table {
  int count;
  void *sets;
  explicit Table(int count) : count(count)
  {
    CUDA_OK(cudaMalloc(&sets, (size_t)count * SHUNT_GUARD_SET_BYTES));
    CUDA_OK(cudaMemset(sets, 0, (size_t)count * SHUNT_GUARD_SET_BYTES));
  }
  ~Table() { cudaFree(sets); }
  Table(const Table &) = delete;
  Table &operator=(const Table &) = delete;
};

struct Problem {
  Case c;
  Pattern p;
  int64_t ldd, ldb, ldc;
  Buffer offsets, columns, values, dense, b, out, words, print, scratch, alpha;
  uint32_t *pinned; // changed, nonfinite
  shunt_spmm s = {};
  shunt_dense copy = {};
  Table *table;
  uintptr_t key = 0x1000;
  bool proves = true;                            // that A is what the copy was made of
  int64_t wait_cycles = SHUNT_GUARD_WAIT_CYCLES; // of blocks that may help

  Problem(const Case &c, Table *table)
      : c(c), p(random_pattern(c.m, c.k, c.density, 1, (uint64_t)(c.m + 7 * c.k))),
        ldd(round_up(c.k, 16)), ldb(round_up(c.b_columns ? c.k : c.n, 8) + 8),
        ldc((c.c_columns ? c.m : round_up(c.n, 8)) + (c.c_odd ? 3 : 8)),
        offsets(p.offsets.size() * shunt_type_size(c.index)),
        columns(p.columns.size() * shunt_type_size(c.index) + (size_t)c.shift),
        values(p.columns.size() * shunt_type_size(c.type)),
        dense((size_t)(c.m * ldd) * shunt_type_size(c.type)),
        b((size_t)((c.b_columns ? c.n : c.k) * ldb) * shunt_type_size(c.type)),
        out((size_t)((c.c_columns ? c.n : c.m) * ldc) * shunt_type_size(c.out)), words(WORDS * 4),
        print(sizeof(shunt_fingerprint)), scratch(SHUNT_FINGERPRINT_SCRATCH), alpha(4), table(table)
  {
    CUDA_OK(cudaMallocHost(&pinned, 2 * sizeof *pinned));
    fill();
    describe();
    CUDA_OK(cudaDeviceSynchronize());
    if (shunt_fingerprint_csr_cuda(&s.a, (shunt_fingerprint *)print.device, &device, scratch.device,
                                   0) != SHUNT_OK)
      check(false, "a fingerprint");
    CUDA_OK(cudaDeviceSynchronize());
  }
  ~Problem() { cudaFreeHost(pinned); }

  int64_t b_at(int64_t k, int64_t j) const { return c.b_columns ? j * ldb + k : k * ldb + j; }
  int64_t c_at(int64_t i, int64_t j) const { return c.c_columns ? j * ldc + i : i * ldc + j; }

  void fill()
  {
    Random r(11);
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, c.index, (double)(p.offsets[i] + c.base));
    for (size_t i = 0; i < p.columns.size(); i++)
      store(columns.host.data() + c.shift, (int64_t)i, c.index, (double)(p.columns[i] + c.base));
    for (int64_t i = 0; i < p.nnz(); i++) store(values.host.data(), i, c.type, r.value());
    std::fill(dense.host.begin(), dense.host.end(), (char)0xff);
    std::fill(b.host.begin(), b.host.end(), (char)0xff);
    for (int64_t i = 0; i < c.m; i++) {
      for (int64_t k = 0; k < c.k; k++) store(dense.host.data(), i * ldd + k, c.type, 0);
      for (int64_t q = p.offsets[(size_t)i]; q < p.offsets[(size_t)i + 1]; q++)
        store(dense.host.data(), i * ldd + p.columns[(size_t)q], c.type,
              load(values.host.data(), q, c.type));
    }
    for (int64_t k = 0; k < c.k; k++)
      for (int64_t j = 0; j < c.n; j++) store(b.host.data(), b_at(k, j), c.type, r.value());
    store(alpha.host.data(), 0, SHUNT_F32, c.alpha);
    for (Buffer *x : {&offsets, &columns, &values, &dense, &b, &alpha}) x->upload();
  }

  void describe()
  {
    s.a =
        shunt_csr{c.m,           c.k,     p.nnz(), offsets.device, (char *)columns.device + c.shift,
                  values.device, c.index, c.type,  c.base};
    s.b = shunt_dense{c.k, c.n, c.b_columns ? 1 : ldb, c.b_columns ? ldb : 1, b.device, c.type};
    s.c = shunt_dense{c.m, c.n, c.c_columns ? 1 : ldc, c.c_columns ? ldc : 1, out.device, c.out};
    s.alpha.host = c.alpha;
    s.alpha.device = c.alpha_on_device ? alpha.device : nullptr;
    s.compute = SHUNT_F32;
    s.only_if = (const uint32_t *)words.device + ONLY_IF;
    copy = shunt_dense{c.m, c.k, ldd, 1, dense.device, c.type};
  }

  shunt_guard repair()
  {
    shunt_guard r = {};
    r.expected = proves ? (const shunt_fingerprint *)print.device : nullptr;
    r.sets = table->sets;
    r.set_count = table->count;
    r.key = (const void *)key;
    r.wait_cycles = wait_cycles;
    r.repaired = (uint32_t *)words.device + VERDICT;
    r.changed = pinned;
    r.nonfinite = pinned + 1;
    return r;
  }
  shunt_status launch(cudaStream_t stream = 0)
  {
    const shunt_guard r = repair();
    return shunt_dense_spmm_proved_cuda(&s, &copy, &c.shape, &r, &device, stream);
  }

  // Before a launch: C and the words as nobody may leave them.
  void reset(int reasons)
  {
    uint32_t *word = (uint32_t *)words.host.data();
    word[VERDICT] = UNWRITTEN;
    word[ONLY_IF] = reasons & FLAG ? 4 : 0;
    words.upload();
    std::fill(out.host.begin(), out.host.end(), (char)0xff);
    out.upload();
    pinned[0] = pinned[1] = 0;
    CUDA_OK(cudaDeviceSynchronize());
  }

  bool words_right(int reasons, bool no_room = false)
  {
    words.download();
    const uint32_t *word = (const uint32_t *)words.host.data();
    const uint32_t changed = no_room             ? SHUNT_GUARD_NO_SET
                             : reasons & CHANGED ? SHUNT_GUARD_CHANGED
                                                 : 0;
    const uint32_t nonfinite = !changed && (reasons & NONFINITE);
    const uint32_t verdict = proves ? no_room || reasons != 0 : UNWRITTEN;
    if (word[VERDICT] == verdict && pinned[0] == changed && pinned[1] == nonfinite) return true;
    printf("# verdict %u, changed %u, nonfinite %u\n", word[VERDICT], pinned[0], pinned[1]);
    return false;
  }

  // C against the sums in float64 of what A and B hold on the host now.
  bool content_right()
  {
    out.download();
    std::vector<char> inside(out.host.size() / shunt_type_size(c.out));
    std::vector<double> sum((size_t)c.n), scale((size_t)c.n);
    for (int64_t i = 0; i < c.m; i++) {
      std::fill(sum.begin(), sum.end(), 0);
      std::fill(scale.begin(), scale.end(), 0);
      const int64_t begin = p.offsets[(size_t)i], end = p.offsets[(size_t)i + 1];
      for (int64_t q = begin; q < end; q++) {
        const double v = load(values.host.data(), q, c.type);
        for (int64_t j = 0; j < c.n; j++) {
          const double x = v * load(b.host.data(), b_at(p.columns[(size_t)q], j), c.type);
          sum[(size_t)j] += x;
          scale[(size_t)j] += fabs(x);
        }
      }
      for (int64_t j = 0; j < c.n; j++) {
        inside[(size_t)c_at(i, j)] = 1;
        const double want = c.alpha * sum[(size_t)j];
        const double got = load(out.host.data(), c_at(i, j), c.out);
        const double room =
            tolerance(c.out, SHUNT_F32, fabs(c.alpha) * scale[(size_t)j], want, end - begin + 1);
        if (isfinite(want) ? fabs(got - want) <= room : isnan(want) ? isnan(got) : got == want)
          continue;
        printf("# (%lld, %lld) is %g, the sum is %g\n", (long long)i, (long long)j, got, want);
        return false;
      }
    }
    const size_t size = shunt_type_size(c.out);
    for (size_t at = 0; at < inside.size(); at++)
      for (size_t byte = 0; byte < size && !inside[at]; byte++)
        if (out.host[at * size + byte] != (char)0xff) return false;
    return true;
  }

  bool runs(int reasons, bool no_room = false)
  {
    reset(reasons);
    const shunt_status status = launch();
    CUDA_OK(cudaDeviceSynchronize());
    if (status == SHUNT_OK && words_right(reasons, no_room) && content_right()) return true;
    printf("# status %d, %lld x %lld x %lld, tiles of %d columns, split %d, B %s, C %s%s type %d, "
           "reasons %d\n",
           (int)status, (long long)c.m, (long long)c.k, (long long)c.n, c.shape.columns,
           c.shape.split, c.b_columns ? "columns" : "rows", c.c_columns ? "columns" : "rows",
           c.c_odd ? " odd" : "", (int)c.out, reasons);
    return false;
  }

  // One value of A, the last, becomes another, and back.
  void change()
  {
    values.host[values.host.size() - shunt_type_size(c.type)] ^= 1;
    values.upload();
  }
  void set_b(int64_t k, int64_t j, double v)
  {
    store(b.host.data(), b_at(k, j), c.type, v);
    b.upload();
  }
};

} // namespace
