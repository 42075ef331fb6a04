#include "backend/graphblas/measure.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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
         (call->accum && call->accum != p->semiring.add) || (call->c == call->a && !p->before) ||
         call->c == call->b || call->c == call->mask ||
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

static bool is_into_full(const struct grb_product *p)
{
  return p->call->accum && p->t.in_place;
}

static bool is_measurable(const struct grb_product *p)
{
  const bool replaces = !p->call->accum && (p->t.replaces_all || p->t.in_place);
  return p->call->kind == GRB_CALL_MXM && p->library->GrB_Matrix_dup &&
         (replaces || is_into_full(p)) && !can_be_seen(p) && has_memory(p);
}

static bool copy_option(const struct grb_library *l, GrB_Matrix from, GrB_Matrix to, int option)
{
  int32_t value;
  return l->GxB_Matrix_Option_get_INT32(from, option, &value) == GRB_SUCCESS &&
         l->GxB_Matrix_Option_set_INT32(to, option, value) == GRB_SUCCESS;
}

/* What C was before, as far as time depends on it; NULL: it cannot be had. */
static GrB_Matrix make_scratch(const struct grb_product *p)
{
  const struct grb_library *l = p->library;
  const GrB_Matrix c = p->call->c;
  GrB_Matrix scratch = NULL;
  if (is_into_full(p)) {
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

/* The original's microseconds; negative: it did not run. */
static double time_original(const struct grb_product *p)
{
  const struct grb_call *x = p->call;
  GrB_Matrix scratch = make_scratch(p);
  if (!scratch) return -1;
  const double start = now();
  const int info = p->library->original.GrB_mxm(scratch, x->mask, x->accum, x->semiring,
                                                p->before ? p->before : x->a, x->b, x->descriptor);
  const double us = now() - start;
  p->library->GrB_Matrix_free(&scratch);
  return info == GRB_SUCCESS ? us : -1;
}

/* Copies are due as the products are, of which these are the kinds. */
void grb_measure_keep(struct grb_product *p)
{
  const struct grb_library *l = p->library;
  const double nanoseconds = 2; /* to copy an entry, and to free it */
  const uint64_t kind =
      (uint64_t)p->work * 64 + (uint64_t)p->semiring.number * 8 + p->settings.replace;
  if (p->call->c != p->call->a || p->call->kind != GRB_CALL_MXM || !l->GrB_Matrix_dup) return;
  const uint64_t key = (kind + 1) * UINT64_C(0x9E3779B97F4A7C15);
  const double expected = 1e-3 * nanoseconds * (double)p->a.nnz;
  if (!shunt_measure_wanted() || !shunt_measure_due(key, expected) || !has_memory(p)) return;
  if (!shunt_measure_begin(key, expected)) return;
  const double start = now();
  if (SHUNT_TRY_OR(-1, l->GrB_Matrix_dup(&p->before, p->call->a)) != GRB_SUCCESS) p->before = NULL;
  shunt_measure_end(expected, now() - start);
}

void grb_measure_drop(struct grb_product *p)
{
  if (p->before) p->library->GrB_Matrix_free(&p->before);
}

void grb_measure(const struct grb_product *p, struct shunt_decision *d, double us)
{
  /* Where nothing is known of it, the original may be far slower. */
  const double margin = 1.5, far = 30;
  const uint64_t key = (uint64_t)(uintptr_t)d;
  if (!d || us < 0 || !shunt_measure_wanted()) return;
  const double saved = grb_gain_saved(&p->gain, us, true);
  const double expected = isnan(saved) ? far * us : margin * (us + saved);
  if (!shunt_measure_due(key, expected) || !is_measurable(p) || !shunt_measure_begin(key, expected))
    return;
  const double start = now(), original = time_original(p);
  shunt_measure_end(expected, now() - start);
  if (original >= 0) shunt_log_sampled(d, original, us);
}
