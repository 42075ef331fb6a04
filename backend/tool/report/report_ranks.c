/* report_ranks.c: how long each process' calls took, so that a straggler is seen.

   What calls of cuSPARSE took is what the cost table expects: that tells ranks with more work from
   others.  A slower GPU shows in the span from the first call to the last, if at all.  */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/report/run_report.h"

enum { SHOWN = 16 };

/* ---- the slowest --------------------------------------------------------------------------- */

static bool any_rank(const struct run_report *r)
{
  for (int i = 0; i < r->processes; i++)
    if (r->process[i].rank >= 0) return true;
  return false;
}

/* A process beside the ranks, such as their launcher, is not compared with them. */
static bool counts(const struct report_process *p, bool ranks)
{
  return p->us > 0 && isfinite(p->us) && (p->rank >= 0 || !ranks);
}

static int by_value(const void *x, const void *y)
{
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

struct report_slowest run_report_slowest(const struct run_report *r)
{
  struct report_slowest s = {.process = -1};
  double *us = malloc(((size_t)r->processes + 1) * sizeof *us);
  const bool ranks = any_rank(r);
  int n = 0, slowest = -1;
  for (int i = 0; us && i < r->processes; i++) {
    const struct report_process *p = &r->process[i];
    if (!counts(p, ranks)) continue;
    us[n++] = p->us;
    if (slowest < 0 || p->us > r->process[slowest].us) slowest = i;
    s.by_table = s.by_table || p->by_table;
  }
  if (n >= 2) {
    qsort(us, (size_t)n, sizeof *us, by_value);
    s.process = slowest;
    s.us = us[n - 1];
    s.median_us = 0.5 * (us[(n - 1) / 2] + us[n / 2]);
  }
  free(us);
  return s;
}

/* "rank 3 (node7)", "python3 123 (node7)" */
static void name(const struct report_process *p, char text[128])
{
  int n = p->rank >= 0 ? snprintf(text, 128, "rank %d", p->rank)
                       : snprintf(text, 128, "%s %ld", p->program, p->pid);
  if (p->host[0] && n > 0 && n < 128) snprintf(text + n, 128 - (size_t)n, " (%s)", p->host);
}

static double span_of(const struct report_process *p)
{
  return p->first > 0 && p->last >= p->first ? p->last - p->first : -1;
}

/* ---- the terminal -------------------------------------------------------------------------- */

static void print_process(const struct report_process *p, const struct report_slowest *s, FILE *to)
{
  char calls[32], us[24], who[128], span[24] = "-", part[24] = "-";
  name(p, who);
  if (span_of(p) >= 0) snprintf(span, sizeof span, "%.1f s", span_of(p));
  if (p->us > 0 && s->process >= 0)
    snprintf(part, sizeof part, "%.2f", fmin(p->us / s->median_us, 1e9));
  fprintf(to, "  %-32s %12s %10s %10s %9s\n", who, tool_grouped(p->calls, calls),
          p->us > 0 ? tool_duration(p->us, us) : "-", span, part);
}

void run_report_ranks_print(const struct run_report *r, FILE *to)
{
  char who[128], us[24], median[24];
  const struct report_slowest s = run_report_slowest(r);
  if (r->processes < 2) return;
  fprintf(to, "  %-32s %12s %10s %10s %9s\n", "process", "calls", "in calls", "span", "of median");
  for (int i = 0; i < r->processes && i < SHOWN; i++) print_process(&r->process[i], &s, to);
  if (r->processes > SHOWN) fprintf(to, "  and %d processes more\n", r->processes - SHOWN);
  if (s.process < 0) return;
  name(&r->process[s.process], who);
  fprintf(to, "shunt: calls took longest in %s: %s%s, %.2f times the median of %s\n", who,
          tool_duration(s.us, us), s.by_table ? " (estimated)" : "", fmin(s.us / s.median_us, 1e9),
          tool_duration(s.median_us, median));
}

/* ---- the page ------------------------------------------------------------------------------ */

static void put_process(const struct report_process *p, const struct report_slowest *s, FILE *to)
{
  char text[128];
  name(p, text);
  fputs("<tr><td data-name=\"Process\">", to);
  run_report_text(to, text);
  fprintf(to, "</td><td class=\"n\" data-name=\"In calls\">%s</td>",
          p->us > 0 ? tool_duration(p->us, text) : "not measured");
  if (span_of(p) >= 0)
    fprintf(to, "<td class=\"n\" data-name=\"Span\">%.1f s</td>", span_of(p));
  else
    fputs("<td class=\"n\" data-name=\"Span\">-</td>", to);
  fprintf(to, "<td class=\"n\" data-name=\"Of the median\">%.2f</td>",
          fmin(p->us / s->median_us, 1e9));
  fprintf(to, "<td class=\"meter\"><span class=\"bar\" style=\"width:%.1f%%\"></span></td></tr>\n",
          fmin(100 * p->us / s->us, 100));
}

void run_report_ranks(const struct run_report *r, FILE *to)
{
  const struct report_slowest s = run_report_slowest(r);
  char who[128], median[24];
  if (s.process < 0) return;
  name(&r->process[s.process], who);
  fputs("<h2 id=\"ranks\">Time of each process</h2>\n<p>Calls took longest in ", to);
  run_report_text(to, who);
  fprintf(to, ": %.2f times the median, %s.", fmin(s.us / s.median_us, 1e9),
          tool_duration(s.median_us, median));
  if (s.by_table)
    fputs(" On the GPU that is what each call is expected to take: it tells who has more work, not "
          "whose GPU is slower.",
          to);
  fputs(
      "</p>\n<table>\n<caption>The span is from the first call to the last.</caption>\n<thead><tr>"
      "<th scope=\"col\">Process</th><th scope=\"col\" class=\"n\">In calls</th>"
      "<th scope=\"col\" class=\"n\">Span</th><th scope=\"col\" class=\"n\">Of the median</th>"
      "<th scope=\"col\"></th></tr></thead>\n<tbody>\n",
      to);
  for (int i = 0; i < r->processes; i++) put_process(&r->process[i], &s, to);
  fputs("</tbody>\n</table>\n", to);
}
