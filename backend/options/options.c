#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "backend/options/options.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "backend/options/disable.h"
#include "backend/plan/fault.h"
#include "backend/routes/route.h"
#include "backend/routes/words.h"

void shunt_complain(struct shunt_complaints *c, const char *format, ...)
{
  char line[sizeof c->first];
  va_list list;
  va_start(list, format);
  vsnprintf(line, sizeof line, format, list);
  va_end(list);
  if (c->count++ == 0) memcpy(c->first, line, sizeof line);
  if (c->to) fprintf(c->to, "shunt: %s\n", line);
}

/* ---- values --------------------------------------------------------------------------------- */

/* Adds what one word of the list names; false: nothing of that name. */
static bool add_route(struct shunt_options *o, const char *word)
{
  const char *today = shunt_route_word(word);
  int i = shunt_route_index(today);
  if (today != word) o->routes_renamed = true;
  if (i >= 0)
    o->routes |= 1u << i;
  else if (strcmp(word, "host") == 0)
    o->engines |= SHUNT_ENGINE_HOST;
  else if (strcmp(word, "cuda") == 0)
    o->engines |= SHUNT_ENGINE_CUDA;
  else
    return false;
  return true;
}

static void allow_all(struct shunt_options *o)
{
  o->routes = ~(uint32_t)0;
  o->engines = SHUNT_ENGINE_HOST | SHUNT_ENGINE_CUDA;
  o->engines_forced = o->routes_renamed = false;
}

static bool parse_routes(const char *text, struct shunt_options *o)
{
  char copy[256], *rest;
  bool good = strlen(text) < sizeof copy;
  allow_all(o);
  if (strcmp(text, "all") == 0) return true;
  o->routes = o->engines = 0;
  o->engines_forced = true;
  if (strcmp(text, "none") == 0) return true;
  snprintf(copy, sizeof copy, "%s", text);
  for (char *word = strtok_r(copy, ",", &rest); good && word; word = strtok_r(NULL, ",", &rest))
    good = add_route(o, word);
  if (!good) allow_all(o);
  return good;
}

static bool parse_number(const char *text, int unit_bits, int64_t *out)
{
  char *end;
  errno = 0;
  const long long n = strtoll(text, &end, 10);
  if (*end != 0 || errno != 0 || n < 0 || n >= 1ll << 40) return false;
  *out = (int64_t)n << unit_bits;
  return true;
}

static bool parse_switch(const char *text, bool *out)
{
  if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) return false;
  *out = text[0] == '1';
  return true;
}

static bool parse_word(const char *text, const char *const *words, void *out)
{
  for (int i = 0; words[i]; i++) {
    if (strcmp(text, words[i]) != 0) continue;
    memcpy(out, &i, sizeof i); /* an enum of no negative value: an int or as large */
    return true;
  }
  return false;
}
_Static_assert(sizeof(enum shunt_math) == sizeof(int) && sizeof(enum shunt_log) == sizeof(int) &&
                   sizeof(enum shunt_assume) == sizeof(int),
               "parse_word writes an int");

static bool parse_path(const char *text, char out[SHUNT_OPTION_PATH_BYTES])
{
  const size_t n = strlen(text);
  if (n >= SHUNT_OPTION_PATH_BYTES) return false;
  memcpy(out, text, n + 1);
  return true;
}

