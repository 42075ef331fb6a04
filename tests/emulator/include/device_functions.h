// device_functions.h: functions of the device language.
#ifndef SHUNT_EMULATOR_DEVICE_FUNCTIONS_H
#define SHUNT_EMULATOR_DEVICE_FUNCTIONS_H

#include "bits_as.h"
#include "emulator.h"

namespace emulator
{

// What a lane reads that is not there: hardly anybody's right result.
template <class T> inline T garbage()
{
  T x;
  memset(&x, 0xa7, sizeof x);
  return x;
}

template <class T> struct exchange {
  static constexpr const char *name = "__shfl_sync";
  T value;
  int from; // lane
  T result;
  static void complete(exchange *const *lanes)
  {
    for (int l = 0; l < 32; l++)
      if (lanes[l])
        lanes[l]->result = lanes[lanes[l]->from] ? lanes[lanes[l]->from]->value : garbage<T>();
  }
};
template <class T> inline T take_from(uint32_t mask, T value, int from)
{
  exchange<T> e = {value, from, value};
  together(mask, e);
  return e.result;
}

struct vote {
  static constexpr const char *name = "__ballot_sync";
  bool predicate;
  uint32_t result;
  static void complete(vote *const *lanes)
  {
    uint32_t bits = 0;
    for (int l = 0; l < 32; l++)
      if (lanes[l] && lanes[l]->predicate) bits |= 1u << l;
    for (int l = 0; l < 32; l++)
      if (lanes[l]) lanes[l]->result = bits;
  }
};

template <class T> struct match {
  static constexpr const char *name = "__match_any_sync";
  T value;
  uint32_t result;
  static void complete(match *const *lanes)
  {
    for (int l = 0; l < 32; l++) {
      if (!lanes[l]) continue;
      lanes[l]->result = 0;
      for (int k = 0; k < 32; k++)
        if (lanes[k] && !memcmp(&lanes[k]->value, &lanes[l]->value, sizeof(T)))
          lanes[l]->result |= 1u << k;
    }
  }
};

template <class T, T (*combine)(T, T)> struct reduce {
  static constexpr const char *name = "__reduce_sync";
  T value, result;
  static void complete(reduce *const *lanes)
  {
    T sum = T();
    bool first = true;
    for (int l = 0; l < 32; l++)
      if (lanes[l]) sum = first ? lanes[l]->value : combine(sum, lanes[l]->value), first = false;
    for (int l = 0; l < 32; l++)
      if (lanes[l]) lanes[l]->result = sum;
  }
};

struct meeting {
  static constexpr const char *name = "__syncwarp";
  static void complete(meeting *const *) {}
};

} // namespace emulator

// ---- warps -----------------------------------------------------------------------------------

inline void __syncwarp(unsigned mask = ~0u)
{
  emulator::meeting m;
  emulator::together(mask, m);
}
// Lane `from` of this lane's segment of `width` lanes.
template <class T> inline T __shfl_sync(unsigned mask, T x, int from, int width = 32)
{
  const int lane = (int)emulator::lane();
  return emulator::take_from(mask, x, (lane & ~(width - 1)) | (from & (width - 1)));
}
template <class T> inline T __shfl_up_sync(unsigned mask, T x, unsigned delta, int width = 32)
{
  const int lane = (int)emulator::lane(), from = lane - (int)delta;
  return emulator::take_from(mask, x, from < (lane & ~(width - 1)) ? lane : from);
}
template <class T> inline T __shfl_down_sync(unsigned mask, T x, unsigned delta, int width = 32)
{
  const int lane = (int)emulator::lane(), from = lane + (int)delta;
  return emulator::take_from(mask, x, from > (lane | (width - 1)) ? lane : from);
}
template <class T> inline T __shfl_xor_sync(unsigned mask, T x, int bits, int width = 32)
{
  const int lane = (int)emulator::lane(), from = lane ^ bits;
  return emulator::take_from(mask, x, from > (lane | (width - 1)) ? lane : from);
}
inline unsigned __ballot_sync(unsigned mask, int predicate)
{
  emulator::vote v = {predicate != 0, 0};
  emulator::together(mask, v);
  return v.result;
}
inline int __any_sync(unsigned mask, int predicate)
{
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate)
{
  return __ballot_sync(mask, !predicate) == 0;
}
template <class T> inline unsigned __match_any_sync(unsigned mask, T value)
{
  emulator::match<T> m = {value, 0};
  emulator::together(mask, m);
  return m.result;
}
template <class T> inline unsigned __match_all_sync(unsigned mask, T value, int *all)
{
  const unsigned same = __match_any_sync(mask, value);
  *all = same == mask;
  return *all ? mask : 0;
}
inline unsigned __activemask()
{
  return 1u << emulator::lane();
} // one of the legal answers

