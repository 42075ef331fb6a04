/* report_read.c: what the libraries left behind, a file or a folder of files, read into blocks. */
#define _GNU_SOURCE
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/tool/report/run_report.h"

enum { FIELDS = 6, MOST_FIELDS = 24 };

/* ---- a line of calls ------------------------------------------------------------ */

/* Splits at tabs; the number of fields, those beyond MOST_FIELDS not kept. */
static int split(char *text, char *field[MOST_FIELDS])
{
  int n = 0;
  for (char *at = text; at; n++) {
    char *tab = strchr(at, '\t');
    if (tab) *tab++ = 0;
    if (n < MOST_FIELDS) field[n] = at;
    at = tab;
  }
  return n;
}

/* A finite number and nothing else. */
static bool parse_number(const char *text, double *out)
{
  char *rest;
  *out = strtod(text, &rest);
  return *text && !*rest && isfinite(*out);
}

/* Millions of lines can have so many each, and their sums do not overflow. */
static const int64_t most_counted = INT64_C(1000000000000);

static bool parse_count(const char *text, int64_t *out)
{
  char *rest;
  *out = strtoll(text, &rest, 10);
  return *text && !*rest && *out > 0 && *out <= most_counted;
}

/* name=value, of a line of calls; false: its value is not understood. */
static bool parse_named(const char *field, struct report_line *l)
{
  if (strncmp(field, "us=", 3) == 0) {
    l->timed = true;
    return parse_number(field + 3, &l->us) && l->us >= 0;
  }
  if (strncmp(field, "from=", 5) == 0) {
    snprintf(l->from, sizeof l->from, "%s", field + 5);
    tool_clean(l->from);
  }
  if (strcmp(field, "clock=table") == 0) l->by_table = true;
  if (strncmp(field, "off=", 4) == 0) return parse_number(field + 4, &l->off) && l->off >= 1;
  if (strncmp(field, "samples=", 8) == 0) return parse_count(field + 8, &l->samples);
  if (strncmp(field, "error=", 6) == 0) return parse_number(field + 6, &l->error) && l->error >= 0;
  return true;
}

static bool parse_line(char *text, struct report_line *l)
{
  char *field[MOST_FIELDS];
  const int n = split(text, field);
  if (n < FIELDS || n > MOST_FIELDS || !*field[0] || !*field[1]) return false;
  memset(l, 0, sizeof *l);
  snprintf(l->call, sizeof l->call, "%s", field[0]);
  snprintf(l->route, sizeof l->route, "%s", field[1]);
  snprintf(l->reason, sizeof l->reason, "%s", field[2]);
  const bool counted = parse_count(field[3], &l->calls);
  const bool unknown = strcmp(field[4], "-") == 0;
  if (!counted || (!unknown && !parse_number(field[4], &l->saved))) return false;
  if (unknown && !run_report_is_original(l)) l->saved_unknown = l->calls;
  snprintf(l->problem, sizeof l->problem, "%s", field[5]);
  for (int i = FIELDS; i < n; i++)
    if (!parse_named(field[i], l)) return false;
  tool_clean(l->call);
  tool_clean(l->route);
  tool_clean(l->reason);
  tool_clean(l->problem);
  return true;
}

/* False: no memory. */
static bool add_line(struct run_report *r, const struct report_line *l)
{
  struct report_line *place =
      run_report_room((void **)&r->apart, r->aparts, &r->apart_room, sizeof *place);
  if (!place) return false;
  *place = *l;
  r->aparts++;
  return true;
}

/* ---- a process ---------------------------------------------------------------------- */

/* "# shunt report 2 pid=123 prog=python3" */
static void parse_head(const char *text, struct report_process *p)
{
  const char *pid = strstr(text, " pid="), *program = strstr(text, " prog=");
  memset(p, 0, sizeof *p);
  p->rank = -1;
  if (pid) p->pid = strtol(pid + 5, NULL, 10);
  if (program) snprintf(p->program, sizeof p->program, "%s", program + 6);
  tool_clean(p->program);
}

