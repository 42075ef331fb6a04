/* report_page.c: the page of `shunt run --report FILE.html`.

     header      the program, when it ran, how it ended
     figures     saved, taken, left, processes; how the gain is known (report_figures.c)
     taken       by problem: route, calls, saved, time (report_calls.c)
     left        by reason: what it means, what can be done, the problems (the same)
     routes      calls and time of each route, as bars (report_sums.c)
     timeline    calls and time of each route over the run (report_timeline.c)
     copies      conversions, proofs, memory (report_upkeep.c)
     matrices    a picture of each (report_matrices.c)
     processes   side by side, with their ranks (report_sums.c)
     ranks       the time of each, the slowest against the median (report_ranks.c)
     footer      what the page does not tell, and where it is

   One file: it loads nothing and runs nothing.  All that comes from outside is escaped by
   run_report_text (report_pieces.c).  */
#include "backend/tool/report/report_page.h"

#include <time.h>

static void put_argument(FILE *to, const char *argument)
{
  char text[1024];
  snprintf(text, sizeof text, "%s", argument);
  tool_clean(text);
  run_report_text(to, text);
}

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
    page_figures(to, r);
    page_how_known(to, r);
    page_taken(to, r);
    page_left(to, r);
    page_routes(to, r);
    run_report_timeline(r, to);
    run_report_upkeep(r, to);
    run_report_matrices(r, to);
    page_processes(to, r);
    run_report_ranks(r, to);
  }
  fprintf(to, "</main>\n%s</body>\n</html>\n", footer);
  return fflush(to) == 0 && !ferror(to);
}
