// ablation_bench.cu: what the octet mapping buys: SpMM over random V x 1 patterns by the ways of
// SC'21, and by Shunt's kernels, timed in one run.
//
//   fpu      1-D subwarp tiling, no tensor cores             (ablation/vector_fpu.cu)
//   wmma     classic warp tiling, A on the 16-side           (ablation/vector_wmma.cu)
//   octet    V on the 8-side, one warp for 8 rows x 64       (kernels/vector/vector_packed_spmm_direct.cuh)
//   direct   the same kernel in the shape that Shunt takes
//   strips   B through shared memory for 128 or 256 rows     (kernels/vector/vector_packed_spmm_strips.cuh)
//   cublas   the dense product, if the library is there
//
// All but cublas read one packed format; rows of C, four groups of each case, are compared with
// the C twin before anything is timed.  Times: median of 7 graph replays of N calls, warmed.
#include <getopt.h>

#include <memory>

#include "tests/bench/ablation/ablation_cublas.cuh"

using namespace ablation;

static const char help[] =
    "Usage: ablation_bench [OPTION]...\n"
    "Time the ways to multiply a matrix of V x 1 column vectors by a dense one, f16.\n"
    "\n"
    "  -r, --replays N       calls in a graph [20]\n"
    "  -o, --output FILE     write JSON\n"
    "  -m, --sizes LIST      ROWSxCOLUMNS of A [2048x1024,4096x4096]\n"
    "  -s, --sparsity LIST   share of V x 1 vectors that are zero [0.7,0.8,0.9,0.95,0.98]\n"
    "  -v, --vector LIST     V: 2, 4, 8 [2,4,8]\n"
    "  -n, --columns LIST    columns of B, multiples of 8 [64,256,1024]\n"
    "  -p, --profile KERNEL  run one kernel (fpu, wmma, octet, direct, strips) once, and nothing\n"
    "                        else on the GPU, on the first of each list: for ncu\n"
    "  -h, --help            print this text and exit\n"
    "\n"
    "Exit status: 0 success; 1 a result was wrong, no JSON or no GPU; 2 usage, or CUDA failed;\n"
    "3 a kernel or cuBLAS refused.\n";

static const struct option options[] = {{"replays", required_argument, nullptr, 'r'},
                                        {"output", required_argument, nullptr, 'o'},
                                        {"sizes", required_argument, nullptr, 'm'},
                                        {"sparsity", required_argument, nullptr, 's'},
                                        {"vector", required_argument, nullptr, 'v'},
                                        {"columns", required_argument, nullptr, 'n'},
                                        {"profile", required_argument, nullptr, 'p'},
                                        {"help", no_argument, nullptr, 'h'},
                                        {nullptr, 0, nullptr, 0}};

struct Size {
  int64_t rows, cols;
};
struct Settings {
  int replays = 20;
  const char *json = nullptr;
  std::vector<Size> sizes{{2048, 1024}, {4096, 4096}};
  std::vector<double> sparsities{0.7, 0.8, 0.9, 0.95, 0.98};
  std::vector<int64_t> vectors{2, 4, 8}, columns{64, 256, 1024};
  int profile = KERNELS; // none
};

// ---- one case ------------------------------------------------------------------------------

enum { CUBLAS = KERNELS, WAYS };
static const char *const way_name[WAYS] = {"fpu", "wmma", "octet", "direct", "strips", "cublas"};

struct Result {
  Size size;
  int64_t v, n, vectors; // vectors: V x 1, in all
  double sparsity, fill; // fill: entries of all elements that the packed format stores
  double us[WAYS];       // < 0: not timed
};

// What the twin has for some groups: the first, the last, two between.
struct Wanted {
  std::vector<int64_t> groups;
  std::vector<std::vector<char>> rows;
  explicit Wanted(const Case &q)
  {
    const int64_t all = q.a.sequential.host.groups;
    for (int64_t group : {INT64_C(0), all / 3, all * 2 / 3, all - 1}) {
      groups.push_back(group);
      rows.emplace_back();
      if (!q.twin(group, 1, rows.back())) exit(3);
    }
  }
};

static void call(const Case &q, Kernel k, cudaStream_t stream)
{
  const shunt_status status = q.run(k, stream);
  if (status == SHUNT_OK) return;
  fprintf(stderr, "ablation_bench: %s: status %d\n", kernel_name[k], status);
  exit(3);
}

