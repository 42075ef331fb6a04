/* report_read.c: the file that the library left behind, read into struct run_report. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/report/run_report.h"

enum { FIELDS = 6, MOST_FIELDS = 24 };

bool run_report_is_original(const struct report_line *l)
{
  return strcmp(l->route, "original") == 0;
}

const char *run_report_known(const struct report_line *l)
{
  if (run_report_is_original(l)) return "-";
  if (l->saved_unknown == l->calls) return "unknown";
  return l->samples > 0 ? "measured" : "estimated";
}

const char *run_report_known_of_all(const struct run_report *r)
{
  bool measured = false, estimated = false;
  for (int i = 0; i < r->count; i++) {
    const char *known = run_report_known(&r->line[i]);
    measured = measured || strcmp(known, "measured") == 0;
    estimated = estimated || strcmp(known, "estimated") == 0;
  }
  return !measured && !estimated ? "unknown"
         : !measured             ? "estimated"
         : !estimated            ? "measured"
                                 : "partly measured";
}

double run_report_worst_off(const struct run_report *r)
{
  double worst = 0;
  for (int i = 0; i < r->count; i++) {
    const struct report_line *l = &r->line[i];
    if (strcmp(run_report_known(l), "estimated") == 0 && l->off > worst) worst = l->off;
  }
  return worst;
}

double run_report_most_saved(const struct run_report *r)
{
  double most = 0;
  for (int i = 0; i < r->processes; i++) most = fmax(most, r->process[i].saved);
  return most;
}

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

static bool parse_count(const char *text, int64_t *out)
{
  char *rest;
  *out = strtoll(text, &rest, 10);
  return *text && !*rest && *out > 0;
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

static bool is_same(const struct report_line *a, const struct report_line *b)
{
  return strcmp(a->call, b->call) == 0 && strcmp(a->route, b->route) == 0 &&
         strcmp(a->reason, b->reason) == 0 && strcmp(a->problem, b->problem) == 0 &&
         a->timed == b->timed && a->by_table == b->by_table && (a->samples > 0) == (b->samples > 0);
}

/* A place for one more of `count` things of `bytes`; NULL: no memory. */
static void *make_room(void **things, int count, int *room, size_t bytes)
{
  if (count == *room) {
    const int more = *room ? 2 * *room : 16;
    void *longer = realloc(*things, (size_t)more * bytes);
    if (!longer) return NULL;
    *things = longer;
    *room = more;
  }
  return (char *)*things + (size_t)count * bytes;
}

