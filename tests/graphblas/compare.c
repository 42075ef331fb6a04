/* compare.c: whether the two sides of a case ended alike (compare.h). */
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "tolerance.h"

/* Settings as the original leaves them, or, for C, as they were: with a mask and REPLACE the
   original hands the mask's own on to C.  */
static bool equal_settings(const struct seen *a, const struct seen *b, const struct seen *before,
                           struct differences *d, char why[200])
{
  char not_needed[200];
  if (settings_equal(a, b, why)) return true;
  if (!before || !settings_equal(a, before, not_needed)) return false;
  d->settings_kept++;
  return true;
}

/* How GraphBLAS holds an object is its own choice among what the sparsity control allows; it
   depends on the way the result was made.  */
static bool equal_status(const struct seen *a, const struct seen *b, struct differences *d,
                         char why[200])
{
  int control = a->control | (a->control == FORM_FULL ? FORM_BITMAP : 0);
  if (a->status == b->status) return true;
  d->status++;
  if ((control & a->status) || !(b->control & b->status)) return true;
  snprintf(why, 200, "status %d, original's %d, control %d", a->status, b->status, a->control);
  return false;
}

static bool equal_values(const struct product_case *c, int slot, const struct seen *a,
                         const struct seen *b, char why[200])
{
  if (slot != SLOT_C || (c->exact && !c->nan_or_identity && !c->any_parent))
    return seen_equal(a, b, NULL, NULL, why);
  struct tolerance t;
  bool started = tolerance_start(&t, c);
  bool equal = seen_equal(a, b, started ? tolerance_near : NULL, &t, why);
  tolerance_finish(&t);
  return equal;
}

static bool equal_objects(const struct product_case *c, int slot, struct side *two,
                          struct differences *d, char why[200])
{
  const struct operand *o = &c->operand[slot];
  struct seen a = {0}, b = {0};
  bool equal = object_see(o->vector, two[0].object[slot], o->type, &a, why) &&
               object_see(o->vector, two[1].object[slot], o->type, &b, why) &&
               equal_values(c, slot, &a, &b, why) &&
               equal_settings(&a, &b, slot == SLOT_C ? &two[0].before : NULL, d, why) &&
               equal_status(&a, &b, d, why);
  if (slot == SLOT_C && a.iso != b.iso) d->iso++;
  seen_free(&a);
  seen_free(&b);
  return equal;
}

bool sides_equal(const struct product_case *c, struct side *two, struct differences *d,
                 char why[1400])
{
  static const char *const names[] = {"C: ", "M: ", "A: ", "B: "};
  if (two[0].info != two[1].info)
    return snprintf(why, 1400, "returns %d, original %d", (int)two[0].info, (int)two[1].info),
           false;
  if (strcmp(two[0].error, two[1].error) != 0)
    return snprintf(why, 1400, "error string \"%.600s\", original's \"%.600s\"", two[0].error,
                    two[1].error),
           false;
  for (int i = 0; i < SLOTS; i++) {
    char text[200] = "";
    if (c->same_as[i] != i || (i == SLOT_M && !c->has_mask)) continue;
    if (!equal_objects(c, i, two, d, text))
      return snprintf(why, 1400, "%s%s", names[i], text), false;
  }
  return true;
}
