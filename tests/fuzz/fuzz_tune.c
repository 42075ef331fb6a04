/* fuzz_tune.c: any file as that of SHUNT_TUNE (backend/plan/tune/tune.c, which is compiled in here,
   so that each case begins with an empty table).  All of it is believed or nothing; what was
   believed is written as a file that is believed again.  */
#include "backend/plan/tune/tune.c"
#include "tests/fuzz/fuzz.h"

static struct shunt_options set;
const struct shunt_options *shunt_options(void)
{
  return &set;
}

static const struct shunt_route routes[] = {{.name = "csr"}, {.name = "vector"}, {.name = "dense"}};
enum { ROUTES = sizeof routes / sizeof *routes };
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

static void forget(void)
{
  for (int i = 0; i < SLOTS && atomic_load(&count); i++) {
    free(atomic_load(&table[i]));
    atomic_store(&table[i], NULL);
  }
  atomic_store(&count, 0);
  signature_of_file[0] = 0;
}

/* Each answer is found by its problem and is one that can be taken. */
static void expect_found(void)
{
  for (int i = 0; i < SLOTS; i++) {
    const struct entry *e = atomic_load(&table[i]);
    struct shunt_problem p;
    if (!e) continue;
    FUZZ_EXPECT(shunt_problem_parse(e->problem, &p) == SHUNT_OK);
    FUZZ_EXPECT(shunt_tune_find(&p) == e->answer.winner);
    FUZZ_EXPECT(e->answer.winner == SHUNT_TUNE_ORIGINAL ||
                (e->answer.winner >= 0 && e->answer.winner < ROUTES));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = fuzz_file(data, size);
  forget();
  snprintf(set.tune_file, sizeof set.tune_file, "%s", path);
  shunt_tune_sign("fuzz");
  const int believed = atomic_load(&count);
  expect_found();
  if (believed) {
    FUZZ_EXPECT(shunt_user_file_write(path, print_file, NULL));
    forget();
    shunt_tune_sign("fuzz");
    FUZZ_EXPECT(atomic_load(&count) == believed);
    expect_found();
  }
  forget();
  return 0;
}
