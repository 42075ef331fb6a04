#include "backend/graphblas/settings.h"

bool grb_settings_read_mask(const struct grb_library *l, GrB_Descriptor d, struct grb_settings *out)
{
  int32_t mask = 0;
  if (d && l->GxB_Desc_get_INT32(d, GRB_MASK, &mask) != GRB_SUCCESS) return false;
  out->complement = mask & GRB_COMP;
  out->structural = mask & GRB_STRUCTURE;
  return (mask & ~(GRB_COMP | GRB_STRUCTURE)) == 0;
}

bool grb_settings_read(const struct grb_library *l, GrB_Descriptor d, struct grb_settings *out)
{
  int32_t outp, mask, first, second;
  *out = (struct grb_settings){.replace = false};
  if (!d) return true;
  if (l->GxB_Desc_get_INT32(d, GRB_OUTP, &outp) != GRB_SUCCESS ||
      l->GxB_Desc_get_INT32(d, GRB_MASK, &mask) != GRB_SUCCESS ||
      l->GxB_Desc_get_INT32(d, GRB_INP0, &first) != GRB_SUCCESS ||
      l->GxB_Desc_get_INT32(d, GRB_INP1, &second) != GRB_SUCCESS)
    return false;
  if ((outp != 0 && outp != GRB_REPLACE) || (mask & ~(GRB_COMP | GRB_STRUCTURE)) != 0 ||
      (first != 0 && first != GRB_TRAN) || (second != 0 && second != GRB_TRAN))
    return false;
  *out = (struct grb_settings){outp == GRB_REPLACE, mask & GRB_COMP, mask & GRB_STRUCTURE,
                               first == GRB_TRAN, second == GRB_TRAN};
  return true;
}

GrB_Descriptor grb_settings_output(const struct grb_library *l, const struct grb_settings *s)
{
  return l
      ->descriptor[(s->replace ? GRB_DESC_REPLACE : 0) | (s->structural ? GRB_DESC_STRUCTURE : 0) |
                   (s->complement ? GRB_DESC_COMP : 0)];
}

/* ---- threads ------------------------------------------------------------------------------ */

/* Threads of the context that this thread has engaged; 0: none.  GraphBLAS has no question for
   it, so the exported functions tell.  */
static _Thread_local int32_t engaged __attribute__((tls_model("initial-exec")));

static int32_t descriptor_threads(const struct grb_library *l, GrB_Descriptor d)
{
  int32_t n = 0;
  bool in_descriptors = !l->GxB_Context_get_INT32;
  if (!d || !in_descriptors || l->GxB_Desc_get_INT32(d, l->numbers.nthreads, &n) != GRB_SUCCESS)
    return 0;
  return n;
}

int grb_threads(const struct grb_library *l, GrB_Descriptor d)
{
  int32_t n = descriptor_threads(l, d);
  if (n <= 0) n = engaged;
  if (n <= 0 && l->GxB_Global_Option_get_INT32(l->numbers.nthreads, &n) != GRB_SUCCESS) n = 1;
  return n > 0 ? n : 1;
}

void grb_set_context(struct grb_library *l, GxB_Context context)
{
  int32_t n = 0;
  if (context && !(l->GxB_Context_get_INT32 && grb_library_ready(l) &&
                   l->GxB_Context_get_INT32(context, l->numbers.nthreads, &n) == GRB_SUCCESS))
    return;
  engaged = n;
}
