// faults.cu: whichever of Shunt's own calls fails, the program's results stay right.
//
//   faults [SECONDS]     (SHUNT_SO names the library to preload)
//
// The program runs itself as "faults --scenario" under Shunt: first with a fault that
// never comes, which counts the calls that can fail (N), then with SHUNT_FAULT = n for
// n = 1 .. N + 1, in an order that covers the range evenly from the start, until all
// are done or SECONDS (75) have passed.  A control, and two rounds in each of two modes:
//
//   control         six at once without Shunt: what the original does in such a crowd
//   forced          all routes named, so that costs are not compared
//   default         SHUNT_ROUTES as it is
//     two at a time   results right, exit status 0
//     one at a time   also: no more device memory in use at the end than without a fault, but for
//                     the modules that are loaded when another way takes over: by default those of
//                     cuBLASLt, too, which some faults open and others do not
//
// The control is printed, not checked: it is not Shunt that runs.  The scenario's largest
// matrix makes a packed copy of 52 MB: a leaked one shows.
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <string>

#include "tests/gpu/blackbox/blackbox_calls.cuh"

using namespace blackbox;

// ---- the scenario ------------------------------------------------------------------
struct Scene {
  cusparseHandle_t handle;
  cudaStream_t stream;
  Outcome *outcome;
};

static void check_call(const Scene &s, Operands &o, const char *what)
{
  Outcome found;
  CUDA_OK(cudaMemsetAsync(s.outcome, 0, sizeof found, s.stream));
  check_result(o.p, s.outcome, s.stream);
  CUDA_OK(cudaMemcpyAsync(&found, s.outcome, sizeof found, cudaMemcpyDeviceToHost, s.stream));
  CUDA_OK(cudaStreamSynchronize(s.stream));
  check(found.loose == 0 && found.outside == 0, "%s: %u wrong; (%lld, %lld) is %g, want %g", what,
        found.loose, (long long)found.i, (long long)found.j, found.got, found.want);
}

static void repeat(const Scene &s, Operands &o, int times, const char *what)
{
  for (int i = 0; i < times; i++) {
    prepare_output(o, (uint64_t)i, s.stream);
    check(ask_workspace(o, s.handle) == CUSPARSE_STATUS_SUCCESS, "%s: bufferSize", what);
    check(multiply(o, s.handle) == CUSPARSE_STATUS_SUCCESS, "%s: call %d", what, i);
    check_call(s, o, what);
  }
}

static void replay(const Scene &s, Operands &o)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_OK(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal));
  check(multiply(o, s.handle) == CUSPARSE_STATUS_SUCCESS, "captured call");
  CUDA_OK(cudaStreamEndCapture(s.stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; i++) {
    if (i) fill(o.p.a.values, o.p.a.nnz, o.p.a.type, 77, FILL_RANDOM, s.stream);
    prepare_output(o, 5, s.stream);
    CUDA_OK(cudaGraphLaunch(exec, s.stream));
    check_call(s, o, "replay");
  }
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
}

static void one_problem(const Scene &s, const Shape &shape, int times, bool graph, const char *what)
{
  Operands o;
  make_operands(o, shape, 31, s.stream);
  repeat(s, o, times, what);
  if (graph) replay(s, o);
  set_scalars(o, -1.5, 0.5);
  repeat(s, o, 1, what);
  CUDA_OK(cudaStreamSynchronize(s.stream));
  destroy_operands(o);
}

