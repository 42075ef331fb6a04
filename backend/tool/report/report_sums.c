/* report_sums.c: the page's sums: calls and time of each route and of each process, as bars. */
#include <math.h>
#include <string.h>

#include "backend/tool/report/report_page.h"

/* ---- routes ------------------------------------------------------------------------------- */

struct route_sum {
  const char *name;
  int64_t calls, timed;
  double us;
};
enum { ROUTES = 24 }; /* more than there are */

static int sum_routes(const struct run_report *r, struct route_sum sum[ROUTES])
{
  int n = 0;
  for (int i = 0; i < r->count; i++) {
    const struct report_line *l = &r->line[i];
    int k = 0;
    while (k < n && strcmp(sum[k].name, l->route) != 0) k++;
    if (k == ROUTES) continue;
    if (k == n) sum[n++] = (struct route_sum){.name = l->route};
    sum[k].calls += l->calls;
    sum[k].timed += l->timed ? l->calls : 0;
    sum[k].us += l->us;
  }
  return n;
}

void page_routes(FILE *to, const struct run_report *r)
{
  static const char *const heads[] = {"Route", "#Calls", "#Time", "", NULL};
  struct route_sum sum[ROUTES];
  char text[24];
  double most_us = 0, most_calls = 1;
  const int n = sum_routes(r, sum);
  for (int i = 0; i < n; i++) {
    most_us = fmax(most_us, sum[i].us);
    most_calls = fmax(most_calls, (double)sum[i].calls);
  }
  fputs("<h2 id=\"routes\">Routes</h2>\n", to);
  page_table(to, most_us > 0 ? "The bars show the time." : "The bars show the calls.", heads);
  for (int i = 0; i < n; i++) {
    fputs("<tr><td data-name=\"Route\">", to);
    run_report_text(to, sum[i].name);
    fputs("</td>", to);
    page_count(to, "Calls", sum[i].calls);
    fprintf(to, "<td class=\"n\" data-name=\"Time\">%s</td>",
            sum[i].timed ? tool_duration(sum[i].us, text) : "not measured");
    page_bar(to, most_us > 0 ? sum[i].us / most_us : (double)sum[i].calls / most_calls,
             strcmp(sum[i].name, "original") == 0);
    fputs("</tr>\n", to);
  }
  page_table_end(to);
}

/* ---- processes ---------------------------------------------------------------------------- */

void page_processes(FILE *to, const struct run_report *r)
{
  static const char *const heads[] = {"Process", "#Rank",  "Host", "#Ran for", "#Taken",
                                      "#Left",   "#Saved", "",     NULL};
  char text[24];
  int64_t most = 1;
  for (int i = 0; i < r->processes; i++)
    if (r->process[i].calls > most) most = r->process[i].calls;
  fputs("<h2 id=\"processes\">Processes</h2>\n", to);
  page_table(to, "The bars show the calls.", heads);
  for (int i = 0; i < r->processes; i++) {
    const struct report_process *p = &r->process[i];
    fputs("<tr><td data-name=\"Process\">", to);
    run_report_text(to, p->program);
    fprintf(to, " %ld</td><td class=\"n\" data-name=\"Rank\">", p->pid);
    fprintf(to, p->rank >= 0 ? "%d" : "-", p->rank);
    fputs("</td><td data-name=\"Host\">", to);
    run_report_text(to, p->host[0] ? p->host : "-");
    fputs("</td><td class=\"n\" data-name=\"Ran for\">", to);
    fprintf(to, p->seconds > 0 ? "%.1f s" : "-", p->seconds);
    fputs("</td>", to);
    page_count(to, "Taken", p->taken);
    page_count(to, "Left", p->calls - p->taken);
    fprintf(to, "<td class=\"n\" data-name=\"Saved\">%s</td>",
            p->taken ? page_gain(p->saved, p->saved_unknown, p->taken, text) : "-");
    page_bar(to, (double)p->calls / (double)most, false);
    fputs("</tr>\n", to);
  }
  page_table_end(to);
}
