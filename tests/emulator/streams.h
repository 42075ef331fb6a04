// streams.h: what streams have been given and have not done yet.
//
// As a rule a stream works at once.  With SHUNT_EMULATOR_STREAMS=late it keeps what it is given,
// and does some of it at random later calls, the rest when somebody waits for it:
//
//   stream up       copy   mark a   copy   mark b
//   stream compute  wait a   kernel   mark c            next: the first of any stream, at random,
//   stream down     wait c   copy                       unless it waits for a mark to come
//
// So a copy or a kernel that does not wait for what it needs, memory that is used again or freed
// too early, and a host that reads too early give wrong results (or the sanitizer's complaint) with
// one seed or another.  Copies from and to memory that is neither the device's nor pinned
// are done before the call returns, as the runtime does them.
//
// Everything here is called with the emulator's lock held.
#ifndef SHUNT_EMULATOR_STREAMS_H
#define SHUNT_EMULATOR_STREAMS_H

#include <stdint.h>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "cuda_runtime_api.h"

struct CUgraph_st {
  bool global; // captured in the mode that forbids unsafe calls to all threads
  std::vector<std::function<void()>> work;
};
struct CUgraphExec_st : CUgraph_st {
};

namespace emulator
{

// An event's marks, so far: asked for, and come.  Outlives the event while a stream needs it.
struct event_marks {
  uint64_t asked = 0, come = 0;
  double at = 0; // milliseconds: when the last one came
};

struct stream_job {
  std::function<void()> work; // none: a mark, or a wait
  std::shared_ptr<event_marks> event;
  uint64_t number; // of the mark
  bool waits;
};

} // namespace emulator

struct CUstream_st {
  CUgraph_st *capture; // NULL: works
  int device;
  bool blocking;         // waits for the default stream, and is waited for
  unsigned long long id; // of no other stream, before or after
  std::deque<emulator::stream_job> jobs;
};
struct CUevent_st {
  int device;
  std::shared_ptr<emulator::event_marks> marks;
};

namespace emulator
{

void stream_opened(CUstream_st *s);
void stream_closed(CUstream_st *s); // does what is left

// s NULL: the default stream, which waits for the blocking ones and works at once.
void stream_add(CUstream_st *s, std::function<void()> work);
void stream_mark(CUstream_st *s, CUevent_st *e);
void stream_wait(CUstream_st *s, CUevent_st *e);

bool stream_done(const CUstream_st *s);
bool event_come(const CUevent_st *e);
// Until it is done; s NULL: the blocking ones.
void stream_finish(CUstream_st *s);
void event_finish(const CUevent_st *e);
void streams_finish(); // all of them

// Memory of the device's, and pinned memory: copies between such are done late.
void memory_known(void *p, size_t bytes);
void memory_forgotten(void *p);
bool is_known(const void *p);

} // namespace emulator
#endif
