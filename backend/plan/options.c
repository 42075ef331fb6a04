#include "backend/plan/options.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/plan/fault.h"
#include "backend/routes/route.h"

static struct shunt_options options;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void warn(const char *variable, const char *value, const char *accepted)
{
  fprintf(stderr, "shunt: %s=%s is not understood; accepted: %s\n", variable, value, accepted);
}

static uint32_t parse_routes(const char *text)
{
  char copy[256], accepted[256] = "all, none", *rest;
  uint32_t mask = 0;
  if (!text || strcmp(text, "all") == 0) return ~(uint32_t)0;
  if (strcmp(text, "none") == 0) return 0;
  for (int i = 0; i < shunt_route_count(); i++) {
    strncat(accepted, ", ", sizeof accepted - strlen(accepted) - 1);
    strncat(accepted, shunt_route_at(i)->name, sizeof accepted - strlen(accepted) - 1);
  }
  snprintf(copy, sizeof copy, "%s", text);
  for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    int i = shunt_route_index(word);
    if (i < 0) {
      warn("SHUNT_ROUTES", text, accepted);
      return ~(uint32_t)0;
    }
    mask |= 1u << i;
  }
  return mask;
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

static void copy_path(char *to, size_t size, const char *variable)
{
  const char *text = getenv(variable);
  if (text && strlen(text) < size) memcpy(to, text, strlen(text) + 1);
}

static void read_options(void)
{
  const char *log = getenv("SHUNT_LOG");
  options.routes = parse_routes(getenv("SHUNT_ROUTES"));
  if (log && strcmp(log, "dispatch") == 0)
    options.log_dispatch = true;
  else if (log && *log)
    warn("SHUNT_LOG", log, "dispatch");
  copy_path(options.log_file, sizeof options.log_file, "SHUNT_LOG_FILE");
  copy_path(options.report, sizeof options.report, "SHUNT_REPORT");
  const char *tune = getenv("SHUNT_TUNE");
  options.tune = tune && strcmp(tune, "1") == 0;
  if (tune && *tune && !options.tune && strcmp(tune, "0") != 0) warn("SHUNT_TUNE", tune, "0, 1");
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
