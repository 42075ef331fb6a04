/* changes.c: products that another table sends another way. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "backend/tool/calibrate/calibrate.h"

enum { FIRST_FEW = 12 };

struct changes {
  int changed, choices; /* of so many */
  double gain;          /* sum of logarithms */
};

static struct changes count(const struct calibrate_timings *t, const int *before, const int *after)
{
  struct changes n = {0, 0, 0};
  for (int i = 0; i < t->count * CALIBRATE_ALGORITHMS; i++) {
    const struct calibrate_case *c = &t->of[i / CALIBRATE_ALGORITHMS];
    n.choices += after[i] >= 0;
    if (after[i] == before[i]) continue;
    n.changed++;
    n.gain += log(c->us[before[i]] / c->us[after[i]]);
  }
  return n;
}

/* One line for the algorithms of a case that change alike, from the first of them; how many. */
static int print_alike(const struct calibrate_timings *t, const struct calibrate_case *c,
                       const int *before, const int *after, int first)
{
  char asked[32] = "";
  int alike = 0;
  for (int a = 0; a < CALIBRATE_ALGORITHMS; a++) {
    if (before[a] != before[first] || after[a] != after[first]) continue;
    if (a < first) return 0; /* printed already */
    const size_t used = strlen(asked);
    snprintf(asked + used, sizeof asked - used, "%s%s", alike++ ? ", " : "",
             calibrate_way_words[a]);
  }
  printf("  %s, %s, %" PRId64 " columns, %s asked for: %s -> %s, %.2f times as fast\n",
         t->name[c->matrix], shunt_type_text(c->type), c->n, asked,
         calibrate_way_words[before[first]], calibrate_way_words[after[first]],
         c->us[before[first]] / c->us[after[first]]);
  return alike;
}

void calibrate_print_changes(const struct calibrate_timings *t, const int *before, const int *after,
                             bool all)
{
  const struct changes n = count(t, before, after);
  int lines = 0, printed = 0;
  if (n.changed == 0) {
    printf("by the new table all of %d choices stay as they are\n", n.choices);
    return;
  }
  printf("by the new table %d of %d choices change, and are %.2f times as fast in the mean:\n",
         n.changed, n.choices, exp(n.gain / n.changed));
  for (int i = 0; i < t->count; i++)
    for (int a = 0, at = i * CALIBRATE_ALGORITHMS; a < CALIBRATE_ALGORITHMS; a++) {
      if (after[at + a] == before[at + a] || (!all && lines == FIRST_FEW)) continue;
      const int alike = print_alike(t, &t->of[i], before + at, after + at, a);
      lines += alike > 0;
      printed += alike;
    }
  if (printed < n.changed) printf("  ... and %d more (--verbose)\n", n.changed - printed);
}
