/* test_budget.c: one budget for the copies of many processes: real processes, in a folder and by a
   clock of the test's own, without a device.  */
#include "backend/plan/memory/budget.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/check.h"
#include "tests/unit/clock.h"

enum { BUDGET = 1000, LARGE = 100000, PROCESSES = 8 };
static char folder[] = "/tmp/shunt-share-XXXXXX";
static const unsigned char uuid[16] = {1, 2, 3}, other_uuid[16] = {1, 2, 4};

/* Files in the folder. */
static int files(void)
{
  char command[64], line[32] = "";
  snprintf(command, sizeof command, "ls %s | wc -l", folder);
  FILE *f = popen(command, "r");
  if (!f || !fgets(line, sizeof line, f)) return -1;
  pclose(f);
  return atoi(line);
}

/* Another process in the table, which does what it is told by a letter, and says how it went; by a
   capital letter with a large budget.  */
struct peer {
  pid_t pid;
  int to, from;
};

static int64_t obey(struct shunt_budget *s, char what, int64_t value)
{
  switch (what) {
  case 't': return shunt_budget_take(s, value, BUDGET);
  case 'T': return shunt_budget_take(s, value, LARGE);
  case 'k': return shunt_budget_keep(s, value), 0;
  case 'w': return shunt_budget_want(s, value), 0;
  case 'a': return shunt_budget_allows(s, BUDGET);
  case 'A': return shunt_budget_allows(s, LARGE);
  case 's': return shunt_budget_stirred(s);
  case '?': return shunt_budget_ask(s);
  default: return shunt_budget_others(s);
  }
}

struct order {
  int64_t value;
  char what;
};

/* Others may have the table locked for as long as a busy machine keeps them from going on. */
static struct shunt_budget *open_at_last(void)
{
  struct shunt_budget *s = NULL;
  for (int i = 0; i < 1000 && !s; i++) s = shunt_budget_open(folder, uuid);
  return s;
}

static void serve(int in, int out)
{
  struct order order;
  struct shunt_budget *s = open_at_last();
  while (s && read(in, &order, sizeof order) == sizeof order) {
    const int64_t answer = obey(s, order.what, order.value);
    if (write(out, &answer, sizeof answer) != sizeof answer) break;
  }
  exit(!s);
}

static struct peer peer_start(void)
{
  int down[2], up[2];
  struct peer p = {-1, -1, -1};
  if (pipe(down) || pipe(up)) return p;
  fflush(stdout);
  p.pid = fork();
  if (p.pid == 0) {
    close(down[1]), close(up[0]);
    serve(down[0], up[1]);
  }
  close(down[0]), close(up[1]);
  fcntl(down[1], F_SETFD, FD_CLOEXEC);
  p.to = down[1], p.from = up[0];
  return p;
}

static int64_t tell(const struct peer *p, char what, int64_t value)
{
  int64_t answer = -1;
  struct order order;
  memset(&order, 0, sizeof order);
  order.value = value, order.what = what;
  if (write(p->to, &order, sizeof order) != sizeof order) return -1;
  return read(p->from, &answer, sizeof answer) == sizeof answer ? answer : -1;
}

static void peer_end(struct peer *p, int how)
{
  int status;
  if (how) kill(p->pid, how);
  close(p->to), close(p->from);
  waitpid(p->pid, &status, 0);
}

static void test_two(struct shunt_budget *mine)
{
  struct peer peer = peer_start();
  check(tell(&peer, 'o', 0) == 0 && shunt_budget_allows(mine, BUDGET) == BUDGET,
        "who keeps and wants nothing takes nothing");
  check(shunt_budget_take(mine, 900, BUDGET) && tell(&peer, 'o', 0) == 900, "one takes most of it");
  check(!tell(&peer, 't', 200) && shunt_budget_others(mine) == 0, "the rest is not enough");
  check(tell(&peer, 't', 100), "but for what fits");
  check(!shunt_budget_stirred(mine), "nobody has wanted more");
  tell(&peer, 'w', 300);
  check(shunt_budget_stirred(mine) && !shunt_budget_stirred(mine), "a want is heard of, once");
  check(shunt_budget_allows(mine, BUDGET) == 600, "and is left to the other");
  check(tell(&peer, 'a', 0) == 500, "who may have an equal share at least");
  shunt_budget_keep(mine, 600);
  check(tell(&peer, 't', 400), "what was given back can be taken");
  check(shunt_budget_allows(mine, BUDGET) == 600, "and is wanted no more");
  tell(&peer, 'w', 900);
  check(shunt_budget_allows(mine, BUDGET) == 500, "nobody gets less than an equal share");
  peer_end(&peer, 0);
  check(shunt_budget_allows(mine, BUDGET) == BUDGET, "who ends leaves it all");
  shunt_budget_keep(mine, 0);
}

