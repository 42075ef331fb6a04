// parity.cu: odd calls are answered as the original answers them.
//
//   parity record FILE      without Shunt: writes every case's statuses and results
//   parity compare FILE     with Shunt preloaded: makes the same calls and compares
//   parity list             prints the names of the cases
//
// A case passes when every call returns the original's status; every result is
// within one rounding of float64, or no further from it than the original's; NaN
// and Inf stand where the original's do (one for the other when alpha itself is not
// finite); and nothing outside the result changed.  Of some cases the original's results vary, and
// statuses alone count (Case::statuses_only).
// Cases run in a child process which starts anew behind a crash; a case that
// crashes the original (or leaves its context broken) is skipped.
//
// One extension is allowed: SDDMM of bf16, which the original does not support,
// may succeed if its result is right.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "tests/gpu/blackbox/parity_calls.cuh"

// ---- the record ------------------------------------------------------------------------
struct Answer {
  bool crashed = false;
  std::vector<int> statuses;
  std::vector<double> got;
};

static void write_answer(FILE *f, const std::string &name, const Answer &a)
{
  int64_t head[4] = {(int64_t)name.size(), a.crashed, (int64_t)a.statuses.size(),
                     (int64_t)a.got.size()};
  fwrite(head, sizeof head, 1, f);
  fwrite(name.data(), 1, name.size(), f);
  fwrite(a.statuses.data(), sizeof(int), a.statuses.size(), f);
  fwrite(a.got.data(), sizeof(double), a.got.size(), f);
  fflush(f);
}

static std::map<std::string, Answer> read_record(const char *path)
{
  std::map<std::string, Answer> all;
  FILE *f = fopen(path, "rb");
  int64_t head[4];
  while (f && fread(head, sizeof head, 1, f) == 1) {
    std::string name((size_t)head[0], ' ');
    Answer a;
    a.crashed = head[1] != 0;
    a.statuses.resize((size_t)head[2]);
    a.got.resize((size_t)head[3]);
    size_t read = fread(&name[0], 1, name.size(), f);
    read += fread(a.statuses.data(), sizeof(int), a.statuses.size(), f);
    read += fread(a.got.data(), sizeof(double), a.got.size(), f);
    if (read != name.size() + a.statuses.size() + a.got.size()) break;
    all[name] = a;
  }
  if (f) fclose(f);
  return all;
}

static std::string joined(const std::vector<int> &v)
{
  std::string s;
  for (int x : v) s += (s.empty() ? "" : " ") + std::to_string(x);
  return s;
}

static bool succeeded(const std::vector<int> &statuses)
{
  return !statuses.empty() && statuses.back() == 1000 && statuses[statuses.size() - 2] == 0;
}

static bool same(double a, double b)
{
  return a == b || (isnan(a) && isnan(b));
}

// Largest finite error of `got`, where a reference and a limit exist.
static double worst_error(const std::vector<double> &got, const Result &r)
{
  double worst = 0;
  for (size_t i = 0; i < r.want.size(); i++)
    if (r.limit[i] >= 0 && isfinite(r.want[i]) && isfinite(got[i]))
      worst = std::max(worst, fabs(got[i] - r.want[i]));
  return worst;
}

// The exact result, rounded once: right even where the original overflowed on the way.
static bool correctly_rounded(const Result &r, size_t i, cudaDataType t)
{
  char one[16];
  if (r.want.empty() || r.limit[i] < 0 || !isfinite(r.want[i])) return false;
  type_store(one, 0, t, r.want[i]);
  return r.got[i] == type_load(one, 0, t);
}

// The first thing that is wrong with r beside the original's answer, or "".
static std::string compare_numbers(const Case &c, const Result &r, const Answer &original)
{
  if (r.got.size() != original.got.size()) return "another number of results";
  double theirs = r.want.empty() ? 0 : worst_error(original.got, r), largest = 0;
  for (double v : original.got)
    if (isfinite(v)) largest = std::max(largest, fabs(v));
  cudaDataType out = c.type_c;
  double rough = largest * (type_size(out) == 2                      ? 0x1p-6
                            : out == CUDA_R_64F || out == CUDA_C_64F ? 1e-12
                                                                     : 1e-5);
  for (size_t i = 0; i < r.got.size(); i++) {
    double g = r.got[i], o = original.got[i];
    if (same(g, o) || correctly_rounded(r, i, c.type_c)) continue;
    // Large batched SDDMM: the original reads C where beta is 0, and its NaN survives.
    if (isnan(o) && !r.want.empty() && isfinite(r.want[i]) && fabs(g - r.want[i]) <= r.limit[i])
      continue;
    // Whether alpha multiplies terms or their sum decides between Inf and NaN here.
    if (!isfinite(c.alpha) && !isfinite(g) && !isfinite(o)) continue;
    if (isnan(g) != isnan(o) || isinf(g) != isinf(o) || (isinf(g) && g != o))
      return text("element %zu is %.9g, the original's %.9g", i, g, o);
    if (r.want.empty()) {
      if (fabs(g - o) > rough) return text("element %zu is %.9g, the original's %.9g", i, g, o);
      continue;
    }
    if (r.limit[i] < 0) return text("element %zu lies outside and changed: %.9g, %.9g", i, g, o);
    double error = fabs(g - r.want[i]);
    // A declined call is the original's own; transposed COO adds in an order that varies, in C's
    // type, by twice as much from one run to the next (seen).
    const double slack = c.format == COO && c.op_a ? 4 : 2;
    if (!(error <= r.limit[i]) && !(error <= slack * theirs))
      return text("element %zu is %.9g, want %.9g +- %.2g (the original's %.9g, worst %.2g)", i, g,
                  r.want[i], r.limit[i], o, theirs);
  }
  return "";
}

