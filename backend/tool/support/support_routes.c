/* support_routes.c: what one route asks for besides: how many entries and columns, which GPU. */
#include "backend/routes/route.h"
#include "backend/tool/inspect/inspect.h"
#include "backend/tool/support/support_words.h"

/* A question that route r takes, of one in `density` elements; false: none. */
static bool taken_by(int r, int gpu, int density, struct support_question *q)
{
  for (int i = 0; i < 2 * support_formats_count * support_types_count; i++) {
    *q = support_ordinary(i % 2 ? SHUNT_SDDMM : SHUNT_SPMM);
    q->format = support_formats[i / 2 % support_formats_count].format;
    support_set_types(q, i / 2 / support_formats_count);
    q->nnz = q->rows * q->cols / density;
    if (support_ask(q, gpu).routes >> r & 1) return true;
  }
  return false;
}

static const char *share(int density, char text[32])
{
  snprintf(text, 32, density == 1 ? "all" : "1/%d", density);
  return text;
}

/* "any", or "1/64 to all". */
static void say_entries(int r, int gpu, char text[96])
{
  struct support_question q;
  char low[32], high[32];
  int first = -1, last = -1;
  for (int i = 0; i < support_densities_count; i++)
    if (taken_by(r, gpu, support_densities[i], &q)) {
      if (first < 0) first = i;
      last = i;
    }
  if (first < 0)
    snprintf(text, 96, "none");
  else if (first == 0 && last == support_densities_count - 1)
    snprintf(text, 96, "any");
  else
    snprintf(text, 96, "%s to %s", share(support_densities[last], low),
             share(support_densities[first], high));
}

/* The first density at which r takes something, for the other columns. */
static bool taken_at_all(int r, int gpu, struct support_question *q)
{
  for (int i = 0; i < support_densities_count; i++)
    if (taken_by(r, gpu, support_densities[i], q)) return true;
  return false;
}

static int64_t least_columns(int r, int gpu, struct support_question q)
{
  int64_t least = 0;
  for (q.n = 256; q.n >= 1; q.n--)
    if (support_ask(&q, gpu).routes >> r & 1) least = q.n;
  return least;
}

/* The lowest of all GPUs that is above `last`; 0: none is. */
static int next_architecture(int last)
{
  int next = 0;
  for (int g = 0; g < INSPECT_GPUS; g++) {
    const int a = inspect_gpus[g].device.compute_capability;
    if (a > last && (next == 0 || a < next)) next = a;
  }
  return next;
}

/* The compute capabilities of GPUs that the route runs on, ascending. */
static void say_gpus(int r, char text[64])
{
  struct support_question q;
  int last = 0;
  text[0] = 0;
  for (int next; (next = next_architecture(last)) > 0; last = next)
    for (int g = 0; g < INSPECT_GPUS; g++)
      if (inspect_gpus[g].device.compute_capability == next && taken_at_all(r, g, &q)) {
        snprintf(text + strlen(text), 64 - strlen(text), "%s%d.%d", text[0] ? " " : "", next / 10,
                 next % 10);
        break;
      }
}

void support_fill_routes(struct support_asker *a, struct support_table *t)
{
  char entries[96], gpus[64];
  for (int r = 0; r < shunt_route_count(); r++) {
    struct support_question q;
    say_entries(r, a->gpu, entries);
    say_gpus(r, gpus);
    support_table_add(t, "%s|%s|%d|%s", shunt_route_at(r)->name, entries,
                      taken_at_all(r, a->gpu, &q) ? (int)least_columns(r, a->gpu, q) : 0, gpus);
  }
}