static int scenario()
{
  size_t free_before, free_after, total;
  Scene s;
  alarm(100);
  CUDA_OK(cudaFree(nullptr));
  CUDA_OK(cudaMemGetInfo(&free_before, &total));
  CUDA_OK(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&s.handle));
  SPARSE_OK(cusparseSetStream(s.handle, s.stream));
  s.outcome = (Outcome *)device_bytes(sizeof(Outcome));
  one_problem(s, {false, CUDA_R_16F, 5120, 5120, 64, 0.5, 1, false}, 4, true, "half full f16");
  one_problem(s, {false, CUDA_R_16F, 1024, 1024, 128, 0.1, 8, false}, 2, false, "8 x 1 f16");
  one_problem(s, {false, CUDA_R_32F, 1024, 1000, 64, 0.05, 1, false}, 2, false, "random f32");
  one_problem(s, {true, CUDA_R_16F, 1024, 1024, 128, 0.1, 8, false}, 2, false, "sddmm f16");
  CUDA_OK(cudaFree(s.outcome));
  SPARSE_OK(cusparseDestroy(s.handle));
  CUDA_OK(cudaStreamDestroy(s.stream));
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemGetInfo(&free_after, &total));
  printf("in use %lld\n", (long long)free_before - (long long)free_after);
  return finish();
}

// ---- the driver ------------------------------------------------------------------------
struct Mode {
  const char *name, *routes;
  long long slack; // bytes of modules
};
static const Mode modes[] = {
    {"forced", "csr,bundle,vector,sparse24,srbcrs,tile,dense", 40ll << 20},
    {"default", nullptr, 256ll << 20},
};
static Mode mode = modes[0];
static std::string self, folder, library;

static double now()
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static std::string path_of(const char *kind, int64_t n)
{
  return folder + "/" + kind + "-" + std::to_string(n);
}

// n < 0: without Shunt.
static pid_t start(int64_t n)
{
  std::string out = path_of("out", n), report = path_of("report", n);
  pid_t child = fork();
  if (child) return child;
  int fd = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) _exit(126);
  dup2(fd, 1);
  dup2(fd, 2);
  unsetenv("LD_PRELOAD");
  if (n >= 0) {
    setenv("LD_PRELOAD", library.c_str(), 1);
    setenv("SHUNT_REPORT", report.c_str(), 1);
    unsetenv("SHUNT_ROUTES");
    if (mode.routes) setenv("SHUNT_ROUTES", mode.routes, 1);
    setenv("SHUNT_FAULT", std::to_string(n).c_str(), 1);
  }
  execl(self.c_str(), self.c_str(), "--scenario", (char *)nullptr);
  _exit(127);
}

static std::string read_file(const std::string &path)
{
  std::string text;
  char buffer[4096];
  FILE *f = fopen(path.c_str(), "r");
  size_t n;
  while (f && (n = fread(buffer, 1, sizeof buffer, f)) > 0) text.append(buffer, n);
  if (f) fclose(f);
  return text;
}

static long long number_after(const std::string &text, const char *words)
{
  size_t at = text.find(words);
  return at == std::string::npos ? -1 : atoll(text.c_str() + at + strlen(words));
}

// Which call the n-th fault was, by the report.
static std::string fault_of(int64_t n)
{
  const std::string text = read_file(path_of("report", n)), words = "\n# fault\t";
  const size_t at = text.find(words), from = at + words.size();
  if (n < 0) return "no fault";
  return at == std::string::npos ? "not said" : text.substr(from, text.find('\n', from) - from);
}

// The n-th fault left the program as it should be; says what went wrong otherwise.
static bool survived(int64_t n, int status)
{
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  std::string text = read_file(path_of("out", n));
  size_t bad = text.find("not ok");
  std::string said = bad == std::string::npos ? "no failed check" : text.substr(bad, 200);
  printf("# %s %lld: %sstatus %#x: %s (%s)\n", n < 0 ? "control" : mode.name,
         (long long)(n < 0 ? -n : n), n < 0 ? "" : "wrong, ", (unsigned)status,
         said.substr(0, said.find('\n')).c_str(), fault_of(n).c_str());
  return false;
}

static void clean(int64_t n)
{
  unlink(path_of("out", n).c_str());
  unlink(path_of("report", n).c_str());
}

// 1 .. count in an order whose every beginning is spread evenly.
static std::vector<int64_t> spread_order(int64_t count)
{
  std::vector<int64_t> order;
  std::vector<char> seen((size_t)count + 1);
  double x = 0;
  while ((int64_t)order.size() < count) {
    x += 0.6180339887498949;
    x -= (double)(int64_t)x;
    int64_t n = 1 + (int64_t)(x * (double)count);
    while (seen[(size_t)n]) n = n % count + 1;
    seen[(size_t)n] = 1;
    order.push_back(n);
  }
  return order;
}

