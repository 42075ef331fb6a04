#include "backend/log/log_upkeep.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "backend/log/log_density.h"
#include "backend/options/options.h"

/* ---- copies and proofs ------------------------------------------------------------------- */

static struct {
  atomic_ullong conversions, bytes, proofs;
  _Atomic double us, proof_us;
} upkeep;

static bool wanted(void)
{
  return shunt_options()->report[0] != 0;
}

static void add(_Atomic double *sum, double x)
{
  double old = atomic_load_explicit(sum, memory_order_relaxed);
  while (!atomic_compare_exchange_weak(sum, &old, old + x)) {
  }
}

void shunt_log_conversion(double us, size_t bytes)
{
  if (!wanted()) return;
  atomic_fetch_add(&upkeep.conversions, 1);
  atomic_fetch_add(&upkeep.bytes, bytes);
  add(&upkeep.us, us);
}

void shunt_log_proof(double us)
{
  if (!wanted()) return;
  atomic_fetch_add_explicit(&upkeep.proofs, 1, memory_order_relaxed);
  add(&upkeep.proof_us, us);
}

/* ---- memory over time -------------------------------------------------------------------- */

/* Where they are full every other point goes, and from then on every other one is left out: so a
   run of any length has at least half as many as there are places. */
enum { POINTS = 128 };
struct point {
  double time; /* since 1970 */
  int64_t copies, device;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct point points[POINTS];
static int point_count;
static double least_apart; /* seconds */

static double now(void)
{
  struct timespec t = {0};
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void thin_out(void)
{
  for (int i = 0; i < POINTS / 2; i++) points[i] = points[2 * i];
  point_count = POINTS / 2;
  const double all = points[point_count - 1].time - points[0].time;
  least_apart = all > 0 ? 2 * all / POINTS : 0;
}

void shunt_log_memory(int64_t copies, int64_t device)
{
  struct point p = {now(), copies, device};
  if (!wanted() || pthread_mutex_trylock(&lock) != 0) return;
  const struct point *last = point_count > 0 ? &points[point_count - 1] : NULL;
  if (!last || p.time >= last->time + least_apart) {
    if (device < 0) p.device = last ? last->device : -1;
    if (point_count == POINTS) thin_out();
    points[point_count++] = p;
  }
  pthread_mutex_unlock(&lock);
}

/* ---- matrices ---------------------------------------------------------------------------- */

enum { MATRICES = 32, OF_A_SIZE = 4, UNCOUNTED = -1 }; /* UNCOUNTED: longest row of no profile */
static struct matrix {
  struct shunt_profile profile;
  double densest;
  char density[SHUNT_DENSITY_TEXT]; /* "": none */
} matrices[MATRICES];
static int matrix_count;

static bool same(const struct shunt_profile *a, const struct shunt_profile *b)
{
  return a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz &&
         a->longest_row == b->longest_row && a->segments == b->segments &&
         memcmp(a->groups_equal, b->groups_equal, sizeof a->groups_equal) == 0;
}

/* With the lock held; NULL: there are too many. */
static struct matrix *matrix_of(const struct shunt_profile *f)
{
  int i = 0;
  while (i < matrix_count && !same(&matrices[i].profile, f)) i++;
  if (i == MATRICES) return NULL;
  if (i == matrix_count) {
    matrices[i].profile = *f;
    matrices[i].density[0] = 0;
    matrix_count++;
  }
  return &matrices[i];
}

void shunt_log_matrix(const struct shunt_profile *f)
{
  if (!wanted() || pthread_mutex_trylock(&lock) != 0) return;
  matrix_of(f);
  pthread_mutex_unlock(&lock);
}

void shunt_log_density(const struct shunt_profile *f, const struct shunt_density *d)
{
  if (!wanted() || pthread_mutex_trylock(&lock) != 0) return;
  struct matrix *m = matrix_of(f);
  if (m) m->densest = shunt_density_write(d, m->density);
  pthread_mutex_unlock(&lock);
}

bool shunt_log_wants_density(void)
{
  if (!wanted() || pthread_mutex_trylock(&lock) != 0) return false;
  const bool room = matrix_count < MATRICES;
  pthread_mutex_unlock(&lock);
  return room;
}

bool shunt_log_wants_pattern(int64_t rows, int64_t cols, int64_t nnz)
{
  int of_size = 0;
  bool known = false;
  if (!wanted() || pthread_mutex_trylock(&lock) != 0) return false;
  for (int i = 0; i < matrix_count; i++) {
    const struct shunt_profile *f = &matrices[i].profile;
    if (f->rows != rows || f->cols != cols) continue;
    of_size++;
    known |= f->nnz == nnz;
  }
  const bool room = matrix_count < MATRICES && of_size < OF_A_SIZE;
  pthread_mutex_unlock(&lock);
  return room && !known;
}

void shunt_log_pattern(const struct shunt_density *d, int64_t nnz)
{
  const struct shunt_profile f = {
      .rows = d->rows, .cols = d->cols, .nnz = nnz, .longest_row = UNCOUNTED};
  shunt_log_density(&f, d);
}

static double share(int64_t part, int64_t whole)
{
  return whole > 0 ? (double)part / (double)whole : 0;
}

static void print_profile(FILE *to, const struct shunt_profile *f)
{
  fprintf(to, "\tlongest=%" PRId64 "\tempty=%" PRId64, f->longest_row, f->empty_rows);
  for (int v = 0; v < 3; v++)
    fprintf(to, "\talike%d=%.4f", 8 >> v, share(f->groups_equal[v], f->groups_nonempty[v]));
  fprintf(to, "\ttwo_of_four=%.4f\tsquares=%.6g", 1 - share(f->crowded_rows, f->rows),
          f->row_length_squares);
}

static void print_matrix(FILE *to, const struct matrix *m)
{
  const struct shunt_profile *f = &m->profile;
  fprintf(to, "# matrix\trows=%" PRId64 "\tcols=%" PRId64 "\tnnz=%" PRId64, f->rows, f->cols,
          f->nnz);
  if (f->longest_row != UNCOUNTED) print_profile(to, f);
  if (m->density[0]) fprintf(to, "\tdensest=%.4g\tdensity=%s", m->densest, m->density);
  fputc('\n', to);
}

/* ---- the report -------------------------------------------------------------------------- */

void shunt_upkeep_print(FILE *to)
{
  const unsigned long long conversions = atomic_load(&upkeep.conversions);
  const unsigned long long proofs = atomic_load(&upkeep.proofs);
  if (conversions + proofs > 0)
    fprintf(to, "# upkeep\tconversions=%llu\tbytes=%llu\tus=%.1f\tproofs=%llu\tproof_us=%.1f\n",
            conversions, atomic_load(&upkeep.bytes), atomic_load(&upkeep.us), proofs,
            atomic_load(&upkeep.proof_us));
  pthread_mutex_lock(&lock);
  for (int i = 0; i < point_count; i++)
    fprintf(to, "# memory\t%.3f\t%" PRId64 "\t%" PRId64 "\n", points[i].time, points[i].copies,
            points[i].device);
  for (int i = 0; i < matrix_count; i++) print_matrix(to, &matrices[i]);
  pthread_mutex_unlock(&lock);
}

/* ---- fork -------------------------------------------------------------------------------- */

/* A thread of the parent's may have held the lock. */
void shunt_upkeep_forget(void)
{
  pthread_mutex_init(&lock, NULL);
  atomic_store(&upkeep.conversions, 0);
  atomic_store(&upkeep.bytes, 0);
  atomic_store(&upkeep.proofs, 0);
  atomic_store(&upkeep.us, 0);
  atomic_store(&upkeep.proof_us, 0);
  point_count = matrix_count = 0;
  least_apart = 0;
}
