/* each_case.c: the cases of steps, one after the other, each on its pattern. */
#include <string.h>

#include "backend/tool/bench/bench.h"
#include "conv/profile/profile.h"

/* What bench_each_case was asked for, and whether a source was none. */
struct walk {
  const struct bench_options *o;
  bench_visit visit;
  void *of;
  bool bad;
};

static int cases_of(const char *source, const struct bench_options *o)
{
  bool own = strncmp(source, "spmm:", 5) == 0 || strncmp(source, "sddmm:", 6) == 0;
  return own ? 1 : o->n_count * o->type_count * o->layout_count;
}

int bench_count_cases(const struct bench_step *steps, int count)
{
  int total = 0;
  for (int s = 0; s < count; s++)
    for (int i = 0; i < steps[s].count; i++) total += cases_of(steps[s].sources[i], &steps[s].o);
  return total;
}

/* False: the visitor has seen enough. */
static bool walk_matrix(struct walk *w, const struct tool_source *source,
                        const struct shunt_matrix *m, const struct bench_case *base)
{
  const struct bench_options *o = w->o;
  bool more = true;
  for (int i = 0, count = cases_of(source->text, o); i < count && more; i++) {
    struct bench_case c = *base;
    int layout = i / (o->n_count * o->type_count), types = i / o->n_count % o->type_count;
    c.problem = source->from_problem ? source->problem
                                     : bench_problem(m, o->n[i % o->n_count], o->types[types],
                                                     bench_layout_words[o->layouts[layout]], o);
    bench_finish_case(&c, m, o->v);
    if (bench_sane(&c))
      more = w->visit(w->of, &c, o);
    else
      w->bad = true;
  }
  return more;
}

static bool walk_source(struct walk *w, const char *text)
{
  const struct bench_options *o = w->o;
  struct tool_source source;
  struct shunt_matrix m;
  struct bench_case base = {.v = o->v};
  bool more = true;
  if (!tool_load(text, o->v, o->seed, &source, &m)) {
    w->bad = true;
    return true;
  }
  struct shunt_csr view = tool_view(&m);
  view.value_type = SHUNT_F16; /* of which merged tiles are counted */
  if (shunt_profile_csr_host(&view, &base.profile) != SHUNT_OK) {
    tool_say("%s: the profile failed", text);
    w->bad = true;
  } else if (m.rows < 1 || m.cols < 1 || m.nnz < 1) {
    tool_say("%s: the matrix is empty; there is nothing to time", text);
    w->bad = true;
  } else {
    tool_short_name(source.from_problem ? "problem" : text, base.matrix, sizeof base.matrix);
    more = walk_matrix(w, &source, &m, &base);
  }
  shunt_matrix_free(&m);
  return more;
}

bool bench_each_case(const struct bench_step *steps, int count, bench_visit visit, void *of)
{
  struct walk w = {.visit = visit, .of = of};
  bool more = true;
  for (int s = 0; s < count; s++) {
    w.o = &steps[s].o;
    for (int i = 0; i < steps[s].count && more; i++) more = walk_source(&w, steps[s].sources[i]);
  }
  return !w.bad;
}
