/* fuzz_options.c: lines "ROUTES=csr,vector" as the variables SHUNT_ROUTES and so on
   (backend/plan/options.c, which is compiled in here, so that they are read anew for each case).
   Whatever is set, every option has a value that it may have.  */
#include "backend/plan/options.c"
#include "tests/fuzz/fuzz.h"

static const struct shunt_route routes[] = {{.name = "csr"},      {.name = "bundle"},
                                            {.name = "vector"},   {.name = "tile"},
                                            {.name = "sparse24"}, {.name = "dense"}};
enum { ROUTES = sizeof routes / sizeof *routes };
int shunt_route_count(void)
{
  return ROUTES;
}
const struct shunt_route *shunt_route_at(int i)
{
  return &routes[i];
}
int shunt_route_index(const char *name)
{
  for (int i = 0; i < ROUTES; i++)
    if (strcmp(routes[i].name, name) == 0) return i;
  return -1;
}

static const char *const variables[] = {
    "SHUNT_ROUTES",   "SHUNT_MATH", "SHUNT_LOG",       "SHUNT_LOG_FILE", "SHUNT_REPORT",
    "SHUNT_CACHE_MB", "SHUNT_TUNE", "SHUNT_TUNE_FILE", "SHUNT_VERIFY",   "SHUNT_DETERMINISTIC"};
enum { VARIABLES = sizeof variables / sizeof *variables };

static void set_variables(char *text)
{
  char *rest = text;
  for (int i = 0; i < VARIABLES; i++) unsetenv(variables[i]);
  for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
    char *value = strchr(line, '=');
    if (!value) continue;
    *value++ = 0;
    for (int i = 0; i < VARIABLES; i++)
      if (strcmp(variables[i] + strlen("SHUNT_"), line) == 0) setenv(variables[i], value, 1);
  }
}

/* A path is the variable's, whole, or none. */
static void expect_path(const char *path, size_t room, const char *variable)
{
  const char *set = getenv(variable);
  FUZZ_EXPECT(memchr(path, 0, room));
  FUZZ_EXPECT(!*path || (set && strcmp(path, set) == 0));
}

static void expect_switch(bool option, const char *variable)
{
  const char *set = getenv(variable);
  FUZZ_EXPECT(option == (set && strcmp(set, "1") == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const struct shunt_options *o = &options;
  char *text = fuzz_text(data, size);
  set_variables(text);
  free(text);
  memset(&options, 0, sizeof options);
  read_options();
  FUZZ_EXPECT(o->engines <= (SHUNT_ENGINE_HOST | SHUNT_ENGINE_CUDA));
  FUZZ_EXPECT(o->engines_forced ? o->routes < 1u << ROUTES : o->routes == ~(uint32_t)0);
  FUZZ_EXPECT(o->math <= SHUNT_MATH_TF32X3);
  FUZZ_EXPECT(o->cache_bytes >= -1 && o->cache_bytes < (int64_t)1 << 60);
  expect_path(o->log_file, sizeof o->log_file, "SHUNT_LOG_FILE");
  expect_path(o->report, sizeof o->report, "SHUNT_REPORT");
  expect_path(o->tune_file, sizeof o->tune_file, "SHUNT_TUNE_FILE");
  expect_switch(o->deterministic, "SHUNT_DETERMINISTIC");
  expect_switch(o->tune, "SHUNT_TUNE");
  expect_switch(o->verify, "SHUNT_VERIFY");
  return 0;
}
