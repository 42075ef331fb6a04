/* test_cublaslt.c: which of cuBLASLt's answers products are done by: for each arithmetic one of its
   own, within the workspace, and kept for thousands of shapes.  */
#include "tests/unit/check.h"
#include "tests/unit/plan/cublaslt_stand_in.h"

static char memory[4][4096] __attribute__((aligned(256)));

static shunt_status multiply_beside(struct shunt_cublaslt *l, shunt_type type, enum shunt_math math,
                                    bool leaves_room)
{
  const struct shunt_scalar one = {.host = 1}, zero = {.host = 0};
  struct shunt_dense a = {8, 8, 8, 1, memory[0], type}, b = {8, 8, 8, 1, memory[1], type};
  struct shunt_dense c = {8, 8, 8, 1, memory[2], type};
  memset(&lt.how, -1, sizeof lt.how);
  return shunt_cublaslt_multiply(l, &a, &b, &c, one, zero, math, leaves_room, memory[3],
                                 sizeof memory[3], NULL);
}
static shunt_status multiply(struct shunt_cublaslt *l, shunt_type type, enum shunt_math math)
{
  return multiply_beside(l, type, math, false);
}

static void test_compute_types(void)
{
  static const struct {
    shunt_type type;
    enum shunt_math math;
    cublasComputeType_t compute;
    cudaDataType_t scalars;
    int asked; /* for algorithms until then: one for each type and arithmetic */
  } cases[] = {
      {SHUNT_F32, SHUNT_MATH_EXACT, CUBLAS_COMPUTE_32F, CUDA_R_32F, 1},
      {SHUNT_F32, SHUNT_MATH_TF32, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, 2},
      {SHUNT_F32, SHUNT_MATH_EXACT, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2},
      {SHUNT_F32, SHUNT_MATH_TF32, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, 2},
      {SHUNT_F32, SHUNT_MATH_TF32X3, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2},
      {SHUNT_F16, SHUNT_MATH_TF32, CUBLAS_COMPUTE_32F, CUDA_R_32F, 3},
      {SHUNT_F16, SHUNT_MATH_EXACT, CUBLAS_COMPUTE_32F, CUDA_R_32F, 3},
      {SHUNT_BF16, SHUNT_MATH_TF32, CUBLAS_COMPUTE_32F, CUDA_R_32F, 4},
      {SHUNT_F64, SHUNT_MATH_TF32, CUBLAS_COMPUTE_64F, CUDA_R_64F, 5},
      {SHUNT_F64, SHUNT_MATH_EXACT, CUBLAS_COMPUTE_64F, CUDA_R_64F, 5},
  };
  struct shunt_cublaslt *l = open_one();
  if (!check(l != NULL, "the stand-in opens")) return;
  lt.asked = 0;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    shunt_status s = multiply(l, cases[i].type, cases[i].math);
    check(s == SHUNT_OK && lt.how.compute == cases[i].compute && lt.how.scalars == cases[i].scalars,
          "type %d, %s: compute type %d", (int)cases[i].type,
          cases[i].math == SHUNT_MATH_EXACT ? "exact" : "tf32, or in three", (int)lt.how.compute);
    check(lt.asked == cases[i].asked, "with an algorithm that was asked for so: %d by now",
          lt.asked);
  }
}

static void test_no_tf32(void)
{
  struct shunt_cublaslt *l = open_one();
  int before = lt.products;
  lt.no_tf32 = true;
  check(multiply(l, SHUNT_F32, SHUNT_MATH_TF32) == SHUNT_E_UNSUPPORTED && lt.products == before,
        "no algorithm in TF32: unsupported, and no product");
  check(multiply(l, SHUNT_F32, SHUNT_MATH_EXACT) == SHUNT_OK, "exact has one all the same");
  lt.no_tf32 = false;
}

/* More shapes than are remembered, as programs have whose batches vary: each has its product, the
   first of them are not asked for again, and what is not kept is freed.  */
