/* report_upkeep.c: the page's part about copies of matrices, and memory.

     Conversions and proofs   how many, and their share of the time of all calls on the GPU
     Memory                   lines over the run: what copies have, and what everybody has  */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "backend/tool/report/run_report.h"

/* ---- conversions and proofs -------------------------------------------------------------- */

static double time_on_device(const struct run_report *r)
{
  double us = 0;
  for (int i = 0; i < r->count; i++)
    if (!run_report_is_original(&r->line[i]) && r->line[i].by_table) us += r->line[i].us;
  return us;
}

static void put_share(FILE *to, const char *name, int64_t count, double us, double all)
{
  char number[32], time[24];
  const double part = all > 0 ? 100 * us / all : 0;
  fprintf(to,
          "<tr><td data-name=\"What\">%s</td><td class=\"n\" data-name=\"How many\">%s</td>"
          "<td class=\"n\" data-name=\"Time, estimated\">%s</td>"
          "<td class=\"n\" data-name=\"Share\">%.1f %%</td><td class=\"meter\">"
          "<span class=\"bar\" style=\"width:%.1f%%\"></span></td></tr>\n",
          name, tool_grouped(count, number), tool_duration(us, time), part, fmin(part, 100));
}

static void put_copies(const struct run_report *r, FILE *to)
{
  const struct report_upkeep *u = &r->upkeep;
  const double all = time_on_device(r) + u->us;
  if (u->conversions + u->proofs == 0) return;
  fputs(
      "<h2 id=\"copies\">Conversions and proofs</h2>\n<p>Some routes keep a copy of the matrix in "
      "a format of their own, and prove at every use that the program has not changed it. ",
      to);
  fprintf(to,
          "%.1f MB were converted. The shares are of the time on the GPU of all calls taken.</p>\n",
          1e-6 * u->bytes);
  fputs("<table>\n<thead><tr><th scope=\"col\">What</th><th scope=\"col\" class=\"n\">How many</th>"
        "<th scope=\"col\" class=\"n\">Time, estimated</th><th scope=\"col\" class=\"n\">Share</th>"
        "<th scope=\"col\"></th></tr></thead>\n<tbody>\n",
        to);
  put_share(to, "Conversions", u->conversions, u->us, all);
  put_share(to, "Proofs", u->proofs, u->proof_us, all);
  fputs("</tbody>\n</table>\n", to);
}

/* ---- memory ------------------------------------------------------------------------------ */

enum { WIDE = 600, HIGH = 100, COLOURS = 8 };

struct axes {
  double from, to, most;
};

static double value_of(const struct report_memory *m, bool device)
{
  return device ? m->device : m->copies;
}

static struct axes axes_of(const struct run_report *r, bool device)
{
  struct axes a = {r->memory[0].time, r->memory[0].time, 0};
  for (int i = 0; i < r->memories; i++) {
    a.from = fmin(a.from, r->memory[i].time);
    a.to = fmax(a.to, r->memory[i].time);
    a.most = fmax(a.most, value_of(&r->memory[i], device));
  }
  for (int i = 0; i < r->spans; i++) {
    a.from = fmin(a.from, r->span[i].from);
    a.to = fmax(a.to, r->span[i].to);
  }
  return a;
}

/* A process' line: eight colours, then the same dashed, then dotted. */
static void put_class(int process, FILE *to)
{
  fprintf(to, "<path class=\"l%d d%d\"", process % COLOURS, process / COLOURS % 3);
}

static bool has_line(const struct run_report *r, int process, bool device)
{
  for (int i = 0; i < r->memories; i++)
    if (r->memory[i].process == process && value_of(&r->memory[i], device) >= 0) return true;
  return false;
}

/* Whose line is which. */
static void put_lines_key(const struct run_report *r, bool device, FILE *to)
{
  fputs("<div class=\"key\">", to);
  for (int p = 0; p < r->processes; p++) {
    if (!has_line(r, p, device)) continue;
    fputs("<span><svg viewBox=\"0 0 24 8\" aria-hidden=\"true\">", to);
    put_class(p, to);
    fputs(" d=\"M0 4H24\"></path></svg>", to);
    run_report_text(to, r->process[p].program);
    fprintf(to, " %ld", r->process[p].pid);
    if (r->process[p].rank >= 0) fprintf(to, ", rank %d", r->process[p].rank);
    fputs("</span>", to);
  }
  fputs("</div>\n", to);
}

/* One line in steps for each process. */
static void put_line(const struct run_report *r, int process, bool device, const struct axes *a,
                     FILE *to)
{
  const double wide = fmax(a->to - a->from, 1e-9);
  bool any = false;
  double y = 0;
  for (int i = 0; i < r->memories; i++) {
    const struct report_memory *m = &r->memory[i];
    if (m->process != process || value_of(m, device) < 0) continue;
    const double x = WIDE * (m->time - a->from) / wide;
    y = HIGH - HIGH * value_of(m, device) / a->most;
    if (!any) put_class(process, to);
    fprintf(to, any ? "H%.1fV%.1f" : " d=\"M%.1f %.1f", x, y);
    any = true;
  }
  if (any) fprintf(to, "H%d\"></path>\n", WIDE);
}

static void put_memory_chart(const struct run_report *r, bool device, const char *title, FILE *to)
{
  const struct axes a = axes_of(r, device);
  if (!(a.most > 0)) return;
  fprintf(to,
          "<h3>%s</h3>\n<svg class=\"chart\" role=\"img\" aria-label=\"%s over the run\" "
          "viewBox=\"0 -2 %d %d\" preserveAspectRatio=\"none\">\n",
          title, title, WIDE, HIGH + 4);
  for (int p = 0; p < r->processes; p++) put_line(r, p, device, &a, to);
  fprintf(to,
          "</svg>\n<div class=\"axis\"><span>first call</span><span>highest: %.1f MB</span>"
          "<span>%.1f s</span></div>\n",
          1e-6 * a.most, a.to - a.from);
  put_lines_key(r, device, to);
}

static void put_memory(const struct run_report *r, FILE *to)
{
  if (r->memories == 0) return;
  fputs(
      "<h2 id=\"memory\">Memory of the device</h2>\n<p>As it was when a copy was made or went, and "
      "now and then between.</p>\n",
      to);
  put_memory_chart(r, false, "Copies", to);
  put_memory_chart(r, true, "In use by everybody", to);
}

void run_report_upkeep(const struct run_report *r, FILE *to)
{
  put_copies(r, to);
  put_memory(r, to);
}