/* One with a small budget beside one that keeps many times as much. */
static void test_unequal(struct shunt_budget *mine)
{
  struct peer peer = peer_start();
  check(tell(&peer, 'T', 50000), "a large budget");
  check(shunt_budget_allows(mine, BUDGET) == BUDGET && shunt_budget_take(mine, 900, BUDGET),
        "leaves a small one what is its own");
  check(!shunt_budget_take(mine, 1100, BUDGET), "and no more");
  check(tell(&peer, 's', 0) == 1, "the other looks again whether it may have so much");
  check(tell(&peer, 'A', 0) == LARGE - 900 && !tell(&peer, 'T', LARGE - 800) &&
            tell(&peer, 'T', LARGE - 900),
        "both together have the larger one");
  check(!shunt_budget_take(mine, 1000, BUDGET), "which may be used up");
  shunt_budget_want(mine, 100);
  check(tell(&peer, 's', 0) == 1 && tell(&peer, 'A', 0) == LARGE - 1000,
        "what the small one wants is left to it");
  clock_pass(5000);
  check(tell(&peer, 'A', 0) == LARGE - 900, "for five seconds");
  tell(&peer, 'k', LARGE - 1000);
  check(shunt_budget_take(mine, 1000, BUDGET), "and can be had");
  check(tell(&peer, 'a', 0) == 500, "of equal budgets an equal share");
  peer_end(&peer, 0);
  check(shunt_budget_allows(mine, BUDGET) == BUDGET, "when the large one ends the small one stays");
  shunt_budget_keep(mine, 0);
}

static void test_asked(struct shunt_budget *mine)
{
  struct peer peer = peer_start();
  check(!shunt_budget_ask(mine), "nobody to ask");
  tell(&peer, 't', 500);
  shunt_budget_take(mine, 200, BUDGET);
  check(tell(&peer, 's', 0) == 0, "nobody has asked");
  check(shunt_budget_ask(mine), "one that keeps something is asked");
  check(tell(&peer, 's', 0) == 1 && tell(&peer, 'a', 0) == 0, "and is to keep nothing");
  check(tell(&peer, 's', 0) == 1, "in each of its calls");
  check(shunt_budget_allows(mine, BUDGET) > 0, "the one that asks keeps what it has");
  clock_pass(999);
  check(tell(&peer, 'a', 0) == 0, "for a second");
  clock_pass(1);
  check(tell(&peer, 'a', 0) > 0, "and no longer");
  peer_end(&peer, 0);
  shunt_budget_keep(mine, 0);
}

/* Milliseconds that are waited for the others.  A peer, if there is one, gives back what it keeps
   after 50.  */
static int64_t waited_ms(struct shunt_budget *s, const struct peer *peer)
{
  const int64_t start = clock_ms();
  for (int round = 0; shunt_budget_await(s, round); round++)
    if (peer && clock_ms() - start >= 50) tell(peer, 'k', 0);
  return clock_ms() - start;
}

/* Those that answer are waited for, others once, nobody for what nobody keeps. */
static void test_waiting(struct shunt_budget *mine)
{
  struct peer peer = peer_start();
  int64_t ms = waited_ms(mine, NULL);
  check(ms == 0, "where nobody keeps anything there is no wait: %lld ms", (long long)ms);
  struct shunt_budget *second = open_at_last();
  shunt_budget_take(second, 100, BUDGET);
  ms = waited_ms(mine, NULL);
  check(ms == 0, "nor where only this process does: %lld ms", (long long)ms);
  shunt_budget_close(second);
  tell(&peer, 't', 500);
  ms = waited_ms(mine, &peer);
  check(ms > 50 && ms < 150 && shunt_budget_others(mine) == 0,
        "one that answers is waited for: %lld ms", (long long)ms);
  tell(&peer, 't', 500);
  ms = waited_ms(mine, NULL);
  check(ms == 300, "one that does not, 300 ms: %lld", (long long)ms);
  ms = waited_ms(mine, NULL);
  check(ms == 0, "and not again soon: %lld ms", (long long)ms);
  tell(&peer, 'k', 100);
  ms = waited_ms(mine, NULL);
  check(ms == 300, "but when it has given something back: %lld ms", (long long)ms);
  peer_end(&peer, 0);
  clock_pass(1200);
}

/* A slot of a process whose number another has by now: as if this one had begun later. */
static void test_number_again(struct shunt_budget *mine)
{
  char name[96];
  struct peer peer = peer_start();
  tell(&peer, 't', 800);
  snprintf(name, sizeof name, "ls %s/*", folder);
  FILE *f = popen(name, "r");
  if (!f || !fgets(name, sizeof name, f)) name[0] = 0;
  if (f) pclose(f);
  name[strcspn(name, "\n")] = 0;
  int64_t word[256] = {0};
  const int fd = open(name, O_RDWR);
  const ssize_t n = fd >= 0 ? pread(fd, word, sizeof word, 0) : -1;
  int at = 0;
  while (at < 255 && word[at] != peer.pid) at++;
  check(n == sizeof word && at < 255 && word[at + 1] > 0 && shunt_budget_others(mine) == 800,
        "a slot has the start of its process");
  word[at + 1] -= 5;
  check(pwrite(fd, &word[at + 1], 8, 8 * (at + 1)) == 8 && shunt_budget_others(mine) == 0,
        "a process of that number that began at another time has no slot");
  close(fd);
  peer_end(&peer, 0);
}

