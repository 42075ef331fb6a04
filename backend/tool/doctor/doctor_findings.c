/* doctor_findings.c: findings, the verdict, and what to do.

     driver     ok       NVIDIA driver 580.95.05, CUDA 13.0
     preload    problem  /opt/solver is setuid: the loader ignores LD_PRELOAD

     verdict: Shunt cannot serve /opt/solver (1 problem).
     what to do:
       - run a copy without the setuid bit  */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/doctor/doctor.h"

static const char *const level_names[] = {"ok", "note", "warning", "problem"};

void doctor_find(struct doctor_findings *f, enum doctor_level level, const char *topic,
                 const char *advice, const char *format, ...)
{
  char *text = NULL;
  va_list list;
  va_start(list, format);
  const int length = vasprintf(&text, format, list);
  va_end(list);
  if (length >= 0 && f->count == f->room) {
    int room = f->room ? 2 * f->room : 32;
    struct doctor_finding *longer = realloc(f->list, (size_t)room * sizeof *longer);
    if (longer) f->list = longer, f->room = room;
  }
  if (length < 0 || f->count == f->room) {
    if (length >= 0) free(text);
    f->lost = true;
    return;
  }
  f->list[f->count++] = (struct doctor_finding){level, topic, advice, text};
}

enum doctor_level doctor_worst(const struct doctor_findings *f)
{
  enum doctor_level worst = f->lost ? DOCTOR_PROBLEM : DOCTOR_OK;
  for (int i = 0; i < f->count; i++)
    if (f->list[i].level > worst) worst = f->list[i].level;
  return worst;
}

static int how_many(const struct doctor_findings *f, enum doctor_level level)
{
  int n = 0;
  for (int i = 0; i < f->count; i++) n += f->list[i].level == level;
  return n;
}

/* Has an earlier finding, as bad as this one, the same advice? */
static bool given_before(const struct doctor_findings *f, int i)
{
  for (int j = 0; j < i; j++)
    if (f->list[j].level >= DOCTOR_WARNING && f->list[j].advice &&
        strcmp(f->list[j].advice, f->list[i].advice) == 0)
      return true;
  return false;
}

static void print_verdict(const struct doctor_findings *f, const char *program)
{
  const char *whom = program ? program : "programs on this machine";
  const int problems = how_many(f, DOCTOR_PROBLEM), warnings = how_many(f, DOCTOR_WARNING);
  if (f->lost)
    puts("verdict: not known, memory ran out.");
  else if (problems)
    printf("verdict: Shunt cannot serve %s (%d problem%s).\n", whom, problems,
           problems == 1 ? "" : "s");
  else if (f->idle)
    printf("verdict: Shunt has nothing to do in %s, as far as its files tell.\n", whom);
  else if (warnings)
    printf("verdict: Shunt can serve %s, with %d warning%s.\n", whom, warnings,
           warnings == 1 ? "" : "s");
  else
    printf("verdict: Shunt can serve %s.\n", whom);
}

void doctor_print(const struct doctor_findings *f, const char *program)
{
  bool headed = false;
  for (int i = 0; i < f->count; i++)
    printf("%-10s %-8s %s\n", f->list[i].topic, level_names[f->list[i].level], f->list[i].text);
  putchar('\n');
  print_verdict(f, program);
  for (int i = 0; i < f->count; i++) {
    if (f->list[i].level < DOCTOR_WARNING || !f->list[i].advice || given_before(f, i)) continue;
    if (!headed) puts("what to do:");
    headed = true;
    printf("  - %s\n", f->list[i].advice);
  }
  if (!headed && program && !f->idle) printf("what to do: shunt run -- %s\n", program);
}

void doctor_print_json(const struct doctor_findings *f, const char *program)
{
  static const char *const verdicts[] = {"works", "works", "works with warnings", "broken"};
  printf("{\"version\": \"%s\", \"program\": ", PACKAGE_VERSION);
  if (program)
    tool_json_string(stdout, program);
  else
    fputs("null", stdout);
  const bool idle = f->idle && doctor_worst(f) != DOCTOR_PROBLEM;
  printf(", \"verdict\": \"%s\", \"findings\": [",
         idle ? "nothing to do" : verdicts[doctor_worst(f)]);
  for (int i = 0; i < f->count; i++) {
    const struct doctor_finding *x = &f->list[i];
    printf("%s{\"topic\": \"%s\", \"level\": \"%s\", \"text\": ", i ? ", " : "", x->topic,
           level_names[x->level]);
    tool_json_string(stdout, x->text);
    fputs(", \"advice\": ", stdout);
    if (x->advice)
      tool_json_string(stdout, x->advice);
    else
      fputs("null", stdout);
    putchar('}');
  }
  puts("]}");
}

void doctor_findings_free(struct doctor_findings *f)
{
  for (int i = 0; i < f->count; i++) free(f->list[i].text);
  free(f->list);
  *f = (struct doctor_findings){0};
}