/* "# process <TAB> name=value ..."; what is not understood is not known. */
static void parse_process(char *text, struct report_block *b)
{
  char *field[MOST_FIELDS];
  struct report_process *p = &b->process;
  const int n = split(text, field);
  for (int i = 1; i < n && i < MOST_FIELDS; i++) {
    double x;
    char *equals = strchr(field[i], '=');
    if (!equals) continue;
    *equals++ = 0;
    if (strcmp(field[i], "host") == 0) {
      snprintf(p->host, sizeof p->host, "%s", equals);
      tool_clean(p->host);
    } else if (strcmp(field[i], "block") == 0) {
      snprintf(b->id, sizeof b->id, "%s", equals);
    } else if (!parse_number(equals, &x) || x < 0) {
      continue;
    } else if (strcmp(field[i], "started") == 0) {
      p->started = x;
    } else if (strcmp(field[i], "seconds") == 0) {
      p->seconds = x;
    } else if (strcmp(field[i], "space") == 0) {
      p->space = x;
    } else if (strcmp(field[i], "first") == 0) {
      p->first = x;
    } else if (strcmp(field[i], "last") == 0) {
      p->last = x;
    } else if (strcmp(field[i], "rank") == 0 && x < INT32_MAX) {
      p->rank = (int)x;
    }
  }
}

/* ---- the timeline --------------------------------------------------------------------- */

/* "# time <TAB> route <TAB> from <TAB> to <TAB> calls <TAB> us"; false: not understood. */
static bool parse_span(char *text, struct report_span *s)
{
  char *field[MOST_FIELDS];
  memset(s, 0, sizeof *s);
  if (split(text, field) != 6) return false;
  snprintf(s->route, sizeof s->route, "%s", field[1]);
  tool_clean(s->route);
  return parse_number(field[2], &s->from) && parse_number(field[3], &s->to) &&
         parse_number(field[4], &s->calls) && parse_number(field[5], &s->us) && s->from >= 0 &&
         s->to > s->from && s->to < 1e12 && s->calls >= 0 && s->us >= 0;
}

static bool add_span(struct run_report *r, const struct report_span *s)
{
  struct report_span *place =
      run_report_room((void **)&r->span, r->spans, &r->span_room, sizeof *s);
  if (!place) return false;
  *place = *s;
  r->spans++;
  return true;
}

/* ---- copies, memory, matrices ------------------------------------------------------------ */

/* The number of name=; 0 where there is none. */
static double named(char *const *field, int n, const char *name)
{
  const size_t length = strlen(name);
  double x = 0;
  for (int i = 1; i < n && i < MOST_FIELDS; i++)
    if (strncmp(field[i], name, length) == 0 && field[i][length] == '=' &&
        parse_number(field[i] + length + 1, &x) && x >= 0 && x < 1e18)
      return x;
  return 0;
}

static bool has(char *const *field, int n, const char *name)
{
  const size_t length = strlen(name);
  for (int i = 1; i < n && i < MOST_FIELDS; i++)
    if (strncmp(field[i], name, length) == 0 && field[i][length] == '=') return true;
  return false;
}

static void add_upkeep(struct run_report *r, char *text)
{
  char *field[MOST_FIELDS];
  const int n = split(text, field);
  struct report_upkeep *u = &r->upkeep;
  u->conversions += (int64_t)fmin(named(field, n, "conversions"), (double)most_counted);
  u->proofs += (int64_t)fmin(named(field, n, "proofs"), (double)most_counted);
  u->bytes += named(field, n, "bytes");
  u->us += named(field, n, "us");
  u->proof_us += named(field, n, "proof_us");
}

/* "# memory <TAB> time <TAB> copies <TAB> device"; false: not understood. */
static bool add_memory(struct run_report *r, char *text)
{
  char *field[MOST_FIELDS];
  struct report_memory m = {0};
  if (split(text, field) != 4 || !parse_number(field[1], &m.time) ||
      !parse_number(field[2], &m.copies) || !parse_number(field[3], &m.device) || m.time < 0 ||
      m.time > 1e12)
    return false;
  struct report_memory *place =
      run_report_room((void **)&r->memory, r->memories, &r->memory_room, sizeof m);
  if (!place) return false;
  *place = m;
  r->memories++;
  return true;
}

/* The picture, or "" where it is none of the matrix' size. */
static void read_density(char *const *field, int n, struct report_matrix *m)
{
  static const char name[] = "density=";
  const size_t cells =
      (size_t)shunt_density_cells((int64_t)m->rows) * (size_t)shunt_density_cells((int64_t)m->cols);
  for (int i = 1; i < n && i < MOST_FIELDS; i++) {
    const char *text = field[i] + sizeof name - 1;
    if (strncmp(field[i], name, sizeof name - 1) != 0 || strlen(text) != cells) continue;
    if (strspn(text, "." SHUNT_DENSITY_LETTERS) != cells) return;
    memcpy(m->density, text, cells + 1);
    m->densest = named(field, n, "densest");
    return;
  }
}

