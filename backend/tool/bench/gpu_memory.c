/* gpu_memory.c: device memory for a way; without it, its line says what is missing. */
#include "backend/tool/bench/gpu.h"

bool gpu_get(void **to, size_t bytes, const char *what, struct bench_way *w)
{
  if (bytes == 0 || cudaMalloc(to, bytes) == cudaSuccess) return true;
  cudaGetLastError();
  *to = NULL;
  snprintf(w->note, sizeof w->note, "no %.1f MB of device memory for the %s", (double)bytes / 1e6,
           what);
  return false;
}

bool gpu_get_workspace(struct gpu_case *g, size_t bytes, struct bench_way *w)
{
  g->workspace_bytes = bytes;
  return gpu_get(&g->workspace, bytes, "workspace", w);
}
