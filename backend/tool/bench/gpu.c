/* gpu.c: the engine on the GPU: what a case needs there, and the list of
   ways to time.  Every way starts from the same content of the result, runs
   once, is checked against a float64 sum on the device, and is then timed.  */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/options/options.h"
#include "backend/plan/tune/tune_machine.h"
#include "backend/tool/bench/gpu.h"
#include "kernels/guard/guard.h"

static struct gpu gpu;

/* ---- the device --------------------------------------------------------------- */

static bool make_streams(void)
{
  return cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking) == cudaSuccess &&
         cudaEventCreate(&gpu.start) == cudaSuccess && cudaEventCreate(&gpu.stop) == cudaSuccess;
}

bool bench_cuda_present(char *why, size_t bytes)
{
  int count = 0, driver = 0;
  cudaError_t e = cudaGetDeviceCount(&count);
  if (e == cudaSuccess && count == 0) e = cudaErrorNoDevice;
  if (e == cudaSuccess) e = cudaSetDevice(0);
  if (e == cudaSuccess) return true;
  bool none = cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
  snprintf(why, bytes, "no GPU can be used: %s",
           none ? "there is no NVIDIA driver" : cudaGetErrorString(e));
  return false;
}

/* The same table as the planner's. */
static void know_costs(const struct cudaDeviceProp *prop)
{
  char signature[SHUNT_SIGNATURE];
  const struct shunt_costs_here here = {
      .gpu = prop->name,
      .multiprocessors = prop->multiProcessorCount,
      .signature = shunt_machine_signature(0, signature) ? signature : NULL,
      .named = shunt_options()->costs};
  shunt_costs_find(&here, &gpu.costs);
  gpu.machine.costs = &gpu.costs;
}

static bool cuda_open(struct bench_machine *m, char *why, size_t bytes)
{
  struct cudaDeviceProp prop;
  *m = (struct bench_machine){.engine = "cuda"};
  if (!bench_cuda_present(why, bytes)) return false;
  if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess) {
    snprintf(why, bytes, "the GPU cannot be asked (%s)", cudaGetErrorString(cudaGetLastError()));
    return false;
  }
  memset(&gpu, 0, sizeof gpu);
  gpu.device = (struct shunt_device){prop.multiProcessorCount, prop.major * 10 + prop.minor,
                                     (int)prop.sharedMemPerBlockOptin, prop.l2CacheSize};
  know_costs(&prop);
  if (!make_streams()) {
    snprintf(why, bytes, "the GPU cannot be used (%s)", cudaGetErrorString(cudaGetLastError()));
    return false;
  }
  snprintf(m->name, sizeof m->name, "%.100s", prop.name);
  m->multiprocessors = prop.multiProcessorCount;
  m->compute_capability = gpu.device.compute_capability;
  m->memory_bytes = (int64_t)prop.totalGlobalMem;
  m->l2_bytes = prop.l2CacheSize;
  cudaDriverGetVersion(&m->driver);
  cudaRuntimeGetVersion(&m->runtime);
  gpu.peers = gpu_peers_open(&gpu, m);
  gpu.cusparse = bench_cusparse_version(m);
  return true;
}

static void cuda_close(void)
{
  gpu_peers_close(gpu.peers);
  cudaEventDestroy(gpu.start);
  cudaEventDestroy(gpu.stop);
  cudaStreamDestroy(gpu.stream);
  memset(&gpu, 0, sizeof gpu);
}

/* ---- a case on the device --------------------------------------------------------- */

static void drop_case(struct gpu_case *g)
{
  for (int i = 0; i < BENCH_ARRAYS; i++) cudaFree(g->array[i]);
  for (int i = 0; i < BENCH_ARRAYS; i++) cudaFree(g->turned[i]);
  cudaFree(g->before);
  cudaFree(g->scalars);
  cudaFree(g->workspace);
  cudaFree(g->converted);
  cudaFree(g->dense.values);
  cudaFree(g->expected);
  cudaFree(g->words);
  cudaFree(g->scratch);
}

static bool upload(void **to, const void *from, size_t bytes)
{
  return cudaMalloc(to, bytes + 16) == cudaSuccess &&
         cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
}

/* alpha and beta in the compute type at scalars and scalars + 16. */
static bool place_scalars(struct gpu_case *g)
{
  bool spmm = g->p.op == SHUNT_SPMM;
  struct shunt_scalar *both[2] = {spmm ? &g->p.spmm.alpha : &g->p.sddmm.alpha,
                                  spmm ? &g->p.spmm.beta : &g->p.sddmm.beta};
  union gpu_scalar value[2];
  for (int i = 0; i < 2; i++) value[i] = gpu_scalar_of(both[i], gpu_compute_of(&g->p));
  if (!upload(&g->scalars, value, sizeof value)) return false;
  if (g->c->device_scalars)
    for (int i = 0; i < 2; i++) both[i]->device = (const char *)g->scalars + sizeof *value * i;
  return true;
}