// bf16 SDDMM: right where the original has nothing to say.
static bool right_extension(const Case &c, const Result &r, const Answer &original)
{
  if (!c.sddmm || c.type_a != CUDA_R_16BF || succeeded(original.statuses)) return false;
  if (original.statuses.empty() || original.statuses.back() != CUSPARSE_STATUS_NOT_SUPPORTED)
    return false;
  if (!succeeded(r.statuses) || r.want.empty()) return false;
  for (size_t i = 0; i < r.got.size(); i++)
    if (r.limit[i] < 0 ? !same(r.got[i], r.want[i]) : !(fabs(r.got[i] - r.want[i]) <= r.limit[i]))
      return false;
  return true;
}

static void compare_case(const Case &c, const std::map<std::string, Answer> &record, bool *died)
{
  auto found = record.find(c.name);
  if (found == record.end()) {
    check(0, "%s: not in the record", c.name.c_str());
    return;
  }
  const Answer &original = found->second;
  if (original.crashed) {
    skip("%s: crashes the original", c.name.c_str());
    return;
  }
  Result r = run_case(c, true);
  *died = broken(r);
  if (right_extension(c, r, original)) {
    check(1, "%s (the original: not supported)", c.name.c_str());
    return;
  }
  if (r.statuses != original.statuses) {
    check(0, "%s: statuses %s, the original's %s", c.name.c_str(), joined(r.statuses).c_str(),
          joined(original.statuses).c_str());
    return;
  }
  std::string wrong = c.statuses_only ? "" : compare_numbers(c, r, original);
  check(wrong.empty(), "%s%s%s", c.name.c_str(), wrong.empty() ? "" : ": ", wrong.c_str());
}

// ---- processes ---------------------------------------------------------------------------
struct Shared {
  volatile int current;
  int passed, failed, skipped;
};

// Runs cases from `first` on; leaves behind a case that broke the context.
static void run_from(size_t first, const std::vector<Case> &cases, const char *path, bool record,
                     Shared *shared)
{
  std::map<std::string, Answer> answers;
  if (!record) answers = read_record(path);
  for (size_t i = first; i < cases.size(); i++) {
    shared->current = (int)i;
    alarm(30);
    bool died = false;
    check_passed = check_failed = check_skipped = 0;
    if (record) {
      Result r = run_case(cases[i], false);
      died = broken(r);
      FILE *f = fopen(path, "ab");
      if (!f) _exit(4);
      write_answer(f, cases[i].name, {died, r.statuses, r.got});
      fclose(f);
    } else
      compare_case(cases[i], answers, &died);
    shared->passed += check_passed;
    shared->failed += check_failed;
    shared->skipped += check_skipped;
    if (died) {
      shared->current = (int)i + 1;
      fflush(stdout);
      _exit(3);
    }
  }
  fflush(stdout);
  exit(0);
}

// What the parent makes of a child that ended early: the next case to run.
static size_t after_crash(const std::vector<Case> &cases, const char *path, bool record,
                          Shared *shared, int status)
{
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) return (size_t)shared->current;
  const std::string &name = cases[(size_t)shared->current].name;
  if (record) {
    FILE *f = fopen(path, "ab");
    if (f) {
      write_answer(f, name, {true, {}, {}});
      fclose(f);
    }
  } else {
    printf("not ok - %s: the process ended (status %#x); the original's did not\n", name.c_str(),
           (unsigned)status);
    fflush(stdout);
    shared->failed++;
  }
  return (size_t)shared->current + 1;
}

static int unique_names(const std::vector<Case> &cases)
{
  std::set<std::string> names;
  for (const Case &c : cases)
    if (!names.insert(c.name).second) {
      printf("not ok - two cases are named %s\n", c.name.c_str());
      return 0;
    }
  return 1;
}

int main(int argc, char **argv)
{
  std::vector<Case> cases = all_cases();
  const bool some = argc == 4;
  if (some) { // those named so
    const char *word = argv[--argc];
    cases.erase(std::remove_if(cases.begin(), cases.end(),
                               [&](const Case &c) { return !strstr(c.name.c_str(), word); }),
                cases.end());
  }
  if (argc == 2 && !strcmp(argv[1], "list")) {
    for (const Case &c : cases) puts(c.name.c_str());
    printf("%zu cases\n", cases.size());
    return !unique_names(cases);
  }
  bool record = argc == 3 && !strcmp(argv[1], "record");
  if (!record && !(argc == 3 && !strcmp(argv[1], "compare"))) {
    fprintf(stderr, "usage: parity record FILE [WORD] | compare FILE [WORD] | list\n");
    return 2;
  }
  if (!unique_names(cases)) return 2;
  if (record) unlink(argv[2]);
  Shared *shared = (Shared *)mmap(nullptr, sizeof *shared, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  size_t next = 0;
  while (next < cases.size()) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) run_from(next, cases, argv[2], record, shared);
    int status;
    if (waitpid(child, &status, 0) != child) return 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    next = after_crash(cases, argv[2], record, shared, status);
  }
  if (record) {
    size_t crashed = 0;
    std::map<std::string, Answer> all = read_record(argv[2]);
    for (auto &entry : all) crashed += entry.second.crashed;
    check(all.size() == cases.size() && crashed * 4 < all.size(),
          "recorded %zu cases, %zu crash the original", all.size(), crashed);
    return finish();
  }
  check_passed = shared->passed;
  check_failed = shared->failed;
  check_skipped = shared->skipped;
  check(some || check_passed + check_failed >= 300, "%d calls compared",
        check_passed + check_failed);
  return finish();
}
