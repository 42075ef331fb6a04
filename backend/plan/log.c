#include "backend/plan/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/log/log_gain.h"
#include "backend/log/log_report.h"
#include "backend/log/log_timeline.h"
#include "backend/log/log_upkeep.h"
#include "backend/options/file_limit.h"
#include "backend/options/options.h"
#include "backend/options/plain_locale.h"
#include "backend/plan/fault.h"
#include "backend/plan/frozen.h"
#include "conv/dcsr/dcsr_traversal.h"

enum { SLOTS = 4096, OTHERS = 256, PROBES = 32, SAMPLES = SHUNT_GAIN_SAMPLES };

/* Calls timed both ways, the last SAMPLES of them (log_gain.h). */
struct samples {
  atomic_ullong count;
  _Atomic float original_us[SAMPLES], ours_us[SAMPLES], around_us[SAMPLES];
};

struct shunt_decision {
  const char *call, *route;
  struct shunt_outcome why;
  uint64_t hash;
  atomic_ullong calls;
  _Atomic double us, saved_us;
  _Atomic double first_us, around_us; /* of the first calls, and of the last ones (log_gain.h) */
  _Atomic double before_us;           /* as around_us was before the last call */
  double off;
  bool saved_known, by_table;
  _Atomic(struct samples *) samples; /* NULL: none yet */
  atomic_flag asked;                 /* whether `from` has been looked for */
  atomic_bool found;                 /* it stands */
  char problem[SHUNT_PROBLEM_TEXT];
  char from[192];
};

static _Atomic(struct shunt_decision *) table[SLOTS];
/* Where that is full: by call, route and reason, whatever the problem. */
static _Atomic(struct shunt_decision *) others[OTHERS];
static atomic_ullong lost; /* decisions that found no place */

static bool same(const struct shunt_decision *d, const char *call, const char *route,
                 struct shunt_outcome why, uint64_t hash)
{
  return d->hash == hash && d->call == call && d->route == route && d->why.reason == why.reason;
}

static FILE *open_log(void)
{
  const char *path = shunt_options()->log_file;
  return path[0] ? fopen(path, "ae") : stderr;
}

/* File and line without the folders that this was built in. */
static const char *short_place(const char *file)
{
  const char *s = file ? strstr(file, "backend/") : NULL;
  return s ? s : file ? file : "-";
}

/* What stands before the first line. */
static void head(FILE *f)
{
  fputs("shunt,1,columns,call,route,reason,place,problem\n", f);
  if (shunt_options()->routes_renamed)
    fputs(
        "shunt,1,note,SHUNT_ROUTES has old names: rows is csr now; groups bundle; tile24 sparse24;"
        " merged tile; blocks bsr\n",
        f);
}

/* A line of the log, with the line that names its columns before the first. */
static void print(const char *form, ...)
{
  static atomic_flag headed = ATOMIC_FLAG_INIT;
  int saved_errno = errno;
  const struct shunt_file_limit limit = shunt_file_limit_begin();
  FILE *f = open_log();
  if (f) {
    va_list list;
    const struct shunt_plain_locale plain = shunt_plain_locale_begin();
    if (!atomic_flag_test_and_set(&headed)) head(f);
    va_start(list, form);
    vfprintf(f, form, list);
    va_end(list);
    shunt_plain_locale_end(&plain);
    if (f == stderr)
      fflush(f);
    else
      fclose(f);
  }
  shunt_file_limit_end(&limit);
  errno = saved_errno;
}

static void print_line(const struct shunt_decision *d)
{
  print("shunt,1,dispatch,%s,%s,%s,%s:%d,%s\n", d->call, d->route, shunt_reason_text(d->why.reason),
        short_place(d->why.file), d->why.line, d->problem);
}

void shunt_log_profile(const struct shunt_profile *f)
{
  shunt_log_matrix(f);
  if (shunt_options()->log != SHUNT_LOG_DISPATCH) return;
  print("shunt,1,profile,rows=%" PRId64 " cols=%" PRId64 " nnz=%" PRId64 " longest=%" PRId64
        " ssf=%.4g,%s\n",
        f->rows, f->cols, f->nnz, f->longest_row, f->ssf,
        shunt_traversal_name(shunt_traversal_of(f)));
}