/* op(A) for the check, where A is transposed; after g->checked is bound. */
static bool place_turned(struct gpu_case *g, const struct bench_operands *host)
{
  struct bench_operands o;
  bool good = bench_turn(g->c, host->array[BENCH_VALUES], &o);
  for (int i = 0; i < BENCH_ARRAYS && good; i++)
    if (o.array[i]) good = upload(&g->turned[i], o.array[i], o.bytes[i]);
  g->checked = bench_bind_turned(&g->checked, g->turned);
  bench_operands_free(&o);
  return good;
}

static bool make_case(struct gpu_case *g, const struct bench_case *c, uint64_t seed)
{
  struct bench_operands o;
  bool good = true;
  *g = (struct gpu_case){.gpu = &gpu, .c = c};
  if (!bench_operands_make(c, seed, &o)) return false;
  int result = bench_result_array(&c->problem);
  for (int i = 0; i < BENCH_ARRAYS && good; i++)
    good = upload(&g->array[i], o.array[i], o.bytes[i]);
  good = good && cudaMalloc(&g->before, o.bytes[result] + 16) == cudaSuccess &&
         cudaMemcpy(g->before, g->array[result], o.bytes[result], cudaMemcpyDeviceToDevice) ==
             cudaSuccess;
  g->p = bench_bind(c, g->array);
  g->p.cusparse = gpu.cusparse;
  g->checked = g->p;
  g->result = g->array[result];
  g->result_bytes = o.bytes[result];
  good = good && place_turned(g, &o);
  bench_operands_free(&o);
  good = good && place_scalars(g) &&
         cudaMalloc((void **)&g->expected, sizeof *g->expected) == cudaSuccess &&
         cudaMalloc((void **)&g->words, 256) == cudaSuccess &&
         cudaMemset(g->words, 0, 256) == cudaSuccess &&
         cudaMalloc(&g->scratch, SHUNT_FINGERPRINT_SCRATCH) == cudaSuccess &&
         cudaDeviceSynchronize() == cudaSuccess; /* copies ran on another stream than ours */
  if (good) return true;
  tool_say("%s: the operands do not fit the device (%s)", c->matrix,
           cudaGetErrorString(cudaGetLastError()));
  drop_case(g);
  return false;
}

/* ---- a way ---------------------------------------------------------------------- */

/* True: the device still works.  What kept the way from running goes to its note. */
static bool note_failure(struct bench_way *w, shunt_status status)
{
  cudaError_t e = cudaDeviceSynchronize();
  if (e == cudaSuccess) e = cudaGetLastError();
  if (e != cudaSuccess)
    snprintf(w->note, sizeof w->note, "failed: %s", cudaGetErrorString(e));
  else if (status == SHUNT_E_UNSUPPORTED)
    snprintf(w->note, sizeof w->note, "not built for these types, layout or device");
  else
    snprintf(w->note, sizeof w->note, "failed (status %d)", (int)status);
  return cudaStreamSynchronize(gpu.stream) == cudaSuccess;
}

