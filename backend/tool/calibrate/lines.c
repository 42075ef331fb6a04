/* lines.c: the lines of a table that timings tell of.

   Which line an estimate comes from, and what it multiplies the line's coefficients with, is found
   by asking the estimate itself (backend/routes/cost/costs.h) with other coefficients.  Which terms
   a line has was found with many matrices at hand (tests/bench/costs.md): the others are none of
   its form's, or no matrix tells them, and are 0 in the end.  */
#include <string.h>

#include "backend/costs/coefficients.h"
#include "backend/routes/cost/costs.h"
#include "backend/tool/calibrate/calibrate.h"

#define OF_CSR "start entry gather written longest beyond far idle idle_bytes varied"
#define OF_BUNDLE "start entry gather written row list longest beyond far narrow"
#define OF_SORTED "start entry gather written narrow tiles longest beyond huge far"
#define OF_DEFAULT "start entry gather written row longest beyond far"
#define OF_ALG1 "start gather written row longest beyond huge"
#define OF_ALG3 "start entry gather written row tiles longest beyond huge far"
#define OF_LAYER "start entry gather written row tiles longest beyond"
#define OF_DEFAULT_LAYER "start gather least"
#define OF_BUNDLE_LAYER "start gather written longest varied walk turns shared rounds"
#define OF_CSR_LINES "start lines gather far wide varied"
#define OF_SORTED_LINES "start lines"

const char *const calibrate_way_words[CALIBRATE_WAYS] = {"default", "alg1",   "alg3",
                                                         "csr",     "bundle", "sorted"};

#define LAYERS(name, way, terms)                                                                   \
  {name ".half", way, OF_LAYER, true}, {name ".f32", way, terms, true},                            \
  {                                                                                                \
    name ".f64", way, terms, true                                                                  \
  }

const struct calibrate_line calibrate_lines[CALIBRATE_LINES] = {
    {"csr.scattered_half", CALIBRATE_CSR, OF_CSR, false},
    {"csr.scattered_f32", CALIBRATE_CSR, OF_CSR, false},
    {"csr.scattered_f64", CALIBRATE_CSR, OF_CSR, false},
    {"csr.lines_half", CALIBRATE_CSR, OF_CSR_LINES, true},
    {"csr.lines_f32", CALIBRATE_CSR, OF_CSR_LINES, true},
    {"csr.lines_f64", CALIBRATE_CSR, OF_CSR_LINES, true},
    {"csr.unstaged", CALIBRATE_CSR, OF_CSR, false},
    {"csr.unstaged_half", CALIBRATE_CSR, OF_CSR, false},
    {"bundle.f32", CALIBRATE_BUNDLE, OF_BUNDLE, false},
    {"bundle.f64", CALIBRATE_BUNDLE, OF_BUNDLE, false},
    {"bundle.layer_f32", CALIBRATE_BUNDLE, OF_BUNDLE_LAYER, false},
    {"bundle.layer_f64", CALIBRATE_BUNDLE, OF_BUNDLE_LAYER, false},
    {"sorted.half", CALIBRATE_SORTED, OF_SORTED, false},
    {"sorted.f32", CALIBRATE_SORTED, OF_SORTED, false},
    {"sorted.f64", CALIBRATE_SORTED, OF_SORTED, false},
    {"sorted.lines_half", CALIBRATE_SORTED, OF_SORTED_LINES, true},
    {"sorted.lines_f32", CALIBRATE_SORTED, OF_SORTED_LINES, true},
    {"sorted.lines_f64", CALIBRATE_SORTED, OF_SORTED_LINES, true},
    {"sorted.unstaged", CALIBRATE_SORTED, OF_SORTED, false},
    {"sorted.unstaged_half", CALIBRATE_SORTED, OF_SORTED, false},
    {"original.narrow", CALIBRATE_DEFAULT, OF_DEFAULT, false},
    {"original.wide", CALIBRATE_DEFAULT, OF_DEFAULT, false},
    {"original.half", CALIBRATE_DEFAULT, OF_ALG3, false},
    {"original.alg1", CALIBRATE_ALG1, OF_ALG1, false},
    {"original.alg1_half", CALIBRATE_ALG1, OF_ALG3, false},
    {"original.alg3_half", CALIBRATE_ALG3, OF_ALG3, false},
    {"original.alg3_f32", CALIBRATE_ALG3, OF_ALG3, false},
    {"original.alg3_f64", CALIBRATE_ALG3, OF_ALG3, false},
    LAYERS("original.layer", CALIBRATE_DEFAULT, OF_DEFAULT_LAYER),
    LAYERS("original.layer_alg1", CALIBRATE_ALG1, OF_LAYER),
    LAYERS("original.layer_alg3", CALIBRATE_ALG3, OF_LAYER)};

/* ---- coefficients --------------------------------------------------------------------------- */

/* Is `name` one of the words? */
static bool has_word(const char *words, const char *name)
{
  const size_t length = strlen(name);
  for (const char *at = words; (at = strstr(at, name)); at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
  return false;
}

static const struct shunt_coefficients *list_of(int line)
{
  const bool ours = calibrate_lines[line].way >= CALIBRATE_ALGORITHMS;
  return ours ? &shunt_coefficients_ours : &shunt_coefficients_original;
}

int calibrate_places(int line, struct shunt_cost_table *t, double *place[CALIBRATE_TERMS])
{
  const struct calibrate_line *l = &calibrate_lines[line];
  const struct shunt_coefficients *list = list_of(line);
  int count = 0;
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->of[i].line, l->name) == 0 && has_word(l->terms, list->of[i].name))
      place[count++] = shunt_coefficient_in(t, &list->of[i], 0);
  return count;
}

