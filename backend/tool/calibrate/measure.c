/* measure.c: matrices, made up and the user's, through the engine of `shunt bench`, for the ways
   that are fitted. */
#include <string.h>
#include <time.h>

#include "backend/tool/bench/bench.h"
#include "backend/tool/calibrate/calibrate.h"
#include "conv/bundle/bundle_conv.h"

#ifdef HAVE_CUDA
#include <stdlib.h>

#include "backend/plan/tune/tune_machine.h"

struct measuring {
  struct calibrate_timings *timings;
  int done, total;
  double end;                                           /* by now() */
  char counted[sizeof((struct bench_case *)0)->matrix]; /* whose counts these are */
  struct shunt_bundle_counts counts;
  bool failed;
};

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How many vectors `bundle` would have: as the device finds, without it. */
static bool count_vectors(struct measuring *m, const struct bench_case *c)
{
  const struct shunt_csr a = tool_view(c->pattern);
  const size_t bytes = shunt_bundle_bytes(&a);
  struct shunt_bundle hint;
  if (strcmp(m->counted, c->matrix) == 0) return true;
  void *memory = bytes ? aligned_alloc(256, (bytes + 255) & ~(size_t)255) : NULL;
  const bool good = memory && shunt_bundle_lay_out(&a, memory, &hint) &&
                    shunt_csr_to_bundle_host(&a, &hint) == SHUNT_OK;
  if (good) m->counts = *hint.counts;
  if (good) snprintf(m->counted, sizeof m->counted, "%s", c->matrix);
  free(memory);
  return good;
}

static bool keep(struct measuring *m, const struct bench_case *c)
{
  static const char *const ways[CALIBRATE_WAYS] = {
      "cusparse-default", "cusparse-alg1", "cusparse-alg3", "csr", "bundle", "sorted"};
  const struct shunt_csr *a = shunt_problem_sparse(&c->problem);
  struct calibrate_case *to = calibrate_add(m->timings, c->matrix);
  if (!to) return false;
  to->type = a->value_type;
  to->n = c->problem.spmm.c.cols;
  to->rows = a->rows, to->cols = a->cols, to->nnz = a->nnz;
  to->longest = c->profile.longest_row;
  to->idle = c->profile.idle_steps;
  to->squares = (int64_t)c->profile.row_length_squares;
  to->lengths = c->profile.lengths;
  if (count_vectors(m, c)) {
    to->vectors = (int64_t)m->counts.vectors;
    to->group = m->counts.longest;
  }
  for (int i = 0; i < CALIBRATE_WAYS; i++) {
    const struct bench_way *w = bench_find_way(c, ways[i]);
    if (w && w->right && (i != CALIBRATE_BUNDLE || to->vectors >= 0)) to->us[i] = w->us;
  }
  return true;
}

/* False: time is up, or the device fails. */
static bool measure_one(void *of, struct bench_case *c, const struct bench_options *o)
{
  struct measuring *m = of;
  if (now() > m->end) return false;
  bench_progress(++m->done, m->total, c, NULL);
  const bool alive = bench_cuda_engine.measure(c, o);
  m->failed = !alive || !keep(m, c);
  bench_progress_end();
  return !m->failed;
}

static bool describe_machine(const struct bench_machine *b, struct calibrate_timings *t)
{
  snprintf(t->gpu, sizeof t->gpu, "%.63s", b->name);
  t->device = (struct shunt_device){b->multiprocessors, b->compute_capability, 0, b->l2_bytes};
  t->cusparse = bench_cusparse_version(b);
  if (b->cusparse && shunt_machine_signature(0, t->signature)) return true;
  tool_say("calibrate: %s", b->cusparse ? "the driver does not say what this machine is"
                                        : "cuSPARSE was not found, so nothing can be compared");
  return false;
}

static bool measure_steps(const struct bench_step *steps, int count, int minutes,
                          struct calibrate_timings *t)
{
  struct measuring m = {
      .timings = t, .total = bench_count_cases(steps, count), .end = now() + 60.0 * minutes};
  if (!bench_each_case(steps, count, measure_one, &m) || m.failed) return false;
  if (m.done < m.total)
    tool_say("calibrate: %d of %d cases were measured in %d minute%s", m.done, m.total, minutes,
             minutes == 1 ? "" : "s");
  return true;
}

/* The sources, in the types and at the widths of the made-up matrices. */
static void of_the_users(struct bench_step *s, char **sources, int count,
                         const struct bench_options *o)
{
  *s = (struct bench_step){.o = *o, .sources = sources, .count = count};
  s->o.type_count = tool_parse_words("types", "f32,f64,f16", bench_type_words, s->o.types);
  s->o.n_count = tool_parse_sizes("widths", "8,16,32,64,128,256", 256, s->o.n);
}
#endif

bool calibrate_measure(int minutes, char **sources, int source_count, struct calibrate_timings *t)
{
  char why[256] = "";
  *t = (struct calibrate_timings){.count = 0};
  if (!bench_have_gpu(why, sizeof why)) {
    tool_say("calibrate: nothing can be measured: %s (--from fits to timings of a file)", why);
    return false;
  }
#ifdef HAVE_CUDA
  struct bench_step steps[BENCH_STEPS + 1];
  struct bench_options o = bench_defaults();
  struct bench_machine machine;
  o.quick = true;
  o.ways = "csr,bundle,sorted,cusparse-default,cusparse-alg1,cusparse-alg3";
  const int count = bench_suite("calibrate", NULL, &o, steps);
  if (count < 1) return false;
  of_the_users(&steps[count], sources, source_count, &o);
  bool good = bench_cuda_engine.open(&machine, why, sizeof why);
  if (good) {
    const int all = count + (source_count > 0);
    good = describe_machine(&machine, t) && measure_steps(steps, all, minutes, t);
    bench_cuda_engine.close();
  } else {
    tool_say("calibrate: nothing can be measured: %s", why);
  }
  bench_suite_free(steps, count);
  if (!good) calibrate_free(t);
  return good;
#else
  (void)minutes, (void)sources, (void)source_count;
  return false;
#endif
}
