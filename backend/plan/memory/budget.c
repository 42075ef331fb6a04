#include "backend/plan/memory/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/plan/fault.h"
#include "backend/plan/fork.h"

enum { SLOTS = 128, WANTED_MS = 5000, RENEWED_MS = 200, ASKED_MS = 1000, PATH = 160 };
/* Of waiting: rounds in all, and once nobody keeps anything more; how long nobody is waited for who
   has not answered.  */
enum { ROUNDS = 60, ROUNDS_MORE = 10, ROUND_NS = 5000000, UNANSWERED_MS = 10000 };

struct slot {
  _Atomic int64_t process; /* 0: free */
  _Atomic int64_t started; /* its start, by the system's clock ticks: a number comes again */
  _Atomic int64_t kept, wanted;
  _Atomic int64_t budget; /* that all would have if it were for this process to say */
  _Atomic uint64_t until; /* what is wanted counts until then */
};

struct table {
  _Atomic uint64_t asked_until; /* all copies are to go until then */
  _Atomic int64_t asker;
  _Atomic uint32_t stirs;
  struct slot slot[SLOTS];
};

struct shunt_budget {
  struct table *table;
  struct slot *mine;
  pid_t owner; /* a forked child has the mapping, and not the slot */
  atomic_bool left;
  _Atomic uint32_t heard;
  _Atomic int64_t asked_for;     /* what the others kept when they were asked last */
  _Atomic int rounds;            /* how often they are waited for */
  _Atomic uint64_t silent_until; /* they have not answered: they are not waited for until then */
  char path[PATH];
  struct shunt_budget *next;
};

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
SHUNT_LOCK_SURVIVES_FORK(budget, opening)
static struct shunt_budget *all;

/* The same for all processes since the machine started. */
static uint64_t now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- the file ------------------------------------------------------------------------------ */

static bool name_it(char path[PATH], const char *folder, const unsigned char uuid[16])
{
  struct stat pids;
  char hex[33];
  if (getauxval(AT_SECURE) || stat("/proc/self/ns/pid", &pids) != 0) return false;
  for (int i = 0; i < 16; i++) snprintf(hex + 2 * i, 3, "%02x", uuid[i]);
  const int n = snprintf(path, PATH, "%s/shunt3-%u-%llx-%s", folder, (unsigned)geteuid(),
                         (unsigned long long)pids.st_ino, hex);
  return n > 0 && n < PATH;
}

/* Unlocks first: a child or a mapping may keep the file open, and with it the lock. */
static void close_locked(int fd)
{
  flock(fd, LOCK_UN);
  close(fd);
}

/* Open, locked, and still of that name: who left last may have removed it.  -1: not to be had, or
   somebody keeps it locked.  */
static int open_locked(const char *path)
{
  enum { ATTEMPTS = 50, WAIT_NS = 1000000 };
  struct stat here, there;
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return -1;
    const bool trusted = fstat(fd, &here) == 0 && S_ISREG(here.st_mode) &&
                         here.st_uid == geteuid() && (here.st_mode & 077) == 0;
    if (trusted && flock(fd, LOCK_EX | LOCK_NB) == 0 && lstat(path, &there) == 0 &&
        there.st_ino == here.st_ino)
      return fd;
    close(fd);
    if (!trusted) return -1;
    nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
  }
  return -1;
}

/* ---- who lives ------------------------------------------------------------------------------ */

/* When a process started; 0: it has ended, be it that nobody has waited for it yet; -1: not told.
   In /proc/PID/stat the program's name stands in brackets and may hold anything; behind it are the
   state and, 19 fields on, the start.  */
static int64_t start_of(int64_t process)
{
  char path[32], text[512];
  snprintf(path, sizeof path, "/proc/%lld/stat", (long long)process);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return kill((pid_t)process, 0) != 0 && errno == ESRCH ? 0 : -1;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  text[n > 0 ? n : 0] = 0;
  const char *at = strrchr(text, ')');
  if (!at || !at[1]) return -1;
  if (at[2] == 'Z' || at[2] == 'X') return 0;
  for (int field = 0; at && field < 20; field++) at = strchr(at + 1, ' ');
  return at ? strtoll(at, NULL, 10) : -1;
}

static bool lives(const struct slot *s)
{
  const int saved = errno;
  const int64_t process = atomic_load(&s->process), started = atomic_load(&s->started);
  const int64_t now = process != 0 ? start_of(process) : 0;
  errno = saved;
  return now != 0 && (now < 0 || started < 0 || now == started);
}

