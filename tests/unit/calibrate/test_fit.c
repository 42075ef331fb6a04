/* test_fit.c: shunt calibrate's fits, on timings that a known table makes: they give its
   coefficients back, and a matrix that is left out has no say.  */
#define _GNU_SOURCE /* mkstemp */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/tool/calibrate/calibrate.h"
#include "backend/tool/calibrate/least_squares.h"
#include "tests/unit/check.h"

const char *tool_option_text(const char *name)
{
  return (void)name, NULL;
}

/* ---- least squares -------------------------------------------------------------------------- */

static void test_least_squares(void)
{
  static const double row[4][3] = {{1, 0, 2}, {1, 1, 0}, {1, 3, 1}, {1, 2, 5}};
  const double known[3] = {2, 0.5, 3}, negative[3] = {2, -0.5, 3};
  struct least_squares good = {.right = {0}}, other = {.right = {0}}, less;
  double c[3];
  for (int i = 0; i < 4; i++) {
    double b = 0, b_negative = 0;
    for (int j = 0; j < 3; j++) b += known[j] * row[i][j], b_negative += negative[j] * row[i][j];
    least_squares_add(&good, row[i], 3, b, 1);
    least_squares_add(&other, row[i], 3, b_negative, 1);
  }
  least_squares_solve(&good, 3, 0, c);
  check(fabs(c[0] - 2) < 1e-3 && fabs(c[1] - 0.5) < 1e-3 && fabs(c[2] - 3) < 1e-3,
        "equations that can be met are met: %g %g %g", c[0], c[1], c[2]);
  least_squares_solve(&other, 3, 0, c);
  check(c[1] == 0 && c[0] > 0 && c[2] > 0, "nothing is negative: %g %g %g", c[0], c[1], c[2]);
  least_squares_solve(&good, 3, 4, c);
  check(c[0] == 4, "the first is not below its floor");
  less = good;
  least_squares_add(&less, row[0], 3, 99, 1);
  least_squares_add(&less, row[0], 3, 99, -1);
  least_squares_solve(&less, 3, 0, c);
  check(fabs(c[0] - 2) < 1e-3, "an equation can be taken away again");
}

/* ---- timings that a table makes ------------------------------------------------------------- */

static uint64_t random_state;

static double random_share(void)
{
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(random_state >> 11) / (double)((uint64_t)1 << 53);
}

/* Rows of at least half the mean, and fewer of each greater length. */
static void make_lengths(struct calibrate_case *c)
{
  const int last = shunt_sorted_count_of(c->longest);
  int64_t rows = c->rows;
  for (int i = 0; i <= last; i++) {
    if (2 * shunt_sorted_least(i) * c->rows > c->nnz) rows = rows == c->rows ? rows / 8 : rows / 2;
    c->lengths.at_least[i] = rows > 1 ? (uint32_t)rows : 1;
  }
}

/* A pruned layer: more than one entry in 64. */
static void make_layer(struct calibrate_case *c)
{
  const double density = 0.03 + 0.4 * random_share() * random_share();
  c->rows = (int64_t)(500 * pow(16, random_share()));
  c->cols = (int64_t)(500 * pow(16, random_share()));
  c->nnz = (int64_t)(density * (double)c->rows * (double)c->cols);
  c->longest = (int64_t)(density * (double)c->cols * (1 + random_share())) + 1;
  c->vectors = (int64_t)((double)c->nnz / (1 + 4 * random_share()));
  c->group = c->longest + (int64_t)(0.5 * random_share() * (double)c->longest);
  make_lengths(c);
}

/* Of all kinds: rows, mean and longest rows, and how much neighbours share. */
static void make_matrix(struct calibrate_case *c)
{
  const double mean = 2 + 60 * random_share() * random_share();
  c->rows = (int64_t)(1200 * pow(200, random_share()));
  c->cols = (int64_t)((double)c->rows * (1 + random_share()));
  c->nnz = (int64_t)(mean * (double)c->rows);
  c->longest = (int64_t)(mean * (1 + pow(100, random_share())));
  c->idle = c->nnz * (c->rows % 97) / 80;
  c->squares =
      (int64_t)(fmin(mean * (1 + (double)(c->cols % 89) / 8), (double)c->longest) * (double)c->nnz);
  c->vectors = (int64_t)((double)c->nnz / (1 + 4 * random_share()));
  c->group = c->longest;
}