// Runs k once on a C that holds no result; false when some of it is not the twin's.
static bool is_right(const Case &q, Kernel k, const Wanted &want)
{
  std::vector<char> got(q.c.host.size());
  CUDA_OK(cudaMemset(q.c.device, 0xff, got.size()));
  call(q, k, 0);
  CUDA_OK(cudaMemcpy(got.data(), q.c.device, got.size(), cudaMemcpyDeviceToHost));
  int64_t wrong = 0;
  for (size_t i = 0; i < want.groups.size(); i++)
    wrong += wrong_elements(q, got, want.groups[i], want.rows[i]);
  if (wrong) printf("not ok - %s: %lld wrong elements\n", kernel_name[k], (long long)wrong);
  return wrong == 0;
}

// False when a result is wrong.
static bool measure(const Case &q, const Cublas &cublas, const Dense *dense, int replays,
                    Result &out)
{
  const Wanted want(q);
  bool right = true;
  for (int k = 0; k < KERNELS; k++) {
    out.us[k] = -1;
    if (k == STRIPS && q.gpu.compute_capability < 90) continue;
    right = is_right(q, (Kernel)k, want) && right;
    out.us[k] = time_graph([&](cudaStream_t stream) { call(q, (Kernel)k, stream); }, replays);
  }
  out.us[CUBLAS] = -1;
  if (dense && cublas.multiply(q, *dense, 0))
    out.us[CUBLAS] = time_graph(
        [&](cudaStream_t stream) {
          if (!cublas.multiply(q, *dense, stream)) exit(3);
        },
        replays);
  return right;
}

// ---- what is printed -----------------------------------------------------------------------

static void print_head()
{
  printf("%-11s V  zeros    N", "A");
  for (const char *name : way_name) printf(" %7s", name);
  printf(" us   fpu/octet wmma/octet\n");
}

static void print_row(const Result &r)
{
  char size[32];
  snprintf(size, sizeof size, "%lldx%lld", (long long)r.size.rows, (long long)r.size.cols);
  printf("%-11s %lld  %.2f %5lld", size, (long long)r.v, r.sparsity, (long long)r.n);
  for (double us : r.us) us < 0 ? (void)printf(" %7s", "-") : (void)printf(" %7.1f", us);
  printf("      %6.2f     %6.2f\n", r.us[FPU] / r.us[OCTET], r.us[WMMA] / r.us[OCTET]);
  fflush(stdout);
}

// Geometric means over the cases of each V: how much longer than `octet` the others take.
static void print_means(const std::vector<Result> &all, const std::vector<int64_t> &vectors)
{
  printf("geometric means of us / octet's us\n");
  for (int64_t v : vectors) {
    printf("  V = %lld", (long long)v);
    for (int way = 0; way < WAYS; way++) {
      double sum = 0;
      int count = 0;
      for (const Result &r : all)
        if (r.v == v && r.us[way] > 0) sum += log(r.us[way] / r.us[OCTET]), count++;
      if (count) printf("  %s %.2f", way_name[way], exp(sum / count));
    }
    printf("\n");
  }
}

static bool write_json(const char *path, const std::vector<Result> &all, int replays)
{
  cudaDeviceProp p;
  int driver = 0, runtime = 0;
  CUDA_OK(cudaGetDeviceProperties(&p, 0));
  CUDA_OK(cudaDriverGetVersion(&driver));
  CUDA_OK(cudaRuntimeGetVersion(&runtime));
  FILE *f = fopen(path, "w");
  if (!f) return perror(path), false;
  fprintf(f,
          "{\"bench\": \"ablation\", \"unit\": \"us per call, median\", \"replays\": %d,\n"
          " \"machine\": {\"name\": \"%s\", \"driver\": %d, \"runtime\": %d},\n \"cases\": [",
          replays, p.name, driver, runtime);
  for (size_t i = 0; i < all.size(); i++) {
    const Result &r = all[i];
    fprintf(f,
            "%s\n  {\"rows\": %lld, \"cols\": %lld, \"v\": %lld, \"sparsity\": %g, \"n\": %lld, "
            "\"vectors\": %lld, \"fill\": %.4f, \"us\": {",
            i ? "," : "", (long long)r.size.rows, (long long)r.size.cols, (long long)r.v,
            r.sparsity, (long long)r.n, (long long)r.vectors, r.fill);
    const char *comma = "";
    for (int way = 0; way < WAYS; way++)
      if (r.us[way] >= 0)
        fprintf(f, "%s\"%s\": %.3f", comma, way_name[way], r.us[way]), comma = ", ";
    fprintf(f, "}}");
  }
  fprintf(f, "\n ]}\n");
  if (ferror(f) | fclose(f)) return perror(path), false;
  return true;
}

// ---- runs ----------------------------------------------------------------------------------

static Pattern pattern_of(const Size &size, double sparsity, int64_t v)
{
  return random_pattern(size.rows, size.cols, 1 - sparsity, (int)v,
                        (uint64_t)(size.rows * 31 + v) * 1000 + (uint64_t)(sparsity * 1000));
}

