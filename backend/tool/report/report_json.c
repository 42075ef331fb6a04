/* report_json.c: the object of `shunt run --json FILE`; shunt(1) lists its keys. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "backend/tool/report/run_report.h"

/* ,"name": or "name":, and the value. */
static void put_key(FILE *to, const char *name, bool first)
{
  fprintf(to, "%s\"%s\": ", first ? "" : ", ", name);
}

static void put_string(FILE *to, const char *name, const char *text, bool first)
{
  put_key(to, name, first);
  tool_json_string(to, text);
}

static void put_integer(FILE *to, const char *name, int64_t n)
{
  put_key(to, name, false);
  fprintf(to, "%" PRId64, n);
}

/* null where it is not known. */
static void put_number(FILE *to, const char *name, double x, bool known)
{
  put_key(to, name, false);
  if (known && isfinite(x))
    fprintf(to, "%.3f", x);
  else
    fputs("null", to);
}

static void put_line(FILE *to, const struct report_line *l)
{
  const bool left = run_report_is_original(l);
  put_string(to, "call", l->call, true);
  put_string(to, "route", l->route, false);
  put_string(to, "reason", l->reason, false);
  put_string(to, "sentence", run_report_sentence(l->reason), false);
  put_string(to, "advice", run_report_advice(l->reason), false);
  put_integer(to, "calls", l->calls);
  put_number(to, "saved_us", l->saved, !left && l->saved_unknown < l->calls);
  put_string(to, "gain", run_report_known(l), false);
  put_number(to, "off", l->off, l->off > 0);
  put_integer(to, "samples", l->samples);
  put_number(to, "us", l->us, l->timed);
  put_string(to, "clock", !l->timed ? "none" : l->by_table ? "table" : "host", false);
  put_string(to, "problem", l->problem, false);
  put_string(to, "from", l->from, false);
}

static void put_process(FILE *to, const struct report_process *p)
{
  put_string(to, "program", p->program, true);
  put_integer(to, "pid", p->pid);
  put_number(to, "rank", p->rank, p->rank >= 0);
  put_string(to, "host", p->host, false);
  put_number(to, "started", p->started, p->started > 0);
  put_number(to, "seconds", p->seconds, p->seconds > 0);
  put_integer(to, "calls", p->calls);
  put_integer(to, "taken", p->taken);
  put_number(to, "saved_us", p->saved, p->taken > 0 && p->saved_unknown < p->taken);
}

static void put_span(FILE *to, const struct report_span *s)
{
  put_string(to, "route", s->route, true);
  put_number(to, "from", s->from, true);
  put_number(to, "to", s->to, true);
  put_number(to, "calls", s->calls, true);
  put_number(to, "us", s->us, true);
}

static void put_command(FILE *to, char *const *argv)
{
  put_key(to, "command", false);
  fputc('[', to);
  for (int i = 0; argv[i]; i++) {
    char text[1024];
    snprintf(text, sizeof text, "%s", argv[i]);
    tool_clean(text);
    if (i) fputs(", ", to);
    tool_json_string(to, text);
  }
  fputc(']', to);
}

bool run_report_json(struct run_report *r, const struct run_end *run, FILE *to)
{
  run_report_sort(r);
  fputc('{', to);
  put_string(to, "version", PACKAGE_VERSION, true);
  put_command(to, run->argv);
  put_integer(to, "status", run->end->status);
  put_number(to, "started", run->started, run->started > 0);
  put_number(to, "seconds", run->seconds, true);
  put_integer(to, "calls", r->calls);
  put_integer(to, "taken", r->taken);
  put_number(to, "saved_us", r->saved, r->saved_unknown < r->taken);
  put_string(to, "gain", run_report_known_of_all(r), false);
  put_number(to, "measured_us", r->measured, true);
  put_integer(to, "saved_unknown", r->saved_unknown);
  put_integer(to, "not_counted", r->lost);
  put_integer(to, "not_understood", r->strange);
  put_key(to, "frozen_broken", false);
  fputs(r->frozen_broken ? "true" : "false", to);
  fputs(",\n \"processes\": [", to);
  for (int i = 0; i < r->processes; i++) {
    fputs(i ? ",\n  {" : "\n  {", to);
    put_process(to, &r->process[i]);
    fputc('}', to);
  }
  fputs("],\n \"timeline\": [", to);
  for (int i = 0; i < r->spans; i++) {
    fputs(i ? ",\n  {" : "\n  {", to);
    put_span(to, &r->span[i]);
    fputc('}', to);
  }
  fputs("],\n \"decisions\": [", to);
  for (int i = 0; i < r->count; i++) {
    fputs(i ? ",\n  {" : "\n  {", to);
    put_line(to, &r->line[i]);
    fputc('}', to);
  }
  fputs("]}\n", to);
  return fflush(to) == 0 && !ferror(to);
}
