// stale.cu: no result is ever computed from what a matrix used to hold.
//
//   stale [STEPS [SEED]] [--strict] [--spmm] [--pruned] [--single] [--shuffled] [--wide]
//         [--integers] [--turned] [--complex] [--verbose] [--threads N]
//
// A program that behaves as badly as cuSPARSE allows.  Six matrices live in nine
// blocks of device memory; every step picks one, changes something about it (one
// value, all values, one column index, the whole pattern, its row lengths, sizes,
// types, its addresses, or nothing) and multiplies a few times, through old or
// fresh descriptors, on one of four streams (one is the legacy stream), plainly,
// after a preprocess, or captured into a graph that is replayed now and again many
// steps later.  Every result is compared with float64 on the device, in stream
// order; the host waits only now and then, so that what Shunt learns late, it
// learns late here too.
//
// Without --strict an error as large as cuSPARSE's own rounding of partial sums
// passes; with it, only one rounding of a float32 sum does.  --strict is for runs in
// which Shunt is forced to take all that it can (SHUNT_ROUTES=csr,bundle,vector,dense); what
// it leaves to the original even then is known here and checked without: alpha 0 on the
// host, matrices without entries; and, since it may be either's, what is transposed or comes
// in batches.
//
// With --shuffled rows that share their columns mostly stand far apart, all products are SpMM, most
// in 16-bit types, and matrices live longer: a route may look for another order of the rows.
//
// With --spmm all products are SpMM: for lists of routes without one for every SDDMM, since
// cuSPARSE's own, in f64, misses entries of rows whose columns do not ascend.
//
// With --single all products are SpMM, most in f32; it goes with --shuffled, too.
//
// With --wide all products are SpMM, most of sizes for which `dense` has a kernel of its own.
//
// With --pruned most matrices are 2:4 at first, as pruned weights are, and all products SpMM, some
// of them in int8, into int32 or f32.
//
// With --integers all products are SpMM, most in int8, and sets of 8, 4 or 2 rows share their columns.
//
// With --turned all products are SpMM, most transposed and in f32 or f64.
//
// With --complex most matrices are complex, some of them multiplied by their conjugate transpose.
//
// Some matrices are described as CSC, or multiplied transposed, or both: p.a is always
// what is stored, by rows, and `transposed` says that the product is with its transpose.
// Some products come in strided batches, which share one array of row offsets.
//
// With --threads N such programs, of other seeds, run at the same time in N threads of one process,
// STEPS in all.
//
// The program does what cuSPARSE asks of its callers.  After a preprocess a descriptor stands for
// that pattern, those addresses and that buffer; where the program gives this promise up,
// it makes new descriptors.  Sizes are asked and preprocesses made with an alpha that is
// not 0: for alpha 0 less is needed, and less prepared, than for later calls.
#include <time.h>

#include <thread>

#include "tests/gpu/blackbox/stale_matrices.cuh"

// ---- calls ---------------------------------------------------------------------------
struct Scalars { // host copies in the compute type, and where a call finds its own
  alignas(16) char host[2 * 16], one[16];
  const void *alpha, *beta;
  const void *ask; // alpha of bufferSize and preprocess
};

// Draws alpha and beta.  Between replays only the device's copies may change.  For SDDMM
// with alpha 0 on the host, the original leaves some of repeated entries as they were.
static void draw_scalars(Problem &p, bool nonfinite, cudaStream_t s)
{
  static const double alphas[] = {1, 1, 1, 1, -0.5, 2.25, 0}, betas[] = {0, 0, 0, 1, -0.75};
  bool zero = !nonfinite && (p.device_scalars || (!p.sddmm && !original_stumbles(p)));
  const bool whole =
      p.compute == CUDA_R_32I; // a quarter of them, so that they are; put() takes 1/16
  const double unit = whole ? 4 : 1, stored = whole ? 1.0 / 16 : 1;
  p.alpha = alphas[below(zero ? 7 : 6)] * unit;
  p.beta = betas[below(5)] * unit;
  const bool imaginary = is_complex(p.compute) && chance(0.7);
  p.alpha_imaginary = imaginary ? p.alpha / 2 : 0;
  p.beta_imaginary = imaginary ? p.beta * 1.5 : 0;
  put_kernel<<<1, 1, 0, s>>>(p.scalars, 0, p.compute, p.alpha * stored, p.alpha_imaginary);
  put_kernel<<<1, 1, 0, s>>>(p.scalars, 1, p.compute, p.beta * stored, p.beta_imaginary);
  CUDA_OK(cudaGetLastError());
}

