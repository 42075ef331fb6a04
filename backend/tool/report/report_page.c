/* report_page.c: the page of `shunt run --report FILE.html`.

     header      the program, when it ran, how it ended
     figures     saved, taken, left, processes; how the gain is known
     taken       by problem: route, calls, saved, time
     left        by reason: what it means, what can be done, the problems
     routes      calls and time of each route, as bars
     timeline    calls and time of each route over the run (report_timeline.c)
     copies      conversions, proofs, memory, pictures of the matrices (report_upkeep.c)
     processes   side by side, with their ranks
     ranks       the time of each, the slowest against the median (report_ranks.c)
     footer      what the page does not tell, and where it is

   One file: it loads nothing and runs nothing.  All that comes from outside is escaped by
   run_report_text.  */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "backend/tool/report/run_report.h"

/* ---- pieces ------------------------------------------------------------------------ */

void run_report_text(FILE *to, const char *text)
{
  for (; *text; text++) switch (*text) {
    case '&': fputs("&amp;", to); break;
    case '<': fputs("&lt;", to); break;
    case '>': fputs("&gt;", to); break;
    case '"': fputs("&quot;", to); break;
    default: fputc(*text, to);
    }
}

static void put_argument(FILE *to, const char *argument)
{
  char text[1024];
  snprintf(text, sizeof text, "%s", argument);
  tool_clean(text);
  run_report_text(to, text);
}

/* What was saved, or "unknown". */
static const char *gain(double saved, int64_t unknown, int64_t calls, char text[24])
{
  return calls > 0 && unknown == calls ? "unknown" : tool_duration(saved, text);
}

/* A problem in words, and as it stands in the log. */
static void put_problem(FILE *to, const struct report_line *l)
{
  char words[SHUNT_PROBLEM_TEXT];
  run_report_words(l->problem, words);
  run_report_text(to, l->call);
  if (words[0]) {
    fputs(": ", to);
    run_report_text(to, words);
  }
  if (strcmp(l->problem, "-") != 0) {
    fputs("<code>", to);
    run_report_text(to, l->problem);
    fputs("</code>", to);
  }
  if (l->from[0]) {
    fputs("<span class=\"from\">First called from ", to);
    run_report_text(to, l->from);
    fputs("</span>", to);
  }
}

static void put_count(FILE *to, const char *name, int64_t n)
{
  char text[32];
  fprintf(to, "<td class=\"n\" data-name=\"%s\">%s</td>", name, tool_grouped(n, text));
}

static void put_bar(FILE *to, double part, bool left)
{
  fprintf(to, "<td class=\"meter\"><span class=\"bar%s\" style=\"width:%.1f%%\"></span></td>",
          left ? " left" : "",
          part > 1    ? 100.0
          : part >= 0 ? 100 * part
                      : 0);
}

static void open_table(FILE *to, const char *caption, const char *const *heads)
{
  fputs("<table>\n", to);
  if (caption) fprintf(to, "<caption>%s</caption>\n", caption);
  fputs("<thead><tr>", to);
  for (; *heads; heads++) {
    const bool number = **heads == '#';
    fprintf(to, "<th scope=\"col\"%s>%s</th>", number ? " class=\"n\"" : "", *heads + number);
  }
  fputs("</tr></thead>\n<tbody>\n", to);
}

static void close_table(FILE *to)
{
  fputs("</tbody>\n</table>\n", to);
}

/* ---- header and figures ------------------------------------------------------------- */

static void put_header(FILE *to, const struct run_end *run)
{
  char when[64] = "";
  const time_t started = (time_t)run->started;
  struct tm t;
  if (run->started > 0 && localtime_r(&started, &t))
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &t);
  fputs("<header>\n<h1>", to);
  for (int i = 0; run->argv[i]; i++) {
    if (i) fputc(' ', to);
    put_argument(to, run->argv[i]);
  }
  fputs("</h1>\n<p class=\"soft\">A run under Shunt " PACKAGE_VERSION, to);
  if (when[0]) fprintf(to, ", started %s", when);
  fprintf(to, ", %.1f s; ", run->seconds);
  if (run->end->signal)
    fprintf(to, "ended by signal %d", run->end->signal);
  else
    fprintf(to, "exit status %d", run->end->status);
  fputs(".</p>\n</header>\n", to);
}

