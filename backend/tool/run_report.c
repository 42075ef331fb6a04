/* run_report.c: the table of calls on the terminal, and the demands on a run. */
#include <math.h>
#include <string.h>

#include "backend/tool/report/run_report.h"

enum { SHOWN = 24 };

/* ---- printing ------------------------------------------------------------- */

/* The libraries warn of the options when they meet a call: where they met none it is done here. */
static void print_no_calls(const struct launch_end *end, FILE *to)
{
  tool_option_complain(to);
  if (tool_option_disable()) {
    fputs("shunt: SHUNT_DISABLE=1: no call was looked at\n", to);
    return;
  }
  if (end->signal) {
    fprintf(to, "shunt: signal %d ended the program before it could report its calls\n",
            end->signal);
    return;
  }
  fputs(
      "shunt: no calls were seen: the program called none of cusparseSpMM, cusparseSDDMM, GrB_mxm, "
      "GrB_mxv and GrB_vxm, or did it where a preload cannot see it: the library or the program "
      "linked statically, a library opened with RTLD_DEEPBIND, functions of GraphBLAS (with "
      "--no-dlsym: also of cuSPARSE) bound by dlsym on a handle, a setuid program, or an end by "
      "_exit\n"
      "shunt: shunt doctor -- PROGRAM says which of these it can see\n",
      to);
}

/* What the calls of a line saved, for people. */
static const char *saved_by(const struct report_line *l, char text[24])
{
  if (run_report_is_original(l)) return "-";
  if (l->saved_unknown == l->calls) return "-";
  return tool_duration(l->saved, text);
}

static void print_lines(struct run_report *r, FILE *to)
{
  char calls[32], saved[24];
  run_report_sort(r);
  fprintf(to, "  %10s  %-9s %10s  %-9s  %-46s %s\n", "calls", "by", "saved", "that is", "why",
          "problem");
  for (int i = 0; i < r->count && i < SHOWN; i++) {
    const struct report_line *l = &r->line[i];
    fprintf(to, "  %10s  %-9s %10s  %-9s  %-46s %s\n", tool_grouped(l->calls, calls), l->route,
            saved_by(l, saved), run_report_known(l), run_report_sentence(l->reason),
            strcmp(l->problem, "-") ? l->problem : l->call);
  }
  if (r->count > SHOWN)
    fprintf(to, "  and %d lines more; shunt run --report FILE keeps them all\n", r->count - SHOWN);
}

/* ---- demands ------------------------------------------------------------------ */

/* Each problem that was left to the original, most calls first: the lines are sorted. */
static bool meets_strict(const struct run_report *r, FILE *to)
{
  bool met = true;
  char calls[32];
  for (int i = 0; i < r->count; i++) {
    const struct report_line *l = &r->line[i];
    if (!run_report_is_original(l)) continue;
    met = false;
    fprintf(to, "shunt: --strict: %s was left to the original, %s time%s: %s (%s): %s\n", l->call,
            tool_grouped(l->calls, calls), l->calls == 1 ? "" : "s", l->reason,
            run_report_sentence(l->reason), l->problem);
  }
  if (r->lost > 0 || r->strange > 0) {
    met = false;
    fputs("shunt: --strict: the report does not tell of every call\n", to);
  }
  return met;
}

static bool took_a_call(const struct run_report *r, const char *route)
{
  for (int i = 0; i < r->count; i++)
    if (strcmp(r->line[i].route, route) == 0) return true;
  return false;
}

static bool meets_required(const struct run_report *r, const char *list, FILE *to)
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

/* A gain may be a loss, where samples or the table say so: as a person must hear of it. */
static void print_gain(const struct run_report *r, FILE *to)
{
  char text[24];
  if (r->saved == 0) return;
  fprintf(to, "; about %s %s (%s", tool_duration(fabs(r->saved), text),
          r->saved > 0 ? "saved" : "lost", run_report_known_of_all(r));
  if (r->error > 0) fprintf(to, ", to +- %s", tool_duration(r->error, text));
  fputc(')', to);
  if (r->saved > 0 && r->processes > 1)
    fprintf(to, ", the sum over processes; one saved %s at most",
            tool_duration(run_report_most_saved(r), text));
}

static void print_sum(const struct run_report *r, FILE *to)
{
  char calls[32], taken[32], left[32];
  fprintf(to, "shunt: %s call%s seen", tool_grouped(r->calls, calls), r->calls == 1 ? "" : "s");
  if (r->processes > 1) fprintf(to, " in %d processes", r->processes);
  fprintf(to, ": %s taken, %s left to the original", tool_grouped(r->taken, taken),
          tool_grouped(r->calls - r->taken, left));
  print_gain(r, to);
  if (r->saved_unknown > 0)
    fprintf(to, "; of %s call%s it is not known what %s saved",
            tool_grouped(r->saved_unknown, calls), r->saved_unknown == 1 ? "" : "s",
            r->saved_unknown == 1 ? "it" : "they");
  fputs("\n", to);
  if (r->saved < 0)
    fputs(
        "shunt: shunt calibrate fits the choice of ways to this machine; SHUNT_ROUTES names those "
        "that may be taken\n",
        to);
}

bool run_report_print(struct run_report *r, const struct launch_end *end,
                      const struct run_demands *demands, FILE *to)
{
  if (r->calls == 0) {
    print_no_calls(end, to);
  } else {
    print_sum(r, to);
    if (r->costs[0]) fprintf(to, "shunt: ways were chosen by the table of %s\n", r->costs);
    print_lines(r, to);
    run_report_ranks_print(r, to);
  }
  if (r->frozen_broken)
    fputs("shunt: a matrix changed in spite of SHUNT_ASSUME=frozen: results may be of its old "
          "content\n",
          to);
  if (r->strange)
    fprintf(to, "shunt: %d report line%s not understood (another version of the library?)\n",
            r->strange, r->strange == 1 ? "" : "s");
  const bool strict = !demands->strict || meets_strict(r, to);
  const bool required = !demands->require || meets_required(r, demands->require, to);
  return strict && required;
}