static bool make_timings(struct calibrate_timings *t, const struct shunt_cost_table *by,
                         double noise, int matrices)
{
  static const shunt_type types[] = {SHUNT_F16, SHUNT_F32, SHUNT_F64};
  *t = (struct calibrate_timings){.gpu = "Made up",
                                  .signature = "build=1 gpu=Made up driver=13000",
                                  .device = {132, 90, 232448, 60 << 20},
                                  .cusparse = 126};
  random_state = 1;
  for (int m = 0; m < matrices; m++) {
    struct calibrate_case like = {.vectors = -1, .group = -1};
    char name[CALIBRATE_NAME];
    snprintf(name, sizeof name, "matrix-%d", m);
    m % 4 == 3 ? make_layer(&like) : make_matrix(&like);
    for (int i = 0; i < 18; i++) {
      struct calibrate_case *c = calibrate_add(t, name);
      if (!c) return false;
      like.matrix = c->matrix, like.type = types[i % 3], like.n = 8 << i / 3;
      *c = like;
      for (int w = 0; w < CALIBRATE_WAYS; w++) {
        if (w == CALIBRATE_BUNDLE && (c->type == SHUNT_F16 || c->vectors < 0)) continue;
        const double share = w == CALIBRATE_SORTED ? fmod(0.37 * t->count, 1) : random_share();
        c->us[w] = calibrate_estimate(t, c, w, by) * exp(noise * (2 * share - 1));
      }
    }
  }
  return true;
}

/* A table whose fitted lines are others than any that is built in. */
static struct shunt_cost_table made_table(void)
{
  struct shunt_cost_table t = shunt_costs_h200;
  /* What is no term of a sum is not fitted. */
  for (int type = 0; type < SHUNT_LAYER_TYPES; type++) t.original[0].layer[type].least = 0;
  for (int line = 0; line < CALIBRATE_LINES; line++) {
    double *place[CALIBRATE_TERMS];
    const int count = calibrate_places(line, &t, place);
    for (int i = 0; i < count; i++) *place[i] *= 1.5 + 0.1 * ((line + i) % 5);
  }
  t.original[0].alg3[1].tiles = 90;
  return t;
}

/* ---- fits ----------------------------------------------------------------------------------- */

/* By how much the fitted table's estimates differ from those of the known one, at most. */
static double largest_difference(const struct calibrate_timings *t,
                                 const struct shunt_cost_table *a, const struct shunt_cost_table *b)
{
  double most = 0;
  for (int i = 0; i < t->count; i++)
    for (int w = 0; w < CALIBRATE_WAYS; w++)
      if (t->of[i].us[w] > 0)
        most = fmax(most, fabs(log(calibrate_estimate(t, &t->of[i], w, a) /
                                   calibrate_estimate(t, &t->of[i], w, b))));
  return most;
}

static void test_known_table(double noise, double most, double off)
{
  const struct shunt_cost_table known = made_table();
  struct shunt_cost_table fitted;
  struct calibrate_residual residual[CALIBRATE_LINES];
  struct calibrate_timings t;
  if (!check(make_timings(&t, &known, noise, 96), "timings with %.0f %% of noise", 100 * noise))
    return;
  struct calibrate_fit *fit = calibrate_fit_make(&t, &shunt_costs_h200);
  calibrate_fit_lines(fit, -1, &fitted);
  calibrate_residuals(fit, &fitted, residual);
  const double difference = largest_difference(&t, &fitted, &known);
  check(difference < most, "the table comes back: an estimate is %.4f off at most", difference);
  const double written = fitted.ours.csr.scattered[1].written / known.ours.csr.scattered[1].written;
  check(fabs(log(written)) < most, "so does what C takes in csr: %.4f of it", written);
  const double tiles = fitted.original[0].alg3[1].tiles / known.original[0].alg3[1].tiles;
  check(fabs(log(tiles)) < most, "and what rows of more than 128 bytes do in ALG3: %.4f", tiles);
  for (int i = 0; i < CALIBRATE_LINES; i++)
    check(residual[i].cases > 15 && residual[i].off >= 1 && residual[i].off < off,
          "%s (%s): %d cases, %.4f off", calibrate_lines[i].name, calibrate_lines[i].terms,
          residual[i].cases, residual[i].off);
  check(memcmp(&fitted.ours.dense, &shunt_costs_h200.ours.dense, sizeof fitted.ours.dense) == 0,
        "what was not measured stays");
  calibrate_fit_free(fit);
  calibrate_free(&t);
}

