// bits_as.h: a value's bits as another type of the same size.
#ifndef SHUNT_EMULATOR_BITS_AS_H
#define SHUNT_EMULATOR_BITS_AS_H

namespace emulator
{

template <class To, class From> inline To bits_as(From x)
{
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  __builtin_memcpy(&to, &x, sizeof to);
  return to;
}

} // namespace emulator

#endif
