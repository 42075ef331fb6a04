// early_reader.cu: what follows a product and does not wait for it finds it finished.
//
//   early_reader
//
// A kernel may be launched while the one before it in the stream still runs (programmatic dependent
// launch), and begins when that one lets it in or has ended.  Some that read f32 and f64 do not wait
// then: those of cuSPARSE 12.9's CSR_ALG3.  They are right behind kernels that let nobody in, as
// cuSPARSE's own products by other algorithms are, and so they must be behind Shunt's.
//
//   stream   product -- reader (launched early, waits for nothing): seen = C
//
// Afterwards seen has to be C, plainly launched and in a graph, on first calls and later ones.  Stores
// may land some hundred nanoseconds after their kernel has ended, cuSPARSE's too: the reader begins a
// little later than it could.  That it comes early where it may is seen behind a kernel that lets it
// in.
#include "tests/gpu/blackbox/blackbox_calls.cuh"

using namespace blackbox;

namespace
{

constexpr int kCalls = 12, kReplays = 6; // from the seventh call copies are there

struct Case {
  const char *name;
  cudaDataType ab, c;
  int64_t rows, cols;
  double density;
  int group; // rows that share their columns
};

constexpr Case kCases[] = {
    {"f16 into f32, random", CUDA_R_16F, CUDA_R_32F, 4096, 4096, 0.05, 1},
    {"f16 into f32, few rows", CUDA_R_16F, CUDA_R_32F, 256, 4096, 0.3, 1},
    {"f16 into f32, vectors", CUDA_R_16F, CUDA_R_32F, 512, 8192, 0.2, 8},
    {"f16 into f32, many vectors", CUDA_R_16F, CUDA_R_32F, 4096, 4096, 0.1, 8},
    {"bf16 into f32, pairs", CUDA_R_16BF, CUDA_R_32F, 2048, 1024, 0.2, 2},
    {"f32, random", CUDA_R_32F, CUDA_R_32F, 1024, 4096, 0.05, 1},
    {"f32, one row", CUDA_R_32F, CUDA_R_32F, 1, 8192, 0.9, 1},
    {"f32, half full", CUDA_R_32F, CUDA_R_32F, 512, 1024, 0.5, 1},
    {"f32, vectors", CUDA_R_32F, CUDA_R_32F, 1024, 4096, 0.1, 8},
    {"f64, random", CUDA_R_64F, CUDA_R_64F, 1024, 4096, 0.05, 1},
    {"f64, half full", CUDA_R_64F, CUDA_R_64F, 512, 1024, 0.5, 1},
    {"int8 into f32, random", CUDA_R_8I, CUDA_R_32F, 1024, 4096, 0.1, 1},
    {"int8 into f32, vectors", CUDA_R_8I, CUDA_R_32F, 2048, 4096, 0.2, 8},
};

struct Lab {
  cusparseHandle_t handle;
  cudaStream_t stream;
  Outcome *outcome; // device
  uint64_t seed = 1;
};

constexpr long long kLanding = 3000, kLate = 400000; // cycles

__device__ void spin(long long cycles)
{
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

// seen = from, without a wait; n words.
__global__ void read_early(uint32_t *seen, const volatile uint32_t *from, int64_t n)
{
  spin(kLanding);
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x)
    seen[i] = from[i];
}

// Lets the next kernel in, and then takes its time.
__global__ void write_late(uint32_t *to, uint32_t value)
{
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  spin(kLate);
  *to = value;
}

void launch_reader(Lab &lab, void *seen, const void *from, size_t bytes)
{
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(32); // what is stored last is read by none too late
  config.blockDim = dim3(256);
  config.stream = lab.stream;
  config.attrs = &early;
  config.numAttrs = 1;
  CUDA_OK(cudaLaunchKernelEx(&config, read_early, (uint32_t *)seen, (const volatile uint32_t *)from,
                             (int64_t)(bytes / 4)));
}

// Of C's bytes, how many `seen` has otherwise.
int64_t differences(Lab &lab, const void *seen, const Operands &o)
{
  const size_t bytes = output_bytes(o.p);
  std::vector<unsigned char> a(bytes), b(bytes);
  CUDA_OK(cudaStreamSynchronize(lab.stream));
  CUDA_OK(cudaMemcpy(a.data(), seen, bytes, cudaMemcpyDeviceToHost));
  CUDA_OK(cudaMemcpy(b.data(), o.p.c.values, bytes, cudaMemcpyDeviceToHost));
  int64_t count = 0;
  for (size_t i = 0; i < bytes; i++) count += a[i] != b[i];
  return count;
}

void test_plain(Lab &lab, Operands &o, const Case &c, int64_t n, void *seen)
{
  int64_t most = 0;
  bool right = true;
  for (int call = 0; call < kCalls; call++) {
    prepare_output(o, lab.seed++, lab.stream);
    CUDA_OK(cudaStreamSynchronize(lab.stream));
    SPARSE_OK(multiply(o, lab.handle));
    launch_reader(lab, seen, o.p.c.values, output_bytes(o.p));
    most = std::max(most, differences(lab, seen, o));
    right = right && outcome_of(o, lab.outcome, lab.stream).strict == 0;
  }
  check(right, "%s, N = %d: right", c.name, (int)n);
  check(most == 0, "%s, N = %d: %lld bytes are read too early", c.name, (int)n, (long long)most);
}

void test_replayed(Lab &lab, Operands &o, const Case &c, int64_t n, void *seen)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_OK(cudaStreamBeginCapture(lab.stream, cudaStreamCaptureModeThreadLocal));
  SPARSE_OK(multiply(o, lab.handle));
  launch_reader(lab, seen, o.p.c.values, output_bytes(o.p));
  CUDA_OK(cudaStreamEndCapture(lab.stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  int64_t most = 0;
  for (int i = 0; i < kReplays; i++) {
    prepare_output(o, lab.seed++, lab.stream);
    CUDA_OK(cudaStreamSynchronize(lab.stream));
    CUDA_OK(cudaGraphLaunch(exec, lab.stream));
    most = std::max(most, differences(lab, seen, o));
  }
  check(most == 0, "%s, N = %d, captured: %lld bytes are read too early", c.name, (int)n,
        (long long)most);
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
}

void test_case(Lab &lab, const Case &c, int64_t n)
{
  Operands o;
  make_operands(o, {false, c.ab, c.rows, c.cols, n, c.density, c.group, false}, lab.seed++,
                lab.stream);
  change_types(o, c.ab, c.c, &lab.seed, lab.stream);
  SPARSE_OK(ask_workspace(o, lab.handle));
  void *seen = device_bytes(output_bytes(o.p));
  test_plain(lab, o, c, n, seen);
  test_replayed(lab, o, c, n, seen);
  CUDA_OK(cudaFree(seen));
  destroy_operands(o);
}

// The reader is early behind a kernel that lets it in, or this says nothing.
void test_reader(Lab &lab)
{
  cudaDeviceProp device;
  CUDA_OK(cudaGetDeviceProperties(&device, 0));
  if (device.major < 9) return skip("no kernel is let in early on this device");
  uint32_t *at = (uint32_t *)device_bytes(8), found = 0;
  CUDA_OK(cudaMemset(at, 0, 8));
  write_late<<<1, 1, 0, lab.stream>>>(at, 0); // both are loaded then
  launch_reader(lab, at + 1, at, 4);
  CUDA_OK(cudaDeviceSynchronize());
  write_late<<<1, 1, 0, lab.stream>>>(at, 7);
  launch_reader(lab, at + 1, at, 4);
  CUDA_OK(cudaStreamSynchronize(lab.stream));
  CUDA_OK(cudaMemcpy(&found, at + 1, 4, cudaMemcpyDeviceToHost));
  check(found == 0, "the reader comes early where it may");
  CUDA_OK(cudaFree(at));
}

} // namespace

int main()
{
  Lab lab;
  CUDA_OK(cudaStreamCreateWithFlags(&lab.stream, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&lab.handle));
  SPARSE_OK(cusparseSetStream(lab.handle, lab.stream));
  lab.outcome = (Outcome *)device_bytes(sizeof *lab.outcome);
  test_reader(lab);
  for (const Case &c : kCases)
    for (int64_t n : {8, 64, 256}) test_case(lab, c, n);
  SPARSE_OK(cusparseDestroy(lab.handle));
  return finish();
}