/* One that ended, and that nobody has waited for. */
static void test_unreaped(struct shunt_budget *mine)
{
  struct peer peer = peer_start();
  tell(&peer, 't', 800);
  kill(peer.pid, SIGKILL);
  siginfo_t info;
  waitid(P_PID, (id_t)peer.pid, &info, WEXITED | WNOWAIT);
  check(shunt_budget_others(mine) == 0,
        "what a killed process kept is free before it is waited for");
  peer_end(&peer, 0);
}

static void test_killed(struct shunt_budget *mine)
{
  struct peer peer = peer_start();
  tell(&peer, 't', 800);
  check(shunt_budget_others(mine) == 800, "kept by another");
  peer_end(&peer, SIGKILL);
  check(shunt_budget_others(mine) == 0, "what a killed process kept is free");
  for (int i = 0; i < 300; i++) {
    peer = peer_start();
    tell(&peer, 't', 1);
    peer_end(&peer, SIGKILL);
  }
  peer = peer_start();
  check(tell(&peer, 't', 10) == 1 && shunt_budget_others(mine) == 10,
        "so are the slots of 300 killed ones");
  peer_end(&peer, 0);
}

/* All at once take and give back, at random: never more than the budget in all. */
static void test_crowd(void)
{
  pid_t pid[PROCESSES];
  int status, good = 0;
  fflush(stdout);
  for (int i = 0; i < PROCESSES; i++) {
    pid[i] = fork();
    if (pid[i] != 0) continue;
    unsigned r = (unsigned)i + 1;
    struct shunt_budget *s = open_at_last();
    int64_t kept = 0, most = 0;
    for (int round = 0; s && round < 20000; round++) {
      r = r * 1103515245 + 12345;
      const int64_t next = r >> 16 & 511;
      if (next <= kept) {
        kept = next;
        shunt_budget_keep(s, kept);
      } else if (shunt_budget_take(s, next, BUDGET))
        kept = next;
      most = kept > most ? kept : most;
    }
    exit(!(s && most > 0));
  }
  for (int i = 0; i < PROCESSES; i++) good += waitpid(pid[i], &status, 0) == pid[i] && status == 0;
  check(good == PROCESSES, "%d of %d processes in turn got something", good, PROCESSES);
}

static void test_fork(struct shunt_budget *mine)
{
  int status;
  shunt_budget_take(mine, 700, BUDGET);
  struct peer peer = peer_start();
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    shunt_budget_keep(mine, 1);
    exit(shunt_budget_allows(mine, BUDGET) == BUDGET ? 0 : 1);
  }
  waitpid(child, &status, 0);
  check(status == 0 && tell(&peer, 'o', 0) == 700,
        "a forked child has no slot, and takes none away");
  peer_end(&peer, 0);
  shunt_budget_keep(mine, 0);
}

static void test_refused(void)
{
  char name[96] = "", target[64];
  struct shunt_budget *s = shunt_budget_open("/nowhere", uuid);
  check(!s, "no folder, no table");
  s = shunt_budget_open(folder, other_uuid);
  char command[128];
  snprintf(command, sizeof command, "ls %s/*010204*", folder);
  FILE *f = popen(command, "r");
  if (f && fgets(name, sizeof name, f)) name[strcspn(name, "\n")] = 0;
  if (f) pclose(f);
  shunt_budget_close(s);
  check(s && name[0] && access(name, F_OK) != 0, "the last one takes the table away");
  snprintf(target, sizeof target, "%s/target", folder);
  check(symlink(target, name) == 0 && !shunt_budget_open(folder, other_uuid) &&
            access(target, F_OK) != 0,
        "a link is not followed");
  unlink(name);
  const int fd = open(name, O_CREAT | O_RDWR, 0666);
  check(fd >= 0 && fchmod(fd, 0666) == 0 && !shunt_budget_open(folder, other_uuid),
        "nor is a table trusted that others could write");
  close(fd);
  unlink(name);
}

int main(void)
{
  signal(SIGPIPE, SIG_IGN);
  if (!mkdtemp(folder)) return 2;
  struct shunt_budget *mine = shunt_budget_open(folder, uuid);
  check(mine != NULL && files() == 1, "a table is laid");
  if (mine) {
    test_two(mine);
    test_unequal(mine);
    test_asked(mine);
    test_waiting(mine);
    test_number_again(mine);
    test_unreaped(mine);
    test_killed(mine);
    test_crowd();
    test_fork(mine);
    test_refused();
    shunt_budget_close(mine);
  }
  check(files() == 0, "and taken away");
  rmdir(folder);
  return check_finish();
}