struct subject {
  uint64_t hash;
  void (*print)(const void *problem, char text[SHUNT_PROBLEM_TEXT]);
  const void *problem;
};

static struct shunt_decision *make(const char *call, const char *route, struct shunt_outcome why,
                                   const struct subject *subject,
                                   const struct shunt_log_call *about)
{
  struct shunt_decision *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  d->call = call;
  d->route = route;
  d->why = why;
  d->saved_known = !isnan(about->saved_us);
  d->off = about->off;
  d->by_table = about->by_table;
  d->hash = subject->hash;
  if (subject->print)
    subject->print(subject->problem, d->problem);
  else
    memcpy(d->problem, "-", 2);
  return d;
}

/* NAN, what is not known, adds nothing. */
static void add(_Atomic double *sum, double x)
{
  double old = atomic_load_explicit(sum, memory_order_relaxed);
  while (x != 0 && !isnan(x) && !atomic_compare_exchange_weak(sum, &old, old + x)) {
  }
}

static double known(double us)
{
  return us < 0 ? NAN : us;
}

/* Once for each decision, and only for a report. */
static void find_caller(struct shunt_decision *d, const void *caller)
{
  if (!caller || !shunt_options()->report[0] || atomic_load(&d->found) ||
      atomic_flag_test_and_set(&d->asked))
    return;
  shunt_log_caller(caller, d->from, sizeof d->from);
  atomic_store(&d->found, true);
}

void shunt_log_took(struct shunt_decision *d, double us)
{
  if (!d) return;
  add(&d->us, known(us));
  if (shunt_options()->report[0]) shunt_timeline_add(d->route, 0, us);
}

void shunt_log_sampled(struct shunt_decision *d, double original_us, double ours_us)
{
  struct samples *s = atomic_load(&d->samples);
  if (!s) {
    struct samples *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return;
    if (atomic_compare_exchange_strong(&d->samples, &s, fresh))
      s = fresh;
    else
      free(fresh);
  }
  const unsigned long long i = atomic_fetch_add(&s->count, 1) % SAMPLES;
  atomic_store(&s->original_us[i], (float)original_us);
  atomic_store(&s->ours_us[i], (float)ours_us);
  atomic_store(&s->around_us[i], (float)atomic_load(&d->before_us));
}

/* What a call took, by a clock of the host; `before`: so many were there before. */
static void add_time(struct shunt_decision *d, unsigned long long before, double us)
{
  if (!(us > 0) || d->by_table) return;
  if (before < SHUNT_GAIN_FIRST) {
    add(&d->first_us, us);
    return;
  }
  const double around = atomic_load(&d->around_us);
  atomic_store(&d->before_us, around);
  atomic_store(&d->around_us, shunt_gain_around(around, us));
}

/* Per call, of a decision that has samples. */
static struct shunt_gain_times times_of(const struct shunt_decision *d, const struct samples *s)
{
  struct shunt_gain_sample sample[SAMPLES];
  const unsigned long long all = atomic_load(&s->count);
  const int count = all < SAMPLES ? (int)all : SAMPLES;
  const struct shunt_gain_calls calls = {.calls = (double)atomic_load(&d->calls),
                                         .us = d->by_table ? 0 : atomic_load(&d->us),
                                         .first_us = atomic_load(&d->first_us)};
  for (int i = 0; i < count; i++)
    sample[i] = (struct shunt_gain_sample){(double)atomic_load(&s->original_us[i]),
                                           (double)atomic_load(&s->ours_us[i]),
                                           (double)atomic_load(&s->around_us[i])};
  return shunt_gain_times(&calls, sample, count);
}

double shunt_log_original(const struct shunt_decision *d)
{
  const struct samples *s = atomic_load(&d->samples);
  return s && atomic_load(&s->count) > 0 ? times_of(d, s).original_us : 0;
}