// Element i of a type, its imaginary part behind it.
static void store_scalar(char *to, int i, cudaDataType t, double re, double imaginary)
{
  if (!is_complex(t)) return type_store(to, i, t, re);
  type_store(to, 2 * i, t, re);
  type_store(to, 2 * i + 1, t, imaginary);
}

static void point_scalars(const Problem &p, Scalars *v)
{
  const size_t size = type_size(p.compute);
  store_scalar(v->host, 0, p.compute, p.alpha, p.alpha_imaginary);
  store_scalar(v->host, 1, p.compute, p.beta, p.beta_imaginary);
  store_scalar(v->one, 0, p.compute, 1, 0);
  v->alpha = p.device_scalars ? p.scalars : v->host;
  v->beta = (const char *)v->alpha + size;
  v->ask = !p.device_scalars && p.alpha == 0 ? v->one : v->alpha;
}

// Old content of the output: poison where beta is 0, numbers where it counts.
static void prepare_output(const Problem &p, const Form &f, cudaStream_t s)
{
  int64_t elements = p.sddmm ? stored_values(p, f) : stored_c(p, f);
  cudaDataType type = p.sddmm ? p.a.type : p.c.type;
  size_t bytes = (size_t)elements * type_size(type);
  if (bytes == 0) return;
  void *out = output(p);
  if (p.beta == 0)
    CUDA_OK(cudaMemsetAsync(out, 0xff, bytes, s));
  else
    fill(out, elements, type, salt(), FILL_RANDOM, s);
  CUDA_OK(cudaMemcpyAsync((void *)p.before, out, bytes, cudaMemcpyDeviceToDevice, s));
}

static cusparseOperation_t operation(bool flip)
{
  return flip ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
}

static cusparseStatus_t buffer_size(Slot &m, cusparseHandle_t h, const Scalars &v, size_t *bytes)
{
  if (m.p.sddmm)
    return cusparseSDDMM_bufferSize(h, operation(m.flip_c), operation(m.flip_b), v.ask, m.c, m.b,
                                    v.beta, m.sparse, m.p.compute, CUSPARSE_SDDMM_ALG_DEFAULT,
                                    bytes);
  return cusparseSpMM_bufferSize(h, m.form.op_a(), operation(m.flip_b), v.ask, m.sparse, m.b,
                                 v.beta, m.c, m.p.compute, (cusparseSpMMAlg_t)m.algorithm, bytes);
}

static cusparseStatus_t preprocess(Slot &m, cusparseHandle_t h, const Scalars &v, void *buffer)
{
  if (m.p.sddmm)
    return cusparseSDDMM_preprocess(h, operation(m.flip_c), operation(m.flip_b), v.ask, m.c, m.b,
                                    v.beta, m.sparse, m.p.compute, CUSPARSE_SDDMM_ALG_DEFAULT,
                                    buffer);
  return cusparseSpMM_preprocess(h, m.form.op_a(), operation(m.flip_b), v.ask, m.sparse, m.b,
                                 v.beta, m.c, m.p.compute, (cusparseSpMMAlg_t)m.algorithm, buffer);
}

static cusparseStatus_t multiply(Slot &m, cusparseHandle_t h, const Scalars &v, void *buffer)
{
  if (m.p.sddmm)
    return cusparseSDDMM(h, operation(m.flip_c), operation(m.flip_b), v.alpha, m.c, m.b, v.beta,
                         m.sparse, m.p.compute, CUSPARSE_SDDMM_ALG_DEFAULT, buffer);
  return cusparseSpMM(h, m.form.op_a(), operation(m.flip_b), v.alpha, m.sparse, m.b, v.beta, m.c,
                      m.p.compute, (cusparseSpMMAlg_t)m.algorithm, buffer);
}

