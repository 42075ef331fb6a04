/* report_figures.c: the page's first part: what was saved, taken and left, and how the gain is
   known.  */
#include <string.h>

#include "backend/tool/report/report_page.h"

static void put_figure(FILE *to, const char *name, const char *value, const char *class)
{
  fprintf(to, "<div><dt>%s</dt><dd%s%s%s>%s</dd></div>\n", name, class ? " class=\"" : "",
          class ? class : "", class ? "\"" : "", value);
}

void page_figures(FILE *to, const struct run_report *r)
{
  char text[32], name[48];
  const char *known = run_report_known_of_all(r);
  fputs("<dl class=\"figures\">\n", to);
  snprintf(name, sizeof name, "Saved%s%s", strcmp(known, "unknown") ? ", " : "",
           strcmp(known, "unknown") ? known : "");
  put_figure(to, name, page_gain(r->saved, r->saved_unknown, r->taken, text), "gain");
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
  if (r->error > 0)
    fprintf(to,
            "<p>By how far these samples lie apart, %s of what was saved is measured to ± %s. What "
            "slows the machine for longer than a sample is not in that; a longer run has more of "
            "them.</p>\n",
            tool_duration(r->measured, samples), tool_duration(r->error, calls));
}

void page_how_known(FILE *to, const struct run_report *r)
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
