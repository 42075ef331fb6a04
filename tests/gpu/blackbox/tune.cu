// tune.cu: preprocess under SHUNT_TUNE=1 may run every route and the original on the
// caller's operands; the program sees nothing of it.
//
//   tune
//
// For each problem: C (or the sampled values) holds numbers that count (beta = 1), then preprocess,
// which must leave them alone, then the product, which must be right.  What was measured stands in
// SHUNT_TUNE_FILE; tests/gpu/check_gpu.sh compares it with the routes that a second process takes.
#include "tests/gpu/blackbox/blackbox_calls.cuh"

using namespace blackbox;

static cusparseStatus_t preprocess(Operands &o, cusparseHandle_t h)
{
  bool wide = o.p.compute == CUDA_R_64F;
  const void *alpha = wide ? (void *)&o.wide_scalars[0] : (void *)&o.scalars[0];
  const void *beta = wide ? (void *)&o.wide_scalars[1] : (void *)&o.scalars[1];
  cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (o.p.sddmm)
    return cusparseSDDMM_preprocess(h, plain, plain, alpha, o.c, o.b, beta, o.sparse, o.p.compute,
                                    CUSPARSE_SDDMM_ALG_DEFAULT, o.workspace);
  return cusparseSpMM_preprocess(h, plain, plain, alpha, o.sparse, o.b, beta, o.c, o.p.compute,
                                 CUSPARSE_SPMM_ALG_DEFAULT, o.workspace);
}

// Bytes of the output that differ from what stood there before the call.
static unsigned changed_bytes(Operands &o, unsigned *counter, cudaStream_t stream)
{
  unsigned n;
  int64_t bytes = (int64_t)output_bytes(o.p);
  CUDA_OK(cudaMemsetAsync(counter, 0, sizeof n, stream));
  compare_kernel<<<blocks_for(bytes), 256, 0, stream>>>(output(o.p), o.before, bytes, counter);
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaMemcpyAsync(&n, counter, sizeof n, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  return n;
}

static void test(const Shape &shape, const char *what, cusparseHandle_t handle, cudaStream_t stream,
                 void *scratch)
{
  const char *op = shape.sddmm ? "sddmm" : "spmm";
  Operands o;
  make_operands(o, shape, 33, stream);
  set_scalars(o, 1.5, 1);
  bool good = ask_workspace(o, handle) == CUSPARSE_STATUS_SUCCESS;
  prepare_output(o, 5, stream);
  good = good && preprocess(o, handle) == CUSPARSE_STATUS_SUCCESS;
  check(good && changed_bytes(o, (unsigned *)scratch, stream) == 0,
        "%s %s, %s: preprocess leaves the result's memory alone", op, type_text(shape.type), what);
  for (int call = 0; good && call < 3; call++) {
    prepare_output(o, 6 + (uint64_t)call, stream);
    good = multiply(o, handle) == CUSPARSE_STATUS_SUCCESS &&
           outcome_of(o, (Outcome *)scratch, stream).loose == 0;
  }
  check(good, "%s %s, %s: the calls after it are right", op, type_text(shape.type), what);
  CUDA_OK(cudaDeviceSynchronize());
  destroy_operands(o);
}

int main(void)
{
  cusparseHandle_t handle;
  cudaStream_t stream;
  void *scratch = device_bytes(sizeof(Outcome));
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&handle));
  SPARSE_OK(cusparseSetStream(handle, stream));
  test({false, CUDA_R_16F, 2048, 2048, 256, 0.4, 1, false}, "half full", handle, stream, scratch);
  test({false, CUDA_R_16F, 2048, 2048, 256, 0.1, 8, false}, "8 x 1", handle, stream, scratch);
  test({false, CUDA_R_32F, 20000, 500, 16, 0.006, 1, false}, "short rows", handle, stream, scratch);
  test({false, CUDA_R_64F, 3000, 3000, 128, 0.01, 1, true}, "column-major", handle, stream,
       scratch);
  test({true, CUDA_R_16F, 1024, 1024, 256, 0.1, 8, false}, "8 x 1", handle, stream, scratch);
  test({true, CUDA_R_32F, 1000, 700, 100, 0.05, 1, false}, "random", handle, stream, scratch);
  SPARSE_OK(cusparseDestroy(handle));
  return finish();
}