static void put_figure(FILE *to, const char *name, const char *value, const char *class)
{
  fprintf(to, "<div><dt>%s</dt><dd%s%s%s>%s</dd></div>\n", name, class ? " class=\"" : "",
          class ? class : "", class ? "\"" : "", value);
}

static void put_figures(FILE *to, const struct run_report *r)
{
  char text[32], name[48];
  const char *known = run_report_known_of_all(r);
  fputs("<dl class=\"figures\">\n", to);
  snprintf(name, sizeof name, "Saved%s%s", strcmp(known, "unknown") ? ", " : "",
           strcmp(known, "unknown") ? known : "");
  put_figure(to, name, gain(r->saved, r->saved_unknown, r->taken, text), "gain");
  if (r->processes > 1 && strcmp(known, "unknown") != 0)
    put_figure(to, "Saved by one process, at most", tool_duration(run_report_most_saved(r), text),
               "gain");
  put_figure(to, "Calls taken", tool_grouped(r->taken, text), NULL);
  put_figure(to, "Left to the original", tool_grouped(r->calls - r->taken, text), NULL);
  put_figure(to, "Processes", tool_grouped(r->processes, text), NULL);
  fputs("</dl>\n", to);
  const double part = 100.0 * (double)r->taken / (double)r->calls;
  fprintf(to,
          "<div class=\"share\" role=\"img\" aria-label=\"%.1f %% of the calls were taken\">"
          "<i style=\"width:%.2f%%\"></i><b style=\"width:%.2f%%\"></b></div>\n"
          "<p class=\"soft\">%.1f %% of the calls were taken.</p>\n",
          part, part, 100 - part, part);
  if (r->processes > 1 && strcmp(known, "unknown") != 0)
    fprintf(to,
            "<p class=\"soft\">What was saved is the sum over %d processes. Those that ran side by "
            "side saved their time at once, so that the run was shortened by less: "
            "<i>Processes</i> below has what each saved.</p>\n",
            r->processes);
}

static void put_estimated(FILE *to, const struct run_report *r)
{
  const double off = run_report_worst_off(r);
  fputs(
      "<p>What is called estimated is not measured: for each call, what the original was expected "
      "to need, by rates that were measured beforehand, less what the call took: on the host by "
      "the clock, on a GPU as expected, too.",
      to);
  if (off > 0)
    fprintf(to,
            " Estimates of the original were up to a factor of %.2f off, either way, in two of "
            "three of the cases that they were made from.",
            off);
  fputs(" <code>shunt run --measure</code> measures instead.</p>\n", to);
}

static void put_measured(FILE *to, const struct run_report *r)
{
  char samples[32], calls[32];
  int64_t sampled = 0, of = 0;
  for (int i = 0; i < r->count; i++) {
    sampled += r->line[i].samples;
    of += r->line[i].samples > 0 ? r->line[i].calls : 0;
  }
  fprintf(
      to,
      "<p>What is called measured comes from %s of %s calls, for which the original ran, too, on "
      "the same data, into memory of Shunt's own.</p>\n",
      tool_grouped(sampled, samples), tool_grouped(of, calls));
}

static void put_how_known(FILE *to, const struct run_report *r)
{
  char calls[32];
  const char *known = run_report_known_of_all(r);
  fputs("<h2>How the gain is known</h2>\n", to);
  if (strstr(known, "measured")) put_measured(to, r);
  if (strcmp(known, "estimated") == 0 || strcmp(known, "partly measured") == 0)
    put_estimated(to, r);
  if (r->saved_unknown > 0)
    fprintf(to,
            "<p>Of %s taken call%s it is not known what the original would have needed, so nothing "
            "of %s is in the sum.</p>\n",
            tool_grouped(r->saved_unknown, calls), r->saved_unknown == 1 ? "" : "s",
            r->saved_unknown == 1 ? "it" : "them");
  if (r->frozen_broken)
    fputs(
        "<p class=\"note\">A matrix changed in spite of SHUNT_ASSUME=frozen: results may be of its "
        "old content. Unset SHUNT_ASSUME.</p>\n",
        to);
  if (r->strange > 0)
    fprintf(to, "<p class=\"note\">%d line%s of the library's report %s not understood.</p>\n",
            r->strange, r->strange == 1 ? "" : "s", r->strange == 1 ? "was" : "were");
  if (r->lost > 0)
    fprintf(to, "<p class=\"note\">%s calls were not counted: too many different problems.</p>\n",
            tool_grouped(r->lost, calls));
}