/* False: not understood, and the default stays. */
static bool parse(const struct shunt_option *row, const char *text, struct shunt_options *o)
{
  void *const place = (char *)o + row->place;
  switch (row->kind) {
  case SHUNT_OPTION_SWITCH: return parse_switch(text, place);
  case SHUNT_OPTION_NUMBER: return parse_number(text, 0, place);
  case SHUNT_OPTION_MEGABYTES: return parse_number(text, 20, place);
  case SHUNT_OPTION_WORD: return parse_word(text, row->words, place);
  case SHUNT_OPTION_PATH: return parse_path(text, place);
  case SHUNT_OPTION_ROUTES: return parse_routes(text, o);
  case SHUNT_OPTION_TEXT: return true;
  }
  return false;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Nearest names for what begins with SHUNT_ and is nobody's. */
static void check_names(struct shunt_complaints *complaints)
{
  static const char prefix[] = "SHUNT_";
  for (char **e = environ; e && *e; e++) {
    char name[64];
    const size_t n = strcspn(*e, "=");
    if (strncmp(*e, prefix, sizeof prefix - 1) != 0) continue;
    snprintf(name, sizeof name, "%.*s", (int)n, *e);
    if (shunt_option_index(name) < 0 && !shunt_option_is_of_tests(name))
      shunt_complain(complaints, "%s is not known; the nearest name is %s", name,
                     shunt_option_table[shunt_option_nearest(name)].name);
  }
}

static struct shunt_option_setting setting_of(int row, const struct shunt_config *config)
{
  const char *text = secure_getenv(shunt_option_table[row].name);
  if (text) return (struct shunt_option_setting){*text ? text : NULL, SHUNT_FROM_ENVIRONMENT};
  text = config->value[row];
  if (text) return (struct shunt_option_setting){*text ? text : NULL, SHUNT_FROM_FILE};
  return (struct shunt_option_setting){NULL, SHUNT_FROM_DEFAULT};
}

static void read_config(struct shunt_config *config, struct shunt_complaints *complaints)
{
  const char *path = secure_getenv("SHUNT_CONFIG");
  memset(config->value, 0, sizeof config->value);
  if (path && *path && !shunt_config_read(path, config, complaints))
    memset(config->value, 0, sizeof config->value);
}

void shunt_options_read(struct shunt_options_reading *r, struct shunt_complaints *complaints)
{
  char accepted[256];
  memset(&r->options, 0, sizeof r->options);
  allow_all(&r->options);
  r->options.cache_bytes = r->options.leave = r->options.fault = -1;
  read_config(&r->config, complaints);
  for (int i = 0; i < SHUNT_OPTION_COUNT; i++) {
    const struct shunt_option *row = &shunt_option_table[i];
    struct shunt_option_setting *s = &r->setting[i];
    *s = setting_of(i, &r->config);
    if (!s->text || parse(row, s->text, &r->options)) continue;
    shunt_complain(complaints, "%s=%s is not understood; accepted: %s", row->name, s->text,
                   shunt_option_accepted(row, accepted));
    *s = (struct shunt_option_setting){NULL, SHUNT_FROM_DEFAULT};
  }
  if (!getauxval(AT_SECURE)) check_names(complaints);
}

/* ---- once a process ------------------------------------------------------------------------- */

/* Exported, so that the libraries of one process have one between them: the loader binds all to
   the first.  */
__attribute__((visibility("default"))) atomic_flag shunt_options_warned = ATOMIC_FLAG_INIT;

static struct shunt_options_reading reading;
static _Atomic(const struct shunt_options *) settled; /* NULL: not read yet */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void say(const struct shunt_complaints *c)
{
  if (c->count == 0 || atomic_flag_test_and_set(&shunt_options_warned)) return;
  if (c->count == 1)
    fprintf(stderr, "shunt: %s\n", c->first);
  else
    fprintf(stderr, "shunt: %s; and %d more: see `shunt options`\n", c->first, c->count - 1);
}

static void read_once(void)
{
  const int saved_errno = errno;
  struct shunt_complaints complaints = {.to = NULL};
  shunt_options_read(&reading, &complaints);
  say(&complaints);
  if (reading.options.fault >= 0) shunt_fault_arm((long)reading.options.fault);
  atomic_store_explicit(&settled, &reading.options, memory_order_release);
  errno = saved_errno;
}

/* Calls that are passed through ask several times, so the answer is a load. */
const struct shunt_options *shunt_options(void)
{
  const struct shunt_options *o = atomic_load_explicit(&settled, memory_order_acquire);
  if (__builtin_expect(o != NULL, 1)) return o;
  pthread_once(&once, read_once);
  return &reading.options;
}

/* ---- SHUNT_DISABLE -------------------------------------------------------------------------- */

_Atomic signed char shunt_disabled_state;

/* In silence: shunt_options says what is wrong with the options, if it comes to that.  Two threads
   may read at once, and find the same.  */
bool shunt_disabled_read(void)
{
  const int saved_errno = errno;
  const int row = shunt_option_index("SHUNT_DISABLE");
  struct shunt_config config;
  struct shunt_complaints unheard = {.to = NULL};
  bool disabled = false;
  read_config(&config, &unheard);
  const struct shunt_option_setting s = setting_of(row, &config);
  if (s.text && !parse_switch(s.text, &disabled)) disabled = false;
  atomic_store(&shunt_disabled_state, disabled ? 1 : -1);
  errno = saved_errno;
  return disabled;
}
