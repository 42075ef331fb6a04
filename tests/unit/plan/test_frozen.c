/* test_frozen.c: when a copy is used without its proof, how soon a change is found that breaks the
   promise, what is said then, and that nothing is trusted behind it.  */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/options/options.h"
#include "backend/plan/frozen.h"
#include "tests/unit/check.h"

static struct shunt_options options;

const struct shunt_options *shunt_options(void)
{
  return &options;
}

/* A matrix, a copy of it, and a device that runs `late` calls behind. */
struct matrix {
  struct shunt_trust trust;
  int calls, awaited; /* the call whose proof is waited for; 0: none yet */
  int changed_at;     /* 0: never */
  int wrong;          /* results that the copy got wrong */
  bool told;          /* the host knows that A changed */
};

/* One call as backend/plan makes it; was it proved? */
static bool call(struct matrix *m, int late)
{
  const bool changed = m->changed_at && m->calls >= m->changed_at;
  if (m->awaited && m->calls >= m->awaited + late && !m->told) shunt_trust_pass(&m->trust);
  const bool proved = !shunt_frozen_assumed() || !shunt_trust_spares_proof(&m->trust);
  m->calls++;
  if (proved && changed) m->told = true;
  if (!proved && changed) m->wrong++;
  if (shunt_trust_used(&m->trust, proved)) m->awaited = m->calls;
  return proved;
}

static void test_not_asked_for(void)
{
  struct matrix m = {0};
  int unproved = 0;
  for (int i = 0; i < 1000; i++) unproved += !call(&m, 0);
  check(!shunt_frozen_assumed() && unproved == 0, "by default each call is proved");
}

static void test_proofs_come_first(void)
{
  options.assume = SHUNT_ASSUME_FROZEN;
  for (int late = 0; late < 100; late += 33) {
    struct matrix m = {0};
    int first = 0;
    for (int i = 1; i <= 500 && !first; i++)
      if (!call(&m, late)) first = i;
    check(first == SHUNT_FROZEN_PROOFS + late + 1,
          "%d calls behind: call %d is the first without a proof", late, first);
  }
  struct matrix m = {.changed_at = 3};
  for (int i = 0; i < 500; i++) call(&m, 0);
  check(m.told && m.wrong == 0 && !atomic_load(&m.trust.passed),
        "what changes before is not trusted, and never wrong");
}

static void test_share(void)
{
  struct matrix m = {0};
  int proved = 0, longest = 0, run = 0;
  while (m.calls < SHUNT_FROZEN_PROOFS) call(&m, 0);
  for (int i = 0; i < 10 * SHUNT_FROZEN_SHARE; i++) {
    const bool p = call(&m, 0);
    proved += p;
    run = p ? 0 : run + 1;
    if (run > longest) longest = run;
  }
  check(proved == 10 && longest == SHUNT_FROZEN_SHARE - 1, "one call of %d is proved",
        SHUNT_FROZEN_SHARE);
  for (int at = 20; at < 20 + SHUNT_FROZEN_SHARE; at++) {
    struct matrix c = {.changed_at = at};
    while (c.calls < at + SHUNT_FROZEN_SHARE) call(&c, 0);
    if (c.told && c.wrong < SHUNT_FROZEN_SHARE) continue;
    check(0, "a change before call %d is found within %d calls", at + 1, SHUNT_FROZEN_SHARE);
  }
}

/* What `f` says on standard error. */
static const char *said(void (*f)(void))
{
  static char text[1024];
  FILE *file = tmpfile();
  const int old = dup(2);
  if (!file || old < 0) return "";
  fflush(stderr);
  dup2(fileno(file), 2);
  f();
  fflush(stderr);
  dup2(old, 2);
  close(old);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

static struct matrix trusted, young;

static void fail_young(void)
{
  shunt_trust_fail(&young.trust, 1, 2, 3);
}
static void fail_trusted(void)
{
  shunt_trust_fail(&trusted.trust, 7, 8, 9);
}

static void test_broken(void)
{
  while (trusted.calls < 2 * SHUNT_FROZEN_PROOFS) call(&trusted, 0);
  check(!*said(fail_young) && shunt_frozen_assumed() && !shunt_frozen_broken(),
        "a matrix that changes before it is trusted breaks no promise");
  check(!call(&trusted, 0), "another is trusted still");
  const char *line = said(fail_trusted);
  check(strstr(line, "7 x 8 with 9 entries") && strchr(line, '\n') == line + strlen(line) - 1,
        "a trusted one that changes is named, in one line");
  check(!shunt_frozen_assumed() && shunt_frozen_broken(), "the mode is off then");
  check(!*said(fail_trusted), "which is said once");
  int unproved = 0;
  for (int i = 0; i < 1000; i++) unproved += !call(&trusted, 0);
  check(unproved == 0, "and each call is proved from then on");
}

int main(void)
{
  test_not_asked_for();
  test_proofs_come_first();
  test_share();
  test_broken();
  return check_finish();
}
