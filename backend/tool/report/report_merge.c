/* report_merge.c: the blocks of all processes as one report: what is said twice counts once, equal
   lines are added up, of all processes and of each.  */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/report/run_report.h"

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

/* ---- lines -------------------------------------------------------------------------------- */

void *run_report_room(void **things, int count, int *room, size_t bytes)
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

static int by_content(const void *x, const void *y)
{
  const struct report_line *a = x, *b = y;
  int order = strcmp(a->problem, b->problem);
  if (order == 0) order = strcmp(a->route, b->route);
  if (order == 0) order = strcmp(a->reason, b->reason);
  if (order == 0) order = strcmp(a->call, b->call);
  if (order == 0) order = a->timed - b->timed;
  if (order == 0) order = a->by_table - b->by_table;
  if (order == 0) order = (a->samples > 0) - (b->samples > 0);
  return order;
}

static int by_process(const void *x, const void *y)
{
  const struct report_line *a = x, *b = y;
  return a->process != b->process ? (a->process > b->process) - (a->process < b->process)
                                  : by_content(x, y);
}

static int by_content_then_process(const void *x, const void *y)
{
  const int order = by_content(x, y);
  return order ? order : by_process(x, y);
}

static void add_to_line(struct report_line *to, const struct report_line *l)
{
  to->calls += l->calls;
  to->saved += l->saved;
  to->us += l->us;
  to->samples += l->samples;
  to->error = hypot(to->error, l->error);
  to->saved_unknown += l->saved_unknown;
  if (l->off > to->off) to->off = l->off;
  if (!to->from[0]) memcpy(to->from, l->from, sizeof to->from);
}

/* Adds neighbours up that are equal; how many lines are left. */
static int fold(struct report_line *line, int count, int (*order)(const void *, const void *))
{
  int n = 0;
  for (int i = 0; i < count; i++) {
    if (n > 0 && order(&line[n - 1], &line[i]) == 0)
      add_to_line(&line[n - 1], &line[i]);
    else if (n++ != i)
      line[n - 1] = line[i];
  }
  return n;
}

static void add_to_process(struct report_process *p, const struct report_line *l)
{
  p->calls += l->calls;
  p->us += l->us;
  p->by_table = p->by_table || (l->timed && l->by_table);
  if (run_report_is_original(l)) return;
  p->taken += l->calls;
  p->saved += l->saved;
  p->saved_unknown += l->saved_unknown;
}

static void add_to_all(struct run_report *r, const struct report_line *l)
{
  r->calls += l->calls;
  if (run_report_is_original(l)) return;
  r->taken += l->calls;
  r->saved += l->saved;
  r->saved_unknown += l->saved_unknown;
  if (l->samples == 0) return;
  r->measured += l->saved;
  r->error = hypot(r->error, l->error);
}

