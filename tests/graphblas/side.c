/* side.c: operands of a case, the call on them, and what it left (side.h). */
#include <stdio.h>
#include <string.h>

#include "side.h"

static uint64_t no_object[512]; /* memory without an object in it */

bool side_make(const struct product_case *c, struct side *s)
{
  memset(s, 0, sizeof *s);
  for (int i = 0; i < SLOTS; i++) {
    if (c->same_as[i] != i || (i == SLOT_M && !c->has_mask)) continue;
    GrB_Info info = operand_make(&c->operand[i], &s->object[i]);
    if (info) return printf("# operand %d cannot be made: %d\n", i, (int)info), false;
  }
  for (int i = 0; i < SLOTS; i++)
    if (c->same_as[i] != i) s->object[i] = s->object[c->same_as[i]];
  if (!c->has_mask) s->object[SLOT_M].matrix = NULL;
  return true;
}

void side_free(const struct product_case *c, struct side *s)
{
  for (int i = 0; i < SLOTS; i++)
    if (c->same_as[i] == i) object_free(c->operand[i].vector, &s->object[i]);
}

GrB_Descriptor side_descriptor(const struct product_case *c)
{
  GrB_Descriptor d = NULL;
  if (!c->has_desc || GrB_Descriptor_new(&d)) return NULL;
  if (c->replace) GrB_Descriptor_set(d, GrB_OUTP, GrB_REPLACE);
  if (c->structural) GrB_Descriptor_set(d, GrB_MASK, GrB_STRUCTURE);
  if (c->complement) GrB_Descriptor_set(d, GrB_MASK, GrB_COMP);
  if (c->transpose_a) GrB_Descriptor_set(d, GrB_INP0, GrB_TRAN);
  if (c->transpose_b) GrB_Descriptor_set(d, GrB_INP1, GrB_TRAN);
  if (c->method) GxB_Desc_set(d, GxB_AxB_METHOD, c->method);
  if (c->sort) GxB_Desc_set(d, GxB_SORT, c->sort);
#if GxB_IMPLEMENTATION_MAJOR < 9
  if (c->threads) GxB_Desc_set(d, GxB_DESCRIPTOR_NTHREADS, c->threads);
#endif
  return d;
}

void side_read_error(const struct product_case *c, struct side *s)
{
  const union object x = s->object[SLOT_C];
  const char *text = "";
  GrB_Info info = c->operand[SLOT_C].vector ? GrB_Vector_error(&text, x.vector)
                                            : GrB_Matrix_error(&text, x.matrix);
  snprintf(s->error, sizeof s->error, "%s", info || !text ? "(none)" : text);
}

void side_cause_error(const struct product_case *c, struct side *s)
{
  const union object x = s->object[SLOT_C];
  if (c->operand[SLOT_C].vector)
    GrB_Vector_removeElement(x.vector, (GrB_Index)1 << 50);
  else
    GrB_Matrix_removeElement(x.matrix, (GrB_Index)1 << 50, 0);
}

struct arguments {
  union object x[SLOTS];
  GrB_Semiring semiring;
  GrB_BinaryOp accum;
  GrB_Descriptor desc;
};

/* Puts what is wrong with the call in the place of what was right. */
static void make_wrong(enum wrong wrong, struct arguments *a)
{
  static const int slot[] = {
      [NO_C] = SLOT_C,    [NO_A] = SLOT_A,    [NO_B] = SLOT_B,    [EMPTY_C] = SLOT_C,
      [EMPTY_M] = SLOT_M, [EMPTY_A] = SLOT_A, [EMPTY_B] = SLOT_B,
  };
  switch (wrong) {
  case NO_C:
  case NO_A:
  case NO_B: a->x[slot[wrong]].matrix = NULL; break;
  case EMPTY_C:
  case EMPTY_M:
  case EMPTY_A:
  case EMPTY_B: a->x[slot[wrong]].matrix = (void *)no_object; break;
  case NO_SEMIRING: a->semiring = NULL; break;
  case EMPTY_SEMIRING: a->semiring = (void *)no_object; break;
  case EMPTY_ACCUM: a->accum = (void *)no_object; break;
  case EMPTY_DESC: a->desc = (void *)no_object; break;
  default: break;
  }
}

void side_multiply(const struct product_case *c, const struct products *p, const struct made *m,
                   GrB_Descriptor desc, struct side *s)
{
  struct arguments a = {.semiring = m->semiring, .accum = m->accum, .desc = desc};
  memcpy(a.x, s->object, sizeof a.x);
  make_wrong(c->wrong, &a);
  if (c->call == CALL_MXM)
    s->info = p->mxm(a.x[SLOT_C].matrix, a.x[SLOT_M].matrix, a.accum, a.semiring,
                     a.x[SLOT_A].matrix, a.x[SLOT_B].matrix, a.desc);
  else if (c->call == CALL_MXV)
    s->info = p->mxv(a.x[SLOT_C].vector, a.x[SLOT_M].vector, a.accum, a.semiring,
                     a.x[SLOT_A].matrix, a.x[SLOT_B].vector, a.desc);
  else
    s->info = p->vxm(a.x[SLOT_C].vector, a.x[SLOT_M].vector, a.accum, a.semiring,
                     a.x[SLOT_B].vector, a.x[SLOT_A].matrix, a.desc);
}

void side_read_before(const struct product_case *c, struct side *s, int status[SLOTS])
{
  struct seen *b = &s->before;
  for (int i = 0; i < SLOTS; i++) {
    union object x = s->object[i];
    status[i] = 0;
    if (!x.matrix) continue;
    if (c->operand[i].vector)
      GxB_Vector_Option_get(x.vector, GxB_SPARSITY_STATUS, &status[i]);
    else
      GxB_Matrix_Option_get(x.matrix, GxB_SPARSITY_STATUS, &status[i]);
  }
  union object x = s->object[SLOT_C];
  if (c->operand[SLOT_C].vector)
    vector_settings(x.vector, b);
  else
    matrix_settings(x.matrix, b);
}
