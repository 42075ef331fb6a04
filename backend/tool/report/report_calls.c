/* report_calls.c: the page's calls: those that were taken, by problem; those that were left, by
   reason, with what can be done.  */
#include <string.h>

#include "backend/tool/report/report_page.h"

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
          page_gain(l->saved, l->saved_unknown, l->calls, text));
  if (strcmp(known, "unknown") != 0) fprintf(to, ", %s", known);
  if (l->error > 0)
    fprintf(to, "<br><span class=\"soft\">± %s</span>", tool_duration(l->error, text));
  if (strcmp(known, "estimated") == 0 && l->off > 0)
    fprintf(to, "<br><span class=\"soft\">original known to a factor of %.2f</span>", l->off);
  fputs("</td>", to);
}

void page_taken(FILE *to, const struct run_report *r)
{
  static const char *const heads[] = {"Route",           "#Calls",  "#Saved",
                                      "#Time of a call", "Problem", NULL};
  fputs("<h2 id=\"taken\">Calls that were taken</h2>\n", to);
  if (r->taken == 0) {
    fputs("<p>None.</p>\n", to);
    return;
  }
  page_table(to, "By problem; those that saved most come first.", heads);
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
    page_count(to, "Calls", l->calls);
    put_saved(to, l);
    put_time(to, l);
    fputs("<td>", to);
    put_problem(to, l);
    fputs("</td></tr>\n", to);
  }
  page_table_end(to);
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
  page_table(to, NULL, heads);
  for (int i = 0; i < r->count; i++) {
    const struct report_line *l = &r->line[i];
    if (!run_report_is_original(l) || strcmp(l->reason, reason) != 0) continue;
    fputs("<tr>", to);
    page_count(to, "Calls", l->calls);
    fputs("<td>", to);
    put_problem(to, l);
    fputs("</td></tr>\n", to);
  }
  page_table_end(to);
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

void page_left(FILE *to, const struct run_report *r)
{
  fputs("<h2 id=\"left\">Calls that were left to the original</h2>\n", to);
  if (r->taken == r->calls) fputs("<p>None.</p>\n", to);
  for (int i = 0; i < r->count; i++)
    if (is_first_of_reason(r, i)) put_reason(to, r, r->line[i].reason);
}
