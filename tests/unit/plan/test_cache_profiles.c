/* test_cache_profiles.c: profiles that the cache asks for, and those that deterministic problems
   find.  */
#include "tests/unit/plan/cache_calls.h"

static void test_profiles(void)
{
  const struct shunt_csr a = {.nnz = 5}, b = {.nnz = 6};
  const struct shunt_key k1 = key_of(1), k2 = key_of(2);
  struct shunt_lookup l, m;
  open_cache(1 << 20);
  call_of(&k1, NULL, 0, &l);
  check(l.profile_wanted && shunt_cache_profile(cache, &l, &a, NULL, NULL) == SHUNT_OK && asks == 1,
        "a profile is asked for");
  call_of(&k1, NULL, 0, &m);
  check(!m.profile_wanted && !m.has_profile, "once");
  shunt_cache_profile(cache, &l, &a, NULL, NULL);
  check(asks == 1, "though two calls want it");
  arrive(0);
  call_of(&k1, NULL, 0, &l);
  check(l.has_profile && l.profile.nnz == 5 && !l.profile_wanted, "it arrives");

  call_of(&k2, NULL, 0, &l);
  shunt_cache_profile(cache, &l, &b, NULL, NULL);
  shunt_cache_forget(cache);
  call_of(&k2, NULL, 0, &m);
  check(m.profile_wanted, "an entry whose profile was under way when it went wants one again");
  shunt_cache_profile(cache, &l, &b, NULL, NULL);
  check(asks == 2, "(not by a lookup of the entry that went)");
  shunt_cache_profile(cache, &m, &a, NULL, NULL);
  arrive(1);
  call_of(&k2, NULL, 0, &l);
  check(!l.has_profile && asks == 3 && asked[1].to != asked[2].to,
        "what comes for the old one is nobody's,");
  arrive(2);
  call_of(&k2, NULL, 0, &l);
  check(l.has_profile && l.profile.nnz == 5, "what comes for the new one is its own");

  const struct shunt_key k3 = key_of(3);
  call_of(&k3, NULL, 0, &l);
  shunt_cache_profile(cache, &l, &a, NULL, NULL); /* never arrives: its stream failed */
  bool wanted = false;
  for (int i = 0; i < 100000 && !wanted; i++) {
    call_of(&k3, NULL, 0, &l);
    wanted = l.profile_wanted;
  }
  check(wanted, "one that never comes is asked for again");

  arrives = false;
  for (int i = 0; i < 1000; i++) {
    const struct shunt_key k = key_of(100 + i);
    call_of(&k, NULL, 0, &l);
    shunt_cache_profile(cache, &l, &a, NULL, NULL);
  }
  const int before = asks;
  check(before < 400, "only so many are under way at a time (%d)", before);
  close_cache();
}

static void test_settled(void)
{
  const struct shunt_csr a = {.nnz = 5};
  struct shunt_lookup l;
  open_cache(1 << 20);
  shunt_cache_look_up_settled(cache, &key, 7, &l);
  check(!l.has_profile, "nothing is settled at first");
  call(NULL, &l);
  arrives = true;
  shunt_cache_profile(cache, &l, &a, NULL, NULL);
  call(NULL, &l);
  check(l.has_profile, "a profile that has come");
  shunt_cache_look_up_settled(cache, &key, 7, &l);
  check(!l.has_profile && !l.entry, "is not settled");
  call(NULL, &l);
  check(shunt_cache_settle(cache, &l, 7, &a, NULL, NULL) == SHUNT_OK, "one that was waited for is");
  shunt_cache_look_up_settled(cache, &key, 7, &l);
  check(l.has_profile && l.profile.nnz == 5 && !l.pack_wise && !l.profile_wanted,
        "and comes alone");
  shunt_cache_look_up_settled(cache, &key, 8, &l);
  check(!l.has_profile, "not in another epoch, though all addresses are the same");
  shunt_cache_look_up_settled(cache, &key, 0, &l);
  check(!l.has_profile, "nor in none");

  /* Whatever else is under way. */
  arrives = false;
  for (int i = 0; i < 1000; i++) {
    const struct shunt_key k = key_of(100 + i);
    call_of(&k, NULL, 0, &l);
    shunt_cache_profile(cache, &l, &a, NULL, NULL);
  }
  const struct shunt_key last = key_of(2000);
  call_of(&last, NULL, 0, &l);
  shunt_cache_profile(cache, &l, &a, NULL, NULL);
  arrives = true;
  shunt_cache_settle(cache, &l, 9, &a, NULL, NULL);
  shunt_cache_look_up_settled(cache, &last, 9, &l);
  check(l.has_profile, "where all profiles are under way, a matrix is settled all the same");
  const struct shunt_key first = key_of(100); /* whose own is under way */
  call_of(&first, NULL, 0, &l);
  shunt_cache_settle(cache, &l, 10, &a, NULL, NULL);
  shunt_cache_look_up_settled(cache, &first, 10, &l);
  check(l.has_profile, "and so is one whose profile another thread waits for");
  call_of(&first, NULL, 0, &l);
  arrives = false;
  shunt_cache_settle(cache, &l, 11, &a, NULL, NULL);
  shunt_cache_look_up_settled(cache, &first, 11, &l);
  check(!l.has_profile, "one that failed is not");
  close_cache();
}

/* A matrix whose profile is asked for, after which it is called once more. */
static void profile_of(int number, int64_t nnz)
{
  const struct shunt_key k = key_of(number);
  const struct shunt_csr a = {.nnz = nnz};
  struct shunt_lookup l;
  call_of(&k, NULL, 0, &l);
  shunt_cache_profile(cache, &l, &a, NULL, NULL);
  call_of(&k, NULL, 0, &l);
}

static void test_densities(void)
{
  open_cache(1 << 20);
  arrives = true;
  profile_of(1, 5);
  check(densities == 0, "without a report there are no pictures");
  close_cache();

  strcpy(options.report, "report");
  open_cache(1 << 20);
  arrives = true;
  for (int i = 0; i < 100; i++) profile_of(i, i);
  check(densities == 100 && densities_told == 100, "with one, each matrix has its own");
  densities_fail = true;
  profile_of(200, 7);
  check(densities == 101 && densities_told == 100, "one that failed is not told,");
  densities_fail = false;
  densities_unwanted = true;
  profile_of(201, 7);
  check(densities == 101, "none is made that the report has no room for");
  densities_unwanted = false;

  arrives = false;
  const int before = asks;
  for (int i = 0; i < 40; i++) profile_of(300 + i, i);
  check(densities == 133 && asks == before + 40, "so many are under way at a time (%d)", densities);
  for (int i = before; i < asks; i++) arrive(i);
  for (int i = 0; i < 40; i++) {
    const struct shunt_key k = key_of(300 + i);
    struct shunt_lookup l;
    call_of(&k, NULL, 0, &l);
  }
  check(densities_told == 132, "which come with their profiles (%d)", densities_told);
  profile_of(400, 3);
  check(densities == 134, "and make room for others");
  close_cache();
  options.report[0] = 0;
}

int main(void)
{
  test_profiles();
  test_densities();
  test_settled();
  return check_finish();
}
