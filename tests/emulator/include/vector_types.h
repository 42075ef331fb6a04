// vector_types.h: the device language's vectors, aligned as there.
#ifndef SHUNT_EMULATOR_VECTOR_TYPES_H
#define SHUNT_EMULATOR_VECTOR_TYPES_H

struct uint3 {
  unsigned x, y, z;
};
struct int3 {
  int x, y, z;
};
struct float3 {
  float x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#define EMULATOR_VECTORS(T, name)                                                                  \
  struct name##1                                                                                   \
  {                                                                                                \
    T x;                                                                                           \
  };                                                                                               \
  struct alignas(2 * sizeof(T)) name##2                                                            \
  {                                                                                                \
    T x, y;                                                                                        \
  };                                                                                               \
  struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4                                  \
  {                                                                                                \
    T x, y, z, w;                                                                                  \
  };                                                                                               \
  inline name##1 make_##name##1(T x)                                                               \
  {                                                                                                \
    return {x};                                                                                    \
  }                                                                                                \
  inline name##2 make_##name##2(T x, T y)                                                          \
  {                                                                                                \
    return {x, y};                                                                                 \
  }                                                                                                \
  inline name##4 make_##name##4(T x, T y, T z, T w)                                                \
  {                                                                                                \
    return {x, y, z, w};                                                                           \
  }

EMULATOR_VECTORS(signed char, char)
EMULATOR_VECTORS(unsigned char, uchar)
EMULATOR_VECTORS(short, short)
EMULATOR_VECTORS(unsigned short, ushort)
EMULATOR_VECTORS(int, int)
EMULATOR_VECTORS(unsigned, uint)
EMULATOR_VECTORS(long long, longlong)
EMULATOR_VECTORS(unsigned long long, ulonglong)
EMULATOR_VECTORS(float, float)
EMULATOR_VECTORS(double, double)
#undef EMULATOR_VECTORS

inline uint3 make_uint3(unsigned x, unsigned y, unsigned z)
{
  return {x, y, z};
}
inline int3 make_int3(int x, int y, int z)
{
  return {x, y, z};
}
inline float3 make_float3(float x, float y, float z)
{
  return {x, y, z};
}

#endif