bool calibrate_has_least(int line)
{
  return has_word(calibrate_lines[line].terms, "least");
}

/* Takes the line out of the estimate. */
static void clear(int line, struct shunt_cost_table *t)
{
  const struct calibrate_line *l = &calibrate_lines[line];
  const struct shunt_coefficients *list = list_of(line);
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->of[i].line, l->name) == 0) *shunt_coefficient_in(t, &list->of[i], 0) = 0;
}

void calibrate_put(int line, struct shunt_cost_table *t, const double c[CALIBRATE_TERMS])
{
  double *place[CALIBRATE_TERMS];
  const int count = calibrate_places(line, t, place);
  clear(line, t);
  for (int i = 0; i < count; i++) *place[i] = c[i];
}

/* ---- estimates ------------------------------------------------------------------------------ */

static void describe(const struct calibrate_timings *of, const struct calibrate_case *c,
                     enum calibrate_way way, struct shunt_problem *p, struct shunt_profile *f)
{
  static const int number[CALIBRATE_ALGORITHMS] = {[CALIBRATE_ALG1] = 4, [CALIBRATE_ALG3] = 12};
  *p = (struct shunt_problem){.op = SHUNT_SPMM,
                              .format = SHUNT_CSR,
                              .op_a = 'N',
                              .op_b = 'N',
                              .batches = 1,
                              .cusparse = of->cusparse,
                              .algorithm = way < CALIBRATE_ALGORITHMS ? number[way] : 0};
  p->spmm.a = (struct shunt_csr){.rows = c->rows,
                                 .cols = c->cols,
                                 .nnz = c->nnz,
                                 .index_type = SHUNT_I32,
                                 .value_type = c->type};
  p->spmm.b = (struct shunt_dense){c->cols, c->n, c->n, 1, NULL, c->type};
  p->spmm.c = (struct shunt_dense){c->rows, c->n, c->n, 1, NULL, c->type};
  p->spmm.compute = c->type == SHUNT_F16 ? SHUNT_F32 : c->type;
  *f = (struct shunt_profile){.rows = c->rows,
                              .cols = c->cols,
                              .nnz = c->nnz,
                              .longest_row = c->longest,
                              .idle_steps = c->idle,
                              .lengths = c->lengths,
                              .row_length_squares = (double)c->squares};
}

double calibrate_estimate(const struct calibrate_timings *of, const struct calibrate_case *c,
                          enum calibrate_way way, const struct shunt_cost_table *t)
{
  const struct shunt_machine m = {of->device, t};
  struct shunt_problem p;
  struct shunt_profile f;
  describe(of, c, way, &p, &f);
  if (way == CALIBRATE_CSR) return shunt_cost_csr(&p.spmm, &f, &m);
  if (way == CALIBRATE_BUNDLE)
    return shunt_cost_bundle(&p.spmm, &f, (double)c->vectors, (double)c->group, &m);
  if (way == CALIBRATE_SORTED) return shunt_cost_sorted(&p.spmm, &f, &m);
  return shunt_cost_original(&p, &f, &m);
}

int calibrate_line_of(const struct calibrate_timings *of, const struct calibrate_case *c,
                      enum calibrate_way way, struct shunt_cost_table *t)
{
  const double before = calibrate_estimate(of, c, way, t);
  for (int line = 0; line < CALIBRATE_LINES; line++) {
    double *place[CALIBRATE_TERMS];
    if (calibrate_lines[line].way != way) continue;
    calibrate_places(line, t, place);
    const double first = *place[0];
    *place[0] += first + before + 1;
    const bool moved = calibrate_estimate(of, c, way, t) != before;
    *place[0] = first;
    if (moved) return line;
  }
  return -1;
}

double calibrate_features(const struct calibrate_timings *of, const struct calibrate_case *c,
                          int line, struct shunt_cost_table *t, double f[CALIBRATE_TERMS])
{
  const enum calibrate_way way = calibrate_lines[line].way;
  const struct shunt_cost_table whole = *t;
  double *place[CALIBRATE_TERMS];
  const int count = calibrate_places(line, t, place);
  clear(line, t);
  const double besides = calibrate_estimate(of, c, way, t);
  for (int i = 0; i < count; i++) {
    const double none = *place[i];
    *place[i] = 1;
    f[i] = calibrate_estimate(of, c, way, t) - besides;
    *place[i] = none;
  }
  *t = whole;
  return besides;
}

/* ---- choices -------------------------------------------------------------------------------- */

bool calibrate_is_open(const struct calibrate_timings *of, const struct calibrate_case *c,
                       enum calibrate_way way, enum calibrate_way algorithm)
{
  struct shunt_problem p;
  struct shunt_profile f;
  if (way == algorithm) return true;
  describe(of, c, algorithm, &p, &f);
  if (way == CALIBRATE_CSR) return !shunt_choose_original_over_csr(&p, &f);
  if (way == CALIBRATE_SORTED) return c->us[way] > 0 && shunt_choose_sorted_candidate(&p.spmm, &f);
  return way == CALIBRATE_BUNDLE && c->type != SHUNT_F16 && c->vectors >= 0 &&
         shunt_choose_bundle_candidate(&p.spmm.a, &f);
}

double calibrate_margin(const struct calibrate_timings *of, const struct calibrate_case *c,
                        enum calibrate_way way)
{
  struct shunt_problem p;
  struct shunt_profile f;
  describe(of, c, way, &p, &f);
  if (way == CALIBRATE_BUNDLE) return shunt_cost_bundle_margin(&p.spmm.a);
  return way < CALIBRATE_ALGORITHMS ? shunt_cost_original_margin(&p) : 1;
}