static std::string group_text(const Problem &p, const Form &f, const char *mode)
{
  const char *form = f.batches > 1  ? "batches, "
                     : f.conjugated ? "conjugate transposed, "
                     : f.transposed ? "transposed, "
                     : f.as_csc     ? "csc, "
                                    : "";
  return std::string(p.sddmm ? "sddmm " : "spmm ") + type_text(p.a.type) + ", " + form + mode;
}

static std::string call_text(const Slot &m, const char *mode, const char *changed, int repeat)
{
  char text[400];
  const Problem &p = m.p;
  const Form &f = m.form;
  snprintf(text, sizeof text,
           "step %lld call %d (%s; changed: %s) %s %s>%s i%d b%d %lldx%lldx%lld nnz %lld group %d "
           "kind %d %c%c ld %lld/%lld flip %d%d alg %d alpha %g,%g beta %g,%g%s%s block %d%s%s "
           "batches %d entries %lld",
           (long long)step, repeat, mode, changed, p.sddmm ? "sddmm" : "spmm", type_text(p.a.type),
           type_text(p.c.type), p.a.wide ? 64 : 32, p.a.base, (long long)p.a.rows,
           (long long)p.a.cols, (long long)(p.sddmm ? p.b.rows : p.b.cols), (long long)p.a.nnz,
           m.group, m.kind, p.b.column_order ? 'c' : 'r', p.c.column_order ? 'c' : 'r',
           (long long)p.b.ld, (long long)p.c.ld, m.flip_b, m.flip_c, m.algorithm, p.alpha,
           p.alpha_imaginary, p.beta, p.beta_imaginary, p.device_scalars ? " (device)" : "",
           m.nonfinite ? " nonfinite" : "", m.block, f.as_csc ? " csc" : "",
           f.conjugated   ? " conjugated"
           : f.transposed ? " transposed"
                          : "",
           f.batches, (long long)f.entries);
  return text;
}

static void check_call(const Problem &p, const Form &f, const char *workspace, size_t bytes,
                       const char *mode, const std::string &text, cudaStream_t s)
{
  if (verbose) printf("# %s\n", text.c_str());
  Outcome *o = next_outcome(p, f, group_text(p, f, mode), text);
  check_all(p, f, o, s);
  check_bytes_kernel<<<1, CANARY, 0, s>>>((const unsigned char *)workspace + bytes, CANARY, 0xa5,
                                          o);
  CUDA_OK(cudaGetLastError());
}

// Another tensor of the program uses the workspace between calls.
static void scribble(char *workspace, size_t bytes, cudaStream_t s)
{
  if (bytes) CUDA_OK(cudaMemsetAsync(workspace, 0xff, bytes, s));
  CUDA_OK(cudaMemsetAsync(workspace + bytes, 0xa5, CANARY, s));
}

// The first few in full, the others counted.
static void broken(const char *format, const char *what, const std::string &text)
{
  static std::mutex lock; // of the counts that check keeps
  std::lock_guard<std::mutex> hold(lock);
  if (broken_calls++ < 16) check(0, format, what, text.c_str());
}

// The answer is allowed to be "not supported" (bf16 SDDMM, some layouts).
static bool accepted(cusparseStatus_t status, const char *what, const std::string &text)
{
  if (status == CUSPARSE_STATUS_SUCCESS) return true;
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED)
    refused++;
  else
    broken("%s returned another status: %s", what, "status " + std::to_string(status) + " " + text);
  return false;
}

