/* doctor_findings.c: findings, the verdict, and what to do.

     driver     ok       NVIDIA driver 580.95.05, CUDA 13.0
     preload    problem  /opt/solver is setuid: the loader ignores LD_PRELOAD

     verdict: Shunt cannot serve /opt/solver (1 problem).
     what to do:
       - run a copy without the setuid bit

   Without a program there is a verdict for each library, as a machine without a GPU serves programs
   of GraphBLAS well.  */
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
  f->list[f->count++] = (struct doctor_finding){level, f->about, topic, advice, text};
}

static const char *const library_names[DOCTOR_KINDS] = {"cuSPARSE", "GraphBLAS"};

/* Does the finding count for programs of this library? */
static bool counts_for(const struct doctor_finding *x, enum doctor_kind library)
{
  return library == DOCTOR_KINDS || x->about == DOCTOR_KINDS || x->about == library;
}

/* The worst level of what counts for the library. */
static enum doctor_level worst_for(const struct doctor_findings *f, enum doctor_kind library)
{
  enum doctor_level worst = f->lost ? DOCTOR_PROBLEM : DOCTOR_OK;
  for (int i = 0; i < f->count; i++)
    if (counts_for(&f->list[i], library) && f->list[i].level > worst) worst = f->list[i].level;
  return worst;
}

/* The worst level for the program; without one, of the library that is served better. */
static enum doctor_level worst_of(const struct doctor_findings *f, char *const *argv)
{
  if (argv[0]) return worst_for(f, DOCTOR_KINDS);
  const enum doctor_level a = worst_for(f, DOCTOR_CUSPARSE), b = worst_for(f, DOCTOR_GRAPHBLAS);
  return a < b ? a : b;
}

bool doctor_can_serve(const struct doctor_findings *f, char *const *argv)
{
  return worst_of(f, argv) < DOCTOR_PROBLEM;
}

static int how_many(const struct doctor_findings *f, enum doctor_level level,
                    enum doctor_kind library)
{
  int n = 0;
  for (int i = 0; i < f->count; i++)
    n += f->list[i].level == level && counts_for(&f->list[i], library);
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

static void print_verdict(const struct doctor_findings *f, const char *whom,
                          enum doctor_kind library)
{
  const int problems = how_many(f, DOCTOR_PROBLEM, library);
  const int warnings = how_many(f, DOCTOR_WARNING, library);
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

static void print_verdicts(const struct doctor_findings *f, const char *program)
{
  char whom[64];
  if (program || f->lost) {
    print_verdict(f, program ? program : "this machine's programs", DOCTOR_KINDS);
    return;
  }
  for (int k = 0; k < DOCTOR_KINDS; k++) {
    snprintf(whom, sizeof whom, "programs that use %s", library_names[k]);
    print_verdict(f, whom, (enum doctor_kind)k);
  }
}

/* As a shell takes it: in quotes where it needs them. */
static void print_quoted(const char *word)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_@%+=:,./-";
  if (*word && word[strspn(word, plain)] == 0) {
    fputs(word, stdout);
    return;
  }
  putchar('\'');
  for (; *word; word++)
    if (*word == '\'')
      fputs("'\\''", stdout);
    else
      putchar(*word);
  putchar('\'');
}

static void print_command(char *const *argv)
{
  fputs("what to do: shunt run --", stdout);
  for (; *argv; argv++) {
    putchar(' ');
    print_quoted(*argv);
  }
  putchar('\n');
}

void doctor_print(const struct doctor_findings *f, char *const *argv)
{
  bool headed = false;
  for (int i = 0; i < f->count; i++)
    printf("%-10s %-8s %s\n", f->list[i].topic, level_names[f->list[i].level], f->list[i].text);
  putchar('\n');
  print_verdicts(f, argv[0]);
  for (int i = 0; i < f->count; i++) {
    if (f->list[i].level < DOCTOR_WARNING || !f->list[i].advice || given_before(f, i)) continue;
    if (!headed) puts("what to do:");
    headed = true;
    printf("  - %s\n", f->list[i].advice);
  }
  if (!headed && argv[0] && !f->idle) print_command(argv);
}

static const char *const verdicts[] = {"works", "works", "works with warnings", "broken"};

static void print_libraries(const struct doctor_findings *f)
{
  for (int k = 0; k < DOCTOR_KINDS; k++)
    printf("%s\"%s\": \"%s\"", k ? ", " : ", \"libraries\": {", library_names[k],
           verdicts[worst_for(f, (enum doctor_kind)k)]);
  putchar('}');
}

void doctor_print_json(const struct doctor_findings *f, char *const *argv)
{
  printf("{\"version\": \"%s\", \"program\": ", PACKAGE_VERSION);
  if (argv[0])
    tool_json_string(stdout, argv[0]);
  else
    fputs("null", stdout);
  const bool idle = f->idle && doctor_can_serve(f, argv);
  printf(", \"verdict\": \"%s\"", idle ? "nothing to do" : verdicts[worst_of(f, argv)]);
  if (!argv[0]) print_libraries(f);
  fputs(", \"findings\": [", stdout);
  for (int i = 0; i < f->count; i++) {
    const struct doctor_finding *x = &f->list[i];
    printf("%s{\"topic\": \"%s\", \"level\": \"%s\", \"about\": \"%s\", \"text\": ", i ? ", " : "",
           x->topic, level_names[x->level],
           x->about == DOCTOR_KINDS ? "both" : library_names[x->about]);
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
