// streams.cpp: see streams.h.
#include "streams.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <map>

#include "emulator.h"

namespace emulator
{

static bool late()
{
  static const bool yes = [] {
    const char *s = getenv("SHUNT_EMULATOR_STREAMS");
    return s && !strcmp(s, "late");
  }();
  return yes;
}

static std::vector<CUstream_st *> &streams()
{
  static auto *all = new std::vector<CUstream_st *>;
  return *all;
}

// ---- work
// ----------------------------------------------------------------------------------------

static void come(event_marks *m, uint64_t number)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  m->come = number;
  m->at = (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// Does the stream's first job; false: there is none, or it has to wait.
static bool step(CUstream_st *s)
{
  if (s->jobs.empty()) return false;
  const stream_job job = s->jobs.front();
  if (job.waits && job.event->come < job.number) return false;
  s->jobs.pop_front();
  if (job.work)
    job.work();
  else if (!job.waits)
    come(job.event.get(), job.number);
  return true;
}

static void work_a_little()
{
  std::vector<CUstream_st *> &all = streams();
  for (uint64_t n = draw() % 4; n > 0 && !all.empty(); n--) step(all[draw() % all.size()]);
}

// All streams in turn, from a random one on, until `done`.
template <class Done> static void work_until(Done done)
{
  std::vector<CUstream_st *> &all = streams();
  while (!done()) {
    const size_t from = all.empty() ? 0 : draw() % all.size();
    bool any = false;
    for (size_t i = 0; i < all.size() && !any; i++) any = step(all[(from + i) % all.size()]);
    if (!any) fail("streams that wait for each other");
  }
}

static void add(CUstream_st *s, stream_job job)
{
  s->jobs.push_back(std::move(job));
  if (late())
    work_a_little();
  else
    stream_finish(s);
}

void stream_add(CUstream_st *s, std::function<void()> work)
{
  if (s) {
    add(s, {std::move(work), nullptr, 0, false});
    return;
  }
  stream_finish(nullptr);
  work();
}
void stream_mark(CUstream_st *s, CUevent_st *e)
{
  const uint64_t number = ++e->marks->asked;
  if (s) {
    add(s, {nullptr, e->marks, number, false});
    return;
  }
  stream_finish(nullptr);
  come(e->marks.get(), number);
}
void stream_wait(CUstream_st *s, CUevent_st *e)
{
  if (s)
    add(s, {nullptr, e->marks, e->marks->asked, true});
  else
    event_finish(e);
}

// ---- waiting
// -------------------------------------------------------------------------------------

bool stream_done(const CUstream_st *s)
{
  work_a_little();
  return s ? s->jobs.empty()
           : std::all_of(streams().begin(), streams().end(), [](const CUstream_st *one) {
               return !one->blocking || one->jobs.empty();
             });
}
bool event_come(const CUevent_st *e)
{
  work_a_little();
  return e->marks->come == e->marks->asked;
}
void stream_finish(CUstream_st *s)
{
  if (s)
    work_until([s] { return s->jobs.empty(); });
  else
    for (CUstream_st *one : streams())
      if (one->blocking) stream_finish(one);
}
void event_finish(const CUevent_st *e)
{
  const uint64_t number = e->marks->asked;
  work_until([e, number] { return e->marks->come >= number; });
}
void streams_finish()
{
  for (CUstream_st *s : streams()) stream_finish(s);
}

void stream_opened(CUstream_st *s)
{
  streams().push_back(s);
}
void stream_closed(CUstream_st *s)
{
  stream_finish(s);
  streams().erase(std::find(streams().begin(), streams().end(), s));
}

// ---- memory
// --------------------------------------------------------------------------------------

static std::map<const char *, size_t> &known()
{
  static auto *all = new std::map<const char *, size_t>;
  return *all;
}
void memory_known(void *p, size_t bytes)
{
  known()[(const char *)p] = bytes;
}
void memory_forgotten(void *p)
{
  known().erase((const char *)p);
}
bool is_known(const void *p)
{
  auto next = known().upper_bound((const char *)p);
  if (next == known().begin()) return false;
  --next;
  return (const char *)p < next->first + next->second;
}

} // namespace emulator