static void run_plain(Slot &m, int lane, const char *changed, bool with_preprocess)
{
  cudaStream_t s = streams[lane];
  Scalars v;
  int repeats = 1 + (int)below(6);
  const char *mode = with_preprocess ? "preprocess" : m.promised ? "promised" : "plain";
  // The buffer of a promise that was given up is as good as any.
  char *buffer = m.promised || step % 2 ? m.workspace : m.other_workspace;
  for (int r = 0; r < repeats; r++) {
    if (r && chance(0.25)) changed = change_values(m, s);
    if (r && chance(0.2)) fill_dense(m, s);
    draw_scalars(m.p, m.nonfinite, s);
    prepare_output(m.p, m.form, s);
    point_scalars(m.p, &v);
    std::string text = call_text(m, mode, changed, r);
    size_t bytes = m.promised_bytes;
    if (!m.promised) {
      if (!accepted(buffer_size(m, handles[lane], v, &bytes), "bufferSize", text)) return;
      if (bytes + CANARY > WORKSPACE) {
        refused++;
        return;
      }
      if (with_preprocess) buffer = m.workspace;
      scribble(buffer, bytes, s);
      if (with_preprocess) {
        if (!accepted(preprocess(m, handles[lane], v, buffer), "preprocess", text)) return;
        m.promised = true;
        m.lane = lane;
        m.promised_bytes = bytes;
      }
    }
    if (!accepted(multiply(m, handles[lane], v, buffer), "multiply", text)) return;
    check_call(m.p, m.form, buffer, bytes, mode, text, s);
    if (chance(0.05)) CUDA_OK(cudaStreamSynchronize(s));
  }
}

static void replay(Slot &m, Graph &g, cudaStream_t s, bool first)
{
  int replays = 1 + (int)below(4);
  const char *changed = "before";
  for (int r = 0; r < replays; r++) {
    if (r || !first) {
      changed = chance(0.7) ? change_values(m, s) : change_pattern(m, s);
      if (chance(0.2)) fill_dense(m, s);
    }
    g.p.scalars = m.p.scalars;
    if (g.p.device_scalars) draw_scalars(g.p, m.nonfinite, s);
    if (!g.p.device_scalars && g.p.alpha == 0 && m.nonfinite) return;
    prepare_output(g.p, g.form, s);
    scribble(g.workspace, g.workspace_bytes, s);
    CUDA_OK(cudaGraphLaunch(g.exec, s));
    check_call(g.p, g.form, g.workspace, g.workspace_bytes, "graph",
               g.text + ", replay " + std::to_string(r) + " after step " + std::to_string(step) +
                   " changed " + changed,
               s);
  }
}

static void run_graph(Slot &m, int lane, const char *changed)
{
  cudaStream_t s = streams[lane];
  Scalars v;
  size_t bytes = 0;
  draw_scalars(m.p, m.nonfinite, s);
  point_scalars(m.p, &v);
  std::string text = call_text(m, "graph", changed, 0);
  if (!accepted(buffer_size(m, handles[lane], v, &bytes), "bufferSize", text)) return;
  if (bytes + CANARY > WORKSPACE) {
    refused++;
    return;
  }
  if (m.graphs.size() == GRAPHS) {
    CUDA_OK(cudaGraphExecDestroy(m.graphs[0].exec));
    m.graph_workspaces.push_back(m.graphs[0].workspace);
    m.graphs.erase(m.graphs.begin());
  }
  char *workspace = m.graph_workspaces.back();
  cudaGraph_t graph = nullptr;
  // Where no other thread is that a global capture would forbid to allocate.
  const bool global = chance(0.7) && threads == 1;
  std::shared_lock<std::shared_mutex> together(device_at_rest);
  CUDA_OK(cudaStreamBeginCapture(s, global ? cudaStreamCaptureModeGlobal
                                           : cudaStreamCaptureModeThreadLocal));
  cusparseStatus_t status = multiply(m, handles[lane], v, workspace);
  cudaError_t ended = cudaStreamEndCapture(s, &graph);
  together.unlock();
  if (!accepted(status, "captured multiply", text) || ended != cudaSuccess) {
    if (ended != cudaSuccess) broken("capture ended with %s: %s", cudaGetErrorString(ended), text);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
    return;
  }
  m.graph_workspaces.pop_back();
  Graph g = {nullptr, m.p, m.form, workspace, bytes, text};
  CUDA_OK(cudaGraphInstantiate(&g.exec, graph, 0));
  CUDA_OK(cudaGraphDestroy(graph));
  m.graphs.push_back(g);
  replay(m, m.graphs.back(), s, true);
}