/* The decision's place in `in`, found or made; NULL: there is none free near where it belongs. */
static struct shunt_decision *place(_Atomic(struct shunt_decision *) *in, uint64_t slots,
                                    const char *call, const char *route, struct shunt_outcome why,
                                    const struct subject *subject,
                                    const struct shunt_log_call *about)
{
  const uint64_t start =
      subject->hash ^ ((uintptr_t)call >> 3) ^ ((uintptr_t)route << 5) ^ (uint64_t)why.reason;
  for (unsigned i = 0; i < PROBES; i++) {
    _Atomic(struct shunt_decision *) *slot = &in[(start + i) % slots];
    struct shunt_decision *d = atomic_load_explicit(slot, memory_order_acquire);
    if (!d) {
      struct shunt_decision *fresh = make(call, route, why, subject, about);
      if (!fresh) return NULL;
      if (atomic_compare_exchange_strong(slot, &d, fresh)) {
        d = fresh;
        shunt_report_begin();
        if (shunt_options()->log == SHUNT_LOG_DISPATCH) print_line(d);
      } else {
        free(fresh);
      }
    }
    if (same(d, call, route, why, subject->hash)) return d;
  }
  return NULL;
}

struct shunt_decision *
shunt_log_decision_of(const char *call, const char *route, struct shunt_outcome why, uint64_t hash,
                      void (*print)(const void *problem, char text[SHUNT_PROBLEM_TEXT]),
                      const void *problem, struct shunt_log_call about)
{
  const struct subject subject = {hash, print, problem}, any = {0, NULL, NULL};
  struct shunt_decision *d = place(table, SLOTS, call, route, why, &subject, &about);
  if (!d) d = place(others, OTHERS, call, route, why, &any, &about);
  if (!d) {
    atomic_fetch_add(&lost, 1);
    return NULL;
  }
  const unsigned long long before = atomic_fetch_add_explicit(&d->calls, 1, memory_order_relaxed);
  add(&d->us, known(about.us));
  add_time(d, before, about.us);
  add(&d->saved_us, about.saved_us);
  find_caller(d, about.caller);
  if (shunt_options()->report[0]) {
    const int64_t now = shunt_timeline_add(d->route, 1, about.us);
    if (about.caller) shunt_report_tick(now);
  }
  return d;
}

static void print_problem(const void *problem, char text[SHUNT_PROBLEM_TEXT])
{
  shunt_problem_print(problem, text);
}

struct shunt_decision *shunt_log_decision(const char *call, const char *route,
                                          struct shunt_outcome why,
                                          const struct shunt_problem *problem,
                                          struct shunt_log_call about)
{
  const uint64_t hash = !problem ? 1 : about.hash ? about.hash : shunt_problem_hash(problem);
  return shunt_log_decision_of(call, route, why, hash, problem ? print_problem : NULL, problem,
                               about);
}

bool shunt_log_wanted(void)
{
  return shunt_options()->log == SHUNT_LOG_DISPATCH || shunt_options()->report[0];
}

/* ---- the report ---------------------------------------------------------------------------- */

static atomic_long faults_before; /* those of the parent, in a forked child */

bool shunt_log_has_content(void)
{
  if (shunt_faults_seen() > atomic_load(&faults_before)) return true;
  for (int i = 0; i < SLOTS; i++)
    if (atomic_load(&table[i])) return true;
  return false;
}

/* The decisions are not freed: fork's handlers may not. */
void shunt_log_forget(void)
{
  for (int i = 0; i < SLOTS; i++) atomic_store_explicit(&table[i], NULL, memory_order_relaxed);
  for (int i = 0; i < OTHERS; i++) atomic_store_explicit(&others[i], NULL, memory_order_relaxed);
  atomic_store(&lost, 0);
  atomic_store(&faults_before, shunt_faults_seen());
}