/* However much times scatter, estimates are as long as they are in the mean. */
static void test_scatter(void)
{
  const struct shunt_cost_table known = made_table();
  struct shunt_cost_table fitted;
  struct calibrate_timings t;
  double sum = 0;
  int cases = 0;
  if (!make_timings(&t, &known, 0.7, 80)) return;
  struct calibrate_fit *fit = calibrate_fit_make(&t, &shunt_costs_h200);
  calibrate_fit_lines(fit, -1, &fitted);
  for (int i = 0; i < t.count; i++)
    for (int w = 0; w < CALIBRATE_WAYS; w++) {
      if (t.of[i].us[w] == 0) continue;
      sum += calibrate_estimate(&t, &t.of[i], w, &fitted) / t.of[i].us[w];
      cases++;
    }
  check(fabs(sum / cases - 1) < 0.04, "times that scatter: an estimate is %.3f of them",
        sum / cases);
  calibrate_fit_free(fit);
  calibrate_free(&t);
}

/* The way that is taken where `bundle` is estimated to be so many times as fast as `csr`. */
static enum calibrate_way choice_of(double faster, shunt_type type)
{
  const struct calibrate_case c = {.type = type,
                                   .n = 64,
                                   .rows = 40000,
                                   .cols = 40000,
                                   .nnz = 2000000,
                                   .longest = 80,
                                   .vectors = 500000,
                                   .group = 200,
                                   .us = {1, 1, 1, 1, 1}};
  const struct calibrate_timings t = {.device = {132, 90, 232448, 60 << 20}, .cusparse = 126};
  struct shunt_cost_table table = shunt_costs_h200;
  const double csr = calibrate_estimate(&t, &c, CALIBRATE_CSR, &table);
  const double bundle = calibrate_estimate(&t, &c, CALIBRATE_BUNDLE, &table);
  const int line = calibrate_line_of(&t, &c, CALIBRATE_BUNDLE, &table);
  double *place[CALIBRATE_TERMS];
  const int count = calibrate_places(line, &table, place);
  for (int i = 0; i < count; i++) *place[i] *= csr / bundle / faster;
  return calibrate_choose(&t, &c, CALIBRATE_DEFAULT, &table);
}

static void test_margin(void)
{
  check(choice_of(1.08, SHUNT_F32) == CALIBRATE_CSR &&
            choice_of(1.12, SHUNT_F32) == CALIBRATE_BUNDLE,
        "f32: bundle has to be 1.1 times as fast as csr");
  check(choice_of(0.96, SHUNT_F64) == CALIBRATE_CSR &&
            choice_of(0.98, SHUNT_F64) == CALIBRATE_BUNDLE,
        "f64: it has to be nearly as fast");
}

/* The last matrix's times are absurd; what the others give is what they give without it. */
static void test_left_out(void)
{
  enum { MATRICES = 13 };
  struct calibrate_timings with, without;
  struct shunt_cost_table a, b, all;
  if (!make_timings(&with, &shunt_costs_h200, 0.1, MATRICES) ||
      !make_timings(&without, &shunt_costs_h200, 0.1, MATRICES - 1))
    return;
  for (int i = without.count; i < with.count; i++)
    for (int w = 0; w < CALIBRATE_WAYS; w++) with.of[i].us[w] *= w == CALIBRATE_CSR ? 1e3 : 1e-3;
  struct calibrate_fit *fit_with = calibrate_fit_make(&with, &shunt_costs_h200);
  struct calibrate_fit *fit_without = calibrate_fit_make(&without, &shunt_costs_h200);
  calibrate_fit_lines(fit_with, MATRICES - 1, &a);
  calibrate_fit_lines(fit_without, -1, &b);
  calibrate_fit_lines(fit_with, -1, &all);
  check(memcmp(&a, &b, sizeof a) == 0, "a matrix that is left out has no say, to the last bit");
  check(memcmp(&all, &b, sizeof all) != 0, "one that is not has");
  int *chosen = calibrate_choices(&with, fit_with, NULL);
  bool same = chosen;
  for (int i = without.count; same && i < with.count; i++)
    for (int algorithm = 0; algorithm < CALIBRATE_ALGORITHMS; algorithm++)
      same = chosen[i * CALIBRATE_ALGORITHMS + algorithm] ==
             (int)calibrate_choose(&with, &with.of[i], algorithm, &b);
  check(same, "and its own choices are made without it");
  free(chosen);
  calibrate_fit_free(fit_with);
  calibrate_fit_free(fit_without);
  calibrate_free(&with);
  calibrate_free(&without);
}

