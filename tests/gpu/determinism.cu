// determinism.cu: the same inputs give the same bits, call after call.
//
//   determinism [REPEATS]
//
// Every type and kind of pattern is multiplied REPEATS times (100), the second half of
// them while another stream keeps the multiprocessors busy; C is poisoned before each
// call.  Two comparisons: with the first call of all, and, from the eleventh on, with
// the eleventh (by then a kept plan has taken over where one will).
#include "tests/gpu/blackbox_calls.cuh"

using namespace blackbox;

__global__ void busy_kernel(float *sink, int rounds)
{
  float x = (float)threadIdx.x;
  for (int i = 0; i < rounds; i++) x = x * 1.0000001f + 0.5f;
  if (x == 0.25f) *sink = x;
}

struct Lab {
  cusparseHandle_t handle;
  cudaStream_t stream, other;
  unsigned *differ;  // device: bytes beside the first call's, and the eleventh's
  float *sink;
};

static void test(const Lab &lab, const Shape &shape, const char *what, int repeats)
{
  enum { SETTLED = 10 };
  Operands o;
  make_operands(o, shape, 21, lab.stream);
  if (ask_workspace(o, lab.handle) == CUSPARSE_STATUS_NOT_SUPPORTED) {
    skip("%s %s, %s: not supported", shape.sddmm ? "sddmm" : "spmm", type_text(shape.type), what);
    destroy_operands(o);
    return;
  }
  size_t bytes = output_bytes(o.p);
  void *first = device_bytes(bytes), *settled = device_bytes(bytes);
  int refused = 0;
  CUDA_OK(cudaMemsetAsync(lab.differ, 0, 8, lab.stream));
  for (int i = 0; i < repeats; i++) {
    if (i >= repeats / 2) {
      busy_kernel<<<200, 256, 0, lab.other>>>(lab.sink, 20000);
      CUDA_OK(cudaGetLastError());
    }
    prepare_output(o, 1, lab.stream);
    refused += multiply(o, lab.handle) != CUSPARSE_STATUS_SUCCESS;
    if (i == 0 || i == SETTLED)
      CUDA_OK(cudaMemcpyAsync(i ? settled : first, output(o.p), bytes, cudaMemcpyDeviceToDevice,
                              lab.stream));
    compare_kernel<<<blocks_for((int64_t)bytes), 256, 0, lab.stream>>>(
        output(o.p), first, (int64_t)bytes, lab.differ);
    if (i > SETTLED)
      compare_kernel<<<blocks_for((int64_t)bytes), 256, 0, lab.stream>>>(
          output(o.p), settled, (int64_t)bytes, lab.differ + 1);
    CUDA_OK(cudaGetLastError());
    if (i < SETTLED) CUDA_OK(cudaStreamSynchronize(lab.stream));
  }
  unsigned differ[2];
  CUDA_OK(cudaStreamSynchronize(lab.stream));
  CUDA_OK(cudaMemcpy(differ, lab.differ, sizeof differ, cudaMemcpyDeviceToHost));
  const char *op = shape.sddmm ? "sddmm" : "spmm";
  if (refused == repeats)
    skip("%s %s, %s: not supported", op, type_text(shape.type), what);
  else {
    check(refused == 0 && differ[1] == 0, "%s %s, %s: %d settled calls, %u bytes differ", op,
          type_text(shape.type), what, repeats - SETTLED, differ[1]);
    check(differ[0] == 0, "%s %s, %s: %d calls from the first on, %u bytes differ", op,
          type_text(shape.type), what, repeats, differ[0]);
  }
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaFree(first));
  CUDA_OK(cudaFree(settled));
  destroy_operands(o);
}

int main(int argc, char **argv)
{
  int repeats = argc > 1 ? atoi(argv[1]) : 100;
  if (repeats < 20) repeats = 20;
  static const cudaDataType types[] = { CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F };
  Lab lab;
  CUDA_OK(cudaStreamCreateWithFlags(&lab.stream, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamCreateWithFlags(&lab.other, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&lab.handle));
  SPARSE_OK(cusparseSetStream(lab.handle, lab.stream));
  lab.differ = (unsigned *)device_bytes(8);
  lab.sink = (float *)device_bytes(4);
  for (cudaDataType t : types) {
    test(lab, { false, t, 1024, 1024, 128, 0.5, 1, false }, "half full", repeats);
    test(lab, { false, t, 1024, 1024, 256, 0.1, 8, false }, "8 x 1", repeats);
    test(lab, { false, t, 2000, 1500, 96, 0.1, 1, true }, "random, column-major", repeats);
    test(lab, { false, t, 3, 20000, 64, 0.5, 1, false }, "three long rows", repeats);
    test(lab, { false, t, 20000, 500, 16, 0.006, 1, false }, "short rows", repeats);
    test(lab, { true, t, 1024, 1024, 256, 0.1, 8, false }, "8 x 1", repeats);
    test(lab, { true, t, 1000, 700, 100, 0.05, 1, false }, "random", repeats);
  }
  SPARSE_OK(cusparseDestroy(lab.handle));
  return finish();
}