static void take_step()
{
  static const int algorithms[] = {CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_ALG_DEFAULT,
                                   CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2,
                                   CUSPARSE_SPMM_CSR_ALG3};
  Slot &m = slots[below(SLOTS)];
  int lane = m.promised ? m.lane : (int)below(STREAMS);
  cudaStream_t s = streams[lane];
  CUDA_OK(cudaStreamWaitEvent(s, blocks[m.block].done, 0));
  const char *changed = change(m, s);
  if (!m.promised) {
    m.p.device_scalars = chance(0.25);
    m.algorithm = algorithms[below(5)];
    // The original refuses this pair as an invalid value, not as unsupported.
    if (m.algorithm == CUSPARSE_SPMM_CSR_ALG3 && (m.form.as_csc || alg3_stumbles(m)))
      m.algorithm = CUSPARSE_SPMM_ALG_DEFAULT;
    // These are left to the original, of which 0 x Inf comes where nothing is stored.
    if (m.algorithm == CUSPARSE_SPMM_CSR_ALG3) m.p.device_scalars = false;
    if (m.sparse && chance(0.5)) destroy_descriptors(m);
    if (!m.sparse) create_descriptors(m);
  }
  SPARSE_OK(cusparseSetPointerMode(handles[lane], m.p.device_scalars ? CUSPARSE_POINTER_MODE_DEVICE
                                                                     : CUSPARSE_POINTER_MODE_HOST));
  int64_t u = below(100);
  if (!m.graphs.empty() && u < 12) {
    give_up_promise(m); // replays may change the pattern
    replay(m, m.graphs[below((int64_t)m.graphs.size())], s, false);
  } else if (u < 34 && !m.promised && lane != LEGACY)
    run_graph(m, lane, changed);
  else
    run_plain(m, lane, changed, !m.promised && u < 46);
  CUDA_OK(cudaEventRecord(blocks[m.block].done, s));
}

// When CUDA gives up: what was asked for last.
static void report_end()
{
  if (finished) return;
  for (size_t k = texts.size() < 6 ? 0 : texts.size() - 6; k < texts.size(); k++)
    printf("# before the end: %s\n", texts[k].c_str());
}

static void set_up()
{
  CUDA_OK(cudaMalloc(&outcomes, OUTCOMES * sizeof(Outcome)));
  CUDA_OK(cudaMemset(outcomes, 0, OUTCOMES * sizeof(Outcome)));
  for (Block &k : blocks) {
    CUDA_OK(cudaMalloc(&k.offsets, (MAX_SIDE + PAD) * 8));
    CUDA_OK(cudaMalloc(&k.columns, (MAX_NNZ + PAD) * 8));
    CUDA_OK(cudaMalloc(&k.values, (MAX_NNZ + PAD) * 8));
    CUDA_OK(cudaMalloc(&k.b, DENSE_BYTES));
    CUDA_OK(cudaMalloc(&k.c, DENSE_BYTES));
    CUDA_OK(cudaMalloc((void **)&k.before, std::max(DENSE_BYTES, (size_t)(MAX_NNZ + PAD) * 8)));
    CUDA_OK(cudaMalloc(&k.scalars, 64));
    CUDA_OK(cudaEventCreateWithFlags(&k.done, cudaEventDisableTiming));
  }
  for (int i = 0; i < STREAMS; i++) {
    if (i != LEGACY) CUDA_OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    SPARSE_OK(cusparseCreate(&handles[i]));
    SPARSE_OK(cusparseSetStream(handles[i], streams[i]));
    CUDA_OK(cudaMalloc((void **)&sums[i], (3 * MAX_SIDE * MAX_N + MAX_SIDE) * sizeof(double)));
  }
  for (Slot &m : slots) {
    CUDA_OK(cudaMalloc((void **)&m.workspace, WORKSPACE));
    CUDA_OK(cudaMalloc((void **)&m.other_workspace, WORKSPACE));
    for (int i = 0; i < GRAPHS; i++) {
      char *w;
      CUDA_OK(cudaMalloc((void **)&w, WORKSPACE));
      m.graph_workspaces.push_back(w);
    }
    use_block(m, free_block());
    draw_problem(m);
    fill_all(m, streams[0]);
  }
  CUDA_OK(cudaDeviceSynchronize());
}