static void test_few(void)
{
  const struct shunt_cost_table known = made_table();
  struct shunt_cost_table fitted;
  struct calibrate_residual residual[CALIBRATE_LINES];
  struct calibrate_timings t;
  if (!make_timings(&t, &known, 0, CALIBRATE_LEAST_MATRICES - 1)) return;
  struct calibrate_fit *fit = calibrate_fit_make(&t, &shunt_costs_h200);
  calibrate_fit_lines(fit, -1, &fitted);
  check(memcmp(&fitted, &shunt_costs_h200, sizeof fitted) == 0, "few matrices change no line");
  calibrate_residuals(fit, &fitted, residual);
  check(residual[0].cases == 0 && residual[0].matrices == CALIBRATE_LEAST_MATRICES - 2,
        "and are said to be few");
  calibrate_fit_free(fit);
  calibrate_free(&t);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void test_saved(void)
{
  char path[] = "/tmp/timings.XXXXXX";
  struct calibrate_timings t, again;
  const int fd = mkstemp(path);
  if (fd < 0 || !make_timings(&t, &shunt_costs_h200, 0.1, 9)) return;
  close(fd);
  if (check(calibrate_save(path, &t) && calibrate_read(path, &again), "timings are read again")) {
    bool same = again.count == t.count && again.matrices == t.matrices;
    for (int i = 0; same && i < t.count; i++) {
      const struct calibrate_case *a = &t.of[i], *b = &again.of[i];
      same = a->matrix == b->matrix && a->type == b->type && a->n == b->n && a->rows == b->rows &&
             a->cols == b->cols && a->nnz == b->nnz && a->longest == b->longest &&
             a->vectors == b->vectors && a->group == b->group && a->idle == b->idle &&
             a->squares == b->squares && memcmp(&a->lengths, &b->lengths, sizeof a->lengths) == 0;
      for (int w = 0; same && w < CALIBRATE_WAYS; w++)
        same = fabs(a->us[w] - b->us[w]) <= 1e-5 * a->us[w];
    }
    check(same, "as they were");
    check(strcmp(again.gpu, t.gpu) == 0 && strcmp(again.signature, t.signature) == 0 &&
              again.cusparse == 126 && again.device.multiprocessors == 132 &&
              again.device.l2_bytes == 60 << 20,
          "with the machine");
    calibrate_free(&again);
  }
  unlink(path);
  calibrate_free(&t);
}

/* ---- versions ------------------------------------------------------------------------------- */

static void test_versions(void)
{
  struct shunt_cost_table t = shunt_costs_h200;
  calibrate_put_version_first(&t, 126);
  check(memcmp(&t, &shunt_costs_h200, sizeof t) == 0, "a version that is the first stays");
  t.cusparse[1] = t.cusparse[2] = 0;
  calibrate_put_version_first(&t, 129);
  t.original[0].wide.start = 7;
  check(t.cusparse[0] == 129 && t.cusparse[1] == 126 && t.cusparse[2] == 0 &&
            t.original[0].wide.entry == t.original[1].wide.entry,
        "a new one begins as the nearest");
  calibrate_put_version_first(&t, 126);
  check(t.cusparse[0] == 126 && t.cusparse[1] == 129 && t.cusparse[2] == 0 &&
            t.original[1].wide.start == 7,
        "one that is there comes first");
  for (int v = 120; v < 125; v++) calibrate_put_version_first(&t, v);
  check(t.cusparse[0] == 124 && t.cusparse[SHUNT_MOST_ORIGINALS - 1] == 121,
        "the last one goes where there is no room");
}

int main(void)
{
  test_least_squares();
  test_known_table(0, 3e-3, 1.001);
  test_known_table(0.1, 0.1, 1.1);
  test_scatter();
  test_margin();
  test_left_out();
  test_few();
  test_saved();
  test_versions();
  return check_finish();
}
