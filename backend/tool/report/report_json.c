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
  put_number(to, "error_us", l->error, l->error > 0);
  put_number(to, "us", l->us, l->timed);
  put_string(to, "clock", !l->timed ? "none" : l->by_table ? "table" : "host", false);
  put_string(to, "problem", l->problem, false);
  put_string(to, "from", l->from, false);
}

/* Those of one process, from *at on: what differs between processes of what put_line tells. */
static void put_apart(FILE *to, const struct run_report *r, int *at, int process)
{
  const int begin = *at;
  fputs(",\n   \"decisions\": [", to);
  for (; *at < r->aparts && r->apart[*at].process == process; ++*at) {
    const struct report_line *l = &r->apart[*at];
    fputs(*at == begin ? "\n    {" : ",\n    {", to);
    put_string(to, "call", l->call, true);
    put_string(to, "route", l->route, false);
    put_string(to, "reason", l->reason, false);
    put_integer(to, "calls", l->calls);
    put_number(to, "saved_us", l->saved, !run_report_is_original(l) && l->saved_unknown < l->calls);
    put_number(to, "us", l->us, l->timed);
    put_string(to, "problem", l->problem, false);
    fputc('}', to);
  }
  fputc(']', to);
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
  put_number(to, "us", p->us, p->us > 0);
  put_number(to, "first", p->first, p->first > 0);
  put_number(to, "last", p->last, p->last > 0);
}

/* null where fewer than two have times. */
static void put_slowest(FILE *to, const struct run_report *r)
{
  const struct report_slowest s = run_report_slowest(r);
  put_key(to, "slowest", false);
  if (s.process < 0) {
    fputs("null", to);
    return;
  }
  fprintf(to, "{\"process\": %d", s.process);
  put_number(to, "us", s.us, true);
  put_number(to, "median_us", s.median_us, true);
  fputc('}', to);
}

static void put_span(FILE *to, const struct report_span *s)
{
  put_string(to, "route", s->route, true);
  put_number(to, "from", s->from, true);
  put_number(to, "to", s->to, true);
  put_number(to, "calls", s->calls, true);
  put_number(to, "us", s->us, true);
}

static void put_profile(FILE *to, const struct report_matrix *m)
{
  put_number(to, "longest", m->longest, true);
  put_number(to, "empty", m->empty, true);
  put_number(to, "alike8", m->alike[0], true);
  put_number(to, "alike4", m->alike[1], true);
  put_number(to, "alike2", m->alike[2], true);
  put_number(to, "two_of_four", m->two_of_four, true);
  put_number(to, "squares", m->squares, true);
}

/* What is not 0 of copies; memory as [process, time, copies, device]. */
static void put_upkeep(FILE *to, const struct run_report *r)
{
  const struct report_upkeep *u = &r->upkeep;
  fprintf(to, ",\n \"upkeep\": {\"conversions\": %" PRId64 ", \"proofs\": %" PRId64, u->conversions,
          u->proofs);
  put_number(to, "bytes", u->bytes, true);
  put_number(to, "us", u->us, true);
  put_number(to, "proof_us", u->proof_us, true);
  fputs("},\n \"memory\": [", to);
  for (int i = 0; i < r->memories; i++) {
    const struct report_memory *m = &r->memory[i];
    fprintf(to, "%s[%d, %.3f, %.0f, %.0f]", i ? ", " : "", m->process, m->time, m->copies,
            m->device);
  }
  fputs("],\n \"matrices\": [", to);
  for (int i = 0; i < r->matrices; i++) {
    const struct report_matrix *m = &r->matrix[i];
    fprintf(to, "%s\n  {\"rows\": %.0f, \"cols\": %.0f", i ? "," : "", m->rows, m->cols);
    put_number(to, "nnz", m->nnz, true);
    if (m->profiled) put_profile(to, m);
    if (m->density[0]) {
      fprintf(to, ", \"densest\": %.4g", m->densest);
      put_string(to, "density", m->density, false);
    }
    fputc('}', to);
  }
  fputc(']', to);
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
  int at = 0;
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
  put_number(to, "saved_us_of_one", run_report_most_saved(r), r->saved_unknown < r->taken);
  put_string(to, "gain", run_report_known_of_all(r), false);
  put_number(to, "measured_us", r->measured, true);
  put_number(to, "error_us", r->error, r->error > 0);
  put_integer(to, "saved_unknown", r->saved_unknown);
  put_integer(to, "not_counted", r->lost);
  put_integer(to, "not_understood", r->strange);
  put_string(to, "costs", r->costs, false);
  put_key(to, "frozen_broken", false);
  fputs(r->frozen_broken ? "true" : "false", to);
  put_slowest(to, r);
  fputs(",\n \"processes\": [", to);
  for (int i = 0; i < r->processes; i++) {
    fputs(i ? ",\n  {" : "\n  {", to);
    put_process(to, &r->process[i]);
    put_apart(to, r, &at, i);
    fputc('}', to);
  }
  fputs("],\n \"timeline\": [", to);
  for (int i = 0; i < r->spans; i++) {
    fputs(i ? ",\n  {" : "\n  {", to);
    put_span(to, &r->span[i]);
    fputc('}', to);
  }
  fputc(']', to);
  put_upkeep(to, r);
  fputs(",\n \"decisions\": [", to);
  for (int i = 0; i < r->count; i++) {
    fputs(i ? ",\n  {" : "\n  {", to);
    put_line(to, &r->line[i]);
    fputc('}', to);
  }
  fputs("]}\n", to);
  return fflush(to) == 0 && !ferror(to);
}
