// runtime.h: what the sources of the runtime's calls share; private to runtime*.cpp.
#ifndef SHUNT_EMULATOR_RUNTIME_H
#define SHUNT_EMULATOR_RUNTIME_H

#include <mutex>

#include "cuda.h"
#include "runtime_api.h"
#include "streams.h"

namespace emulator
{

// Of grids, of what a stream does, and of the table of kernels: one host thread at a time.
extern std::recursive_mutex lock;
using locked = std::lock_guard<std::recursive_mutex>;

// The error, which is this thread's last one if it is one.
cudaError_t note(cudaError_t e);

int devices();
int current_device(); // makes the context

// Does a capture under way forbid this thread a call that would wait?
bool capture_forbids();

// Is the stream, or the event, one of the current device's?
template <class T> bool at_home(const T *what)
{
  const int device = current_device();
  return !what || what->device == device;
}

} // namespace emulator
#endif
