/* softmax.c: shunt_softmax, all problems at once. */
#include "backend/native/native.h"

shunt_status shunt_softmax(const struct shunt_packed *p, int64_t problems, float scale,
                           const struct shunt_values *in, const struct shunt_values *out,
                           shunt_stream stream)
{
  struct shunt_value_array from, to;
  struct shunt_vector_softmax problem;
  shunt_status s;

  if (!p || problems < 1 || problems > 65535) return SHUNT_E_ARGUMENT;
  if (!shunt_value_array(p, in, problems, &from)) return SHUNT_E_ARGUMENT;
  if (!shunt_value_array(p, out, problems, &to)) return SHUNT_E_ARGUMENT;
  problem = (struct shunt_vector_softmax){.matrices = problems,
                                          .scale = scale,
                                          .in = from.values,
                                          .out = to.values,
                                          .in_stride = from.stride,
                                          .out_stride = to.stride};
  s = p->at.engine->enter(&p->at);
  return s == SHUNT_OK ? p->at.engine->softmax(p, &problem, stream) : s;
}
