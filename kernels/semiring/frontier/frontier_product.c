/* frontier_product.c: a step of many searches at once (frontier_kernels.h has the method). */
#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/frontier/frontier_single.h"
#include "kernels/semiring/semiring_choice.h"
#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_scratch.h"
#include "kernels/semiring/semiring_team.h"

struct shunt_frontier_work {
  struct shunt_frontier p;
  uint64_t *offsets;
  int64_t groups;
  int width; /* rows of a group */
  int threads;
  struct shunt_places to;
  void **values;                /* [groups] where T has some and does not become a bitmap */
  struct shunt_scratch scratch; /* has to.bits */
};

/* ---- groups ---------------------------------------------------------------------------------- */

static bool run(struct shunt_frontier_work *x, int64_t group, int parts, char *scratch)
{
  const int64_t first = group * x->width, left = x->p.rows - first;
  struct shunt_group g = {.p = &x->p,
                          .first = first,
                          .rows = left < x->width ? (int)left : x->width,
                          .parts = parts,
                          .to = x->to};
  return shunt_group_run(&g, scratch, x->offsets, &x->values[group]);
}

struct groups {
  struct shunt_frontier_work *x;
  char *memory;
  size_t each; /* bytes of a worker */
  bool failed;
};

static void run_groups(void *groups, int64_t begin, int64_t end, int worker)
{
  struct groups *s = groups;
  char *mine = s->memory + s->each * (size_t)worker;
  for (int64_t g = begin; g < end; g++)
    if (!run(s->x, g, 1, mine)) __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
}

/* As many groups as threads at a time; those left over one after the other, by all threads. */
static bool compute_groups(struct shunt_frontier_work *x)
{
  const int workers = shunt_team_workers(x->threads);
  const int64_t apart = x->groups - x->groups % x->threads;
  const size_t alone = shunt_group_bytes(&x->p, 1);
  const int parts = shunt_group_parts(&x->p, x->threads);
  const size_t together = shunt_group_bytes(&x->p, parts);
  const size_t group = apart ? alone * (size_t)workers : 0;
  const size_t bits = (size_t)(x->p.rows * x->to.stride) * sizeof *x->to.bits;
  x->scratch = shunt_scratch_take(bits + (group > together ? group : together));
  if (!x->scratch.memory) return false;
  char *memory = x->scratch.memory + bits;
  x->to.bits = (uint64_t *)(void *)x->scratch.memory;
  struct groups apart_ones = {x, memory, alone, false};
  shunt_team_loop(x->threads, apart, 1, run_groups, &apart_ones);
  bool good = !apart_ones.failed;
  for (int64_t g = apart; good && g < x->groups; g++) good = run(x, g, parts, memory);
  return good;
}

/* ---- rows one by one ------------------------------------------------------------------------- */

struct singles {
  struct shunt_frontier_work *x;
  bool *started; /* [workers] */
  char *memory;
  size_t each; /* bytes of a worker */
  bool failed;
};

static void run_singles(void *singles, int64_t begin, int64_t end, int worker)
{
  struct singles *r = singles;
  struct shunt_frontier_work *x = r->x;
  char *mine = r->memory + r->each * (size_t)worker;
  if (!r->started[worker]) shunt_single_start(&x->p, mine);
  r->started[worker] = true;
  for (int64_t s = begin; s < end; s++)
    if (!shunt_single_run(&x->p, s, &x->to, mine, x->offsets, &x->values[s]))
      __atomic_store_n(&r->failed, true, __ATOMIC_RELAXED);
}