/* ---- calls ------------------------------------------------------------------------------ */

static void put_time(FILE *to, const struct report_line *l)
{
  char text[24];
  fputs("<td class=\"n\" data-name=\"Time of a call\">", to);
  if (l->timed)
    fprintf(to, "%s%s", tool_duration(l->us / (double)l->calls, text),
            l->by_table ? ", estimated" : "");
  else
    fputs("not measured", to);
  fputs("</td>", to);
}

/* With the factor that an estimate may be off by. */
static void put_saved(FILE *to, const struct report_line *l)
{
  char text[24];
  const char *known = run_report_known(l);
  fprintf(to, "<td class=\"n\" data-name=\"Saved\">%s",
          gain(l->saved, l->saved_unknown, l->calls, text));
  if (strcmp(known, "unknown") != 0) fprintf(to, ", %s", known);
  if (strcmp(known, "estimated") == 0 && l->off > 0)
    fprintf(to, "<br><span class=\"soft\">original known to a factor of %.2f</span>", l->off);
  fputs("</td>", to);
}

static void put_taken(FILE *to, const struct run_report *r)
{
  static const char *const heads[] = {"Route",           "#Calls",  "#Saved",
                                      "#Time of a call", "Problem", NULL};
  fputs("<h2 id=\"taken\">Calls that were taken</h2>\n", to);
  if (r->taken == 0) {
    fputs("<p>None.</p>\n", to);
    return;
  }
  open_table(to, "By problem; those that saved most come first.", heads);
  for (int i = 0; i < r->count; i++) {
    const struct report_line *l = &r->line[i];
    if (run_report_is_original(l)) continue;
    fputs("<tr><td data-name=\"Route\">", to);
    run_report_text(to, l->route);
    if (run_report_reason(l->reason) != SHUNT_FITS) {
      fputs("<br><span class=\"soft\">", to);
      run_report_text(to, run_report_sentence(l->reason));
      fputs("</span>", to);
    }
    fputs("</td>", to);
    put_count(to, "Calls", l->calls);
    put_saved(to, l);
    put_time(to, l);
    fputs("<td>", to);
    put_problem(to, l);
    fputs("</td></tr>\n", to);
  }
  close_table(to);
}

/* The problems that were left for one reason, with what can be done about it. */
static void put_reason(FILE *to, const struct run_report *r, const char *reason)
{
  static const char *const heads[] = {"#Calls", "Problem", NULL};
  const char *advice = run_report_advice(reason);
  fputs("<h3>", to);
  run_report_text(to, run_report_sentence(reason));
  fputs("</h3>\n", to);
  if (advice[0]) {
    fputs("<p>What you can do: ", to);
    run_report_text(to, advice);
    fputs("</p>\n", to);
  }
  open_table(to, NULL, heads);
  for (int i = 0; i < r->count; i++) {
    const struct report_line *l = &r->line[i];
    if (!run_report_is_original(l) || strcmp(l->reason, reason) != 0) continue;
    fputs("<tr>", to);
    put_count(to, "Calls", l->calls);
    fputs("<td>", to);
    put_problem(to, l);
    fputs("</td></tr>\n", to);
  }
  close_table(to);
}

/* Is line i the first of those left for its reason?  The sorted lines have most calls first. */
static bool is_first_of_reason(const struct run_report *r, int i)
{
  if (!run_report_is_original(&r->line[i])) return false;
  for (int k = 0; k < i; k++)
    if (run_report_is_original(&r->line[k]) && strcmp(r->line[k].reason, r->line[i].reason) == 0)
      return false;
  return true;
}

