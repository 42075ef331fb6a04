/* masked.c: T<M> = A B' with sparse A and B: the two steps (masked.h). */
#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/masked/masked_left.h"
#include "kernels/semiring/masked/masked_saxpy.h"
#include "kernels/semiring/semiring_choice.h"

enum { SPARSEST = 64 }; /* rows and columns for each entry, at most */

static bool too_sparse(const struct shunt_sparse *s)
{
  const int64_t longer = s->rows > s->cols ? s->rows : s->cols;
  return longer >= INT32_MAX || s->nnz > UINT32_MAX || longer / SPARSEST > s->nnz + 1024;
}

bool shunt_masked_dot_uniform(const struct shunt_masked_dot *p)
{
  return p->a.iso && p->b.iso && p->semiring.monoid != SHUNT_PLUS;
}

static void compute_term(const struct shunt_semiring *by, const void *a, const void *b, void *term)
{
  const uint32_t first = 0;
  const struct shunt_terms one = {1, &first, &first, a, b, true, true};
  shunt_sum_of(by)(by, &one, term, 0);
}

bool shunt_masked_dot_term(const struct shunt_masked_dot *p, void *term)
{
  if (!shunt_sum_of(&p->semiring) || !p->a.iso || !p->b.iso) return false;
  compute_term(&p->semiring, p->a.values, p->b.values, term);
  return true;
}

