/* test_measure.c: the measuring half of shunt calibrate, with a stand-in for the GPU's engine that
   makes times up: what is kept of them.  */
#include "backend/tool/tool.h"
#ifndef HAVE_CUDA
#define HAVE_CUDA 1
#endif
#include "backend/tool/calibrate/measure.c"
#include "tests/unit/check.h"

/* ---- stand-ins ------------------------------------------------------------------------------ */

static bool no_gpu, no_cusparse, broken, wrong;
static int opened, measured, drawn;

bool bench_have_gpu(char *why, size_t bytes)
{
  snprintf(why, bytes, "none here");
  return !no_gpu;
}
bool shunt_machine_signature(int device, char text[SHUNT_SIGNATURE])
{
  return (void)device, snprintf(text, SHUNT_SIGNATURE, "build=1 gpu=G driver=1") > 0;
}
struct bench_options bench_defaults(void)
{
  return (struct bench_options){.n = {8, 32},
                                .n_count = 2,
                                .types = {0, 2}, /* f16, f32 */
                                .type_count = 2,
                                .layout_count = 1,
                                .op_a = 'N',
                                .index_type = SHUNT_I32,
                                .v = 1,
                                .seed = 1};
}
const char *const bench_layout_words[] = {"rr", NULL};
int bench_suite(const char *name, const char *data, const struct bench_options *o,
                struct bench_step steps[BENCH_STEPS])
{
  static char *sources[] = {"mesh:3x3x3:3", "random:200x300:0.01"};
  (void)name, (void)data;
  steps[0] = (struct bench_step){*o, sources, 2};
  return 1;
}
void bench_suite_free(struct bench_step *steps, int count)
{
  (void)steps, (void)count;
}
void bench_progress(int index, int count, const struct bench_case *c, const char *way)
{
  (void)c, (void)way;
  drawn += index >= 1 && index <= count;
}
void bench_progress_end(void) {}

static bool open_engine(struct bench_machine *m, char *why, size_t bytes)
{
  (void)why, (void)bytes;
  opened++;
  *m = (struct bench_machine){.engine = "cuda",
                              .name = "G",
                              .multiprocessors = 132,
                              .l2_bytes = 60 << 20,
                              .cusparse = no_cusparse ? 0 : 12904};
  return true;
}
static void close_engine(void)
{
  opened--;
}
/* Each way takes its place in this list, in us, times the width. */
static bool measure_case(struct bench_case *c, const struct bench_options *o)
{
  static const char *const ways[] = {
      "csr", "bundle", "cusparse-default", "cusparse-alg1", "cusparse-alg3", "sorted", NULL};
  const bool half = c->problem.spmm.a.value_type == SHUNT_F16;
  measured++;
  for (int i = 0; ways[i]; i++) {
    struct bench_way *w = bench_add_way(c, ways[i], i < 2 || i == 5);
    w->ran = i != 1 || !half;
    w->right = !(wrong && i == 0);
    w->us = w->ran ? (i + 1) * (double)c->problem.spmm.c.cols : -1;
  }
  return o->quick && !broken;
}
const struct bench_engine bench_cuda_engine = {open_engine, measure_case, close_engine};

/* ---- cases ---------------------------------------------------------------------------------- */

static void test_kept(void)
{
  struct calibrate_timings t;
  if (!check(calibrate_measure(10, NULL, 0, &t) && opened == 0,
             "all is measured, and the GPU left"))
    return;
  check(t.count == 8 && t.matrices == 2 && measured == 8 && drawn == 8, "each case once: %d",
        t.count);
  check(strcmp(t.gpu, "G") == 0 && strcmp(t.signature, "build=1 gpu=G driver=1") == 0 &&
            t.cusparse == 129 && t.device.multiprocessors == 132 && t.device.l2_bytes == 60 << 20,
        "with the machine");
  const struct calibrate_case *half = &t.of[1], *single = &t.of[2];
  check(half->type == SHUNT_F16 && half->n == 32 && single->type == SHUNT_F32 && single->n == 8,
        "types and widths");
  check(single->rows == 81 && single->cols == 81 && single->nnz == 7 * 7 * 7 * 9 &&
            single->longest == 81,
        "what the matrix is: %d entries, the longest row %d", (int)single->nnz,
        (int)single->longest);
  check(single->vectors > single->nnz / 8 && single->vectors < single->nnz && single->group == 81,
        "its vectors: %d, %d in a group", (int)single->vectors, (int)single->group);
  check(single->us[CALIBRATE_CSR] == 8 && single->us[CALIBRATE_BUNDLE] == 16 &&
            single->us[CALIBRATE_DEFAULT] == 24 && single->us[CALIBRATE_ALG1] == 32 &&
            single->us[CALIBRATE_ALG3] == 40 && single->us[CALIBRATE_SORTED] == 48,
        "each way's time");
  check(single->idle > 0 && single->idle < single->nnz && single->squares > 30 * single->nnz &&
            single->squares <= 81 * single->nnz,
        "how much its rows differ: %d waiting steps, squares %d", (int)single->idle,
        (int)single->squares);
  check(half->us[CALIBRATE_BUNDLE] == 0 && half->us[CALIBRATE_CSR] == 32,
        "none of what did not run");
  check(t.of[7].rows == 200 && t.of[7].cols == 300 && t.of[7].matrix == 1 &&
            t.of[7].vectors != single->vectors,
        "the next matrix has its own");
  calibrate_free(&t);
}

/* A source of the user's comes after them, in all types and at all widths. */
static void test_sources(void)
{
  static char *sources[] = {"band:50:2:1"};
  struct calibrate_timings t;
  measured = drawn = 0;
  if (!check(calibrate_measure(10, sources, 1, &t), "a source of the user's")) return;
  check(t.count == 8 + 18 && t.matrices == 3 && measured == t.count && drawn == t.count,
        "each case once: %d", t.count);
  const struct calibrate_case *first = &t.of[8], *last = &t.of[t.count - 1];
  check(strcmp(t.name[first->matrix], sources[0]) == 0 && first->rows == 50 && first->n == 8 &&
            last->matrix == first->matrix && last->n == 256,
        "after the made-up ones, at 8 to 256 columns");
  calibrate_free(&t);
}

/* What calibrate_measure leaves where it fails. */
static bool fails(void)
{
  struct calibrate_timings t = {.count = 1};
  return !calibrate_measure(10, NULL, 0, &t) && t.count == 0 && !t.of && opened == 0;
}

int main(void)
{
  struct calibrate_timings t;
  test_kept();
  test_sources();
  measured = 0;
  wrong = true;
  check(calibrate_measure(10, NULL, 0, &t) && t.of[0].us[CALIBRATE_CSR] == 0 &&
            t.of[0].us[CALIBRATE_DEFAULT] > 0,
        "times of wrong results are not kept");
  calibrate_free(&t);
  wrong = false;
  measured = 0;
  check(calibrate_measure(-1, NULL, 0, &t) && measured == 0 && t.count == 0,
        "no case once time is up");
  calibrate_free(&t);
  broken = true;
  check(fails(), "nothing is kept where the device fails");
  broken = false, no_cusparse = true;
  check(fails(), "nor without cuSPARSE");
  no_gpu = true;
  check(fails(), "nor without a GPU");
  return check_finish();
}