static void put_left(FILE *to, const struct run_report *r)
{
  fputs("<h2 id=\"left\">Calls that were left to the original</h2>\n", to);
  if (r->taken == r->calls) fputs("<p>None.</p>\n", to);
  for (int i = 0; i < r->count; i++)
    if (is_first_of_reason(r, i)) put_reason(to, r, r->line[i].reason);
}

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

static void put_routes(FILE *to, const struct run_report *r)
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
  open_table(to, most_us > 0 ? "The bars show the time." : "The bars show the calls.", heads);
  for (int i = 0; i < n; i++) {
    fputs("<tr><td data-name=\"Route\">", to);
    run_report_text(to, sum[i].name);
    fputs("</td>", to);
    put_count(to, "Calls", sum[i].calls);
    fprintf(to, "<td class=\"n\" data-name=\"Time\">%s</td>",
            sum[i].timed ? tool_duration(sum[i].us, text) : "not measured");
    put_bar(to, most_us > 0 ? sum[i].us / most_us : (double)sum[i].calls / most_calls,
            strcmp(sum[i].name, "original") == 0);
    fputs("</tr>\n", to);
  }
  close_table(to);
}

/* ---- processes ---------------------------------------------------------------------------- */

static void put_processes(FILE *to, const struct run_report *r)
{
  static const char *const heads[] = {"Process", "#Rank",  "Host", "#Ran for", "#Taken",
                                      "#Left",   "#Saved", "",     NULL};
  char text[24];
  int64_t most = 1;
  for (int i = 0; i < r->processes; i++)
    if (r->process[i].calls > most) most = r->process[i].calls;
  fputs("<h2 id=\"processes\">Processes</h2>\n", to);
  open_table(to, "The bars show the calls.", heads);
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
    put_count(to, "Taken", p->taken);
    put_count(to, "Left", p->calls - p->taken);
    fprintf(to, "<td class=\"n\" data-name=\"Saved\">%s</td>",
            p->taken ? gain(p->saved, p->saved_unknown, p->taken, text) : "-");
    put_bar(to, (double)p->calls / (double)most, false);
    fputs("</tr>\n", to);
  }
  close_table(to);
}

/* ---- the page ------------------------------------------------------------------------------- */

static void put_no_calls(FILE *to, const struct run_end *run)
{
  fputs("<h2>No calls were seen</h2>\n", to);
  if (tool_option_disable())
    fputs("<p>SHUNT_DISABLE=1 was set: no call was looked at.</p>\n", to);
  else if (run->end->signal)
    fputs("<p>A signal ended the program before it could report its calls.</p>\n", to);
  else
    fputs(
        "<p>The program called none of cusparseSpMM, cusparseSDDMM, GrB_mxm, GrB_mxv and GrB_vxm, "
        "or did it where a preload cannot see it. <code>shunt doctor -- PROGRAM</code> says which, "
        "but for a library opened with RTLD_DEEPBIND and an end by _exit.</p>\n",
        to);
}

static const char footer[] =
    "<footer>\n"
    "<p>The times of conversions and proofs are estimated from the bytes that they move. "
    "Of processes that a signal or _exit ended, the last calls may be missing.</p>\n"
    "<p>The words are explained in shunt(1), shunt-cusparse(7), shunt-graphblas(7) and "
    "shunt-env(7).</p>\n"
    "</footer>\n";

bool run_report_page(struct run_report *r, const struct run_end *run, FILE *to)
{
  run_report_sort(r);
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Shunt: ",
        to);
  put_argument(to, run->argv[0] ? run->argv[0] : "");
  fprintf(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", run_report_style);
  put_header(to, run);
  fputs("<main>\n", to);
  if (r->calls == 0) {
    put_no_calls(to, run);
  } else {
    put_figures(to, r);
    put_how_known(to, r);
    put_taken(to, r);
    put_left(to, r);
    put_routes(to, r);
    run_report_timeline(r, to);
    run_report_upkeep(r, to);
    put_processes(to, r);
    run_report_ranks(r, to);
  }
  fprintf(to, "</main>\n%s</body>\n</html>\n", footer);
  return fflush(to) == 0 && !ferror(to);
}
