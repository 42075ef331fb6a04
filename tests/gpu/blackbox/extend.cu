// extend.cu: calls that cuSPARSE refuses for their types, and SHUNT_EXTEND=1 answers.
//
//   extend
//
// With SHUNT_EXTEND=1 under Shunt bufferSize, preprocess and the product succeed, and the product is
// right, as it is when A's values change in place and when it is captured and replayed; without a
// buffer the call is refused, as before.  Otherwise bufferSize refuses each case.  Descriptors of 16-
// and 4-bit integers are refused either way.
#include "tests/gpu/blackbox/blackbox_calls.cuh"

using namespace blackbox;

namespace
{

struct Case {
  const char *name;
  bool sddmm;
  cudaDataType first, second, third, compute; // of the operands in the order of the mathematics
  bool column_order;
};

constexpr Case kCases[] = {
    {"spmm f32 f16 f16", false, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, false},
    {"spmm f32 f16 f32", false, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, false},
    {"spmm f32 bf16 bf16", false, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, false},
    {"spmm f32 bf16 f32, by columns", false, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, true},
    {"spmm f16 f32 f32", false, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, false},
    {"spmm bf16 f32 f32, by columns", false, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, true},
    {"spmm f16, compute f16", false, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, false},
    {"spmm bf16, compute bf16", false, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, false},
    {"sddmm bf16 bf16 bf16", true, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, false},
    {"sddmm bf16 bf16 f32", true, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, false},
    {"sddmm i8 i8 i32", true, CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, false},
    {"sddmm i8 i8 f32", true, CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F, false},
};

struct Lab {
  cusparseHandle_t handle;
  cudaStream_t stream;
  Outcome *outcome; // device
  uint64_t seed = 1;
  bool asked; // SHUNT_EXTEND=1
};

// alpha = 1 and beta = 0 in the compute type, on the host.
struct Scalars {
  float single[2] = {1, 0};
  int32_t whole[2] = {1, 0};
  __half half[2] = {__float2half(1), __float2half(0)};
  __nv_bfloat16 bfloat[2] = {__float2bfloat16(1), __float2bfloat16(0)};
  const void *at(int i, cudaDataType compute) const
  {
    if (compute == CUDA_R_16F) return &half[i];
    if (compute == CUDA_R_16BF) return &bfloat[i];
    if (compute == CUDA_R_32I) return &whole[i];
    return &single[i];
  }
};

enum class Step { size, preprocess, product };

cusparseStatus_t call(Lab &lab, Operands &o, const Case &c, Step step, void *workspace)
{
  const Scalars scalars;
  const void *alpha = scalars.at(0, c.compute), *beta = scalars.at(1, c.compute);
  const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const cusparseSDDMMAlg_t sddmm = CUSPARSE_SDDMM_ALG_DEFAULT;
  const cusparseSpMMAlg_t spmm = CUSPARSE_SPMM_ALG_DEFAULT;
  cusparseHandle_t h = lab.handle;
  switch (step) {
  case Step::size:
    return c.sddmm ? cusparseSDDMM_bufferSize(h, plain, plain, alpha, o.c, o.b, beta, o.sparse,
                                              c.compute, sddmm, &o.workspace_bytes)
                   : cusparseSpMM_bufferSize(h, plain, plain, alpha, o.sparse, o.b, beta, o.c,
                                             c.compute, spmm, &o.workspace_bytes);
  case Step::preprocess:
    return c.sddmm ? cusparseSDDMM_preprocess(h, plain, plain, alpha, o.c, o.b, beta, o.sparse,
                                              c.compute, sddmm, workspace)
                   : cusparseSpMM_preprocess(h, plain, plain, alpha, o.sparse, o.b, beta, o.c,
                                             c.compute, spmm, workspace);
  default:
    return c.sddmm ? cusparseSDDMM(h, plain, plain, alpha, o.c, o.b, beta, o.sparse, c.compute,
                                   sddmm, workspace)
                   : cusparseSpMM(h, plain, plain, alpha, o.sparse, o.b, beta, o.c, c.compute, spmm,
                                  workspace);
  }
}

void make(Lab &lab, Operands &o, const Case &c)
{
  const Shape shape = {c.sddmm, c.sddmm ? c.third : c.first, 700, 900, 72, 0.03, 1, c.column_order};
  make_operands(o, shape, lab.seed++, lab.stream);
  change_types(o, c.second, c.sddmm ? c.first : c.third, &lab.seed, lab.stream);
  o.p.compute = c.compute == CUDA_R_32I ? CUDA_R_32I : CUDA_R_32F; // what sums are kept in
}

bool is_right(Lab &lab, Operands &o)
{
  return outcome_of(o, lab.outcome, lab.stream).strict == 0;
}

bool multiplies(Lab &lab, Operands &o, const Case &c)
{
  prepare_output(o, lab.seed++, lab.stream);
  return call(lab, o, c, Step::product, o.workspace) == CUSPARSE_STATUS_SUCCESS && is_right(lab, o);
}

bool replays(Lab &lab, Operands &o, const Case &c)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_OK(cudaStreamBeginCapture(lab.stream, cudaStreamCaptureModeThreadLocal));
  const cusparseStatus_t s = call(lab, o, c, Step::product, o.workspace);
  CUDA_OK(cudaStreamEndCapture(lab.stream, &graph));
  if (s != CUSPARSE_STATUS_SUCCESS) return false;
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  fill(o.p.b.values, o.p.b.stored(), o.p.b.type, lab.seed++, FILL_RANDOM, lab.stream);
  prepare_output(o, lab.seed++, lab.stream);
  CUDA_OK(cudaGraphLaunch(exec, lab.stream));
  const bool right = is_right(lab, o);
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  return right;
}

