/* host_srbcrs_spread.c: the vectors of a group dealt out for kernels that hold B in shared memory
   (kernels/srbcrs/srbcrs_format.h, SPREAD), the twin of srbcrs_spread.cuh. */
#include <string.h>

#include "conv/srbcrs/srbcrs_conv.h"

enum { STRIDE = SHUNT_SRBCRS_STRIDE, POOL = SHUNT_SRBCRS_POOL, SETS = 4, OF_SET = 8 };

struct vector {
  uint32_t column;
  uint8_t mask, values[SHUNT_SRBCRS_TALLEST];
};

struct dealt {
  struct vector slots[STRIDE];
  int members[SETS];
  uint32_t greatest; /* column */
};

static struct vector vector_at(const struct shunt_srbcrs *v, int64_t slot)
{
  struct vector x = {.column = v->columns[slot], .mask = v->masks[slot]};
  for (int r = 0; r < v->height; r++)
    x.values[r] = v->values[shunt_srbcrs_place(v->height, r, slot)];
  return x;
}

static void put_vector(const struct shunt_srbcrs *v, int64_t slot, const struct vector *x)
{
  v->columns[slot] = x->column;
  v->masks[slot] = x->mask;
  for (int r = 0; r < v->height; r++)
    v->values[shunt_srbcrs_place(v->height, r, slot)] = x->values[r];
}

static void put_into(struct dealt *d, int set, const struct vector *x)
{
  d->slots[SHUNT_SRBCRS_SPREAD_SLOT(set, d->members[set])] = *x;
  d->members[set]++;
  if (x->column > d->greatest) d->greatest = x->column;
}

/* Into the first set that has room. */
static void put_anywhere(struct dealt *d, const struct vector *x)
{
  int set = 0;
  while (d->members[set] == OF_SET) set++;
  put_into(d, set, x);
}

/* A stride out of the pool, which has `count` vectors; how many stay there. */
static int deal(struct vector *pool, int count, struct dealt *d)
{
  struct vector rest[POOL];
  int ranks[OF_SET] = {0}, many = 0, dealt = 0, taken = 0;
  for (int i = 0; i < count; i++) {
    const int residue = (int)(pool[i].column % OF_SET);
    const int near = pool[i].column - pool[0].column < SHUNT_SRBCRS_REACH;
    if (near && ranks[residue] < SETS)
      put_into(d, ranks[residue]++, &pool[i]), dealt++;
    else
      rest[many++] = pool[i];
  }
  for (; taken < many && dealt < STRIDE; taken++, dealt++) put_anywhere(d, &rest[taken]);
  for (const struct vector pad = {.column = d->greatest}; dealt < STRIDE; dealt++)
    put_anywhere(d, &pad);
  memcpy(pool, rest + taken, (size_t)(many - taken) * sizeof *pool);
  return many - taken;
}

void shunt_srbcrs_spread_host(const struct shunt_srbcrs *v, int64_t g)
{
  struct vector pool[POOL];
  int count = 0;
  int64_t next = v->begin[g];
  for (int64_t s = v->begin[g]; s < v->end[g]; s += STRIDE) {
    struct dealt d = {.members = {0}};
    while (count < POOL && next < v->end[g]) pool[count++] = vector_at(v, next++);
    count = deal(pool, count, &d);
    for (int i = 0; i < STRIDE; i++) put_vector(v, s + i, &d.slots[i]);
  }
}
