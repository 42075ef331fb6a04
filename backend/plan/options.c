#include "backend/plan/options.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/plan/fault.h"
#include "backend/routes/route.h"
#include "backend/routes/words.h"

static struct shunt_options options;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void warn(const char *variable, const char *value, const char *accepted)
{
  fprintf(stderr, "shunt: %s=%s is not understood; accepted: %s\n", variable, value, accepted);
}

struct routes {
  uint32_t routes, engines;
  bool listed, renamed;
};

/* Adds what one word of the list names; false: nothing of that name. */
static bool add_route(struct routes *r, const char *word)
{
  const char *today = shunt_route_word(word);
  int i = shunt_route_index(today);
  if (today != word) r->renamed = true;
  if (i >= 0)
    r->routes |= 1u << i;
  else if (strcmp(word, "host") == 0)
    r->engines |= SHUNT_ENGINE_HOST;
  else if (strcmp(word, "cuda") == 0)
    r->engines |= SHUNT_ENGINE_CUDA;
  else
    return false;
  return true;
}

static struct routes parse_routes(const char *text)
{
  const struct routes all = {~(uint32_t)0, SHUNT_ENGINE_HOST | SHUNT_ENGINE_CUDA, false, false};
  struct routes r = {0, 0, true, false};
  char copy[256], accepted[256] = "all, none", *rest;
  if (!text || strcmp(text, "all") == 0) return all;
  if (strcmp(text, "none") == 0) return r;
  for (int i = 0; i < shunt_route_count(); i++) {
    strncat(accepted, ", ", sizeof accepted - strlen(accepted) - 1);
    strncat(accepted, shunt_route_at(i)->name, sizeof accepted - strlen(accepted) - 1);
  }
  strncat(accepted, ", host, cuda", sizeof accepted - strlen(accepted) - 1);
  snprintf(copy, sizeof copy, "%s", text);
  for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    if (add_route(&r, word)) continue;
    warn("SHUNT_ROUTES", text, accepted);
    return all;
  }
  return r;
}

/* A whole number >= 0, or `otherwise` (with a warning if something was set). */
static int64_t parse_number(const char *variable, int64_t otherwise)
{
  const char *text = getenv(variable);
  char *end;
  if (!text || !*text) return otherwise;
  long long n = strtoll(text, &end, 10);
  if (*end == 0 && n >= 0 && n < (1ll << 40)) return n;
  warn(variable, text, "a whole number");
  return otherwise;
}

/* 0 or 1; 0, with a warning, if something else was set. */
static bool parse_switch(const char *variable)
{
  const char *text = getenv(variable);
  if (!text || !*text || strcmp(text, "0") == 0) return false;
  if (strcmp(text, "1") == 0) return true;
  warn(variable, text, "0, 1");
  return false;
}

/* Exact, with a warning, if something else than the accepted was set: nobody gets a lower
   precision by mistake.  */
static enum shunt_math parse_math(void)
{
  const char *text = getenv("SHUNT_MATH");
  if (!text || !*text || strcmp(text, "exact") == 0) return SHUNT_MATH_EXACT;
  if (strcmp(text, "tf32") == 0) return SHUNT_MATH_TF32;
  if (strcmp(text, "tf32x3") == 0) return SHUNT_MATH_TF32X3;
  warn("SHUNT_MATH", text, "exact, tf32, tf32x3");
  return SHUNT_MATH_EXACT;
}

static void copy_path(char *to, size_t size, const char *variable)
{
  const char *text = getenv(variable);
  if (text && strlen(text) < size) memcpy(to, text, strlen(text) + 1);
}

static void read_options(void)
{
  const char *log = getenv("SHUNT_LOG");
  struct routes routes = parse_routes(getenv("SHUNT_ROUTES"));
  options.routes = routes.routes;
  options.engines = routes.engines;
  options.engines_forced = routes.listed;
  options.routes_renamed = routes.renamed;
  options.math = parse_math();
  if (log && strcmp(log, "dispatch") == 0)
    options.log_dispatch = true;
  else if (log && *log)
    warn("SHUNT_LOG", log, "dispatch");
  copy_path(options.log_file, sizeof options.log_file, "SHUNT_LOG_FILE");
  copy_path(options.report, sizeof options.report, "SHUNT_REPORT");
  options.deterministic = parse_switch("SHUNT_DETERMINISTIC");
  options.tune = parse_switch("SHUNT_TUNE");
  options.verify = parse_switch("SHUNT_VERIFY");
  copy_path(options.tune_file, sizeof options.tune_file, "SHUNT_TUNE_FILE");
  int64_t megabytes = parse_number("SHUNT_CACHE_MB", -1);
  options.cache_bytes = megabytes < 0 ? -1 : megabytes << 20;
  int64_t fault = parse_number("SHUNT_FAULT", -1);
  if (fault >= 0) shunt_fault_arm((long)fault);
}

const struct shunt_options *shunt_options(void)
{
  pthread_once(&once, read_options);
  return &options;
}