static void name_of_program(char *name, size_t size)
{
  FILE *f = fopen("/proc/self/comm", "re");
  if (!f || !fgets(name, (int)size, f)) snprintf(name, size, "?");
  name[strcspn(name, "\n")] = 0;
  if (f) fclose(f);
}

static void print_decision(FILE *f, struct shunt_decision *d)
{
  const double us = atomic_load(&d->us), calls = (double)atomic_load(&d->calls);
  const struct samples *s = atomic_load(&d->samples);
  const unsigned long long samples = s ? atomic_load(&s->count) : 0;
  const struct shunt_gain_times times =
      samples ? times_of(d, s) : (struct shunt_gain_times){0, 0, 0};
  fprintf(f, "%s\t%s\t%s\t%.0f\t", d->call, d->route, shunt_reason_text(d->why.reason), calls);
  if (samples > 0)
    fprintf(f, "%.1f", calls * (times.original_us - times.ours_us));
  else if (d->saved_known)
    fprintf(f, "%.1f", atomic_load(&d->saved_us));
  else
    fputc('-', f);
  fprintf(f, "\t%s", d->problem);
  if (samples > 0)
    fprintf(f, "\tsamples=%llu\toriginal=%.2f\tours=%.2f\terror=%.1f", samples, times.original_us,
            times.ours_us, calls * times.error_us);
  else if (d->saved_known && d->off > 0)
    fprintf(f, "\toff=%.2f", d->off);
  if (us > 0) fprintf(f, "\tus=%.1f%s", us, d->by_table ? "\tclock=table" : "");
  if (atomic_load(&d->found) && d->from[0]) fprintf(f, "\tfrom=%s", d->from);
  fputc('\n', f);
}

/* ---- the table of costs ------------------------------------------------------------------- */

static char costs[256];
static atomic_bool costs_known;

void shunt_log_costs(const char *text)
{
  static atomic_flag first = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&first)) return;
  snprintf(costs, sizeof costs, "%s", text);
  atomic_store(&costs_known, true);
}

static void print_costs(FILE *f)
{
  if (atomic_load(&costs_known)) fprintf(f, "# costs\t%s\n", costs);
}

/* ---- the report ----------------------------------------------------------------------------- */

static void print_decisions(FILE *f, _Atomic(struct shunt_decision *) *from, int slots)
{
  for (int i = 0; i < slots; i++) {
    struct shunt_decision *d = atomic_load(&from[i]);
    if (d) print_decision(f, d);
  }
}

/* What the calls of all decisions took, as far as it is known. */
static double time_of(_Atomic(struct shunt_decision *) *from, int slots)
{
  double us = 0;
  for (int i = 0; i < slots; i++) {
    struct shunt_decision *d = atomic_load(&from[i]);
    if (d) us += atomic_load(&d->us);
  }
  return us;
}

/* The call that a test made fail (fault.h). */
static void print_fault(FILE *to)
{
  const struct shunt_fault_place *at = shunt_fault_failed();
  if (at)
    fprintf(to, "# fault\t%.*s\t%s:%d\n", (int)strcspn(at->call, "("), at->call, at->file,
            at->line);
}

void shunt_log_print(FILE *to)
{
  char name[64];
  const struct shunt_plain_locale plain = shunt_plain_locale_begin();
  name_of_program(name, sizeof name);
  fprintf(to, "# shunt report 2 pid=%ld prog=%s\n# faults seen %ld\n", (long)getpid(), name,
          shunt_faults_seen() - atomic_load(&faults_before));
  print_fault(to);
  print_costs(to);
  if (shunt_frozen_broken()) fputs("# SHUNT_ASSUME=frozen was broken: a matrix changed\n", to);
  shunt_log_process(to, time_of(table, SLOTS) + time_of(others, OTHERS));
  print_decisions(to, table, SLOTS);
  print_decisions(to, others, OTHERS);
  shunt_timeline_print(to);
  shunt_upkeep_print(to);
  if (atomic_load(&lost)) fprintf(to, "# decisions not counted %llu\n", atomic_load(&lost));
  shunt_plain_locale_end(&plain);
}