/* A free slot, or that of a process that ended; with the file locked. */
static struct slot *take_slot(struct table *t)
{
  const int64_t me = getpid(), started = start_of(me);
  for (int i = 0; i < SLOTS; i++) {
    struct slot *s = &t->slot[i];
    if (lives(s)) continue; /* ours: of another context */
    atomic_store(&s->kept, 0);
    atomic_store(&s->wanted, 0);
    atomic_store(&s->budget, 0);
    atomic_store(&s->started, started);
    atomic_store(&s->process, me);
    return s;
  }
  return NULL;
}

static bool map(struct shunt_budget *s)
{
  const int saved = errno;
  const int fd = SHUNT_TRY_OR(-1, open_locked(s->path));
  void *memory = MAP_FAILED;
  /* A page that a full file system does not have would end the program when it is touched. */
  if (fd >= 0 && posix_fallocate(fd, 0, sizeof *s->table) == 0)
    memory = mmap(NULL, sizeof *s->table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) {
    s->table = memory;
    s->mine = take_slot(s->table);
    atomic_store(&s->heard, atomic_load(&s->table->stirs));
    if (!s->mine) munmap(memory, sizeof *s->table);
  }
  if (fd >= 0) close_locked(fd);
  errno = saved;
  return s->mine != NULL;
}

struct shunt_budget *shunt_budget_open(const char *folder, const unsigned char uuid[16])
{
  struct shunt_budget *s = SHUNT_TRY_OR(NULL, calloc(1, sizeof *s));
  if (!s) return NULL;
  s->owner = getpid();
  if (!name_it(s->path, folder, uuid) || !map(s)) {
    free(s);
    return NULL;
  }
  pthread_mutex_lock(&opening);
  s->next = all;
  all = s;
  pthread_mutex_unlock(&opening);
  return s;
}

/* Leaves the table; the last one takes it away. */
static void leave(struct shunt_budget *s)
{
  bool last = true;
  if (s->owner != getpid() || atomic_exchange(&s->left, true)) return;
  const int fd = open_locked(s->path);
  atomic_store(&s->mine->kept, 0);
  atomic_store(&s->mine->wanted, 0);
  atomic_store(&s->mine->process, 0);
  for (int i = 0; i < SLOTS; i++) last = last && !lives(&s->table->slot[i]);
  if (fd >= 0 && last) unlink(s->path);
  if (fd >= 0) close_locked(fd);
}

void shunt_budget_close(struct shunt_budget *s)
{
  if (!s) return;
  pthread_mutex_lock(&opening);
  for (struct shunt_budget **p = &all; *p; p = &(*p)->next)
    if (*p == s) {
      *p = s->next;
      break;
    }
  pthread_mutex_unlock(&opening);
  leave(s);
  munmap(s->table, sizeof *s->table);
  free(s);
}

/* Calls may still be under way in other threads: the mappings stay. */
__attribute__((destructor)) static void leave_all(void)
{
  for (struct shunt_budget *s = all; s; s = s->next) leave(s);
}

/* ---- what is kept -------------------------------------------------------------------------- */

struct others {
  int64_t kept, wanted;
  int64_t budget; /* the largest of theirs */
  int claimants;
};

/* A process that ended may still stand there; it is cleared away.  `elsewhere`: without other slots
   of this process, of another context or library.  */
static struct others look_around(struct shunt_budget *s, bool elsewhere)
{
  struct others o = {0};
  const uint64_t now = now_ms();
  for (int i = 0; i < SLOTS; i++) {
    struct slot *slot = &s->table->slot[i];
    const int64_t process = atomic_load(&slot->process);
    if (slot == s->mine || process == 0 || (elsewhere && process == s->owner)) continue;
    int64_t kept = atomic_load(&slot->kept);
    const int64_t wanted = atomic_load(&slot->until) > now ? atomic_load(&slot->wanted) : 0;
    if (kept <= 0 && wanted <= 0) continue;
    if (!lives(slot)) {
      /* But for what another has begun to keep on that slot. */
      atomic_compare_exchange_strong(&slot->kept, &kept, 0);
      atomic_store(&slot->wanted, 0);
      continue;
    }
    const int64_t budget = atomic_load(&slot->budget);
    o.kept += kept;
    o.wanted += wanted;
    o.budget = budget > o.budget ? budget : o.budget;
    o.claimants++;
  }
  return o;
}

