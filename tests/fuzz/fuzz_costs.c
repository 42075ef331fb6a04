/* fuzz_costs.c: any file as that of SHUNT_COSTS (backend/costs/read.c).  All of it is believed or
   nothing: a table that is refused is as it was, and one that is believed has finite coefficients
   that are not negative, of all its cuSPARSEs.  */
#define _GNU_SOURCE /* fmemopen */
#include <math.h>

#include "backend/costs/coefficients.h"
#include "backend/costs/machine.h"
#include "tests/fuzz/fuzz.h"

/* Tables that are built in are of no account here (choose.c). */
const struct shunt_cost_table *const shunt_costs_built_in[] = {NULL};

static void expect_sound(struct shunt_cost_table *t, const struct shunt_coefficients *list,
                         int original)
{
  for (size_t i = 0; i < list->count; i++) {
    const double value = *shunt_coefficient_in(t, &list->of[i], original);
    FUZZ_EXPECT(isfinite(value) && value >= 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const struct shunt_cost_table before = {.gpu = "a GPU", .cusparse = {126}};
  struct shunt_cost_table t = before;
  FILE *f = fmemopen((void *)(uintptr_t)(size ? data : (const uint8_t *)""), size ? size : 1, "r");
  if (!f) exit(3);
  const char *why = shunt_costs_read(f, "fuzz", &t);
  fclose(f);
  if (why) {
    FUZZ_EXPECT(why[0] && memcmp(&t, &before, sizeof t) == 0);
    return 0;
  }
  expect_sound(&t, &shunt_coefficients_ours, 0);
  for (int i = 0; i < SHUNT_MOST_ORIGINALS && t.cusparse[i]; i++)
    expect_sound(&t, &shunt_coefficients_original, i);
  return 0;
}
