/* run_report.c: the table of calls that the library left behind.

   The library appends one block per process at its end:

     # shunt report 1 pid=123 prog=python3
     call <TAB> route <TAB> reason <TAB> calls <TAB> saved_us <TAB> problem

   call is the function's name, route "original" for a call that was not taken,
   problem "-" where it could not be read.  Other lines that begin with '#' are
   remarks.  Equal lines of several processes are added up; a line that is not
   understood is counted.  (backend/plan/log.h writes it.)  */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/tool.h"

enum { SHOWN = 24, FIELDS = 6 };

struct line {
  char call[32], route[24], reason[32], problem[SHUNT_PROBLEM_TEXT];
  int64_t calls;
  double saved;
};

struct report {
  struct line *line;
  int count, room;
  int with_calls; /* blocks that hold calls: processes */
  int strange;    /* lines not understood */
  int64_t lost;   /* calls that were not counted by problem */
  int64_t calls, taken;
  double saved;
};

/* ---- reading -------------------------------------------------------------- */

static bool is_original(const struct line *l)
{
  return strcmp(l->route, "original") == 0;
}

/* Splits at tabs; true when there are exactly FIELDS fields. */
static bool split(char *text, char *field[FIELDS])
{
  int n = 0;
  for (char *at = text; at; n++) {
    char *tab = strchr(at, '\t');
    if (tab) *tab++ = 0;
    if (n < FIELDS) field[n] = at;
    at = tab;
  }
  return n == FIELDS;
}

static bool parse_line(char *text, struct line *l)
{
  char *field[FIELDS], *rest, *rest2;
  if (!split(text, field) || !*field[0] || !*field[1]) return false;
  memset(l, 0, sizeof *l);
  snprintf(l->call, sizeof l->call, "%s", field[0]);
  snprintf(l->route, sizeof l->route, "%s", field[1]);
  snprintf(l->reason, sizeof l->reason, "%s", field[2]);
  l->calls = strtoll(field[3], &rest, 10);
  l->saved = strtod(field[4], &rest2);
  snprintf(l->problem, sizeof l->problem, "%s", field[5]);
  return *field[3] && !*rest && *field[4] && !*rest2 && l->calls > 0 && isfinite(l->saved);
}

/* False: no memory, or more calls than can be counted. */
static bool add_line(struct report *r, const struct line *l)
{
  if (l->calls > INT64_MAX - r->calls) return false;
  r->calls += l->calls;
  if (!is_original(l)) {
    r->taken += l->calls;
    r->saved += l->saved;
  }
  for (int i = 0; i < r->count; i++) {
    struct line *old = &r->line[i];
    if (strcmp(old->call, l->call) || strcmp(old->route, l->route) ||
        strcmp(old->reason, l->reason) || strcmp(old->problem, l->problem))
      continue;
    old->calls += l->calls;
    old->saved += l->saved;
    return true;
  }
  if (r->count == r->room) {
    int room = r->room ? 2 * r->room : 64;
    struct line *more = realloc(r->line, (size_t)room * sizeof *more);
    if (!more) return false;
    r->line = more;
    r->room = room;
  }
  r->line[r->count++] = *l;
  return true;
}

static bool read_report(const char *path, struct report *r)
{
  FILE *from = fopen(path, "r");
  char *text = NULL;
  size_t room = 0;
  ssize_t n;
  bool calls_in_block = false;
  memset(r, 0, sizeof *r);
  if (!from) return false;
  while ((n = getline(&text, &room, from)) > 0) {
    struct line l;
    int version = 0;
    int64_t lost;
    if (text[n - 1] == '\n') text[n - 1] = 0;
    if (sscanf(text, "# shunt report %d", &version) == 1) {
      calls_in_block = false;
      if (version != 1) r->strange++;
    } else if (sscanf(text, "# decisions not counted %" SCNd64, &lost) == 1) {
      if (lost < 0 || __builtin_add_overflow(r->lost, lost, &r->lost)) r->strange++;
    } else if (text[0] && text[0] != '#') {
      if (!parse_line(text, &l) || !add_line(r, &l)) {
        r->strange++;
        continue;
      }
      if (!calls_in_block) r->with_calls++;
      calls_in_block = true;
    }
  }
  free(text);
  fclose(from);
  return true;
}

/* ---- printing ------------------------------------------------------------- */

static int by_weight(const void *x, const void *y)
{
  const struct line *a = x, *b = y;
  if (is_original(a) != is_original(b)) return is_original(a) - is_original(b);
  if (a->saved != b->saved) return a->saved < b->saved ? 1 : -1;
  if (a->calls != b->calls) return a->calls < b->calls ? 1 : -1;
  return strcmp(a->problem, b->problem);
}

