/* report_timeline.c: what each route did over the run, as two charts of stacked columns.

     calls a column               columns of equal time, of all processes together; the routes
        _                         above one another, the original on top
      _| |_   _
     |_____|_| |_   first call ... last call

   A span of the report that several columns share counts in each by its part.  */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/report/run_report.h"

enum { COLUMNS = 60, ROWS = 9, COLOURS = 8, HIGH = 100 };

struct chart {
  const char *route[ROWS]; /* the last may stand for several: "others" */
  int routes;
  double from, to; /* since 1970 */
  double calls[ROWS][COLUMNS], us[ROWS][COLUMNS];
};

static int row_of(struct chart *c, const char *route)
{
  for (int i = 0; i < c->routes; i++)
    if (strcmp(c->route[i], route) == 0) return i;
  if (c->routes == ROWS) {
    c->route[ROWS - 1] = "others";
    return ROWS - 1;
  }
  c->route[c->routes] = route;
  return c->routes++;
}

static void add_span(struct chart *c, const struct report_span *s)
{
  const int row = row_of(c, s->route);
  const double wide = (c->to - c->from) / COLUMNS;
  for (int i = 0; i < COLUMNS; i++) {
    const double from = fmax(s->from, c->from + wide * i);
    const double to = fmin(s->to, c->from + wide * (i + 1));
    const double part = to > from ? (to - from) / (s->to - s->from) : 0;
    c->calls[row][i] += part * s->calls;
    c->us[row][i] += part * s->us;
  }
}

static bool is_left(const struct chart *c, int row)
{
  return strcmp(c->route[row], "original") == 0;
}

static void put_class(const struct chart *c, int row, FILE *to)
{
  if (is_left(c, row))
    fputs("left", to);
  else
    fprintf(to, "r%d", row % COLOURS);
}

/* The column that is highest, all routes together. */
static double highest(const struct chart *c, double value[ROWS][COLUMNS])
{
  double most = 0;
  for (int i = 0; i < COLUMNS; i++) {
    double sum = 0;
    for (int row = 0; row < c->routes; row++) sum += value[row][i];
    most = fmax(most, sum);
  }
  return most;
}

static void put_columns(const struct chart *c, double value[ROWS][COLUMNS], double most, bool left,
                        double ground[COLUMNS], FILE *to)
{
  for (int row = 0; row < c->routes; row++) {
    if (is_left(c, row) != left) continue;
    fputs("<g class=\"", to);
    put_class(c, row, to);
    fputs("\">", to);
    for (int i = 0; i < COLUMNS; i++) {
      const double high = HIGH * value[row][i] / most;
      if (!(high > 0)) continue;
      ground[i] += high;
      fprintf(to, "<rect x=\"%d\" y=\"%.2f\" width=\"9\" height=\"%.2f\"></rect>", 10 * i,
              HIGH - ground[i], high);
    }
    fputs("</g>\n", to);
  }
}

static void put_chart(const struct chart *c, double value[ROWS][COLUMNS], const char *title,
                      const char *most_text, FILE *to)
{
  double ground[COLUMNS] = {0};
  const double most = highest(c, value);
  if (!(most > 0) || !isfinite(most)) return;
  fprintf(to,
          "<h3>%s</h3>\n<svg class=\"chart\" role=\"img\" aria-label=\"%s over the run\" "
          "viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">\n",
          title, title, 10 * COLUMNS, HIGH);
  put_columns(c, value, most, false, ground, to);
  put_columns(c, value, most, true, ground, to);
  fprintf(to,
          "</svg>\n<div class=\"axis\"><span>first call</span><span>%s</span>"
          "<span>%.1f s</span></div>\n",
          most_text, c->to - c->from);
}

static void put_key(const struct chart *c, FILE *to)
{
  fputs("<div class=\"key\">", to);
  for (int row = 0; row < c->routes; row++) {
    fputs("<span><i class=\"", to);
    put_class(c, row, to);
    fputs("\"></i>", to);
    run_report_text(to, c->route[row]);
    fputs("</span>", to);
  }
  fputs("</div>\n", to);
}

void run_report_timeline(const struct run_report *r, FILE *to)
{
  struct chart *c = r->spans > 0 ? calloc(1, sizeof *c) : NULL;
  char text[64], amount[32];
  if (!c) return;
  c->from = r->span[0].from;
  for (int i = 0; i < r->spans; i++) {
    c->from = fmin(c->from, r->span[i].from);
    c->to = fmax(c->to, r->span[i].to);
  }
  for (int i = 0; i < r->spans; i++) add_span(c, &r->span[i]);
  fputs("<h2 id=\"timeline\">Over the run</h2>\n", to);
  put_key(c, to);
  snprintf(text, sizeof text, "highest column: %s",
           tool_grouped((int64_t)fmin(ceil(highest(c, c->calls)), 1e18), amount));
  put_chart(c, c->calls, "Calls", text, to);
  snprintf(text, sizeof text, "highest column: %s", tool_duration(highest(c, c->us), amount));
  put_chart(c, c->us, "Time that calls took, where it is known", text, to);
  free(c);
}