void test_answered(Lab &lab, Operands &o, const Case &c)
{
  o.workspace = device_bytes(o.workspace_bytes);
  check(call(lab, o, c, Step::preprocess, o.workspace) == CUSPARSE_STATUS_SUCCESS, "%s: preprocess",
        c.name);
  check(multiplies(lab, o, c), "%s: product", c.name);
  if (!c.sddmm) fill(o.p.a.values, o.p.a.nnz, o.p.a.type, lab.seed++, FILL_RANDOM, lab.stream);
  check(multiplies(lab, o, c), "%s: once more, other values", c.name);
  check(replays(lab, o, c), "%s: captured and replayed", c.name);
  check(call(lab, o, c, Step::product, nullptr) != CUSPARSE_STATUS_SUCCESS,
        "%s: refused without a buffer", c.name);
}

void test_case(Lab &lab, const Case &c)
{
  Operands o;
  make(lab, o, c);
  const cusparseStatus_t s = call(lab, o, c, Step::size, nullptr);
  if (lab.asked) {
    check(s == CUSPARSE_STATUS_SUCCESS, "%s: bufferSize answers %d", c.name, (int)s);
    if (s == CUSPARSE_STATUS_SUCCESS) test_answered(lab, o, c);
  } else {
    check(s == CUSPARSE_STATUS_NOT_SUPPORTED, "%s: bufferSize answers %d", c.name, (int)s);
  }
  destroy_operands(o);
}

void test_no_descriptors(Lab &lab)
{
  for (cudaDataType t : {CUDA_R_16I, CUDA_R_4I}) {
    cusparseSpMatDescr_t sparse = nullptr;
    cusparseDnMatDescr_t dense = nullptr;
    const cusparseIndexType_t index = CUSPARSE_INDEX_32I;
    void *any = lab.outcome;
    check(cusparseCreateCsr(&sparse, 4, 4, 4, any, any, any, index, index, CUSPARSE_INDEX_BASE_ZERO,
                            t) == CUSPARSE_STATUS_INVALID_VALUE &&
              cusparseCreateDnMat(&dense, 4, 4, 4, any, t, CUSPARSE_ORDER_ROW) ==
                  CUSPARSE_STATUS_INVALID_VALUE,
          "no descriptors of %d bits", t == CUDA_R_16I ? 16 : 4);
  }
}

} // namespace

int main()
{
  const char *extend = getenv("SHUNT_EXTEND");
  Lab lab;
  lab.asked = extend && strcmp(extend, "1") == 0;
  CUDA_OK(cudaStreamCreateWithFlags(&lab.stream, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&lab.handle));
  SPARSE_OK(cusparseSetStream(lab.handle, lab.stream));
  lab.outcome = (Outcome *)device_bytes(sizeof *lab.outcome);
  for (const Case &c : kCases) test_case(lab, c);
  test_no_descriptors(lab);
  SPARSE_OK(cusparseDestroy(lab.handle));
  return finish();
}
