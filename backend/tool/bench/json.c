/* json.c: the numbers for programs.

   { "shunt": version, "date": UTC, "machine": {...},
     "cases": [ { "matrix", "problem", "profile", "ways": [ { "way", "us", ... } ] } ] }

   Each case is written as it is measured; numbers are "us per call, median".  */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "backend/tool/bench/bench.h"

static void write_text(FILE *to, const char *name, const char *text)
{
  fprintf(to, "\"%s\": ", name);
  tool_json_string(to, text);
}

FILE *bench_json_open(const char *path, const struct bench_machine *m)
{
  char date[32] = "";
  time_t now = time(NULL);
  struct tm utc;
  FILE *to = fopen(path, "w");
  if (!to) {
    tool_say("%s: %s", path, strerror(errno));
    return NULL;
  }
  if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  fputs("{", to);
  write_text(to, "shunt", PACKAGE_VERSION);
  fputs(", ", to);
  write_text(to, "date", date);
  fputs(",\n \"machine\": {", to);
  write_text(to, "engine", m->engine);
  fputs(", ", to);
  write_text(to, "name", m->name);
  fprintf(to, ", \"memory_bytes\": %" PRId64, m->memory_bytes);
  if (strcmp(m->engine, "host") == 0)
    fprintf(to, ", \"threads\": %d", m->threads);
  else
    fprintf(to,
            ", \"multiprocessors\": %d, \"compute_capability\": %d, \"l2_bytes\": %" PRId64
            ", \"driver\": %d, \"runtime\": %d, \"cusparse\": %d, \"cublas\": %d",
            m->multiprocessors, m->compute_capability, m->l2_bytes, m->driver, m->runtime,
            m->cusparse, m->cublas);
  fputs("},\n \"cases\": [", to);
  return to;
}

/* JSON has no NaN or Inf: null. */
static void write_number(FILE *to, const char *name, double x)
{
  if (isfinite(x))
    fprintf(to, "\"%s\": %.6g", name, x);
  else
    fprintf(to, "\"%s\": null", name);
}

static void write_way(FILE *to, const struct bench_case *c, const struct bench_way *w)
{
  fputs("{", to);
  write_text(to, "way", w->name);
  fprintf(to, ", \"ours\": %s", w->ours ? "true" : "false");
  if (w->ran) {
    fputs(", ", to);
    write_number(to, "us", w->us >= 0 ? w->us : NAN);
    fputs(", ", to);
    write_number(to, "gflops", w->us > 0 ? bench_flops(c) / w->us * 1e-3 : NAN);
    fputs(", ", to);
    write_number(to, "max_error", w->max_error);
    fputs(", ", to);
    write_number(to, "error_ratio", w->error_ratio);
    fprintf(to, ", \"right\": %s, ", w->right ? "true" : "false");
    write_text(to, "timing", w->timing);
    if (w->conversion_us > 0) {
      fputs(", ", to);
      write_number(to, "conversion_us", w->conversion_us);
    }
  }
  if (w->note[0]) {
    fputs(", ", to);
    write_text(to, "note", w->note);
  }
  fputs("}", to);
}

void bench_json_case(FILE *to, const struct bench_case *c, bool first)
{
  const struct shunt_profile *f = &c->profile;
  const struct shunt_csr *a = shunt_problem_sparse(&c->problem);
  fputs(first ? "\n  {" : ",\n  {", to);
  write_text(to, "matrix", c->matrix);
  fprintf(to, ", \"v\": %d, ", c->v);
  write_text(to, "problem", c->word);
  fprintf(to,
          ", \"rows\": %" PRId64 ", \"columns\": %" PRId64 ", \"nonzeros\": %" PRId64
          ", \"width\": %" PRId64 ", \"checked_rows\": %" PRId64,
          a->rows, a->cols, a->nnz,
          c->problem.op == SHUNT_SPMM ? c->problem.spmm.c.cols : c->problem.sddmm.a.cols,
          c->checked_rows);
  fprintf(to,
          ",\n   \"profile\": {\"empty_rows\": %" PRId64 ", \"longest_row\": %" PRId64
          ", \"unsorted_rows\": %" PRId64 ", \"row_length_squares\": %.6g",
          f->empty_rows, f->longest_row, f->unsorted_rows, f->row_length_squares);
  fprintf(to, ", \"groups_nonempty\": [%" PRId64 ", %" PRId64 ", %" PRId64 "]",
          f->groups_nonempty[0], f->groups_nonempty[1], f->groups_nonempty[2]);
  fprintf(to, ", \"groups_equal\": [%" PRId64 ", %" PRId64 ", %" PRId64 "]},\n   \"ways\": [",
          f->groups_equal[0], f->groups_equal[1], f->groups_equal[2]);
  for (int i = 0; i < c->ways; i++) {
    if (i) fputs(",\n     ", to);
    write_way(to, c, &c->way[i]);
  }
  fputs("]}", to);
  fflush(to);
}

bool bench_json_close(FILE *to, const char *path)
{
  fputs("\n ]}\n", to);
  bool good = !ferror(to);
  if (fclose(to) != 0) good = false;
  if (!good) tool_say("%s: could not be written", path);
  return good;
}
