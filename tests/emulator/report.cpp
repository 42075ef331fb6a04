// report.cpp: how the emulator ends a program that is wrong: what it says, and how it finds out
// that nobody gets on.
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

#include "machine.h"

#if defined SHUNT_EMULATOR_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulator
{

static void say_where()
{
  if (!grid) return;
  fprintf(stdout, "%s, ", grid->name);
  if (self)
    fprintf(stdout, "block (%u, %u, %u), thread (%u, %u, %u): ", self->block->index.x,
            self->block->index.y, self->block->index.z, self->index.x, self->index.y,
            self->index.z);
}

void fail(const char *format, ...)
{
  va_list ap;
  va_start(ap, format);
  fprintf(stdout, "not ok - emulator: ");
  say_where();
  vfprintf(stdout, format, ap);
  fprintf(stdout, "\n");
  fflush(stdout);
  va_end(ap);
  _exit(3);
}

#if defined SHUNT_EMULATOR_ASAN
// Behind the sanitizer's report.
static void say_last()
{
  if (!grid || !self) return;
  fprintf(stdout, "# emulator: ");
  say_where();
  fprintf(stdout, "the sanitizer's report\n");
  fflush(stdout);
}
// Tests need not free what dies with them.
extern "C" const char *__asan_default_options()
{
  return "detect_leaks=0";
}
#endif

static void look_after(int)
{
  static uint64_t before;
  static int same;
  same = grid && self && before == switches ? same + 1 : 0;
  before = switches;
  if (same >= 6) fail("a thread runs for long and waits for nobody: an endless loop");
}
void watch_threads()
{
  static bool watching;
  if (watching) return;
  watching = true;
#if defined SHUNT_EMULATOR_ASAN
  __sanitizer_set_death_callback(say_last);
#endif
  struct sigaction a = {};
  a.sa_handler = look_after;
  a.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &a, nullptr);
  const char *patience = getenv("SHUNT_EMULATOR_SECONDS"); // of a thread that waits for nobody
  const long us = (patience ? atol(patience) : 30) * 1000000 / 6;
  const struct itimerval every = {{us / 1000000, us % 1000000}, {us / 1000000, us % 1000000}};
  setitimer(ITIMER_PROF, &every, nullptr); // of the processor: the machine may be busy
}

void deadlock(const char *kind)
{
  std::map<std::string, int> reasons;
  std::string text;
  thread_state *one = nullptr;
  for (const cluster_state *c : alive_clusters)
    for (const block_state *b : c->blocks)
      for (thread_state *t : b->threads) {
        if (t->left) continue;
        char mask[32] = "";
        if (t->wait_mask) snprintf(mask, sizeof mask, " of lanes %08x", t->wait_mask);
        reasons[std::string(t->waits_for ? t->waits_for : "its turn") + mask]++;
        one = t;
      }
  for (const auto &r : reasons)
    text += (text.empty() ? "" : "; ") + std::to_string(r.second) + " threads wait for " + r.first;
  int left = 0;
  for (const cluster_state *c : alive_clusters)
    for (const block_state *b : c->blocks) left += (int)(b->threads.size() - b->alive);
  if (left) text += "; " + std::to_string(left) + " threads of these blocks have left";
  self = one;
  fail("%s: %s", kind, text.c_str());
}

} // namespace emulator