static bool add_matrix(struct run_report *r, char *text)
{
  char *field[MOST_FIELDS];
  const int n = split(text, field);
  struct report_matrix m = {
      .rows = named(field, n, "rows"),
      .cols = named(field, n, "cols"),
      .nnz = named(field, n, "nnz"),
      .longest = named(field, n, "longest"),
      .empty = named(field, n, "empty"),
      .alike = {named(field, n, "alike8"), named(field, n, "alike4"), named(field, n, "alike2")},
      .two_of_four = named(field, n, "two_of_four"),
      .squares = named(field, n, "squares"),
      .profiled = has(field, n, "longest")};
  if (m.rows < 1 || m.cols < 1 || m.empty > m.rows) return false;
  read_density(field, n, &m);
  struct report_matrix *place =
      run_report_room((void **)&r->matrix, r->matrices, &r->matrix_room, sizeof m);
  if (!place) return false;
  *place = m;
  r->matrices++;
  return true;
}

/* ---- the file -------------------------------------------------------------------------- */

struct blocks {
  struct report_block *block;
  int count, room;
};

/* The block that lines go to; a file without a head has one, too.  NULL: no memory. */
static struct report_block *add_block(struct blocks *b)
{
  struct report_block *place =
      run_report_room((void **)&b->block, b->count, &b->room, sizeof *place);
  if (!place) return NULL;
  memset(place, 0, sizeof *place);
  place->process.rank = -1;
  b->count++;
  return place;
}

static void read_line(struct report_block *b, char *text)
{
  struct run_report *r = &b->content;
  struct report_line l;
  int64_t lost;
  if (sscanf(text, "# decisions not counted %" SCNd64, &lost) == 1) {
    if (lost < 0 || __builtin_add_overflow(r->lost, lost, &r->lost)) r->strange++;
  } else if (strncmp(text, "# SHUNT_ASSUME=frozen was broken", 32) == 0) {
    r->frozen_broken = true;
  } else if (strncmp(text, "# costs\t", 8) == 0) {
    if (!r->costs[0]) snprintf(r->costs, sizeof r->costs, "%s", text + 8);
  } else if (strncmp(text, "# process\t", 10) == 0) {
    parse_process(text, b);
  } else if (strncmp(text, "# time\t", 7) == 0) {
    struct report_span s;
    if (!parse_span(text, &s) || !add_span(r, &s)) r->strange++;
  } else if (strncmp(text, "# upkeep\t", 9) == 0) {
    add_upkeep(r, text);
  } else if (strncmp(text, "# memory\t", 9) == 0) {
    if (!add_memory(r, text)) r->strange++;
  } else if (strncmp(text, "# matrix\t", 9) == 0) {
    if (!add_matrix(r, text)) r->strange++;
  } else if (text[0] && text[0] != '#') {
    if (!parse_line(text, &l) || !add_line(r, &l)) r->strange++;
  }
}

static bool read_file(const char *path, struct blocks *b)
{
  FILE *from = fopen(path, "r");
  char *text = NULL;
  size_t room = 0;
  ssize_t n;
  struct report_block *at = NULL;
  if (!from) return false;
  while ((n = getline(&text, &room, from)) > 0) {
    int version;
    if (text[n - 1] == '\n') text[n - 1] = 0;
    const bool head = sscanf(text, "# shunt report %d", &version) == 1;
    if ((head || !at) && !(at = add_block(b))) break;
    if (head) {
      parse_head(text, &at->process);
      at->content.strange += version != 1 && version != 2;
    } else {
      read_line(at, text);
    }
  }
  free(text);
  fclose(from);
  return true;
}

static int is_report(const struct dirent *e)
{
  const size_t n = strlen(e->d_name);
  return e->d_name[0] != '.' && (n < 4 || strcmp(e->d_name + n - 4, ".tmp") != 0);
}

static bool read_folder(const char *path, struct blocks *b)
{
  struct dirent **name;
  const int files = scandir(path, &name, is_report, versionsort);
  if (files < 0) return false;
  for (int i = 0; i < files; i++) {
    char *file;
    if (asprintf(&file, "%s/%s", path, name[i]->d_name) >= 0) {
      read_file(file, b); /* a folder in it is none of ours */
      free(file);
    }
    free(name[i]);
  }
  free(name);
  return true;
}

bool run_report_read(const char *path, struct run_report *r)
{
  struct blocks b = {0};
  struct stat s;
  memset(r, 0, sizeof *r);
  if (stat(path, &s) != 0) return false;
  if (!(S_ISDIR(s.st_mode) ? read_folder(path, &b) : read_file(path, &b))) return false;
  run_report_merge(b.block, b.count, r);
  return true;
}
