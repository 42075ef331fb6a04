#define _GNU_SOURCE
#include "semiring.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void own_times_function(void *z, const void *x, const void *y)
{
  *(double *)z = *(const double *)x * *(const double *)y;
}
static void own_plus_function(void *z, const void *x, const void *y)
{
  *(double *)z = *(const double *)x + *(const double *)y;
}
static void own_struct_function(void *z, const void *x, const void *y)
{
  const struct user_element *p = x, *q = y;
  *(struct user_element *)z = (struct user_element){p->a + q->a, p->b};
}

static GrB_BinaryOp own_times, own_plus, own_struct;
static GrB_Monoid own_plus_monoid, own_struct_monoid;

void own_ops_start(void)
{
  struct user_element nothing = {0, 3};
  GrB_BinaryOp_new(&own_times, own_times_function, GrB_FP64, GrB_FP64, GrB_FP64);
  GrB_BinaryOp_new(&own_plus, own_plus_function, GrB_FP64, GrB_FP64, GrB_FP64);
  GrB_Type t = type_handle(T_USER);
  GrB_BinaryOp_new(&own_struct, own_struct_function, t, t, t);
  GrB_Monoid_new_FP64(&own_plus_monoid, own_plus, 0.0);
  GrB_Monoid_new_UDT(&own_struct_monoid, own_struct, &nothing);
}

void own_ops_finish(void)
{
  GrB_Monoid_free(&own_plus_monoid);
  GrB_Monoid_free(&own_struct_monoid);
  GrB_BinaryOp_free(&own_times);
  GrB_BinaryOp_free(&own_plus);
  GrB_BinaryOp_free(&own_struct);
}

/* What the library's variable of that name holds; the name begins with GrB_ or GxB_. */
static void *held(const char *format, const char *a, const char *b, const char *c)
{
  static const char *const prefixes[] = {"GrB_", "GxB_"};
  char name[96];
  for (int p = 0; p < 2; p++) {
    int n = snprintf(name, sizeof name, "%s", prefixes[p]);
    snprintf(name + n, sizeof name - (size_t)n, format, a, b, c);
    void **variable = dlsym(RTLD_DEFAULT, name);
    if (variable) return *variable;
  }
  return NULL;
}

bool made_semiring(const struct semiring_choice *s, struct made *out)
{
  const char *t = type_rows[s->type].name;
  memset(out, 0, sizeof *out);
  if (s->origin == FROM_LIBRARY) {
    out->semiring = held("%s_%s_%s", s->add, s->multiply, t);
    return out->semiring != NULL;
  }
  GrB_Monoid add = held("%s_MONOID_%s%s", s->add, t, "");
  GrB_BinaryOp multiply = held("%s_%s%s", s->multiply, t, "");
  GrB_Info info = GrB_SUCCESS;
  if (s->origin == FROM_PLUS_7) {
    info = GrB_Monoid_new_FP64(&out->own_monoid, GrB_PLUS_FP64, 7.0);
    add = out->own_monoid;
  } else if (s->origin == FROM_USER_OP) {
    multiply = own_times;
  } else if (s->origin == FROM_USER_MONOID) {
    add = own_plus_monoid;
  } else if (s->origin == FROM_USER_TYPE) {
    multiply = own_struct;
    add = own_struct_monoid;
  }
  if (!info) info = GrB_Semiring_new(&out->own_semiring, add, multiply);
  out->semiring = out->own_semiring;
  return info == GrB_SUCCESS;
}

bool made_accum(const struct product_case *c, struct made *out)
{
  if (!c->has_accum) return true;
  if (c->accum_origin == FROM_USER_OP)
    out->accum = own_plus;
  else if (c->accum_origin == FROM_USER_TYPE)
    out->accum = own_struct;
  else
    out->accum = held("%s_%s%s", c->accum, type_rows[c->accum_type].name, "");
  return out->accum != NULL;
}

void made_free(struct made *m)
{
  GrB_Semiring_free(&m->own_semiring);
  GrB_Monoid_free(&m->own_monoid);
}