/* False: no memory, or more calls than can be counted. */
static bool add_line(struct run_report *r, const struct report_line *l)
{
  if (l->calls > INT64_MAX - r->calls) return false;
  struct report_line *place = NULL;
  for (int i = 0; i < r->count && !place; i++)
    if (is_same(&r->line[i], l)) place = &r->line[i];
  if (place) {
    place->calls += l->calls;
    place->saved += l->saved;
    place->us += l->us;
    place->samples += l->samples;
    place->saved_unknown += l->saved_unknown;
    if (!place->from[0]) memcpy(place->from, l->from, sizeof place->from);
  } else {
    place = make_room((void **)&r->line, r->count, &r->room, sizeof *place);
    if (!place) return false;
    *place = *l;
    r->count++;
  }
  r->calls += l->calls;
  if (run_report_is_original(l)) return true;
  r->taken += l->calls;
  r->saved += l->saved;
  r->saved_unknown += l->saved_unknown;
  if (l->samples > 0) r->measured += l->saved;
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
static void parse_process(char *text, struct report_process *p)
{
  char *field[MOST_FIELDS];
  const int n = split(text, field);
  for (int i = 1; i < n && i < MOST_FIELDS; i++) {
    double x;
    char *equals = strchr(field[i], '=');
    if (!equals) continue;
    *equals++ = 0;
    if (strcmp(field[i], "host") == 0) {
      snprintf(p->host, sizeof p->host, "%s", equals);
      tool_clean(p->host);
    } else if (!parse_number(equals, &x) || x < 0) {
      continue;
    } else if (strcmp(field[i], "started") == 0) {
      p->started = x;
    } else if (strcmp(field[i], "seconds") == 0) {
      p->seconds = x;
    } else if (strcmp(field[i], "rank") == 0 && x < INT32_MAX) {
      p->rank = (int)x;
    }
  }
}

/* The process that a block is about: one block for each of the libraries that it loaded.  NULL: no
   memory.  */
static struct report_process *find_process(struct run_report *r, const struct report_process *block)
{
  for (int i = 0; i < r->processes && block->pid != 0; i++) {
    struct report_process *p = &r->process[i];
    if (p->pid == block->pid && strcmp(p->program, block->program) == 0 &&
        strcmp(p->host, block->host) == 0)
      return p;
  }
  struct report_process *p =
      make_room((void **)&r->process, r->processes, &r->process_room, sizeof *p);
  if (!p) return NULL;
  *p = *block;
  r->processes++;
  return p;
}

static void add_to_process(struct report_process *p, const struct report_line *l)
{
  p->calls += l->calls;
  if (run_report_is_original(l)) return;
  p->taken += l->calls;
  p->saved += l->saved;
  p->saved_unknown += l->saved_unknown;
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
  struct report_span *place = make_room((void **)&r->span, r->spans, &r->span_room, sizeof *s);
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

static void add_upkeep(struct run_report *r, char *text)
{
  char *field[MOST_FIELDS];
  const int n = split(text, field);
  struct report_upkeep *u = &r->upkeep;
  u->conversions += (int64_t)named(field, n, "conversions");
  u->proofs += (int64_t)named(field, n, "proofs");
  u->bytes += named(field, n, "bytes");
  u->us += named(field, n, "us");
  u->proof_us += named(field, n, "proof_us");
}

/* "# memory <TAB> time <TAB> copies <TAB> device"; false: not understood. */
static bool add_memory(struct run_report *r, char *text, int process)
{
  char *field[MOST_FIELDS];
  struct report_memory m = {.process = process};
  if (split(text, field) != 4 || !parse_number(field[1], &m.time) ||
      !parse_number(field[2], &m.copies) || !parse_number(field[3], &m.device) || m.time < 0 ||
      m.time > 1e12)
    return false;
  struct report_memory *place =
      make_room((void **)&r->memory, r->memories, &r->memory_room, sizeof m);
  if (!place) return false;
  *place = m;
  r->memories++;
  return true;
}

static bool same_matrix(const struct report_matrix *x, const struct report_matrix *y)
{
  for (int i = 0; i < 3; i++)
    if (x->alike[i] != y->alike[i]) return false;
  return x->rows == y->rows && x->cols == y->cols && x->nnz == y->nnz && x->longest == y->longest &&
         x->empty == y->empty && x->two_of_four == y->two_of_four && x->squares == y->squares;
}

static bool add_matrix(struct run_report *r, char *text)
{
  char *field[MOST_FIELDS];
  const int n = split(text, field);
  const struct report_matrix m = {
      .rows = named(field, n, "rows"),
      .cols = named(field, n, "cols"),
      .nnz = named(field, n, "nnz"),
      .longest = named(field, n, "longest"),
      .empty = named(field, n, "empty"),
      .alike = {named(field, n, "alike8"), named(field, n, "alike4"), named(field, n, "alike2")},
      .two_of_four = named(field, n, "two_of_four"),
      .squares = named(field, n, "squares")};
  if (m.rows < 1 || m.cols < 1 || m.empty > m.rows) return false;
  for (int i = 0; i < r->matrices; i++)
    if (same_matrix(&r->matrix[i], &m)) return true;
  struct report_matrix *place =
      make_room((void **)&r->matrix, r->matrices, &r->matrix_room, sizeof m);
  if (!place) return false;
  *place = m;
  r->matrices++;
  return true;
}

/* ---- the file -------------------------------------------------------------------------- */

static void read_line(struct run_report *r, char *text, struct report_process *block,
                      struct report_process **process)
{
  struct report_line l;
  int version = 0;
  int64_t lost;
  if (sscanf(text, "# shunt report %d", &version) == 1) {
    parse_head(text, block);
    *process = NULL;
    if (version != 1 && version != 2) r->strange++;
  } else if (sscanf(text, "# decisions not counted %" SCNd64, &lost) == 1) {
    if (lost < 0 || __builtin_add_overflow(r->lost, lost, &r->lost)) r->strange++;
  } else if (strncmp(text, "# SHUNT_ASSUME=frozen was broken", 32) == 0) {
    r->frozen_broken = true;
  } else if (strncmp(text, "# process\t", 10) == 0) {
    parse_process(text, block);
  } else if (strncmp(text, "# time\t", 7) == 0) {
    struct report_span s;
    if (!parse_span(text, &s) || !add_span(r, &s)) r->strange++;
  } else if (strncmp(text, "# upkeep\t", 9) == 0) {
    add_upkeep(r, text);
  } else if (strncmp(text, "# memory\t", 9) == 0) {
    const int at = *process ? (int)(*process - r->process) : 0;
    if (!add_memory(r, text, at)) r->strange++;
  } else if (strncmp(text, "# matrix\t", 9) == 0) {
    if (!add_matrix(r, text)) r->strange++;
  } else if (text[0] && text[0] != '#') {
    if (!parse_line(text, &l) || !add_line(r, &l)) {
      r->strange++;
      return;
    }
    if (!*process) *process = find_process(r, block);
    if (*process) add_to_process(*process, &l);
  }
}

bool run_report_read(const char *path, struct run_report *r)
{
  FILE *from = fopen(path, "r");
  char *text = NULL;
  size_t room = 0;
  ssize_t n;
  struct report_process block = {.rank = -1}, *process = NULL;
  memset(r, 0, sizeof *r);
  if (!from) return false;
  while ((n = getline(&text, &room, from)) > 0) {
    if (text[n - 1] == '\n') text[n - 1] = 0;
    read_line(r, text, &block, &process);
  }
  free(text);
  fclose(from);
  return true;
}

void run_report_free(struct run_report *r)
{
  free(r->line);
  free(r->process);
  free(r->span);
  free(r->memory);
  free(r->matrix);
  memset(r, 0, sizeof *r);
}

/* ---- order ------------------------------------------------------------------------------ */

static int by_weight(const void *x, const void *y)
{
  const struct report_line *a = x, *b = y;
  const bool a_left = run_report_is_original(a), b_left = run_report_is_original(b);
  if (a_left != b_left) return a_left - b_left;
  if (a->saved != b->saved) return a->saved < b->saved ? 1 : -1;
  if (a->calls != b->calls) return a->calls < b->calls ? 1 : -1;
  return strcmp(a->problem, b->problem);
}

void run_report_sort(struct run_report *r)
{
  if (r->count > 1) qsort(r->line, (size_t)r->count, sizeof *r->line, by_weight);
}
