#include "backend/plan/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/options/options.h"
#include "backend/plan/fault.h"
#include "backend/plan/frozen.h"
#include "conv/dcsr/dcsr_traversal.h"

enum { SLOTS = 4096, PROBES = 32 };

struct decision {
  const char *call, *route;
  struct shunt_verdict why;
  uint64_t hash;
  atomic_ullong calls;
  _Atomic double saved_us;
  char problem[SHUNT_PROBLEM_TEXT];
};

static _Atomic(struct decision *) table[SLOTS];
static atomic_ullong lost; /* decisions that found no place */

static bool same(const struct decision *d, const char *call, const char *route,
                 struct shunt_verdict why, uint64_t hash)
{
  return d->hash == hash && d->call == call && d->route == route && d->why.reason == why.reason;
}

static FILE *open_log(void)
{
  const char *path = shunt_options()->log_file;
  return path[0] ? fopen(path, "ae") : stderr;
}

/* File and line without the folders of whoever built this. */
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
  FILE *f = open_log();
  if (f) {
    va_list list;
    if (!atomic_flag_test_and_set(&headed)) head(f);
    va_start(list, form);
    vfprintf(f, form, list);
    va_end(list);
    if (f == stderr)
      fflush(f);
    else
      fclose(f);
  }
  errno = saved_errno;
}

static void print_line(const struct decision *d)
{
  print("shunt,1,dispatch,%s,%s,%s,%s:%d,%s\n", d->call, d->route, shunt_reason_text(d->why.reason),
        short_place(d->why.file), d->why.line, d->problem);
}

void shunt_log_profile(const struct shunt_profile *f)
{
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

static struct decision *make(const char *call, const char *route, struct shunt_verdict why,
                             const struct subject *about)
{
  struct decision *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  d->call = call;
  d->route = route;
  d->why = why;
  d->hash = about->hash;
  if (about->print)
    about->print(about->problem, d->problem);
  else
    memcpy(d->problem, "-", 2);
  return d;
}

void shunt_log_decision_of(const char *call, const char *route, struct shunt_verdict why,
                           uint64_t hash,
                           void (*print)(const void *problem, char text[SHUNT_PROBLEM_TEXT]),
                           const void *problem, double saved_us)
{
  struct subject about = {hash, print, problem};
  uint64_t start = hash ^ ((uintptr_t)call >> 3) ^ ((uintptr_t)route << 5) ^ (uint64_t)why.reason;
  for (unsigned i = 0; i < PROBES; i++) {
    _Atomic(struct decision *) *slot = &table[(start + i) % SLOTS];
    struct decision *d = atomic_load_explicit(slot, memory_order_acquire);
    if (!d) {
      struct decision *fresh = make(call, route, why, &about);
      if (!fresh) return;
      if (atomic_compare_exchange_strong(slot, &d, fresh)) {
        d = fresh;
        if (shunt_options()->log == SHUNT_LOG_DISPATCH) print_line(d);
      } else {
        free(fresh);
      }
    }
    if (!same(d, call, route, why, hash)) continue;
    atomic_fetch_add_explicit(&d->calls, 1, memory_order_relaxed);
    double old = atomic_load_explicit(&d->saved_us, memory_order_relaxed);
    while (saved_us != 0 && !atomic_compare_exchange_weak(&d->saved_us, &old, old + saved_us)) {
    }
    return;
  }
  atomic_fetch_add(&lost, 1);
}

static void print_problem(const void *problem, char text[SHUNT_PROBLEM_TEXT])
{
  shunt_problem_print(problem, text);
}

void shunt_log_decision(const char *call, const char *route, struct shunt_verdict why,
                        const struct shunt_problem *problem, double saved_us)
{
  shunt_log_decision_of(call, route, why, problem ? shunt_problem_hash(problem) : 1,
                        problem ? print_problem : NULL, problem, saved_us);
}

bool shunt_log_wanted(void)
{
  return shunt_options()->log == SHUNT_LOG_DISPATCH || shunt_options()->report[0];
}

static void name_of_program(char *name, size_t size)
{
  FILE *f = fopen("/proc/self/comm", "re");
  if (!f || !fgets(name, (int)size, f)) snprintf(name, size, "?");
  name[strcspn(name, "\n")] = 0;
  if (f) fclose(f);
}

/* No CUDA here: the driver may be gone by now. */
__attribute__((destructor)) static void report(void)
{
  char name[64];
  bool any = shunt_faults_seen() > 0;
  for (int i = 0; i < SLOTS && !any; i++) any = atomic_load(&table[i]) != NULL;
  if (!any) return; /* a program that made no calls has read no options */
  const char *path = shunt_options()->report;
  FILE *f = path[0] ? fopen(path, "ae") : NULL;
  if (!f) return;
  name_of_program(name, sizeof name);
  fprintf(f, "# shunt report 1 pid=%ld prog=%s\n# faults seen %ld\n", (long)getpid(), name,
          shunt_faults_seen());
  if (shunt_frozen_broken()) fputs("# SHUNT_ASSUME=frozen was broken: a matrix changed\n", f);
  for (int i = 0; i < SLOTS; i++) {
    struct decision *d = atomic_load(&table[i]);
    if (!d) continue;
    fprintf(f, "%s\t%s\t%s\t%llu\t%.1f\t%s\n", d->call, d->route, shunt_reason_text(d->why.reason),
            atomic_load(&d->calls), atomic_load(&d->saved_us), d->problem);
  }
  if (atomic_load(&lost)) fprintf(f, "# decisions not counted %llu\n", atomic_load(&lost));
  fclose(f);
}
