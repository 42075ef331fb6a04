#include "backend/graphblas/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/log/log_upkeep.h"
#include "backend/options/options.h"
#include "backend/plan/fault.h"
#include "conv/profile/density_sparse.h"

static void print_operand(const struct grb_operand *a, char text[8])
{
  const char *form = a->form == GRB_HYPERSPARSE ? "h"
                     : a->form == GRB_SPARSE    ? "s"
                     : a->form == GRB_BITMAP    ? "b"
                                                : "f";
  snprintf(text, 8, "%s%c%s", form, a->by_column ? 'c' : 'r', a->iso ? "i" : "");
}

static void print(const void *problem, char text[SHUNT_PROBLEM_TEXT])
{
  const struct grb_product *p = problem;
  const struct grb_settings *s = &p->settings;
  char a[8], b[8], c[8], flags[8];
  print_operand(&p->a, a);
  print_operand(&p->b, b);
  print_operand(&p->c, c);
  snprintf(flags, sizeof flags, "%s%s%s%s%s", p->call->accum ? "a" : "", p->call->mask ? "m" : "",
           s->structural ? "s" : "", s->complement ? "c" : "", s->replace ? "r" : "");
  snprintf(text, SHUNT_PROBLEM_TEXT, "%s:%s_%s:%s:m%lldn%lldk%lldw%lld:%s.%s.%s:%c%c:%s:t%d",
           p->call->name + sizeof "GrB_" - 1, grb_monoid_text(p->semiring.monoid),
           p->semiring.inner ? "secondi" : grb_multiplier_text(p->semiring.multiplier),
           grb_number_text(p->semiring.number), (long long)p->m, (long long)p->n, (long long)p->k,
           (long long)p->work, a, b, c, s->transpose_first ? 'T' : 'N',
           s->transpose_second ? 'T' : 'N', flags[0] ? flags : "-", p->threads);
}

static uint64_t mix(uint64_t hash, int64_t x)
{
  return (hash ^ (uint64_t)x) * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t hash_operand(uint64_t hash, const struct grb_operand *a)
{
  return mix(hash, a->form * 4 + a->by_column * 2 + a->iso);
}

uint64_t grb_report_hash(const struct grb_product *p)
{
  const struct grb_settings *s = &p->settings;
  uint64_t h = mix(p->call->kind + 1, p->semiring.number * 64 + p->semiring.monoid * 8 +
                                          (p->semiring.inner ? 7 : p->semiring.multiplier));
  h = mix(mix(mix(mix(h, p->m), p->n), p->k), p->work);
  h = hash_operand(hash_operand(hash_operand(h, &p->a), &p->b), &p->c);
  h = mix(h, (p->call->accum != NULL) | (p->call->mask != NULL) << 1 | s->structural << 2 |
                 s->complement << 3 | s->replace << 4 | s->transpose_first << 5 |
                 s->transpose_second << 6 | p->threads << 8);
  return h ^ h >> 29;
}

struct shunt_decision *grb_report(const struct grb_product *p, struct shunt_outcome why, double us)
{
  const bool readable = p->m > 0, taken = why.reason == SHUNT_FITS;
  const bool by_host = strcmp(p->engine, "host") == 0;
  return shunt_log_decision_of(
      p->call->name, taken ? p->engine : "original", why, readable ? grb_report_hash(p) : 1,
      readable ? print : NULL, p,
      (struct shunt_log_call){.us = us,
                              .saved_us = taken ? grb_gain_saved(&p->gain, us, by_host) : NAN,
                              .off = p->gain.off,
                              .caller = p->call->caller});
}

/* ---- pictures -------------------------------------------------------------------------------- */

enum { LEAST_DRAWN = 1024 }; /* entries: fewer do not take the place of a larger matrix */

/* Not of a size at which nothing would be seen. */
static bool is_wanted(const struct grb_operand *x)
{
  return grb_operand_is_sparse(x) && x->nnz >= LEAST_DRAWN && x->rows <= SHUNT_DENSITY_MOST &&
         x->cols <= SHUNT_DENSITY_MOST && shunt_log_wants_pattern(x->rows, x->cols, x->nnz);
}

/* An operand of a call that was let go before it was read.  The handles that came last are not
   asked again: programs multiply by one matrix many times.  */
static bool read_now(const struct grb_library *l, GrB_Matrix handle, struct grb_operand *out)
{
  static _Thread_local GrB_Matrix asked[16];
  uint64_t entries;
  GrB_Matrix *last = &asked[(uintptr_t)handle / 64 % 16];
  if (!handle || *last == handle) return false;
  *last = handle;
  if (!grb_operand_glance(l, handle, out) || !grb_operand_shape(l, out) ||
      l->GrB_Matrix_nvals(&entries, handle) != GRB_SUCCESS)
    return false;
  out->nnz = (int64_t)entries;
  return is_wanted(out) && grb_operand_read(l, out);
}

static void draw(const struct grb_product *p, GrB_Matrix handle, const struct grb_operand *x)
{
  struct grb_operand now = {0};
  if (!x->values && read_now(p->library, handle, &now)) x = &now;
  if (!x->offsets || !is_wanted(x)) return;
  const struct shunt_sparse s = grb_operand_sparse(x, false, false);
  struct shunt_density *d = SHUNT_TRY_OR(NULL, malloc(sizeof *d));
  if (!d) return; /* this matrix has no picture */
  shunt_density_sparse_host(&s, d);
  shunt_log_pattern(d, x->nnz);
  free(d);
}

void grb_report_pictures(const struct grb_product *p)
{
  const struct grb_call *call = p->call;
  if (!shunt_options()->report[0] || !shunt_log_wants_density()) return;
  if (shunt_options()->engines == 0 || !grb_library_ready(call->library)) return;
  draw(p, call->a, &p->a);
  if (call->kind == GRB_CALL_MXM) draw(p, call->b, &p->b); /* not of vectors */
}
