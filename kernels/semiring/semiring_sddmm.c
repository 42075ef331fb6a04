/* semiring_sddmm.c: sampled products over a semiring, every layout, on the host's threads.

     out[p] = sum over k of U(i,k) (x) V(k,j)         p = (i,j) an entry of the pattern

   is a dot product of row i of U and column j of V.  Both are wanted with k contiguous; an
   operand that has it is read in place, another is first transposed into scratch, one that is
   constant becomes one row with a stride of 0.  The operand that goes with the pattern's
   vectors is the left one: U for a pattern by row, V for one by column.

       pattern by row                 left = U, row i          right = columns of V
       i | j0  j1  j2 |               |.... k ....|            |.... k ....| x 3

   Each entry is summed by one thread, whatever the number of threads.  */
#include "kernels/common/alignment.h"
#include "kernels/semiring/semiring_choice.h"
#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_pack.h"
#include "kernels/semiring/semiring_scratch.h"

enum { SQUARE = 64, PARTS_PER_THREAD = 32 };

/* One operand: `lines` vectors of `depth` elements, element k of line i at
   values[i * line + k * step].  */
struct operand {
  const void *values;
  int64_t lines, line, step;
  const void *constant; /* not NULL: every element is this */
  size_t bytes;         /* of scratch */
};

struct product {
  const struct shunt_host_sddmm *p;
  struct shunt_semiring_choice choice;
  size_t size;
  int64_t depth, parts;
  int threads;
  struct operand u, v;
};

static void plan_operand(const struct product *x, const void *constant, struct operand *o)
{
  o->constant = constant;
  if (constant)
    o->bytes = shunt_align_up((size_t)x->depth * x->size, 64);
  else if (o->step != 1 && x->depth > 1)
    o->bytes = shunt_align_up((size_t)(o->lines * x->depth) * x->size, 64);
}

/* Makes k contiguous, in `scratch` where it is not. */
static void ready_operand(const struct product *x, struct operand *o, char *scratch)
{
  if (o->constant) {
    shunt_pack_fill(x->size, o->constant, scratch, x->depth);
    o->line = 0;
  } else if (o->bytes > 0) {
    SHUNT_OMP(omp parallel for schedule(dynamic, 4) num_threads(x->threads))
    for (int64_t i = 0; i < o->lines; i += SQUARE) {
      const int64_t n = o->lines - i < SQUARE ? o->lines - i : SQUARE;
      for (int64_t k = 0; k < x->depth; k += SQUARE)
        shunt_pack_transpose(x->size, (const char *)o->values + (size_t)(k * o->step + i) * x->size,
                             o->step, scratch + (size_t)(i * x->depth + k) * x->size, x->depth, n,
                             x->depth - k < SQUARE ? x->depth - k : SQUARE);
    }
    o->line = x->depth;
  }
  if (o->bytes > 0) o->values = scratch;
}

/* The vector at which part k begins, by entries. */
static int64_t part_begin(const struct product *x, int64_t k)
{
  const struct shunt_sparse *s = &x->p->pattern;
  const int64_t before = s->nnz / x->parts * k + s->nnz % x->parts * k / x->parts;
  int64_t low = 0, high = s->vectors;

  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (shunt_vector_begin(s, middle) < before)
      low = middle + 1;
    else
      high = middle;
  }
  return k == x->parts ? s->vectors : low;
}

static void multiply(const struct product *x)
{
  const struct shunt_sparse *s = &x->p->pattern;
  const struct operand *left = s->by_column ? &x->v : &x->u;
  const struct operand *right = s->by_column ? &x->u : &x->v;
  const struct shunt_dots_job job = {
      .offsets = s->offsets,
      .indices = s->indices,
      .ids = s->ids,
      .offset_bytes = s->offset_bytes,
      .index_bytes = s->index_bytes,
      .id_bytes = s->id_bytes,
      .left = left->values,
      .right = right->values,
      .left_stride = left->line,
      .right_stride = right->line,
      .depth = x->depth,
      .out = x->p->out,
  };

  SHUNT_OMP(omp parallel for schedule(dynamic, 1) num_threads(x->threads))
  for (int64_t k = 0; k < x->parts; k++)
    x->choice.kernels->dots(&job, part_begin(x, k), part_begin(x, k + 1));
}

shunt_status shunt_host_sddmm(const struct shunt_host_sddmm *p)
{
  const struct shunt_full *u = &p->u, *v = &p->v;
  struct product x = {
      .p = p,
      .depth = u->cols,
      .u = {.values = u->values, .lines = u->rows, .line = u->row_stride, .step = u->col_stride},
      .v = {.values = v->values, .lines = v->cols, .line = v->col_stride, .step = v->row_stride},
  };
  shunt_status status = shunt_host_sddmm_check(p);
  if (status == SHUNT_OK) status = shunt_semiring_choose(&p->semiring, &x.choice);
  if (status != SHUNT_OK || p->pattern.nnz == 0) return status;

  x.size = shunt_type_size(p->semiring.type);
  plan_operand(&x, x.choice.constant[0] ? &x.choice.value[0] : u->iso ? u->values : NULL, &x.u);
  plan_operand(&x, x.choice.constant[1] ? &x.choice.value[1] : v->iso ? v->values : NULL, &x.v);
  x.threads = shunt_semiring_threads(p->threads, p->pattern.nnz * x.depth);
  x.parts = (int64_t)x.threads * PARTS_PER_THREAD;
  if (x.parts > p->pattern.vectors) x.parts = p->pattern.vectors;

  const struct shunt_scratch scratch = shunt_scratch_take(x.u.bytes + x.v.bytes);
  if (!scratch.memory) return SHUNT_E_MEMORY;
  ready_operand(&x, &x.u, scratch.memory);
  ready_operand(&x, &x.v, scratch.memory + x.u.bytes);
  multiply(&x);
  shunt_scratch_give(scratch);
  return SHUNT_OK;
}
