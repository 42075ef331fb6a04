#include "backend/plan/tune/tune.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/options/options.h"
#include "backend/options/plain_locale.h"
#include "backend/options/user_file.h"
#include "backend/plan/fork.h"
#include "backend/routes/route.h"

enum { SLOTS = 4096, PROBES = 32, LINE = 1024 };
#define HEAD "# shunt tune 1 "

struct entry {
  uint64_t hash;
  struct shunt_tune_answer answer;
  char problem[SHUNT_PROBLEM_TEXT];
};

static _Atomic(struct entry *) table[SLOTS];
static atomic_int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the file and the signature */
SHUNT_LOCK_SURVIVES_FORK(tune, lock)
static char signature_of_file[512];

bool shunt_tune_wanted(void)
{
  return shunt_options()->tune || shunt_options()->tune_file[0];
}

int shunt_tune_find(const struct shunt_problem *p)
{
  if (atomic_load_explicit(&count, memory_order_acquire) == 0) return SHUNT_TUNE_UNKNOWN;
  uint64_t hash = shunt_problem_hash(p);
  for (unsigned i = 0; i < PROBES; i++) {
    struct entry *e = atomic_load_explicit(&table[(hash + i) % SLOTS], memory_order_acquire);
    if (!e) break;
    if (e->hash == hash) return e->answer.winner;
  }
  return SHUNT_TUNE_UNKNOWN;
}

/* Under the lock.  False: known already, or no room. */
static bool add(const struct entry *fresh)
{
  for (unsigned i = 0; i < PROBES; i++) {
    _Atomic(struct entry *) *slot = &table[(fresh->hash + i) % SLOTS];
    struct entry *e = atomic_load(slot);
    if (e && e->hash == fresh->hash) return false;
    if (e) continue;
    struct entry *copy = malloc(sizeof *copy);
    if (!copy) return false;
    *copy = *fresh;
    atomic_store_explicit(slot, copy, memory_order_release);
    atomic_fetch_add_explicit(&count, 1, memory_order_release);
    return true;
  }
  return false;
}

static const char *winner_text(int winner)
{
  return winner == SHUNT_TUNE_ORIGINAL ? "original" : shunt_route_at(winner)->name;
}

/* winner <tab> us <tab> original's us <tab> problem */
static bool parse_line(char *line, struct entry *e)
{
  struct shunt_problem p;
  char *rest = line, *end = NULL;
  const char *route = strsep(&rest, "\t"), *us = strsep(&rest, "\t");
  const char *original_us = strsep(&rest, "\t"), *problem = strsep(&rest, "\n");
  if (!problem || !rest || strlen(problem) >= sizeof e->problem) return false;
  e->answer.us = strtod(us, &end);
  if (end == us || *end) return false;
  e->answer.original_us = strtod(original_us, &end);
  if (end == original_us || *end) return false;
  bool original = strcmp(route, "original") == 0;
  e->answer.winner = original ? SHUNT_TUNE_ORIGINAL : shunt_route_index(route);
  if (!original && e->answer.winner < 0) return false;
  if (shunt_problem_parse(problem, &p) != SHUNT_OK) return false;
  e->hash = shunt_problem_hash(&p);
  memcpy(e->problem, problem, strlen(problem) + 1);
  return true;
}

/* Adds every line of the file, or only looks at them; false: not all of it is ours. */
static bool read_lines(FILE *f, bool adding)
{
  char line[LINE];
  size_t head = strlen(HEAD), length = strlen(signature_of_file);
  if (!fgets(line, sizeof line, f) || strncmp(line, HEAD, head) != 0 ||
      strncmp(line + head, signature_of_file, length) != 0 || line[head + length] != '\n')
    return false;
  while (fgets(line, sizeof line, f)) {
    struct entry e = {0};
    if (!parse_line(line, &e)) return false;
    if (adding) add(&e);
  }
  return true;
}

/* Under the lock. */
static void read_file(const char *path)
{
  const char *why;
  FILE *f = shunt_user_file_open(path, &why);
  if (why) fprintf(stderr, "shunt: SHUNT_TUNE_FILE=%s is not used: %s\n", path, why);
  if (!f) return;
  const struct shunt_plain_locale plain = shunt_plain_locale_begin();
  if (read_lines(f, false)) {
    rewind(f);
    read_lines(f, true);
  }
  shunt_plain_locale_end(&plain);
  fclose(f);
}

/* Ways measured in one arithmetic say nothing of another. */
static const char *math_text(void)
{
  static const char *const texts[] = {
      [SHUNT_MATH_EXACT] = "exact", [SHUNT_MATH_TF32] = "tf32", [SHUNT_MATH_TF32X3] = "tf32x3"};
  return texts[shunt_options()->math];
}

void shunt_tune_sign(const char *machine)
{
  const char *path = shunt_options()->tune_file;
  pthread_mutex_lock(&lock);
  bool first = signature_of_file[0] == 0;
  if (first)
    snprintf(signature_of_file, sizeof signature_of_file, "%s math=%s", machine, math_text());
  if (first && path[0]) read_file(path);
  pthread_mutex_unlock(&lock);
}

static void print_file(FILE *f, void *unused)
{
  (void)unused;
  const struct shunt_plain_locale plain = shunt_plain_locale_begin();
  fprintf(f, HEAD "%s\n", signature_of_file);
  for (int i = 0; i < SLOTS; i++) {
    const struct entry *e = atomic_load(&table[i]);
    if (e)
      fprintf(f, "%s\t%.2f\t%.2f\t%s\n", winner_text(e->answer.winner), e->answer.us,
              e->answer.original_us, e->problem);
  }
  shunt_plain_locale_end(&plain);
}

void shunt_tune_keep(const struct shunt_problem *p, struct shunt_tune_answer answer)
{
  const char *path = shunt_options()->tune_file;
  struct entry e = {.hash = shunt_problem_hash(p), .answer = answer};
  shunt_problem_print(p, e.problem);
  pthread_mutex_lock(&lock);
  /* A file that can't be written is not an error: the answers hold for this process. */
  if (add(&e) && path[0] && signature_of_file[0]) shunt_user_file_write(path, print_file, NULL);
  pthread_mutex_unlock(&lock);
}