// Runs `order` until `until`, `crowd` at a time; how many were done, and done well.
static size_t run_all(const std::vector<int64_t> &order, size_t crowd, double until, size_t *good)
{
  std::map<pid_t, int64_t> running;
  size_t next = 0, done = 0;
  *good = 0;
  while (next < order.size() || !running.empty()) {
    bool late = now() > until;
    if (!late && next < order.size() && running.size() < crowd) {
      pid_t child = start(order[next]);
      if (child > 0) running[child] = order[next];
      next++;
      continue;
    }
    if (running.empty()) break;
    int status;
    pid_t child = wait(&status);
    auto found = running.find(child);
    if (found == running.end()) continue;
    done++;
    *good += survived(found->second, status);
    clean(found->second);
    running.erase(found);
  }
  return done;
}

static void control(double until)
{
  std::vector<int64_t> order;
  size_t good;
  for (int64_t n = -6; n < 0; n++) order.push_back(n);
  size_t done = run_all(order, 6, until, &good);
  printf("# control %zu of %zu failed, six at once without Shunt\n", done - good, done);
}

static void two_at_a_time(const std::vector<int64_t> &order, double until)
{
  size_t good, done = run_all(order, 2, until, &good);
  check(good == done && done > 0, "%s: %zu of %zu faults tried, %zu survived with right results",
        mode.name, done, order.size(), good);
}

static void one_at_a_time(const std::vector<int64_t> &order, long long normal, double until)
{
  size_t good = 0, done = 0;
  for (int64_t n : order) {
    if (now() > until) break;
    int status = -1;
    pid_t child = start(n);
    if (child < 0 || waitpid(child, &status, 0) != child) break;
    long long used = number_after(read_file(path_of("out", n)), "in use ");
    bool fine = survived(n, status) && used >= 0 && used <= normal + mode.slack;
    if (used > normal + mode.slack)
      printf("# %s %lld: wrong, %lld bytes in use at the end, %lld without a fault (%s)\n",
             mode.name, (long long)n, used, normal, fault_of(n).c_str());
    done++;
    good += fine;
    clean(n);
  }
  check(good == done && done > 0, "%s: %zu faults alone on the device, %zu without a leak",
        mode.name, done, good);
}

// The two rounds in the present mode, within so many seconds.
static void both_rounds(double seconds)
{
  const int64_t never = 1000000000;
  const double begin = now();
  int status = -1;
  pid_t child = start(never);
  waitpid(child, &status, 0);
  long long count = number_after(read_file(path_of("report", never)), "# faults seen ");
  long long used = number_after(read_file(path_of("out", never)), "in use ");
  bool usable = survived(never, status) && count > 0 && used >= 0;
  check(usable, "%s, no fault: %lld calls can fail, %.1f MB in use at the end", mode.name, count,
        (double)used / 1e6);
  clean(never);
  if (!usable) return;
  std::vector<int64_t> order = spread_order(count + 1);
  two_at_a_time(order, begin + seconds * 0.7);
  one_at_a_time(order, used, begin + seconds);
}

int main(int argc, char **argv)
{
  if (argc == 2 && !strcmp(argv[1], "--scenario")) return scenario();
  double seconds = argc > 1 ? atof(argv[1]) : 75;
  char path[4096], pattern[] = "/tmp/faults-XXXXXX";
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  const char *so = getenv("SHUNT_SO");
  if (length < 0 || !mkdtemp(pattern) || !so) {
    skip("SHUNT_SO does not name the library to preload");
    return finish();
  }
  self.assign(path, (size_t)length);
  folder = pattern;
  library = so;

  double begin = now();
  control(begin + seconds);
  for (const Mode &m : modes) {
    mode = m;
    both_rounds((begin + seconds - now()) / (&m == modes ? 2 : 1));
  }
  rmdir(folder.c_str());
  return finish();
}
