// test_repair_together.cu: shunt_guard_repair_cuda in many launches that share a table of
// sets: whatever else runs on the device, whichever blocks wait for one another, full or
// replayed.
#include <memory>

#include "tests/gpu/guard/repair_output.cuh"

using namespace harness;

namespace
{

// ---- the table ---------------------------------------------------------------------------

// No room for another key: repaired, and told as a change; the keys that have a set keep it.
void test_full_table()
{
  Lab lab(random_pattern(sized(300, 60), sized(200, 90), 0.2, 1, 6), sized(70, 40), SHUNT_F16,
          SHUNT_I32, 0);
  bool kept = true, turned_away = true;
  for (int count : {1, 4}) {
    Table table(count);
    How how;
    how.out = SHUNT_F16;
    how.table = &table;
    for (int round = 0; round < 3; round++) {
      for (int k = 1; k <= count; k++)
        for (int reasons : {0, (int)CHANGED, (int)NONFINITE}) {
          how.key = (uintptr_t)k * 0x2700;
          how.reasons = reasons;
          kept &= runs(lab, how);
        }
      std::vector<char> full = table.content();
      how.no_room = true;
      for (int reasons : {0, (int)FLAG, (int)NONFINITE}) {
        how.overlaps = round & 1;
        how.key = 0x990000;
        how.reasons = reasons;
        turned_away &= runs(lab, how);
      }
      turned_away &= table.content() == full;
      how.no_room = false;
    }
    kept &= table.canary_lives();
  }
  check(kept, "as many keys as sets: each has its own");
  check(turned_away, "one key more: a repair, a change told, the table untouched");
}

// ---- at the same time ----------------------------------------------------------------------

// Keeps `blocks` blocks of 512 threads busy for `cycles` each.
__global__ void __launch_bounds__(512) busy_kernel(int64_t cycles)
{
  const int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
}

struct Streams {
  std::vector<cudaStream_t> at;
  explicit Streams(int count) : at((size_t)count)
  {
    for (cudaStream_t &s : at) CUDA_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  }
  ~Streams()
  {
    for (cudaStream_t s : at) cudaStreamDestroy(s);
  }
};

// Several streams prove the same A through one table, each under its key, each with its own
// reason or none; others keep the device full.  One false alarm in any launch without a reason
// would leave C changed; that no launch was lost shows in the generations.
void test_together(bool crowded, int64_t wait_cycles)
{
  const int streams = 6, rounds = sized(crowded ? 40 : 100, 3) / every();
  Lab lab(random_pattern(sized(2000, 150), sized(1500, 100), 0.2, 1, 8), sized(200, 40), SHUNT_F16,
          SHUNT_I64, 1);
  Table table(64);
  Streams run(streams), others(2);
  std::vector<std::unique_ptr<Output>> outputs;
  for (int k = 0; k < streams; k++) {
    How how;
    how.out = SHUNT_F16;
    how.table = &table;
    how.key = 0x100000 + (uintptr_t)k * 256;
    how.reasons = k == 1 ? CHANGED : k == 3 ? NONFINITE : k == 4 ? FLAG : 0;
    how.expected = 2;
    how.overlaps = k & 1;
    how.separate = k == 3; // there the reason lasts: W is not overwritten
    how.wait_cycles = wait_cycles;
    outputs.emplace_back(new Output(lab, how));
  }
  CUDA_OK(cudaDeviceSynchronize());
  bool good = true;
  for (int round = 0; round < rounds; round++) {
    if (crowded)
      for (size_t k = 0; k < others.at.size(); k++)
        busy_kernel<<<device.multiprocessors * 5 + (round + (int)k) % 7, 512, 0, others.at[k]>>>(
            60000 + 7000 * (round % 5));
    for (int k = 0; k < streams; k++)
      good &= outputs[(size_t)k]->launch(run.at[(size_t)k]) == SHUNT_OK;
  }
  CUDA_OK(cudaDeviceSynchronize());
  for (const auto &o : outputs) good &= o->words_right() && o->content_right();
  // Every launch has passed its set on: 6 keys, `rounds` generations each.
  std::vector<char> sets = table.content();
  int keys = 0;
  for (int i = 0; i < table.count; i++) {
    uint64_t word[2];
    memcpy(word, &sets[(size_t)i * SHUNT_GUARD_SET_BYTES], sizeof word);
    keys += word[0] != 0;
    good &= word[1] == (word[0] ? (uint64_t)rounds : 0);
  }
  check(good && keys == streams && table.canary_lives(),
        "%d streams share a plan%s, blocks wait %lld cycles", streams,
        crowded ? " while other kernels fill the device" : "", (long long)wait_cycles);
}

// Captured launches: A changes in place and back between replays; two graphs at once.
void test_replays()
{
  Lab lab(random_pattern(sized(500, 60), sized(600, 70), 0.3, 1, 11), sized(90, 40), SHUNT_F16,
          SHUNT_I32, 0);
  Table table(8);
  Streams run(2);
  std::vector<std::unique_ptr<Output>> outputs;
  cudaGraphExec_t graph[2];
  for (int k = 0; k < 2; k++) {
    How how;
    how.out = SHUNT_F16;
    how.table = &table;
    how.key = 0x5000 + (uintptr_t)k * 0x1000;
    how.overlaps = k;
    outputs.emplace_back(new Output(lab, how));
    cudaGraph_t g;
    CUDA_OK(cudaStreamBeginCapture(run.at[(size_t)k], cudaStreamCaptureModeThreadLocal));
    for (int twice = 0; twice < 2; twice++) outputs.back()->launch(run.at[(size_t)k]);
    CUDA_OK(cudaStreamEndCapture(run.at[(size_t)k], &g));
    CUDA_OK(cudaGraphInstantiate(&graph[k], g, 0));
    CUDA_OK(cudaGraphDestroy(g));
  }
  bool good = true;
  uint16_t *last = (uint16_t *)lab.values.host.data() + lab.p.nnz() - 1;
  for (int round = 0; round < sized(60, 6) / every(); round++) {
    const bool changes = round % 3 == 1;
    if (changes) *last ^= 1;
    lab.refresh();
    for (int k = 0; k < 2; k++) {
      outputs[(size_t)k]->how.reasons = changes ? CHANGED : 0;
      outputs[(size_t)k]->reset();
    }
    for (int again = 0; again < 3; again++)
      for (int k = 0; k < 2; k++) CUDA_OK(cudaGraphLaunch(graph[k], run.at[(size_t)k]));
    CUDA_OK(cudaDeviceSynchronize());
    for (const auto &o : outputs) good &= o->words_right() && o->content_right();
    if (changes) *last ^= 1;
  }
  for (cudaGraphExec_t g : graph) cudaGraphExecDestroy(g);
  check(good, "replayed graphs see A change in place, and change back");
}

#ifndef SHUNT_EMULATED
// C's first row is written late, by a kernel that leaves most of the device free.
__global__ void late_kernel(__half *row, const uint16_t *value, int64_t cycles)
{
  const int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *row = __ushort_as_half(*value);
}

// An edge from where the stream's last kernel has begun, as backend/plan/graph_overlap.c makes it.
void begin_overlapped(cudaStream_t s)
{
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t *last;
  size_t count = 0;
  cudaGraphEdgeData begun = {};
  begun.from_port = cudaGraphKernelNodePortLaunchCompletion;
  begun.type = cudaGraphDependencyTypeProgrammatic;
  CUDA_OK(cudaStreamGetCaptureInfo(s, &status, nullptr, nullptr, &last, nullptr, &count));
  cudaGraphNode_t node = count == 1 ? last[0] : nullptr;
  CUDA_OK(
      cudaStreamUpdateCaptureDependencies(s, &node, &begun, 1, cudaStreamSetCaptureDependencies));
}

// A proof that overlaps the product sees what the product writes at its very end.
void test_overlapped(double density)
{
  Lab lab(random_pattern(2000, 1500, density, 1, 12), 64, SHUNT_F16, SHUNT_I64, 0);
  Table table(8);
  Streams run(1);
  How how;
  how.out = SHUNT_F16;
  how.table = &table;
  how.overlaps = true;
  Output o(lab, how);
  Buffer value(2);
  cudaGraph_t g;
  cudaGraphExec_t graph;
  CUDA_OK(cudaStreamBeginCapture(run.at[0], cudaStreamCaptureModeThreadLocal));
  CUDA_OK(cudaMemsetAsync(o.c.device, 0, 2, run.at[0]));
  late_kernel<<<3, 64, 0, run.at[0]>>>((__half *)o.c.device, (const uint16_t *)value.device, 60000);
  begin_overlapped(run.at[0]);
  bool good = o.launch(run.at[0]) == SHUNT_OK;
  CUDA_OK(cudaStreamEndCapture(run.at[0], &g));
  CUDA_OK(cudaGraphInstantiate(&graph, g, 0));
  for (int replay = 0; replay < 40 / every(); replay++) {
    const bool odd = replay % 2;
    o.how.reasons = odd ? NONFINITE : 0;
    o.reset();
    *(uint16_t *)value.host.data() = odd ? 0x7e00 : *(const uint16_t *)o.before.data();
    value.upload();
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaGraphLaunch(graph, run.at[0]));
    CUDA_OK(cudaDeviceSynchronize());
    good &= o.words_right() && o.content_right();
  }
  cudaGraphExecDestroy(graph);
  cudaGraphDestroy(g);
  check(good, "a proof that overlaps the product waits for the product's end (density %g)",
        density);
}
#endif

} // namespace

int main()
{
  device = this_device();
  test_full_table();
  test_replays();
#ifndef SHUNT_EMULATED
  for (double density : {0.01, 0.5}) test_overlapped(density);
#endif
  for (bool crowded : {false, true})
    for (int64_t wait : {(int64_t)0, (int64_t)3000, (int64_t)SHUNT_GUARD_WAIT_CYCLES}) {
      if (emulated && crowded) {
        skip("other kernels that fill the device: the emulator runs one at a time");
        break;
      }
      if (every() > 1 && (crowded || wait > 0)) continue; // nothing is on time under a sanitizer
      test_together(crowded, wait);
    }
  return finish();
}