static int profile(const Settings &s)
{
  const Pattern p = pattern_of(s.sizes[0], s.sparsities[0], s.vectors[0]);
  const Matrix a(p, (int)s.vectors[0], 1);
  if (!a.good()) return 3;
  const Case q(a, s.columns[0], Options(), 2);
  const bool right = is_right(q, (Kernel)s.profile, Wanted(q));
  printf("%s: %s\n", kernel_name[s.profile], right ? "right" : "WRONG");
  return right ? 0 : 1;
}

static int bench(const Settings &s)
{
  const Cublas cublas;
  std::vector<Result> all;
  bool right = true;
  print_head();
  for (const Size &size : s.sizes)
    for (int64_t v : s.vectors)
      for (double sparsity : s.sparsities) {
        const Pattern p = pattern_of(size, sparsity, v);
        const Matrix a(p, (int)v, 1);
        if (!a.good()) return 3;
        const std::unique_ptr<Dense> dense(cublas.there() ? new Dense(a) : nullptr);
        for (int64_t n : s.columns) {
          const Case q(a, n, Options(), 2);
          Result r = {size, v, n, p.nnz() / v, sparsity, 0, {}};
          r.fill = shunt_vector_fill(&a.sequential.host, a.sequential.host.counts);
          right = measure(q, cublas, dense.get(), s.replays, r) && right;
          print_row(r);
          all.push_back(r);
        }
      }
  print_means(all, s.vectors);
  if (s.json && !write_json(s.json, all, s.replays)) return 1;
  return right ? 0 : 1;
}

// ---- options -------------------------------------------------------------------------------

// The pieces of a list between commas, each by `parse`; false when one is not taken.
template <class T, class Parse>
static bool parse_list(const char *text, std::vector<T> &out, Parse parse)
{
  out.clear();
  for (const char *at = text;; at++) {
    T value;
    if (!parse(at, value)) return false;
    out.push_back(value);
    if (!*at) return true;
    if (*at != ',') return false;
  }
}

static bool parse_number(const char *&at, int64_t &out, int64_t least, int64_t most)
{
  char *end;
  out = strtoll(at, &end, 10);
  const bool good = end != at && out >= least && out <= most;
  at = end;
  return good;
}

static bool parse_size(const char *&at, Size &out)
{
  return parse_number(at, out.rows, 1, 1 << 20) && *at++ == 'x' &&
         parse_number(at, out.cols, 1, 1 << 20);
}

static bool parse_sparsity(const char *&at, double &out)
{
  char *end;
  out = strtod(at, &end);
  const bool good = end != at && out >= 0 && out < 1;
  at = end;
  return good;
}

static bool parse_option(int c, const char *text, Settings &s)
{
  int64_t number;
  switch (c) {
  case 'r':
    if (!parse_number(text, number, 1, 1000) || *text) return false;
    s.replays = (int)number;
    return true;
  case 'o': s.json = text; return true;
  case 'm': return parse_list(text, s.sizes, parse_size);
  case 's': return parse_list(text, s.sparsities, parse_sparsity);
  case 'v':
    return parse_list(text, s.vectors, [](const char *&at, int64_t &v) {
      return parse_number(at, v, 2, 8) && (v & (v - 1)) == 0;
    });
  case 'n':
    return parse_list(text, s.columns, [](const char *&at, int64_t &n) {
      return parse_number(at, n, 8, 1 << 16) && n % 8 == 0;
    });
  case 'p':
    for (s.profile = 0; s.profile < KERNELS; s.profile++)
      if (!strcmp(text, kernel_name[s.profile])) return true;
  }
  return false;
}

int main(int argc, char **argv)
{
  Settings s;
  int c;
  while ((c = getopt_long(argc, argv, "r:o:m:s:v:n:p:h", options, nullptr)) != -1) {
    if (c == 'h') return fputs(help, stdout), 0;
    if (c == '?') return 2;
    if (parse_option(c, optarg, s)) continue;
    fprintf(stderr, "ablation_bench: '%s' is not understood (see ablation_bench --help)\n", optarg);
    return 2;
  }
  if (optind < argc) {
    fprintf(stderr, "ablation_bench: '%s': there are only options\n", argv[optind]);
    return 2;
  }
  int devices = 0;
  const cudaError_t e = cudaGetDeviceCount(&devices);
  if (e != cudaSuccess || devices == 0) {
    fprintf(stderr, "ablation_bench: no GPU: %s\n", cudaGetErrorString(e));
    return 1;
  }
  return s.profile < KERNELS ? profile(s) : bench(s);
}