struct Sums {
  std::map<std::string, Tally> tallies;
  Tally left;
  int64_t calls, steps, refused, broken;
};
static Sums sums_of_all;
static std::mutex sums_lock;

static void add_tally(Tally *all, const Tally &t)
{
  *all = {all->calls + t.calls, all->strict + t.strict, all->loose + t.loose,
          all->outside + t.outside};
}

static void add_sums(int64_t steps)
{
  std::lock_guard<std::mutex> hold(sums_lock);
  for (auto &entry : tallies) add_tally(&sums_of_all.tallies[entry.first], entry.second);
  add_tally(&sums_of_all.left, of_left);
  sums_of_all.calls += calls;
  sums_of_all.steps += steps;
  sums_of_all.refused += refused;
  sums_of_all.broken += broken_calls;
}

// A program of its own, in a thread of its own.
static void run(int64_t steps, uint64_t seed)
{
  rng = seed;
  {
    std::unique_lock<std::shared_mutex> alone(device_at_rest);
    set_up();
  }
  for (step = 0; step < steps; step++) {
    take_step();
    if (step % 128 == 127) drain();
  }
  drain();
  add_sums(steps);
  std::unique_lock<std::shared_mutex> alone(device_at_rest);
  for (Slot &m : slots) {
    forget_graphs(m);
    destroy_descriptors(m);
  }
  for (int i = 0; i < STREAMS; i++) SPARSE_OK(cusparseDestroy(handles[i]));
  CUDA_OK(cudaDeviceSynchronize());
}

static void report(double seconds)
{
  int64_t total = 0;
  for (auto &entry : sums_of_all.tallies) {
    const Tally &t = entry.second;
    total += t.calls;
    check(t.loose == 0 && t.outside == 0 && (!strict || t.strict == 0),
          "%s: %lld results, %lld beyond one rounding, %lld wrong, %lld wrote outside",
          entry.first.c_str(), (long long)t.calls, (long long)t.strict, (long long)t.loose,
          (long long)t.outside);
  }
  const Tally &left = sums_of_all.left;
  if (left.calls)
    printf("# %lld results of more than %d batches, which are left to cuSPARSE: %lld wrong\n",
           (long long)left.calls, MOST_BATCHES_TAKEN, (long long)left.loose);
  check(total + left.calls == sums_of_all.calls && total >= sums_of_all.steps / 2,
        "%lld results checked in %lld steps, %.1f s", (long long)total,
        (long long)sums_of_all.steps, seconds);
  check(sums_of_all.broken == 0, "%lld calls failed", (long long)sums_of_all.broken);
  if (sums_of_all.refused)
    printf("# %lld calls refused by status NOT_SUPPORTED\n", (long long)sums_of_all.refused);
}

int main(int argc, char **argv)
{
  int64_t steps = 10000, number = 0;
  uint64_t seed = 1;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--strict"))
      strict = true;
    else if (!strcmp(argv[i], "--spmm"))
      only_spmm = true;
    else if (!strcmp(argv[i], "--pruned"))
      mostly_pruned = true;
    else if (!strcmp(argv[i], "--single"))
      mostly_single = true;
    else if (!strcmp(argv[i], "--shuffled"))
      shuffled = true;
    else if (!strcmp(argv[i], "--wide"))
      mostly_wide = true;
    else if (!strcmp(argv[i], "--integers"))
      mostly_integers = true;
    else if (!strcmp(argv[i], "--turned"))
      mostly_turned = true;
    else if (!strcmp(argv[i], "--complex"))
      mostly_complex = true;
    else if (!strcmp(argv[i], "--verbose"))
      verbose = true;
    else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
      threads = std::max(atoi(argv[++i]), 1);
    else if (number++ == 0)
      steps = atoll(argv[i]);
    else
      seed = (uint64_t)atoll(argv[i]);
  }
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  atexit(report_end);
  if (threads == 1) {
    run(steps, seed);
  } else {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; i++) all.emplace_back(run, steps / threads, seed * 1000 + i);
    for (std::thread &t : all) t.join();
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  finished = true;
  report((double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
  return finish();
}