static void test_many_shapes(void)
{
  enum { SHAPES = 20000 };
  static char room[256] __attribute__((aligned(256)));
  const struct shunt_scalar one = {.host = 1}, zero = {.host = 0};
  struct shunt_cublaslt *l = open_one();
  int done = 0, products = lt.products, held = lt.held, asked[2];
  for (int round = 0; round < 2; round++) {
    lt.asked = 0;
    for (int64_t n = 1; n <= SHAPES; n++) {
      struct shunt_dense a = {8, 8, 8, 1, room, SHUNT_F16}, b = {8, n, n, 1, room, SHUNT_F16};
      struct shunt_dense c = {8, n, n, 1, room, SHUNT_F16};
      done += shunt_cublaslt_multiply(l, &a, &b, &c, one, zero, SHUNT_MATH_EXACT, false, room,
                                      sizeof room, NULL) == SHUNT_OK;
    }
    asked[round] = lt.asked;
  }
  check(done == 2 * SHAPES && lt.products == products + done, "%d products of as many shapes",
        done);
  check(asked[0] == SHAPES && asked[1] < SHAPES - 3000, "%d of them were remembered",
        asked[0] - asked[1]);
  check((lt.held - held) / 4 == asked[0] - asked[1], "and the others' descriptions freed");
}

/* What is chosen for the workspace that is advised is taken where what there is does for it. */
static void test_workspace(void)
{
  const size_t given = sizeof memory[3];
  struct shunt_cublaslt *l = open_one();
  if (!check(l != NULL, "the stand-in opens")) return;
  lt.needs = given, lt.asked = 0;
  check(multiply(l, SHUNT_F32, SHUNT_MATH_EXACT) == SHUNT_OK && lt.asked == 1 &&
            lt.room == SHUNT_CUBLAS_WORKSPACE,
        "asked for as much as is advised: %zu bytes", lt.room);
  lt.needs = given + 1, lt.asked = 0;
  check(multiply(l, SHUNT_F64, SHUNT_MATH_EXACT) == SHUNT_OK && lt.asked == 2 && lt.room == given,
        "where that needs more, asked again for what there is: %zu bytes", lt.room);
  lt.needs = 0;
}

/* Only where C is of the type that is summed in may it take what blocks have summed. */
static void test_reductions(void)
{
  static const struct {
    shunt_type type;
    enum shunt_math math;
    bool in_place;
  } cases[] = {{SHUNT_F16, SHUNT_MATH_EXACT, false},
               {SHUNT_F32, SHUNT_MATH_EXACT, true},
               {SHUNT_F32, SHUNT_MATH_TF32, false},
               {SHUNT_F64, SHUNT_MATH_EXACT, false}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct shunt_cublaslt *l = open_one();
    if (!check(l != NULL, "the stand-in opens")) return;
    lt.reductions = 0;
    check(multiply(l, cases[i].type, cases[i].math) == SHUNT_OK &&
              lt.reductions & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE &&
              !(lt.reductions & CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE) &&
              !(lt.reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE) == !cases[i].in_place,
          "parts of K come together in what is computed in: %u", lt.reductions);
  }
}

/* Beside a product that leaves room other work is to run: another algorithm, kept apart.  */
static void test_room(void)
{
  struct shunt_cublaslt *l = open_one();
  if (!check(l != NULL, "the stand-in opens")) return;
  check(multiply(l, SHUNT_F16, SHUNT_MATH_EXACT) == SHUNT_OK && lt.algorithm == 0,
        "cuBLASLt's first choice");
  check(multiply_beside(l, SHUNT_F16, SHUNT_MATH_EXACT, true) == SHUNT_OK && lt.algorithm == 2,
        "the first that leaves room");
  check(multiply_beside(l, SHUNT_F32, SHUNT_MATH_EXACT, true) == SHUNT_OK && lt.algorithm == 0,
        "not in f32,");
  check(multiply_beside(l, SHUNT_F64, SHUNT_MATH_EXACT, true) == SHUNT_OK && lt.algorithm == 0,
        "nor in f64");
  check(multiply(l, SHUNT_F16, SHUNT_MATH_EXACT) == SHUNT_OK && lt.algorithm == 0,
        "and the first again");
}

int main(void)
{
  test_compute_types();
  test_room();
  test_reductions();
  test_workspace();
  test_no_tf32();
  test_many_shapes();
  return check_finish();
}
