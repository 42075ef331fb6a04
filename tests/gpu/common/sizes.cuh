// sizes.cuh: how much the tests do, in the three places where they run.
//
//                a GPU   a GPU under compute-sanitizer      the emulator (tests/emulator)
//   speed          1     some hundred times slower          some ten thousand times slower
//   sized(g, e)    g     g                                  e
//   beyond(x, e)   no    no                                 whether x > e
//   Sample(n)     all    all                                one case of n
//   left_out()     no    all but one of every() cases       no
//
// So each size stands once, where it is used, for the GPU and for the emulator.
#pragma once
#include <stdint.h>
#include <stdlib.h>

namespace harness
{

#ifdef SHUNT_EMULATED
inline constexpr bool emulated = true;
#else
inline constexpr bool emulated = false;
#endif

template <class T> constexpr T sized(T on_gpu, T in_emulator)
{
  return emulated ? in_emulator : on_gpu;
}

// Whether the emulator leaves out the case of a list whose size is x.
constexpr bool beyond(int64_t x, int64_t most_in_emulator)
{
  return emulated && x > most_in_emulator;
}

// Which cases of nested loops are run. n should have no factor in common with the inner loops'
// lengths, so that each value of each loop takes its turn.
class Sample
{
public:
  constexpr explicit Sample(int n) : n(n) {}
  bool leaves_out() { return emulated && turn++ % n != 0; }

private:
  int n, turn = 0;
};

// Runs under compute-sanitizer set SHUNT_TEST_EVERY: of a large loop's cases one of so many is run.
inline int every()
{
  static const char *set = getenv("SHUNT_TEST_EVERY");
  static const int n = set && atoi(set) > 1 ? atoi(set) : 1;
  return n;
}

inline bool left_out()
{
  static int count;
  return count++ % every() != 0;
}

} // namespace harness