/* The sentence for a reason's word; the word itself when it is a newer library's. */
static const char *sentence(const char *word)
{
  for (int i = 0; i < SHUNT_R_COUNT; i++)
    if (strcmp(shunt_reason_text((enum shunt_reason)i), word) == 0)
      return shunt_reason_sentence((enum shunt_reason)i);
  return word;
}

static void print_no_calls(const struct launch_end *end, FILE *to)
{
  if (tool_option_disable()) {
    fputs("shunt: SHUNT_DISABLE=1: no call was looked at\n", to);
    return;
  }
  if (end->signal) {
    fprintf(to, "shunt: signal %d ended the program before it could report its calls\n",
            end->signal);
    return;
  }
  fputs("shunt: no calls were seen: the program called neither cusparseSpMM, cusparseSDDMM nor "
        "GrB_mxm, or did it where a preload cannot see it: the library or the program linked "
        "statically, a library opened with RTLD_DEEPBIND, functions bound by dlsym on a handle "
        "(with --no-dlsym), a setuid program, or an end by _exit\n",
        to);
}

static void print_lines(struct report *r, FILE *to)
{
  char calls[32], saved[24];
  qsort(r->line, (size_t)r->count, sizeof *r->line, by_weight);
  fprintf(to, "  %10s  %-9s %10s  %-46s %s\n", "calls", "by", "saved", "why", "problem");
  for (int i = 0; i < r->count && i < SHOWN; i++) {
    const struct line *l = &r->line[i];
    bool left = is_original(l);
    fprintf(to, "  %10s  %-9s %10s  %-46s %s\n", tool_grouped(l->calls, calls),
            left ? "original" : l->route, left ? "-" : tool_duration(l->saved, saved),
            sentence(l->reason), strcmp(l->problem, "-") ? l->problem : l->call);
  }
  if (r->count > SHOWN)
    fprintf(to, "  and %d lines more; shunt run --report FILE keeps them all\n", r->count - SHOWN);
}

/* ---- demands ------------------------------------------------------------------ */

/* Each problem that was left to the original, most calls first: the lines are sorted. */
static bool meets_strict(const struct report *r, FILE *to)
{
  bool met = true;
  char calls[32];
  for (int i = 0; i < r->count; i++) {
    const struct line *l = &r->line[i];
    if (!is_original(l)) continue;
    met = false;
    fprintf(to, "shunt: --strict: %s was left to the original, %s time%s: %s (%s): %s\n", l->call,
            tool_grouped(l->calls, calls), l->calls == 1 ? "" : "s", l->reason, sentence(l->reason),
            l->problem);
  }
  if (r->lost > 0 || r->strange > 0) {
    met = false;
    fputs("shunt: --strict: the report does not tell of every call\n", to);
  }
  return met;
}

static bool took_a_call(const struct report *r, const char *route)
{
  for (int i = 0; i < r->count; i++)
    if (strcmp(r->line[i].route, route) == 0) return true;
  return false;
}

static bool meets_required(const struct report *r, const char *list, FILE *to)
{
  char copy[256], *rest;
  bool met = true;
  snprintf(copy, sizeof copy, "%s", list);
  for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    if (took_a_call(r, word)) continue;
    met = false;
    fprintf(to, "shunt: --require: no call ran on %s\n", word);
  }
  return met;
}

bool run_report_print(const char *path, const struct launch_end *end,
                      const struct run_demands *demands, FILE *to)
{
  struct report r;
  char calls[32], taken[32], left[32], saved[24];
  if (!read_report(path, &r)) {
    tool_say("%s: %s", path, strerror(errno));
    return !demands->strict && !demands->require;
  }
  if (r.calls == 0) {
    print_no_calls(end, to);
  } else {
    fprintf(to, "shunt: %s call%s seen", tool_grouped(r.calls, calls), r.calls == 1 ? "" : "s");
    if (r.with_calls > 1) fprintf(to, " in %d processes", r.with_calls);
    fprintf(to, ": %s taken, %s left to the original", tool_grouped(r.taken, taken),
            tool_grouped(r.calls - r.taken, left));
    if (r.saved > 0) fprintf(to, "; about %s of GPU time saved", tool_duration(r.saved, saved));
    fputs("\n", to);
    print_lines(&r, to);
  }
  if (r.strange)
    fprintf(to, "shunt: %d report line%s not understood (another version of the library?)\n",
            r.strange, r.strange == 1 ? "" : "s");
  const bool strict = !demands->strict || meets_strict(&r, to);
  const bool required = !demands->require || meets_required(&r, demands->require, to);
  free(r.line);
  return strict && required;
}