static bool compute_singles(struct shunt_frontier_work *x)
{
  const size_t workers = (size_t)shunt_team_workers(x->threads), flags = shunt_whole_lines(workers);
  const size_t bits = (size_t)(x->p.rows * x->to.stride) * sizeof *x->to.bits;
  const size_t each = shunt_single_bytes(&x->p);
  x->scratch = shunt_scratch_take(bits + flags + each * workers);
  if (!x->scratch.memory) return false;
  char *started = x->scratch.memory + bits;
  x->to.bits = (uint64_t *)(void *)x->scratch.memory;
  memset(started, 0, flags);
  struct singles singles = {x, (bool *)started, started + flags, each, false};
  shunt_team_loop(x->threads, x->p.rows, 1, run_singles, &singles);
  return !singles.failed;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool line_valid(const struct shunt_lines *x, int64_t rows, int64_t cols)
{
  if (x->dense) return x->full.rows == rows && x->full.cols == cols && x->full.col_stride == 1;
  return shunt_sparse_valid(&x->sparse) && !x->sparse.by_column && x->sparse.rows == rows &&
         x->sparse.cols == cols;
}

static void work_free(struct shunt_frontier_work *x)
{
  for (int64_t g = 0; x->values && g < x->groups; g++) free(x->values[g]);
  free(x->values);
  shunt_scratch_give(x->scratch);
  free(x);
}

/* An odd number of lines of cache, so that a group's rows do not meet in the same place of it. */
static int64_t stride_of(int64_t columns)
{
  return ((columns + 511) / 512 | 1) * 8;
}

static int width_of(const struct shunt_frontier *p)
{
  return p->single ? 1 : p->sums ? SHUNT_GROUP_SUMS : SHUNT_GROUP_BITS;
}

static int64_t groups_of(const struct shunt_frontier *p)
{
  return (p->rows + width_of(p) - 1) / width_of(p);
}

/* Entries of A that are met, about, and words of T. */
static int64_t work_of(const struct shunt_frontier *p)
{
  if (!p->single) return p->a.nnz * groups_of(p);
  return p->f.sparse.nnz * (1 + p->a.nnz / (p->a.rows + 1)) + p->rows * (p->a.cols / 64);
}

int shunt_frontier_threads(const struct shunt_frontier *p)
{
  const int64_t groups = groups_of(p);
  const int wanted = shunt_semiring_threads(p->threads, work_of(p));
  const int threads = wanted < SHUNT_GROUP_PARTS ? wanted : SHUNT_GROUP_PARTS;
  const int parts = shunt_group_parts(p, threads);
  return groups < threads ? (int)(groups > parts ? groups : parts) : threads;
}

size_t shunt_frontier_value(const struct shunt_frontier *p)
{
  return p->sums ? sizeof(double) : (size_t)p->parents;
}

/* places: [rows * n] for values that become a bitmap; else NULL. */
static shunt_status begin(const struct shunt_frontier *p, uint64_t *offsets, void *places,
                          struct shunt_frontier_work **work)
{
  *work = NULL;
  if (!shunt_sparse_valid(&p->a) || !line_valid(&p->f, p->rows, p->a.rows) ||
      !line_valid(&p->m, p->rows, p->a.cols))
    return SHUNT_E_ARGUMENT;
  if (p->a.ids || p->a.rows >= INT32_MAX || p->a.cols >= INT32_MAX) return SHUNT_E_UNSUPPORTED;
  struct shunt_frontier_work *x = calloc(1, sizeof *x);
  if (!x) return SHUNT_E_MEMORY;
  x->p = *p;
  x->p.single = p->single && !p->f.dense && !p->a.by_column;
  x->offsets = offsets;
  x->width = width_of(&x->p);
  x->groups = groups_of(&x->p);
  x->threads = shunt_frontier_threads(&x->p);
  x->to = (struct shunt_places){.stride = stride_of(p->a.cols), .values = places};
  x->values = calloc((size_t)x->groups + 1, sizeof *x->values);
  if (!x->values || !(x->p.single ? compute_singles(x) : compute_groups(x))) {
    work_free(x);
    return SHUNT_E_MEMORY;
  }
  offsets[0] = 0;
  for (int64_t s = 0; s < p->rows; s++) offsets[s + 1] += offsets[s];
  *work = x;
  return SHUNT_OK;
}

shunt_status shunt_frontier_begin(const struct shunt_frontier *p, uint64_t *offsets,
                                  struct shunt_frontier_work **work)
{
  return begin(p, offsets, NULL, work);
}

/* ---- T --------------------------------------------------------------------------------------- */

static const uint64_t *bits_of(const struct shunt_frontier_work *x, int64_t s)
{
  return x->to.bits + s * x->to.stride;
}

static const char *values_of(const struct shunt_frontier_work *x, int64_t s)
{
  const int64_t group = s / x->width;
  const uint64_t before = x->offsets[s] - x->offsets[group * x->width];
  return (const char *)x->values[group] + before * shunt_frontier_value(&x->p);
}

static void finish_row(const struct shunt_frontier_work *x, int64_t s, uint64_t *indices,
                       char *values)
{
  const size_t bytes = shunt_frontier_value(&x->p);
  const uint64_t *bits = bits_of(x, s);
  const uint64_t entries = x->offsets[s + 1] - x->offsets[s];
  uint64_t *to = indices + x->offsets[s];
  for (int64_t w = 0; w < (x->p.a.cols + 63) / 64; w++)
    for (uint64_t left = bits[w]; left; left &= left - 1)
      *to++ = (uint64_t)(64 * w + __builtin_ctzll(left));
  if (values) memcpy(values + x->offsets[s] * bytes, values_of(x, s), entries * bytes);
}

struct finish {
  const struct shunt_frontier_work *x;
  uint64_t *indices;
  int8_t *present;
  void *values;
};

static void finish_rows(void *finish, int64_t begin, int64_t end, int worker)
{
  const struct finish *f = finish;
  (void)worker;
  for (int64_t s = begin; s < end; s++) finish_row(f->x, s, f->indices, f->values);
}

void shunt_frontier_finish(struct shunt_frontier_work *x, uint64_t *indices, void *values)
{
  struct finish f = {.x = x, .indices = indices, .values = values};
  shunt_team_loop(x->threads, indices ? x->p.rows : 0, 1, finish_rows, &f);
  work_free(x);
}

static void spread_row(const struct shunt_frontier_work *x, int64_t s, char *values)
{
  const int64_t n = x->p.a.cols;
  const uint64_t *bits = bits_of(x, s);
  const char *from = values_of(x, s);
  const bool wide = shunt_frontier_value(&x->p) == 8;
  for (int64_t w = 0; w < (n + 63) / 64; w++)
    for (uint64_t left = bits[w]; left; left &= left - 1) {
      const int64_t at = s * n + 64 * w + __builtin_ctzll(left);
      memcpy(values + at * (wide ? 8 : 4), from, wide ? 8 : 4);
      from += wide ? 8 : 4;
    }
}

static void spread_rows(void *finish, int64_t begin, int64_t end, int worker)
{
  const struct finish *f = finish;
  const int64_t n = f->x->p.a.cols;
  (void)worker;
  for (int64_t s = begin; s < end; s++) {
    shunt_bits_spread(bits_of(f->x, s), n, f->present + s * n);
    if (f->values && !f->x->to.values) spread_row(f->x, s, f->values);
  }
}

void shunt_frontier_finish_bitmap(struct shunt_frontier_work *x, int8_t *present, void *values)
{
  struct finish f = {.x = x, .present = present, .values = values};
  shunt_team_loop(x->threads, present ? x->p.rows : 0, 1, spread_rows, &f);
  work_free(x);
}

shunt_status shunt_frontier_bitmap(const struct shunt_frontier *p, uint64_t *offsets,
                                   int8_t *present, void *values)
{
  struct shunt_frontier_work *work;
  const shunt_status status = begin(p, offsets, values, &work);
  if (status == SHUNT_OK) shunt_frontier_finish_bitmap(work, present, values);
  return status;
}
