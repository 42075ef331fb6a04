#include "backend/graphblas/measure.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "backend/graphblas/report.h"
#include "backend/log/log_measure.h"
#include "backend/plan/fault.h"
#include "backend/plan/log.h"

static double now(void)
{
  struct timespec t = {0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Would the program see its own functions called, or GraphBLAS print?  (Semirings of users are
   never taken.)  */
static bool can_be_seen(const struct grb_product *p)
{
  const struct grb_library *l = p->library;
  const struct grb_call *call = p->call;
  int32_t burble = 0;
  return (l->allocate && l->allocate != malloc) ||
         (call->accum && call->accum != p->semiring.add) || call->c == call->b ||
         call->c == call->mask ||
         l->GxB_Global_Option_get_INT32(l->numbers.burble, &burble) != GRB_SUCCESS || burble;
}

/* Is there room for C a few times over? */
static bool has_memory(const struct grb_product *p)
{
  const double entries =
      p->method == &grb_spmm ? (double)p->m * (double)p->n : 3 * (double)p->mask.nnz;
  const double there = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  return 4 * 8 * entries < there;
}

/* Once it is computed. */
static bool is_measurable(const struct grb_product *p)
{
  const bool replaces = p->t.replaces_all || p->t.in_place;
  return p->call->kind == GRB_CALL_MXM && p->library->GrB_Matrix_dup &&
         (p->call->accum ? p->t.in_place : replaces) && !can_be_seen(p);
}

/* ---- the original ------------------------------------------------------------------------- */

static bool copy_option(const struct grb_library *l, GrB_Matrix from, GrB_Matrix to, int option)
{
  int32_t value;
  return l->GxB_Matrix_Option_get_INT32(from, option, &value) == GRB_SUCCESS &&
         l->GxB_Matrix_Option_set_INT32(to, option, value) == GRB_SUCCESS;
}

/* C, as far as time depends on it; NULL: it cannot be had. */
static GrB_Matrix make_scratch(const struct grb_product *p)
{
  const struct grb_library *l = p->library;
  const GrB_Matrix c = p->call->c;
  GrB_Matrix scratch = NULL;
  if (p->call->accum) {
    if (SHUNT_TRY_OR(-1, l->GrB_Matrix_dup(&scratch, c)) != GRB_SUCCESS) return NULL;
    return scratch;
  }
  if (SHUNT_TRY_OR(-1, l->GrB_Matrix_new(&scratch, grb_operand_type(l, &p->c), (uint64_t)p->m,
                                         (uint64_t)p->n)) != GRB_SUCCESS)
    return NULL;
  if (copy_option(l, c, scratch, l->numbers.format) &&
      copy_option(l, c, scratch, l->numbers.sparsity_control))
    return scratch;
  l->GrB_Matrix_free(&scratch);
  return NULL;
}

static long pages_so_far(void)
{
  struct rusage use = {.ru_minflt = 0};
  getrusage(RUSAGE_SELF, &use);
  return use.ru_minflt;
}

/* The original's microseconds, and how many pages of memory were new to it; negative: it did not
   run.  */
static double time_original(const struct grb_product *p, long *pages)
{
  const struct grb_call *x = p->call;
  GrB_Matrix scratch = make_scratch(p);
  if (!scratch) return -1;
  *pages = pages_so_far();
  const double start = now();
  const int info = p->library->original.GrB_mxm(scratch, x->mask, x->accum, x->semiring, x->a, x->b,
                                                x->descriptor);
  const double us = now() - start;
  *pages = pages_so_far() - *pages;
  p->library->GrB_Matrix_free(&scratch);
  return info == GRB_SUCCESS ? us : -1;
}

/* A program has its memory after a call or two: where a tenth of the first time, at about 2 us a
   page, went into that, the second counts.  */
static double time_warm(const struct grb_product *p, bool first)
{
  const double page_us = 2, share = 0.1;
  long pages = 0;
  const double us = time_original(p, &pages);
  if (!first || us < 0 || page_us * (double)pages < share * us) return us;
  return time_original(p, &pages);
}

/* ---- which call --------------------------------------------------------------------------- */

/* What the next call of the same problem is to be counted as, and may take. */
enum { WISHES = 256 };
static struct {
  _Atomic uint64_t problem, key; /* problem 0: no wish */
  _Atomic double expected;
} wishes[WISHES];

static void wish_for(uint64_t problem, uint64_t key, double expected)
{
  const uint64_t i = problem % WISHES;
  atomic_store(&wishes[i].problem, 0);
  atomic_store(&wishes[i].key, key);
  atomic_store(&wishes[i].expected, expected);
  atomic_store(&wishes[i].problem, problem);
}

bool grb_measure_original(struct grb_product *p)
{
  if (!shunt_measure_wanted()) return false;
  p->problem = grb_report_hash(p);
  const uint64_t i = p->problem % WISHES;
  uint64_t wished = p->problem;
  if (atomic_load(&wishes[i].problem) != wished || can_be_seen(p) || !has_memory(p)) return false;
  const uint64_t key = atomic_load(&wishes[i].key);
  const double expected = atomic_load(&wishes[i].expected);
  if (!atomic_compare_exchange_strong(&wishes[i].problem, &wished, 0)) return false;
  const int count = shunt_measure_begin(key, expected);
  if (count == 0) return false;
  const double start = now();
  p->original_us = time_warm(p, count == 1);
  p->aside_us = now() - start;
  shunt_measure_end(expected, p->aside_us);
  return true;
}

/* Microseconds: by earlier samples, else by the estimate; where nothing is known of it, the
   original may be far slower.  */
static double expected_us(const struct grb_product *p, const struct shunt_decision *d, double us)
{
  const double margin = 1.5, far = 30;
  const double seen = shunt_log_original(d), saved = grb_gain_saved(&p->gain, us, true);
  return seen > 0 ? seen : isnan(saved) ? far * us : margin * (us + saved);
}

void grb_measure(const struct grb_product *p, struct shunt_decision *d, double us)
{
  if (!d || us < 0 || !p->problem) return;
  if (p->original_us > 0) shunt_log_sampled(d, p->original_us, us);
  const uint64_t key = (uint64_t)(uintptr_t)d;
  const double expected = expected_us(p, d, us);
  if (shunt_measure_due(key, expected) && is_measurable(p)) wish_for(p->problem, key, expected);
}