static shunt_status check(const struct shunt_masked_dot *p)
{
  if (!shunt_sparse_valid(&p->m) || !shunt_sparse_valid(&p->a) || !shunt_sparse_valid(&p->b) ||
      p->m.by_column || p->m.rows != p->a.rows || p->m.cols != p->b.rows || p->a.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  return shunt_sum_of(&p->semiring) ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

static bool uses(const struct shunt_masked_dot *p, int operand)
{
  const enum shunt_multiplier by = p->semiring.multiplier;
  return by != SHUNT_PAIR && by != (operand ? SHUNT_FIRST : SHUNT_SECOND);
}

/* M's indices, 32 bits wide. */
static bool make_columns(struct shunt_masked_dot_work *x)
{
  const struct shunt_sparse *m = &x->p->m;
  if (m->index_bytes == 4) {
    x->columns = m->indices;
    return true;
  }
  uint32_t *columns = shunt_masked_piece(&x->memory, (size_t)m->nnz * sizeof *columns);
  if (columns) shunt_narrow_indices(m, x->threads, columns);
  x->columns = columns;
  return columns;
}

/* What x->b has the rows of. */
static struct shunt_sparse second_operand(const struct shunt_masked_dot *p)
{
  return p->saxpy ? shunt_saxpy_operand(p) : p->b;
}

static bool make_operands(struct shunt_masked_dot_work *x)
{
  const struct shunt_masked_dot *p = x->p;
  const size_t size = shunt_type_size(p->semiring.type);
  const struct shunt_sparse b = second_operand(p);
  const bool shared = !p->a.by_column && shunt_same_pattern(&p->m, &p->a);
  if (!shunt_rows_make(&p->a, size, uses(p, 0), shared ? x->columns : NULL, x->threads, &x->memory,
                       &x->a))
    return false;
  if (p->a.by_column == b.by_column && p->a.rows == b.rows && shunt_same_pattern(&p->a, &b) &&
      (shunt_same_values(&p->a, &b, size) || (p->a.iso && b.iso))) {
    x->b = x->a;
    x->b.values = b.iso ? b.values : x->a.values;
    x->b.iso = b.iso;
    return true;
  }
  return shunt_rows_make(&b, size, uses(p, 1), NULL, x->threads, &x->memory, &x->b);
}

static bool make_results(struct shunt_masked_dot_work *x)
{
  const size_t entries = (size_t)x->p->m.nnz;
  if (shunt_masked_counts(x->p)) {
    compute_term(&x->p->semiring, x->a.values, x->b.values, &x->term);
    x->counts = shunt_masked_piece(&x->memory, entries * sizeof *x->counts);
    return x->counts;
  }
  x->exists = shunt_masked_piece(&x->memory, entries);
  x->values = shunt_masked_piece(&x->memory, entries * shunt_type_size(x->p->semiring.type));
  return x->exists && x->values;
}

static int64_t count_of_row(const struct shunt_masked_dot_work *x, int64_t v)
{
  const int64_t end = shunt_vector_begin(&x->p->m, v + 1);
  int64_t p = shunt_vector_begin(&x->p->m, v), count = 0;
  if (x->counts)
    for (; p < end; p++) count += x->counts[p] > 0;
  else
    for (; p < end; p++) count += x->exists[p];
  return count;
}

enum { ROWS = 256 }; /* that a thread takes at a time */

static void count_rows(void *work, int64_t begin, int64_t end, int worker)
{
  const struct shunt_masked_dot_work *x = work;
  (void)worker;
  for (int64_t v = begin; v < end; v++) x->offsets[v + 1] = (uint64_t)count_of_row(x, v);
}

static void count_existing(struct shunt_masked_dot_work *x)
{
  const int64_t vectors = x->p->m.vectors;
  shunt_team_loop(x->threads, vectors, ROWS, count_rows, x);
  x->offsets[0] = 0;
  for (int64_t v = 0; v < vectors; v++) x->offsets[v + 1] += x->offsets[v];
}

static void work_free(struct shunt_masked_dot_work *x)
{
  shunt_scratch_give(x->memory.block);
  free(x);
}

/* Of memory for all that is made, at most. */
static size_t bytes_of(const struct shunt_masked_dot *p, int threads)
{
  const size_t size = shunt_type_size(p->semiring.type);
  const size_t rounding = 16 * 64; /* of as many pieces as there are */
  const size_t result = size + 1 > sizeof(uint32_t) ? size + 1 : sizeof(uint32_t);
  const struct shunt_sparse b = second_operand(p);
  const size_t rows = shunt_rows_bytes(&p->a, size, uses(p, 0), threads) +
                      shunt_rows_bytes(&b, size, uses(p, 1), threads);
  const size_t of_way = p->saxpy ? shunt_saxpy_bytes(p, threads)
                                 : shunt_symmetry_bytes(p, threads) +
                                       shunt_masked_left_bytes(p, threads) +
                                       shunt_masked_marks_bytes(p, threads);
  return rounding + shunt_piece_bytes(p->m.nnz, sizeof(uint32_t) + result) + rows + of_way;
}

static bool multiply(struct shunt_masked_dot_work *x)
{
  x->memory.block = shunt_scratch_take(bytes_of(x->p, x->threads));
  if (!make_columns(x)) return false;
  if (x->p->saxpy) return make_operands(x) && make_results(x) && shunt_masked_by_saxpy(x);
  x->symmetric = shunt_find_symmetry(x);
  if (!make_operands(x)) return false;
  x->symmetric = x->symmetric || shunt_find_symmetry_by_rows(x);
  return make_results(x) && shunt_masked_by_marks(x);
}

shunt_status shunt_masked_dot_begin(const struct shunt_masked_dot *p, uint64_t *offsets,
                                    struct shunt_masked_dot_work **work)
{
  const shunt_status status = check(p);
  *work = NULL;
  if (status != SHUNT_OK) return status;
  if (too_sparse(&p->a) || too_sparse(&p->b)) return SHUNT_E_UNSUPPORTED;
  struct shunt_masked_dot_work *x = calloc(1, sizeof *x);
  if (!x) return SHUNT_E_MEMORY;
  x->copy = *p;
  x->p = &x->copy;
  x->sum = shunt_sum_of(&p->semiring);
  x->uniform = shunt_masked_dot_uniform(p);
  x->threads = shunt_semiring_threads(p->threads, p->m.nnz * 16);
  if (!multiply(x)) {
    work_free(x);
    return SHUNT_E_MEMORY;
  }
  x->offsets = offsets;
  count_existing(x);
  *work = x;
  return SHUNT_OK;
}

/* ---- the second step ------------------------------------------------------------------------- */

/* Row v of T: those of M's entries that exist. */
static void finish_row(const struct shunt_masked_dot_work *x, int64_t v, uint64_t *indices,
                       void *values)
{
  const struct shunt_sparse *m = &x->p->m;
  const size_t size = shunt_type_size(x->p->semiring.type);
  const int64_t begin = shunt_vector_begin(m, v), end = shunt_vector_begin(m, v + 1);
  uint64_t to = x->offsets[v];
  const bool all = x->offsets[v + 1] - to == (uint64_t)(end - begin);
  if (x->offsets[v + 1] == to) return;
  for (int64_t p = begin; p < end; p++) {
    if (!all && !x->exists[p]) continue;
    indices[to] = x->columns[p];
    shunt_copy_element(values, (int64_t)to++, x->values, p, size);
  }
}

/* The same of counts; what is not there is overwritten by the next. */
static void finish_counts(const struct shunt_masked_dot_work *x, int64_t v, uint64_t *indices,
                          void *values)
{
  const int64_t begin = shunt_vector_begin(&x->p->m, v);
  const uint32_t *counts = x->counts + begin, *columns = x->columns + begin;
  const uint64_t end = x->offsets[v + 1];
  uint64_t to = x->offsets[v];
  if (!x->uniform) shunt_store_counts(x->p->semiring.type, counts, &x->term, values, to, end);
  for (int64_t p = 0; to < end; p++) {
    indices[to] = columns[p];
    to += counts[p] != 0;
  }
}

struct finish {
  const struct shunt_masked_dot_work *x;
  uint64_t *indices;
  void *values;
};

static void finish_rows(void *finish, int64_t begin, int64_t end, int worker)
{
  const struct finish *f = finish;
  (void)worker;
  for (int64_t v = begin; v < end; v++)
    if (f->x->counts)
      finish_counts(f->x, v, f->indices, f->values);
    else
      finish_row(f->x, v, f->indices, f->values);
}

void shunt_masked_dot_finish(struct shunt_masked_dot_work *x, uint64_t *indices, void *values)
{
  struct finish f = {x, indices, values};
  if (x->uniform && indices) memcpy(values, &x->term, shunt_type_size(x->p->semiring.type));
  shunt_team_loop(x->threads, indices ? x->p->m.vectors : 0, ROWS, finish_rows, &f);
  work_free(x);
}