/* r->apart has the lines of all blocks as they stand. */
static void add_up(struct run_report *r)
{
  if (r->aparts == 0) return;
  qsort(r->apart, (size_t)r->aparts, sizeof *r->apart, by_process);
  r->aparts = fold(r->apart, r->aparts, by_process);
  for (int i = 0; i < r->aparts; i++) {
    add_to_process(&r->process[r->apart[i].process], &r->apart[i]);
    add_to_all(r, &r->apart[i]);
  }
  r->line = malloc((size_t)r->aparts * sizeof *r->line);
  if (!r->line) {
    r->strange += r->aparts;
    return;
  }
  memcpy(r->line, r->apart, (size_t)r->aparts * sizeof *r->line);
  qsort(r->line, (size_t)r->aparts, sizeof *r->line, by_content_then_process);
  r->room = r->aparts;
  r->count = fold(r->line, r->aparts, by_content);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* A clock may have been set between the blocks of two libraries. */
static bool is_near(double a, double b)
{
  return a == 0 || b == 0 || fabs(a - b) < 2;
}

static bool same_process(const struct report_process *a, const struct report_process *b)
{
  return a->pid == b->pid && a->rank == b->rank && a->space == b->space &&
         strcmp(a->program, b->program) == 0 && strcmp(a->host, b->host) == 0 &&
         is_near(a->started, b->started);
}

/* The process that a block is about, found or added; -1: no memory. */
static int process_of(struct run_report *r, const struct report_process *of)
{
  struct report_process *p = NULL;
  for (int i = 0; i < r->processes && of->pid != 0 && !p; i++)
    if (same_process(&r->process[i], of)) p = &r->process[i];
  if (!p) {
    p = run_report_room((void **)&r->process, r->processes, &r->process_room, sizeof *p);
    if (!p) return -1;
    *p = *of;
    r->processes++;
  }
  p->seconds = fmax(p->seconds, of->seconds);
  p->last = fmax(p->last, of->last);
  if (of->first > 0 && (p->first == 0 || of->first < p->first)) p->first = of->first;
  return (int)(p - r->process);
}

static bool same_matrix(const struct report_matrix *x, const struct report_matrix *y)
{
  for (int i = 0; i < 3; i++)
    if (x->alike[i] != y->alike[i]) return false;
  return x->rows == y->rows && x->cols == y->cols && x->nnz == y->nnz && x->longest == y->longest &&
         x->empty == y->empty && x->two_of_four == y->two_of_four && x->squares == y->squares;
}

/* `count` things behind those of a list; false: no memory. */
static bool add_all(void **to, int *n, int *room, const void *from, int count, size_t bytes)
{
  for (int i = 0; i < count; i++) {
    void *place = run_report_room(to, *n, room, bytes);
    if (!place) return false;
    memcpy(place, (const char *)from + (size_t)i * bytes, bytes);
    ++*n;
  }
  return true;
}

static void add_matrix(struct run_report *r, const struct report_matrix *m)
{
  for (int k = 0; k < r->matrices; k++) {
    if (!same_matrix(&r->matrix[k], m)) continue;
    if (!r->matrix[k].density[0]) r->matrix[k] = *m; /* another process may have a picture of it */
    return;
  }
  if (!add_all((void **)&r->matrix, &r->matrices, &r->matrix_room, m, 1, sizeof *m)) r->strange++;
}

static void add_matrices(struct run_report *r, const struct run_report *c)
{
  for (int i = 0; i < c->matrices; i++) add_matrix(r, &c->matrix[i]);
}

/* A line whose calls would be too many in all is not added. */
static void add_lines(struct run_report *r, const struct run_report *c, int process, int64_t *calls)
{
  for (int i = 0; i < c->aparts; i++) {
    struct report_line *l = &c->apart[i];
    l->process = process;
    if (process < 0 || l->calls > INT64_MAX - *calls ||
        !add_all((void **)&r->apart, &r->aparts, &r->apart_room, l, 1, sizeof *l))
      r->strange++;
    else
      *calls += l->calls;
  }
}

static void add_block(struct run_report *r, struct report_block *b, int64_t *calls)
{
  struct run_report *c = &b->content;
  const int process = c->aparts > 0 ? process_of(r, &b->process) : -1;
  add_lines(r, c, process, calls);
  for (int i = 0; i < c->memories; i++) c->memory[i].process = process > 0 ? process : 0;
  if (!add_all((void **)&r->span, &r->spans, &r->span_room, c->span, c->spans, sizeof *r->span) ||
      !add_all((void **)&r->memory, &r->memories, &r->memory_room, c->memory, c->memories,
               sizeof *r->memory))
    r->strange++;
  add_matrices(r, c);
  r->upkeep.conversions += c->upkeep.conversions;
  r->upkeep.proofs += c->upkeep.proofs;
  r->upkeep.bytes += c->upkeep.bytes;
  r->upkeep.us += c->upkeep.us;
  r->upkeep.proof_us += c->upkeep.proof_us;
  r->frozen_broken = r->frozen_broken || c->frozen_broken;
  if (!r->costs[0]) memcpy(r->costs, c->costs, sizeof r->costs);
  r->strange += c->strange;
  if (__builtin_add_overflow(r->lost, c->lost, &r->lost)) r->strange++;
}

/* Is there a later block of the same library and process? */
static bool is_outdated(const struct report_block *block, int blocks, int i)
{
  for (int k = 0; k < blocks && block[i].id[0]; k++) {
    const double later = block[k].process.seconds - block[i].process.seconds;
    if (k != i && strcmp(block[k].id, block[i].id) == 0 && (later > 0 || (later == 0 && k > i)))
      return true;
  }
  return false;
}

/* Ranks in their order, before processes without one; those as they came. */
static int by_rank(const void *x, const void *y)
{
  const struct report_block *const *a = x, *const *b = y;
  const unsigned p = (unsigned)(*a)->process.rank, q = (unsigned)(*b)->process.rank;
  if (p != q) return p < q ? -1 : 1;
  return (*a > *b) - (*a < *b);
}

void run_report_merge(struct report_block *block, int blocks, struct run_report *r)
{
  struct report_block **sorted = malloc(((size_t)blocks + 1) * sizeof *sorted);
  int64_t calls = 0;
  for (int i = 0; sorted && i < blocks; i++) sorted[i] = &block[i];
  if (sorted) qsort(sorted, (size_t)blocks, sizeof *sorted, by_rank);
  for (int i = 0; i < blocks; i++) {
    struct report_block *b = sorted ? sorted[i] : &block[i];
    if (!is_outdated(block, blocks, (int)(b - block))) add_block(r, b, &calls);
  }
  add_up(r);
  for (int i = 0; i < blocks; i++) run_report_free(&block[i].content);
  free(sorted);
  free(block);
}

void run_report_free(struct run_report *r)
{
  free(r->line);
  free(r->apart);
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