static double bits_to_double(unsigned long long bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* By SHUNT_MATH Shunt's ways may round f32 to TF32 before they multiply. */
static double operand_roundoff(const struct gpu_case *g, const struct bench_way *w)
{
  bool single = shunt_problem_sparse(&g->checked)->value_type == SHUNT_F32;
  return w->ours && single && shunt_options()->math == SHUNT_MATH_TF32 ? 0x1p-11 : 0;
}

static bool check_result(struct gpu_case *g, struct bench_way *w)
{
  unsigned long long bits[2] = {0, 0};
  unsigned long long *device = (unsigned long long *)((char *)g->words + 128);
  if (cudaMemsetAsync(device, 0, sizeof bits, gpu.stream) != cudaSuccess ||
      bench_reference_cuda(&g->checked, operand_roundoff(g, w), g->before, device, gpu.stream) !=
          SHUNT_OK ||
      cudaMemcpyAsync(bits, device, sizeof bits, cudaMemcpyDeviceToHost, gpu.stream) !=
          cudaSuccess ||
      cudaStreamSynchronize(gpu.stream) != cudaSuccess)
    return false;
  w->max_error = bits_to_double(bits[0]);
  w->error_ratio = bits_to_double(bits[1]);
  w->right = w->error_ratio <= 1;
  return true;
}

/* False when the device is broken. */
static bool measure_way(struct gpu_case *g, struct bench_way *w, gpu_enqueue enqueue, bool check,
                        bool quick)
{
  cudaMemcpyAsync(g->result, g->before, g->result_bytes, cudaMemcpyDeviceToDevice, gpu.stream);
  shunt_status status = enqueue(g, gpu.stream);
  if (status != SHUNT_OK || cudaStreamSynchronize(gpu.stream) != cudaSuccess)
    return note_failure(w, status);
  w->right = true;
  if (check && !check_result(g, w)) return note_failure(w, SHUNT_E_CUDA);
  const struct gpu_timed timed = {enqueue, strncmp(w->name, "cusparse", strlen("cusparse")) == 0};
  if (!gpu_time(g, &timed, quick, &w->us, &w->timing)) return note_failure(w, SHUNT_E_CUDA);
  w->ran = true;
  return true;
}

/* Has --ways left this one in?  Each of its words names a way, or a family: "cusparse". */
static bool is_wanted(const char *name, const struct bench_options *o)
{
  for (const char *at = o->ways; at && *at; at += strcspn(at, ",") + (strchr(at, ',') != NULL)) {
    size_t n = strcspn(at, ",");
    if (n && strncmp(name, at, n) == 0 && (name[n] == '\0' || name[n] == '-')) return true;
  }
  return !o->ways;
}

static void drop_workspace(struct gpu_case *g)
{
  cudaStreamSynchronize(gpu.stream);
  cudaFree(g->workspace);
  cudaFree(g->converted);
  g->workspace = g->converted = NULL;
  g->workspace_bytes = 0;
}

struct shunt_way {
  const char *name;
  bool (*prepare)(struct gpu_case *g, struct bench_way *w);
  gpu_enqueue enqueue;
};

static bool measure_one(struct gpu_case *g, struct bench_case *c, const struct shunt_way *way,
                        const struct bench_options *o)
{
  bool alive = true;
  if (!is_wanted(way->name, o)) return true;
  struct bench_way *w = bench_add_way(c, way->name, true);
  bench_progress(0, 0, c, way->name);
  if (way->prepare(g, w)) alive = measure_way(g, w, way->enqueue, true, o->quick);
  drop_workspace(g);
  return alive;
}

/* Where op(A) is the transpose of what is stored. */
static bool measure_transposed(struct gpu_case *g, struct bench_case *c,
                               const struct bench_options *o)
{
  static const struct shunt_way csr = {"csr", gpu_prepare_transposed, gpu_transposed};
  static const struct shunt_way routed = {"routed", gpu_prepare_routed, gpu_routed};
  return measure_one(g, c, &csr, o) && measure_one(g, c, &routed, o);
}

static bool measure_shunt(struct gpu_case *g, struct bench_case *c, const struct bench_options *o)
{
  static const struct shunt_way way[] = {{"csr", gpu_prepare_csr, gpu_csr},
                                         {"vector", gpu_prepare_vector, gpu_vector},
                                         {"bundle", gpu_prepare_bundle, gpu_bundle},
                                         {"sorted", gpu_prepare_sorted, gpu_sorted},
                                         {"bsr", gpu_prepare_bsr, gpu_bsr},
                                         {"vector-packed", gpu_prepare_packed, gpu_packed},
                                         {"vector-ordered", gpu_prepare_clustered, gpu_packed},
                                         {"tile-aligned-24", gpu_prepare_tile_aligned_24, gpu_tile},
                                         {"tile-24", gpu_prepare_tile_24, gpu_tile},
                                         {"tile-aligned", gpu_prepare_tile_aligned, gpu_tile},
                                         {"tile", gpu_prepare_tile, gpu_tile},
                                         {"sparse24", gpu_prepare_sparse24, gpu_sparse24},
                                         {"srbcrs", gpu_prepare_srbcrs, gpu_srbcrs},
                                         {"dcsr-b", gpu_prepare_dcsr_b, gpu_dcsr_b},
                                         {"dcsr-online", gpu_prepare_dcsr_online, gpu_dcsr_online},
                                         {"dcsr-c", gpu_prepare_dcsr_c, gpu_dcsr_c},
                                         {"routed", gpu_prepare_routed, gpu_routed}};
  bool alive = true;
  for (size_t i = 0; i < sizeof way / sizeof *way && alive; i++)
    alive = measure_one(g, c, &way[i], o);
  return alive;
}

/* The dense product alone is what a program with a dense matrix would call: cuBLAS.  The word
   "cublas" leaves Shunt's two out.  */
static bool measure_dense(struct gpu_case *g, struct bench_case *c, const struct bench_options *o)
{
  bool spmm = c->problem.op == SHUNT_SPMM, alive = true, quick = o->quick;
  const bool ours = is_wanted("dense", o);
  if (!ours && !is_wanted("cublas", o)) return true;
  struct bench_way *dense = ours ? bench_add_way(c, "dense", true) : NULL;
  struct bench_way *kept = ours && spmm ? bench_add_way(c, "dense-packed", true) : NULL;
  struct bench_way *alone = bench_add_way(c, "cublas", false);
  struct bench_way *first = ours ? dense : alone;
  bench_progress(0, 0, c, first->name);
  if (!gpu_has_cublas(&gpu)) {
    snprintf(first->note, sizeof first->note, "cuBLAS was not found");
    return true;
  }
  if (!gpu_prepare_dense(g, first)) return true;
  if (ours) alive = measure_way(g, dense, gpu_dense, true, quick);
  if (alive && kept) alive = measure_way(g, kept, gpu_dense_packed, true, quick);
  if (alive) alive = measure_way(g, alone, gpu_gemm, spmm, quick);
  return alive;
}

/* int8 beside the dense product of 8 bits, which wants its operands laid out otherwise. */
static bool measure_cublaslt(struct gpu_case *g, struct bench_case *c,
                             const struct bench_options *o)
{
  static const char *const name[] = {"cublaslt-i8", "cublaslt-fp8"};
  const struct shunt_problem *p = &c->problem;
  bool alive = true;
  if (p->op != SHUNT_SPMM || p->spmm.b.type != SHUNT_I8 || p->spmm.c.type != SHUNT_I32) return true;
  for (int i = 0; i < 2 && alive; i++) {
    if (!is_wanted(name[i], o)) continue;
    struct bench_way *w = bench_add_way(c, name[i], false);
    bench_progress(0, 0, c, name[i]);
    if (gpu_prepare_cublaslt(g, i == 1, w)) {
      alive = measure_way(g, w, gpu_cublaslt, i == 0, o->quick);
      if (alive) cudaStreamSynchronize(gpu.stream);
      gpu_finish_cublaslt(g);
    }
    drop_workspace(g);
  }
  return alive;
}

static bool measure_cusparse(struct gpu_case *g, struct bench_case *c,
                             const struct bench_options *o)
{
  static const char *const name[] = {"cusparse-default", "cusparse-alg1", "cusparse-alg2",
                                     "cusparse-alg3"};
  int count = c->problem.op == SHUNT_SPMM ? 4 : 2; /* SDDMM has one algorithm; 1: preprocessed */
  bool alive = true;
  for (int i = 0; i < count && alive; i++) {
    if (!is_wanted(name[i], o)) continue;
    struct bench_way *w = bench_add_way(c, name[i], false);
    bench_progress(0, 0, c, name[i]);
    if (!gpu_has_cusparse(&gpu)) {
      if (i == 0) snprintf(w->note, sizeof w->note, "cuSPARSE was not found");
      continue;
    }
    if (!gpu_prepare_cusparse(g, i, i > 0, w)) continue;
    alive = measure_way(g, w, gpu_cusparse, true, o->quick);
    if (alive) cudaStreamSynchronize(gpu.stream);
    gpu_finish_cusparse(g);
  }
  return alive;
}

static bool measure_blocked_ell(struct gpu_case *g, struct bench_case *c,
                                const struct bench_options *o)
{
  if (!is_wanted("blocked-ell", o)) return true;
  struct bench_way *w = bench_add_way(c, "blocked-ell", false);
  bool alive = true;
  bench_progress(0, 0, c, "blocked-ell");
  if (!gpu_has_cusparse(&gpu)) return true;
  if (gpu_prepare_blocked_ell(g, w)) {
    alive = measure_way(g, w, gpu_cusparse, false, o->quick);
    if (alive) cudaStreamSynchronize(gpu.stream);
    gpu_finish_cusparse(g);
  }
  drop_workspace(g);
  return alive;
}

static bool cuda_measure(struct bench_case *c, const struct bench_options *o)
{
  struct gpu_case g;
  if (!make_case(&g, c, o->seed)) return cudaDeviceSynchronize() == cudaSuccess;
  gpu_peers_scalars(&g);
  c->checked_rows = shunt_problem_sparse(&g.checked)->rows;
  bool alive = shunt_problem_transposed(&g.p)
                   ? measure_transposed(&g, c, o) && measure_cusparse(&g, c, o)
                   : measure_shunt(&g, c, o) && measure_dense(&g, c, o) &&
                         measure_cublaslt(&g, c, o) && measure_cusparse(&g, c, o) &&
                         measure_blocked_ell(&g, c, o);
  drop_case(&g);
  if (!alive) tool_say("%s: the device failed; nothing more can be timed", c->word);
  return alive;
}

const struct bench_engine bench_cuda_engine = {cuda_open, cuda_measure, cuda_close};