#define EMULATOR_REDUCE(name, T, expression)                                                       \
  namespace emulator                                                                               \
  {                                                                                                \
  inline T combine_##name(T a, T b)                                                                \
  {                                                                                                \
    return expression;                                                                             \
  }                                                                                                \
  }                                                                                                \
  inline T __reduce_##name##_sync(unsigned mask, T value)                                          \
  {                                                                                                \
    emulator::reduce<T, emulator::combine_##name> r = {value, T()};                                \
    emulator::together(mask, r);                                                                   \
    return r.result;                                                                               \
  }
EMULATOR_REDUCE(add, unsigned, a + b)
EMULATOR_REDUCE(min, unsigned, a < b ? a : b)
EMULATOR_REDUCE(max, unsigned, a > b ? a : b)
EMULATOR_REDUCE(and, unsigned, a &b)
EMULATOR_REDUCE(or, unsigned, a | b)
EMULATOR_REDUCE(xor, unsigned, a ^ b)
EMULATOR_REDUCE(add, int, (int)((unsigned)a + (unsigned)b))
EMULATOR_REDUCE(min, int, a < b ? a : b)
EMULATOR_REDUCE(max, int, a > b ? a : b)
#undef EMULATOR_REDUCE

// ---- blocks ----------------------------------------------------------------------------------

inline void __syncthreads()
{
  emulator::block_barrier("__syncthreads", 0, 0, emulator::reduction::none, false);
}
inline int __syncthreads_count(int x)
{
  return emulator::block_barrier("__syncthreads_count", 0, 0, emulator::reduction::count, x != 0);
}
inline int __syncthreads_or(int x)
{
  return emulator::block_barrier("__syncthreads_or", 0, 0, emulator::reduction::any, x != 0);
}
inline int __syncthreads_and(int x)
{
  return emulator::block_barrier("__syncthreads_and", 0, 0, emulator::reduction::all, x != 0);
}
inline void __barrier_sync(unsigned id)
{
  emulator::block_barrier("__barrier_sync", id, 0, emulator::reduction::none, false);
}
inline void __barrier_sync_count(unsigned id, unsigned threads)
{
  emulator::block_barrier("__barrier_sync_count", id, threads, emulator::reduction::none, false);
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline long long clock64()
{
  return emulator::clock();
}
inline unsigned long long globaltimer()
{
  return (unsigned long long)emulator::clock();
}
inline void __nanosleep(unsigned ns)
{
  emulator::sleep(ns);
}
[[noreturn]] inline void __trap()
{
  emulator::fail("__trap");
}
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}
inline size_t __cvta_generic_to_shared(const void *p)
{
  return emulator::shared_address(p);
}

// ---- memory ----------------------------------------------------------------------------------

template <class T> inline T __ldg(const T *p)
{
  return *p;
}
template <class T> inline T __ldcg(const T *p)
{
  return *p;
}
template <class T> inline T __ldca(const T *p)
{
  return *p;
}
template <class T> inline T __ldcs(const T *p)
{
  return *p;
}
template <class T> inline T __ldcv(const T *p)
{
  return *p;
}
template <class T> inline T __ldlu(const T *p)
{
  return *p;
}
template <class T> inline void __stcg(T *p, T x)
{
  *p = x;
}
template <class T> inline void __stcs(T *p, T x)
{
  *p = x;
}
template <class T> inline void __stwt(T *p, T x)
{
  *p = x;
}
template <class T> inline void __stwb(T *p, T x)
{
  *p = x;
}

// Only one thread runs at a time, so these are what they say.
#define EMULATOR_ATOMIC(name, expression)                                                          \
  template <class T> inline T name(T *p, std::common_type_t<T> x)                                  \
  {                                                                                                \
    const T old = *p;                                                                              \
    *p = (expression);                                                                             \
    emulator::progress();                                                                          \
    return old;                                                                                    \
  }
EMULATOR_ATOMIC(atomicAdd, old + x)
EMULATOR_ATOMIC(atomicSub, old - x)
EMULATOR_ATOMIC(atomicExch, x)
EMULATOR_ATOMIC(atomicMin, x < old ? x : old)
EMULATOR_ATOMIC(atomicMax, x > old ? x : old)
EMULATOR_ATOMIC(atomicAnd, old &x)
EMULATOR_ATOMIC(atomicOr, old | x)
EMULATOR_ATOMIC(atomicXor, old ^ x)
#undef EMULATOR_ATOMIC
template <class T> inline T atomicCAS(T *p, std::common_type_t<T> from, std::common_type_t<T> to)
{
  const T old = *p;
  if (old == from) *p = to;
  emulator::progress();
  return old;
}

// ---- bits --------------------------------------------------------------------------------------

