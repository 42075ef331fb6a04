/* tool_progress.c: a bar on the terminal for what takes more than 2 s. */
#include <time.h>
#include <unistd.h>

#include "backend/tool/tool.h"

enum { WIDTH = 24 };
static const double patience = 2, between = 0.1; /* seconds, before the first and between two */

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct tool_progress tool_progress_begin(void)
{
  return (struct tool_progress){.on = isatty(STDERR_FILENO), .next = now() + patience};
}

void tool_progress_at(struct tool_progress *p, double share, const char *what)
{
  char bar[WIDTH + 1] = "";
  if (!p->on || now() < p->next) return;
  for (int i = 0; i < WIDTH; i++) bar[i] = i < share * WIDTH ? '#' : '.';
  fprintf(stderr, "\r\033[K[%s] %3.0f%% %.44s", bar, 100 * share, what);
  fflush(stderr);
  p->drawn = true;
  p->next = now() + between;
}

void tool_progress_clear(struct tool_progress *p)
{
  if (p->drawn) fputs("\r\033[K", stderr);
  p->drawn = false;
}
