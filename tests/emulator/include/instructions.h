// instructions.h: the PTX instructions that lanes of a warp execute together, as the PTX ISA
// has them, for the wrappers in tests/emulator/kernels/ptx/.
//
// Matrix products: D[M x N] = A[M x K] B[K x N] + C.  A lane l is (g, t) = (l / 4, l % 4).
// Each product here is exact, the sum of an instruction is kept in double (integers wrap) and
// rounded once: the device's sums have at least 24 bits, rounded down.
#ifndef SHUNT_EMULATOR_INSTRUCTIONS_H
#define SHUNT_EMULATOR_INSTRUCTIONS_H

#include "bits_as.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "emulator.h"

namespace emulator
{

// ---- elements ----------------------------------------------------------------------------------

struct f16 {
  static double get(uint32_t word, int half)
  {
    return float_of_half((uint16_t)(word >> 16 * half));
  }
};
struct bf16 {
  static double get(uint32_t word, int half)
  {
    return float_of_bfloat16((uint16_t)(word >> 16 * half));
  }
};
// 19 bits of a float; the lower 13 are not looked at.
struct tf32 {
  static double get(uint32_t word) { return bits_as<float>(word & 0xffffe000u); }
};

// ---- ldmatrix, movmatrix ------------------------------------------------------------------------

// Count matrices of 8 x 8 16-bit elements.  Lane l brings the address of row l % 8 of matrix
// l / 8; it gets, of each matrix, elements (g, 2t), (g, 2t + 1), or of the transpose.
template <int Count, bool Transposed> struct load_matrix {
  static constexpr const char *name = "ldmatrix";
  const uint16_t *row;
  uint32_t out[Count];
  static void complete(load_matrix *const *lanes)
  {
    for (int l = 0; l < 32; l++)
      for (int j = 0; j < Count; j++) {
        uint32_t word = 0;
        for (int e = 0; e < 2; e++) {
          const int i = Transposed ? l % 4 * 2 + e : l / 4, k = Transposed ? l / 4 : l % 4 * 2 + e;
          word |= (uint32_t)lanes[8 * j + i]->row[k] << 16 * e;
        }
        lanes[l]->out[j] = word;
      }
  }
};
template <int Count, bool Transposed> inline void ldmatrix(uint32_t (&out)[Count], uint32_t row)
{
  load_matrix<Count, Transposed> m = {};
  if ((int)lane() < 8 * Count)
    m.row = static_cast<const uint16_t *>(at_shared(row, 16, 16, "ldmatrix"));
  all_together(m);
  memcpy(out, m.out, sizeof out);
}

// ---- mma
// -----------------------------------------------------------------------------------------

template <class T, int M, int N, int K> struct factors {
  T a[M][K], b[K][N], sums[M][N];
  bool stored[M][K]; // of A: what is not meets no element of B, so a NaN there stays where it is
};
// sums += a b.  Not instrumented: most of an emulated product's time would go there.
template <class T, int M, int N, int K>
__attribute__((noinline, no_sanitize("address"), no_sanitize("alignment"))) void
multiply(factors<T, M, N, K> &f)
{
  for (int i = 0; i < M; i++)
    for (int k = 0; k < K; k++) {
      const T x = f.a[i][k];
      if (!f.stored[i][k]) continue;
      for (int j = 0; j < N; j++) f.sums[i][j] += x * f.b[k][j];
    }
}

// A product of M x K and K x N whose lanes hold A, B and D as Layout says:
//   a(word of lane, index) etc. visit every element: f(row, column, value)
template <class Layout> struct product {
  static constexpr const char *name = Layout::name;
  using number = typename Layout::number; // what sums are kept in
  const typename Layout::a_word *a;
  const typename Layout::b_word *b;
  typename Layout::d_word *d;
  uint32_t metadata;
  int selector;

  static void complete(product *const *lanes)
  {
    static factors<number, Layout::M, Layout::N, Layout::K> f;
    memset(f.stored, 0, sizeof f.stored);
    for (int l = 0; l < 32; l++) {
      Layout::each_a(lanes, l, [](int i, int k, number x) {
        f.a[i][k] = x;
        f.stored[i][k] = true;
      });
      Layout::each_b(l, lanes[l]->b, [](int k, int j, number x) { f.b[k][j] = x; });
      Layout::each_d(l, [&](int i, int j, int word) { f.sums[i][j] = lanes[l]->d[word]; });
    }
    multiply(f);
    for (int l = 0; l < 32; l++)
      Layout::each_d(l, [&](int i, int j, int word) {
        lanes[l]->d[word] = (typename Layout::d_word)f.sums[i][j];
      });
  }
};

// D of all m16n8 shapes: d[0], d[1] = (g, 2t), (g, 2t + 1); d[2], d[3] = the same of row g + 8.
struct m16n8 {
  static constexpr int M = 16, N = 8;
  template <class F> static void each_d(int l, F f)
  {
    for (int w = 0; w < 4; w++) f(l / 4 + w / 2 * 8, l % 4 * 2 + w % 2, w);
  }
};

// 16-bit elements, K = 8 (two words of A, one of B) or 16 (four and two):
//   a[w]: row g + 8 (w % 2), k = 2t + 8 (w / 2) + {0, 1}      b[w]: k = 2t + 8w + {0, 1}, column g
template <class E, int K_> struct m16n8_half : m16n8 {
  static constexpr const char *name = K_ == 16 ? "mma.m16n8k16" : "mma.m16n8k8";
  static constexpr int K = K_;
  using number = double;
  using a_word = uint32_t;
  using b_word = uint32_t;
  using d_word = float;
  template <class Lanes, class F> static void each_a(Lanes lanes, int l, F f)
  {
    for (int w = 0; w < K / 4; w++)
      for (int e = 0; e < 2; e++)
        f(l / 4 + w % 2 * 8, l % 4 * 2 + w / 2 * 8 + e, E::get(lanes[l]->a[w], e));
  }
  template <class F> static void each_b(int l, const b_word *b, F f)
  {
    for (int w = 0; w < K / 8; w++)
      for (int e = 0; e < 2; e++) f(l % 4 * 2 + w * 8 + e, l / 4, E::get(b[w], e));
  }
};

// tf32, K = 8:  a[w]: row g + 8 (w % 2), k = t + 4 (w / 2)      b[w]: k = t + 4w, column g
struct m16n8k8_tf32 : m16n8 {
  static constexpr const char *name = "mma.m16n8k8.tf32";
  static constexpr int K = 8;
  using number = double;
  using a_word = uint32_t;
  using b_word = uint32_t;
  using d_word = float;
  template <class Lanes, class F> static void each_a(Lanes lanes, int l, F f)
  {
    for (int w = 0; w < 4; w++) f(l / 4 + w % 2 * 8, l % 4 + w / 2 * 4, tf32::get(lanes[l]->a[w]));
  }
  template <class F> static void each_b(int l, const b_word *b, F f)
  {
    for (int w = 0; w < 2; w++) f(l % 4 + w * 4, l / 4, tf32::get(b[w]));
  }
};

// 8-bit integers, K = 32:  a[w]: row g + 8 (w % 2), k = 4t + 16 (w / 2) + {0 .. 3}
//                          b[w]: k = 4t + 16w + {0 .. 3}
template <bool SignedA, bool SignedB> struct m16n8k32_8 : m16n8 {
  static constexpr const char *name = SignedA
                                          ? SignedB ? "mma.m16n8k32.s8.s8" : "mma.m16n8k32.s8.u8"
                                      : SignedB ? "mma.m16n8k32.u8.s8"
                                                : "mma.m16n8k32.u8.u8";
  static constexpr int K = 32;
  using number = uint32_t; // wraps
  using a_word = uint32_t;
  using b_word = uint32_t;
  using d_word = int32_t;
  template <bool Signed> static uint32_t get(uint32_t word, int byte)
  {
    const uint8_t x = (uint8_t)(word >> 8 * byte);
    return Signed ? (uint32_t)(int8_t)x : x;
  }
  template <class Lanes, class F> static void each_a(Lanes lanes, int l, F f)
  {
    for (int w = 0; w < 4; w++)
      for (int e = 0; e < 4; e++)
        f(l / 4 + w % 2 * 8, l % 4 * 4 + w / 2 * 16 + e, get<SignedA>(lanes[l]->a[w], e));
  }
  template <class F> static void each_b(int l, const b_word *b, F f)
  {
    for (int w = 0; w < 2; w++)
      for (int e = 0; e < 4; e++) f(l % 4 * 4 + w * 16 + e, l / 4, get<SignedB>(b[w], e));
  }
};

// double, m8n8k4:  a = (g, t)   b = (t, g)   d[w] = (g, 2t + w)
struct m8n8k4_f64 {
  static constexpr const char *name = "mma.m8n8k4.f64";
  static constexpr int M = 8, N = 8, K = 4;
  using number = double;
  using a_word = double;
  using b_word = double;
  using d_word = double;
  template <class Lanes, class F> static void each_a(Lanes lanes, int l, F f)
  {
    f(l / 4, l % 4, lanes[l]->a[0]);
  }
  template <class F> static void each_b(int l, const b_word *b, F f) { f(l % 4, l / 4, b[0]); }
  template <class F> static void each_d(int l, F f)
  {
    for (int w = 0; w < 2; w++) f(l / 4, l % 4 * 2 + w, w);
  }
};

// Sparse, 16-bit elements, K = 32, ordered metadata.  A is stored as 16 x 16: two of each four
// neighbours, with their places in the metadata, two bits each, ascending.
//   a[w]: row g + 8 (w % 2), stored k = 2t + 8 (w / 2) + {0, 1}: of the four from 4t + 16 (w / 2)
//   b[w]: k = 2t + 8w + {0, 1}, column g,  w = 0 .. 3
//   metadata: of lanes t = 2 selector and 2 selector + 1, the others' is not looked at:
//     bits    | 31 .. 28 | .. | 19 .. 16 | 15 .. 12 | .. | 3 .. 0 |
//     row     |          g + 8           |            g           |
//     four    |    3     | .. |    0     |    3     | .. |   0    |   of k 0 .. 15 in the first of
//                                                                    the two lanes, 16 .. 31 in the
//                                                                    other
template <class E> struct m16n8k32_sparse : m16n8 {
  static constexpr const char *name = "mma.sp.m16n8k32";
  static constexpr int K = 32;
  using number = double;
  using a_word = uint32_t;
  using b_word = uint32_t;
  using d_word = float;

  // The two places in four number `four` (0 .. 7) of a row.
  template <class Lanes> static unsigned places(Lanes lanes, int row, int four)
  {
    const int l = row % 8 * 4 + 2 * lanes[0]->selector + four / 4;
    const unsigned both = lanes[l]->metadata >> (row / 8 * 16 + four % 4 * 4) & 15;
    if ((both & 3) >= both >> 2)
      fail("mma.sp: the metadata of row %d, four %d are %u, %u: not ascending", row, four, both & 3,
           both >> 2);
    return both;
  }
  template <class Lanes, class F> static void each_a(Lanes lanes, int l, F f)
  {
    if (lanes[l]->selector != lanes[0]->selector) fail("mma.sp: lanes with different selectors");
    for (int w = 0; w < 4; w++) {
      const int row = l / 4 + w % 2 * 8, four = l % 4 + w / 2 * 4;
      const unsigned both = places(lanes, row, four);
      f(row, four * 4 + (both & 3), E::get(lanes[l]->a[w], 0));
      f(row, four * 4 + (both >> 2), E::get(lanes[l]->a[w], 1));
    }
  }
  template <class F> static void each_b(int l, const b_word *b, F f)
  {
    for (int w = 0; w < 4; w++)
      for (int e = 0; e < 2; e++) f(l % 4 * 2 + w * 8 + e, l / 4, E::get(b[w], e));
  }
};

// D += A B.
template <class Layout>
inline void mma(typename Layout::d_word *d, const typename Layout::a_word *a,
                const typename Layout::b_word *b, uint32_t metadata = 0, int selector = 0)
{
  product<Layout> p = {a, b, d, metadata, selector};
  all_together(p);
}

} // namespace emulator
#endif