inline int __popc(unsigned x)
{
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x)
{
  return __builtin_popcountll(x);
}
inline int __clz(int x)
{
  return x ? __builtin_clz((unsigned)x) : 32;
}
inline int __clzll(long long x)
{
  return x ? __builtin_clzll((unsigned long long)x) : 64;
}
inline int __ffs(int x)
{
  return __builtin_ffs(x);
}
inline int __ffsll(long long x)
{
  return __builtin_ffsll(x);
}
inline unsigned __brev(unsigned x)
{
  unsigned y = 0;
  for (int i = 0; i < 32; i++) y |= (x >> i & 1) << (31 - i);
  return y;
}
// Nibble i of the selector names a byte of {high, low}; its bit 3 asks for that byte's sign.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector)
{
  const uint64_t bytes = (uint64_t)high << 32 | low;
  unsigned out = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned s = selector >> 4 * i & 0xf;
    unsigned byte = bytes >> 8 * (s & 7) & 0xff;
    if (s & 8) byte = byte & 0x80 ? 0xff : 0;
    out |= byte << 8 * i;
  }
  return out;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
  return (unsigned)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
  return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
inline int __mulhi(int a, int b)
{
  return (int)((int64_t)a * b >> 32);
}
inline unsigned __umulhi(unsigned a, unsigned b)
{
  return (unsigned)((uint64_t)a * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline int __dp4a(int a, int b, int c)
{
  for (int i = 0; i < 4; i++)
    c = (int)((unsigned)c + (unsigned)((int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i)));
  return c;
}
inline float __uint_as_float(unsigned x)
{
  return emulator::bits_as<float>(x);
}
inline unsigned __float_as_uint(float x)
{
  return emulator::bits_as<unsigned>(x);
}
inline float __int_as_float(int x)
{
  return emulator::bits_as<float>(x);
}
inline int __float_as_int(float x)
{
  return emulator::bits_as<int>(x);
}
inline double __longlong_as_double(long long x)
{
  return emulator::bits_as<double>(x);
}
inline long long __double_as_longlong(double x)
{
  return emulator::bits_as<long long>(x);
}

// ---- numbers -----------------------------------------------------------------------------------

// Built with -ffp-contract=off: a product and a sum are rounded one by one, as these promise.
// What is no number has the bits that a device gives it.
inline float device_nan_or(float x)
{
  return x == x ? x : __int_as_float(0x7fffffff);
}
inline float __fmul_rn(float a, float b)
{
  return device_nan_or(a * b);
}
inline float __fadd_rn(float a, float b)
{
  return device_nan_or(a + b);
}
inline float __fsub_rn(float a, float b)
{
  return a - b;
}
inline float __fdiv_rn(float a, float b)
{
  return a / b;
}
inline float __fmaf_rn(float a, float b, float c)
{
  return fmaf(a, b, c);
}
inline double __dmul_rn(double a, double b)
{
  return a * b;
}
inline double __dadd_rn(double a, double b)
{
  return a + b;
}
inline double __dsub_rn(double a, double b)
{
  return a - b;
}
inline double __fma_rn(double a, double b, double c)
{
  return fma(a, b, c);
}
inline int __float2int_rn(float x)
{
  return (int)rintf(x);
}
inline int __float2int_rz(float x)
{
  return (int)x;
}
inline float __int2float_rn(int x)
{
  return (float)x;
}
inline float __uint2float_rn(unsigned x)
{
  return (float)x;
}

#define EMULATOR_MIN_MAX(T)                                                                        \
  inline T min(T a, T b)                                                                           \
  {                                                                                                \
    return b < a ? b : a;                                                                          \
  }                                                                                                \
  inline T max(T a, T b)                                                                           \
  {                                                                                                \
    return a < b ? b : a;                                                                          \
  }
EMULATOR_MIN_MAX(int)
EMULATOR_MIN_MAX(unsigned)
EMULATOR_MIN_MAX(long)
EMULATOR_MIN_MAX(unsigned long)
EMULATOR_MIN_MAX(long long)
EMULATOR_MIN_MAX(unsigned long long)
#undef EMULATOR_MIN_MAX
#define EMULATOR_MIN_MAX(A, B, T)                                                                  \
  inline T min(A a, B b)                                                                           \
  {                                                                                                \
    return min((T)a, (T)b);                                                                        \
  }                                                                                                \
  inline T max(A a, B b)                                                                           \
  {                                                                                                \
    return max((T)a, (T)b);                                                                        \
  }                                                                                                \
  inline T min(B a, A b)                                                                           \
  {                                                                                                \
    return min((T)a, (T)b);                                                                        \
  }                                                                                                \
  inline T max(B a, A b)                                                                           \
  {                                                                                                \
    return max((T)a, (T)b);                                                                        \
  }
EMULATOR_MIN_MAX(int, unsigned, unsigned)
EMULATOR_MIN_MAX(long, unsigned long, unsigned long)
EMULATOR_MIN_MAX(long long, unsigned long long, unsigned long long)
#undef EMULATOR_MIN_MAX
inline float min(float a, float b)
{
  return fminf(a, b);
}
inline float max(float a, float b)
{
  return fmaxf(a, b);
}
inline double min(double a, double b)
{
  return fmin(a, b);
}
inline double max(double a, double b)
{
  return fmax(a, b);
}

#endif
