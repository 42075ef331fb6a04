/* test_cache_proofs.c: what becomes of a copy when a proof fails, when the matrix holds what no
   copy can, and under SHUNT_ASSUME=frozen.  */
#include "backend/plan/frozen.h"
#include "kernels/guard/guard.h"
#include "tests/unit/plan/cache_calls.h"

/* The device says of one copy that the matrix changed, or that copies do not stand for it. */
static void test_change(void)
{
  struct shunt_lookup l;
  open_cache(1 << 20);
  call(NULL, &l);
  pack(&formats[0]);
  pack(&formats[1]);
  shunt_cache_look_up(cache, &key, &l);
  *shunt_cache_packed_view(l.packed[1].copy).changed = 1;
  shunt_lookup_release(cache, &l);
  check(!call(&formats[0], &l) && !call(&formats[1], &l), "what changed has no copies any more,");
  check(!l.pack_wise && !l.no_copies, "and gets none for a while");
  for (int i = 0; i < 16; i++) call(NULL, &l);
  check(l.pack_wise && pack(&formats[1]) == SHUNT_OK && call(&formats[1], &l), "but later");
  close_cache();
}

static void spoil(void)
{
  struct shunt_lookup l;
  shunt_cache_look_up(cache, &key, &l);
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (l.packed[i].copy) *shunt_cache_packed_view(l.packed[i].copy).nonfinite = 1;
  shunt_lookup_release(cache, &l);
}

/* Calls until the matrix may be packed again. */
static int calls_without(void)
{
  struct shunt_lookup l;
  int n = 0;
  do call(NULL, &l);
  while (!l.pack_wise && ++n < 1 << 20);
  return n;
}

static void test_recovery(void)
{
  struct shunt_lookup l;
  open_cache(1 << 20);
  call(NULL, &l);
  pack(&formats[0]);
  spoil();
  check(!call(&formats[0], &l) && l.no_copies && !l.pack_wise, "a NaN ends copies");
  const int once = calls_without();
  check(once < 100 && pack(&formats[0]) == SHUNT_OK && call(&formats[0], &l) && !l.no_copies,
        "for %d calls, not for good", once);
  spoil();
  call(NULL, &l);
  const int twice = calls_without();
  check(twice > once && pack(&formats[0]) == SHUNT_OK, "the next time for longer (%d)", twice);
  for (int i = 0; i < 100; i++) call(&formats[0], &l);
  spoil();
  call(NULL, &l);
  const int again = calls_without();
  check(again <= once + 1, "until copies have stood for a while (%d)", again);
  close_cache();
}

/* SHUNT_ASSUME=frozen: whose copies are trusted, and when. */
static void test_frozen(void)
{
  struct shunt_lookup l;
  open_cache(1 << 20);
  options.assume = SHUNT_ASSUME_FROZEN;
  call(NULL, &l);
  pack(formats);
  busy = true;
  bool proved = true;
  for (int i = 0; i < 100; i++) proved = proved && call(formats, &l) && last_was_proved;
  check(proved, "a copy is proved while none of its proofs is known to have passed");
  busy = false;
  check(call(formats, &l) && !last_was_proved, "and trusted when they are");
  int proofs = 0;
  for (int i = 0; i < 10 * SHUNT_FROZEN_SHARE; i++) call(formats, &l), proofs += last_was_proved;
  check(proofs == 10, "one use in %d is proved", SHUNT_FROZEN_SHARE);

  const struct shunt_key other = key_of(1);
  call_of(&other, NULL, 0, &l);
  pack_of(&other, formats, 1000, 1);
  call_of(&other, formats, 1, &l);
  check(last_was_proved, "one at addresses that were not met before is proved");
  shunt_cache_forget_range(cache, formats, 1);
  call(NULL, &l);
  pack(formats);
  call(formats, &l);
  check(last_was_proved, "as is one whose arrays were freed");

  for (int i = 0; i < 2 * SHUNT_FROZEN_PROOFS; i++) call(formats, &l);
  check(!last_was_proved, "until it is met as often");
  shunt_cache_look_up(cache, &key, &l);
  *shunt_cache_packed_view(l.packed[0].copy).changed = SHUNT_GUARD_NO_SET;
  shunt_lookup_release(cache, &l);
  check(!call(formats, &l) && !shunt_frozen_broken(), "a table without room breaks no promise");
  for (int i = 0; i < 4; i++) call(NULL, &l);
  for (int i = 0; i < 200 && pack(formats) != SHUNT_OK; i++) call(NULL, &l);
  for (int i = 0; i < 2 * SHUNT_FROZEN_PROOFS; i++) call(formats, &l);
  check(!last_was_proved, "the next copy is trusted");
  shunt_cache_look_up(cache, &key, &l);
  *shunt_cache_packed_view(l.packed[0].copy).changed = SHUNT_GUARD_CHANGED;
  shunt_lookup_release(cache, &l);
  check(!call(formats, &l) && shunt_frozen_broken(), "a change breaks it, and the copy goes");
  for (int i = 0; i < 200 && pack(formats) != SHUNT_OK; i++) call(NULL, &l);
  for (int i = 0; i < 2 * SHUNT_FROZEN_PROOFS; i++) call(formats, &l);
  check(last_was_proved, "no copy is trusted from then on");
  options.assume = SHUNT_ASSUME_NOTHING;
  check(shunt_cache_release_all(cache) > 0 && allocated == 0, "its memory goes");
  close_cache();
}

int main(void)
{
  test_change();
  test_recovery();
  test_frozen();
  return check_finish();
}
