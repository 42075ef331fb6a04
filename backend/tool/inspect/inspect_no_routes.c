/* inspect_no_routes.c: a build without CUDA has no routes to ask. */
#include "backend/tool/inspect/inspect.h"

const char *const inspect_gpu_words[INSPECT_GPUS + 1] = {"h200", "h100", "a100",    "a40",
                                                         "l40s", "b200", "rtx5090", NULL};

bool inspect_estimate(const struct inspect_question *q, struct inspect_estimate *out)
{
  (void)q;
  (void)out;
  return false;
}
