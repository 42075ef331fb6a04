/* omp_threads.c: as much of gcc's OpenMP runtime as the host engine calls, on plain POSIX threads,
   so that ThreadSanitizer, which cannot see into libgomp, sees what orders the threads of a loop:
   their start, their end and barriers.  Iterations are handed out by a counter that orders nothing,
   so a loop that races is reported.  Regions are not nested, and no two loops of one follow each
   other without a barrier; their threads are started anew each time.  */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

enum { MOST_THREADS = 64 };

struct team {
  pthread_mutex_t lock;
  pthread_cond_t all_there;
  int threads, waiting;
  long rounds; /* barriers passed */
  bool begun;  /* the loop that is handed out */
  long next, end, chunk;
  int left;     /* threads that have not left it */
  long singles; /* single regions that were taken */
};

struct member {
  struct team *team;
  int id;
  void (*work)(void *);
  void *data;
  long singles; /* that it came to */
};

static __thread struct member *self;

int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_get_max_threads(void);
void GOMP_barrier(void);
bool GOMP_single_start(void);
void GOMP_parallel(void (*work)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_parallel_loop_nonmonotonic_dynamic(void (*work)(void *), void *data, unsigned threads,
                                             long start, long end, long step, long chunk,
                                             unsigned flags);
bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long *from,
                                          long *to);
bool GOMP_loop_nonmonotonic_dynamic_next(long *from, long *to);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);

int omp_get_num_threads(void)
{
  return self ? self->team->threads : 1;
}

int omp_get_thread_num(void)
{
  return self ? self->id : 0;
}

int omp_get_max_threads(void)
{
  return 4;
}

void GOMP_barrier(void)
{
  struct team *t = self ? self->team : NULL;
  if (!t) return;
  pthread_mutex_lock(&t->lock);
  const long round = t->rounds;
  if (++t->waiting == t->threads) {
    t->waiting = 0;
    t->rounds++;
    pthread_cond_broadcast(&t->all_there);
  }
  while (t->rounds == round) pthread_cond_wait(&t->all_there, &t->lock);
  pthread_mutex_unlock(&t->lock);
}

/* True for the first that comes. */
bool GOMP_single_start(void)
{
  struct team *t = self->team;
  long mine = self->singles++;
  return __atomic_compare_exchange_n(&t->singles, &mine, mine + 1, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
}

static void *run(void *argument)
{
  self = argument;
  GOMP_barrier(); /* no thread does all before the others have come */
  self->work(self->data);
  self = NULL;
  return NULL;
}

static void run_team(struct team *team, unsigned threads, void (*work)(void *), void *data)
{
  struct member member[MOST_THREADS];
  pthread_t thread[MOST_THREADS];
  const int most = threads ? (int)threads : omp_get_max_threads();
  pthread_mutex_init(&team->lock, NULL);
  pthread_cond_init(&team->all_there, NULL);
  team->threads = team->left = most < MOST_THREADS ? most : MOST_THREADS;
  for (int i = 0; i < team->threads; i++) member[i] = (struct member){team, i, work, data, 0};
  for (int i = 1; i < team->threads; i++)
    if (pthread_create(&thread[i], NULL, run, &member[i])) __builtin_trap();
  run(&member[0]);
  for (int i = 1; i < team->threads; i++) pthread_join(thread[i], NULL);
  pthread_cond_destroy(&team->all_there);
  pthread_mutex_destroy(&team->lock);
}

void GOMP_parallel(void (*work)(void *), void *data, unsigned threads, unsigned flags)
{
  struct team team = {.begun = false};
  (void)flags;
  run_team(&team, threads, work, data);
}

/* ---- loops whose iterations are handed out; a chunk is so many steps ------------------------- */

void GOMP_parallel_loop_nonmonotonic_dynamic(void (*work)(void *), void *data, unsigned threads,
                                             long start, long end, long step, long chunk,
                                             unsigned flags)
{
  struct team team = {.begun = true, .next = start, .end = end, .chunk = chunk * step};
  (void)flags;
  run_team(&team, threads, work, data);
}

bool GOMP_loop_nonmonotonic_dynamic_next(long *from, long *to)
{
  struct team *t = self->team;
  sched_yield();
  *from = __atomic_fetch_add(&t->next, t->chunk, __ATOMIC_RELAXED);
  *to = t->end - *from > t->chunk ? *from + t->chunk : t->end;
  return *from < t->end;
}

bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long *from,
                                          long *to)
{
  struct team *t = self->team;
  pthread_mutex_lock(&t->lock);
  if (!t->begun) {
    t->begun = true;
    t->end = end, t->chunk = chunk * step, t->left = t->threads;
    __atomic_store_n(&t->next, start, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&t->lock);
  return GOMP_loop_nonmonotonic_dynamic_next(from, to);
}

/* The last to leave makes room for another loop: a region has no second one before that. */
void GOMP_loop_end_nowait(void)
{
  struct team *t = self->team;
  pthread_mutex_lock(&t->lock);
  if (--t->left == 0) t->begun = false;
  pthread_mutex_unlock(&t->lock);
}

void GOMP_loop_end(void)
{
  GOMP_loop_end_nowait();
  GOMP_barrier();
}