static bool has_slot(const struct shunt_budget *s)
{
  return !atomic_load(&s->left) && s->owner == getpid();
}

static bool is_asked(const struct shunt_budget *s)
{
  return atomic_load(&s->table->asked_until) > now_ms() &&
         atomic_load(&s->table->asker) != (int64_t)s->owner;
}

/* What all may keep together. */
static int64_t common(const struct others *o, int64_t budget)
{
  return o->budget > budget ? o->budget : budget;
}

int64_t shunt_budget_allows(struct shunt_budget *s, int64_t budget)
{
  if (!has_slot(s)) return budget;
  atomic_store(&s->mine->budget, budget);
  if (is_asked(s)) return 0;
  const struct others o = look_around(s, false);
  const int64_t all_may = common(&o, budget);
  const int64_t equal = all_may / (o.claimants + 1), rest = all_may - o.kept - o.wanted;
  const int64_t may = rest > equal ? rest : equal;
  return may < budget ? may : budget;
}

bool shunt_budget_take(struct shunt_budget *s, int64_t kept, int64_t budget)
{
  if (!has_slot(s)) return true;
  atomic_store(&s->mine->budget, budget);
  const int64_t before = atomic_exchange(&s->mine->kept, kept);
  const struct others o = look_around(s, false);
  if (kept > budget || o.kept + kept > common(&o, budget)) {
    atomic_store(&s->mine->kept, before);
    return false;
  }
  atomic_store(&s->mine->wanted, 0);
  /* Theirs may have become less since they said it: they look again. */
  if (o.kept + kept > budget) atomic_fetch_add(&s->table->stirs, 1);
  return true;
}

void shunt_budget_keep(struct shunt_budget *s, int64_t kept)
{
  if (has_slot(s)) atomic_store(&s->mine->kept, kept);
}

void shunt_budget_want(struct shunt_budget *s, int64_t bytes)
{
  const uint64_t now = now_ms();
  if (!has_slot(s)) return;
  atomic_store(&s->mine->wanted, bytes);
  if (atomic_load(&s->mine->until) > now + WANTED_MS - RENEWED_MS) return; /* they have heard */
  atomic_store(&s->mine->until, now + WANTED_MS);
  atomic_fetch_add(&s->table->stirs, 1);
}

int64_t shunt_budget_others(struct shunt_budget *s)
{
  return has_slot(s) ? look_around(s, false).kept : 0;
}

bool shunt_budget_ask(struct shunt_budget *s)
{
  if (!has_slot(s) || look_around(s, true).kept == 0) return false;
  atomic_store(&s->table->asker, (int64_t)s->owner);
  atomic_store(&s->table->asked_until, now_ms() + ASKED_MS);
  atomic_fetch_add(&s->table->stirs, 1);
  return true;
}

/* Asks; false: there is nobody to wait for. */
static bool begin_waiting(struct shunt_budget *s, int64_t others)
{
  const bool silent =
      atomic_load(&s->silent_until) > now_ms() && others >= atomic_load(&s->asked_for);
  if (!shunt_budget_ask(s) || silent) return false;
  atomic_store(&s->asked_for, others);
  atomic_store(&s->rounds, ROUNDS);
  return true;
}

bool shunt_budget_await(struct shunt_budget *s, int round)
{
  if (!has_slot(s)) return false;
  const int64_t others = look_around(s, true).kept;
  if (round == 0 && !begin_waiting(s, others)) return false;
  /* What they have let go of is on its way back. */
  if (others == 0 && atomic_load(&s->rounds) > round + ROUNDS_MORE)
    atomic_store(&s->rounds, round + ROUNDS_MORE);
  if (round >= atomic_load(&s->rounds)) {
    if (others >= atomic_load(&s->asked_for))
      atomic_store(&s->silent_until, now_ms() + UNANSWERED_MS);
    return false;
  }
  nanosleep(&(struct timespec){0, ROUND_NS}, NULL);
  return true;
}

bool shunt_budget_stirred(struct shunt_budget *s)
{
  const uint32_t stirs = atomic_load_explicit(&s->table->stirs, memory_order_relaxed);
  if (stirs == atomic_load_explicit(&s->heard, memory_order_relaxed)) return false;
  /* As long as others ask, each call looks: what was let go of is on its way back. */
  if (!is_asked(s)) atomic_store_explicit(&s->heard, stirs, memory_order_relaxed);
  return true;
}
