#include "backend/cublas/cublaslt.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cublas/cublaslt_functions.h"
#include "backend/cublas/workspace.h"
#include "backend/plan/fault.h"

enum { MOST_SHAPES = 4096, NEIGHBOURS = 16 };

/* In the types of the header. */
struct library {
#define DECLARE(f) __typeof__(f) *f;
  SHUNT_CUBLASLT_FUNCTIONS(DECLARE)
#undef DECLARE
};

/* Everything that decides how cuBLASLt does a product, and its answer.  In
   cuBLAS' column-major words: D[rows, cols] = op(P) op(Q). */
struct shape {
  int64_t rows, cols, inner;
  int64_t ld_p, ld_q, ld_d;
  size_t workspace;
  int transposed_p, transposed_q;
  int type, type_d;
  int compute; /* cublasComputeType_t */
  int scalars_on_device;
  int alignment; /* of the least aligned pointer, 1 to 256 */
  int leaves_room;
};

struct choice {
  struct shape shape;
  cublasLtMatmulDesc_t how;
  cublasLtMatrixLayout_t p, q, d;
  cublasLtMatmulAlgo_t algorithm;
};

struct shunt_cublaslt {
  struct library call;
  cublasLtHandle_t handle;
  /* Written once per slot, read without a lock; a shape's is among NEIGHBOURS slots. */
  _Atomic(struct choice *) choices[MOST_SHAPES];
};

/* ---- opening ---------------------------------------------------------------- */

static void *open_named(const char *name, int flags)
{
  return shunt_fault() ? NULL : dlopen(name, flags);
}

/* folder of `library_path` + middle + name */
static void *open_beside(const char *library_path, const char *middle, const char *name)
{
  char path[1024];
  const char *slash = library_path ? strrchr(library_path, '/') : NULL;
  if (!slash) return NULL;
  int n = snprintf(path, sizeof path, "%.*s%s%s", (int)(slash - library_path + 1), library_path,
                   middle, name);
  return n > 0 && (size_t)n < sizeof path ? open_named(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};

/* The program's copy. */
static void *open_loaded(void)
{
  void *l = NULL;
  for (int i = 0; !l && i < 2; i++) l = open_named(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  return l;
}

static void *open_library(const char *library_path)
{
  /* PyTorch's CUDA 12 wheels keep each library in a folder of its own. */
  static const char *const folders[] = {"", "../../cublas/lib/"};
  void *l = open_loaded();
  for (int i = 0; !l && i < 4; i++) l = open_beside(library_path, folders[i / 2], names[i % 2]);
  for (int i = 0; !l && i < 2; i++) l = open_named(names[i], RTLD_NOW | RTLD_LOCAL);
  return l;
}

static bool read_functions(void *library, struct library *call)
{
#define READ(f)                                                                                    \
  call->f = (__typeof__(f) *)(shunt_fault() ? NULL : dlsym(library, #f));                          \
  if (!call->f) return false;
  SHUNT_CUBLASLT_FUNCTIONS(READ)
#undef READ
  return true;
}

bool shunt_cublaslt_is_loaded(void)
{
  void *library = open_loaded();
  if (library) dlclose(library);
  return library != NULL;
}

struct shunt_cublaslt *shunt_cublaslt_open(const char *library_path)
{
  void *library = open_library(library_path);
  if (!library) return NULL;
  struct shunt_cublaslt *lt = SHUNT_TRY_OR(NULL, calloc(1, sizeof *lt));
  if (lt && read_functions(library, &lt->call) && !shunt_fault() &&
      lt->call.cublasLtCreate(&lt->handle) == CUBLAS_STATUS_SUCCESS)
    return lt; /* the library stays open as long as the process: engines are never closed */
  free(lt);
  dlclose(library);
  return NULL;
}

/* ---- one product -------------------------------------------------------------- */

static cudaDataType cuda_type(shunt_type t)
{
  switch (t) {
  case SHUNT_F16: return CUDA_R_16F;
  case SHUNT_BF16: return CUDA_R_16BF;
  case SHUNT_F64: return CUDA_R_64F;
  case SHUNT_C32: return CUDA_C_32F;
  case SHUNT_C64: return CUDA_C_64F;
  default: return CUDA_R_32F;
  }
}

/* What products of operands of this type are summed in, and how the operands are read. */
static cublasComputeType_t compute_type(shunt_type t, enum shunt_math math)
{
  if (t == SHUNT_F64 || t == SHUNT_C64) return CUBLAS_COMPUTE_64F;
  bool tf32 = t == SHUNT_F32 && math == SHUNT_MATH_TF32;
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/* What alpha and beta are. */
static cudaDataType scalar_type(const struct shape *s)
{
  if (s->type == CUDA_C_32F || s->type == CUDA_C_64F) return (cudaDataType)s->type;
  return s->compute == CUBLAS_COMPUTE_64F ? CUDA_R_64F : CUDA_R_32F;
}

/* A matrix in cuBLAS' eyes is column-major; a row-major one is its own transpose. */
static bool column_major(const struct shunt_dense *d)
{
  return d->row_stride == 1 && !(d->col_stride == 1 && d->rows > 1);
}

static int64_t leading(const struct shunt_dense *d)
{
  int64_t ld = column_major(d) ? d->col_stride : d->row_stride;
  int64_t least = column_major(d) ? d->rows : d->cols;
  return ld > least ? ld : least;
}

static int pointer_alignment(const void *p)
{
  uintptr_t low = (uintptr_t)p & -(uintptr_t)p;
  return p == NULL || low > 256 ? 256 : (int)low;
}

/* Which of the caller's operands plays P, Q: C row-major means that C^T = B^T A^T
   is computed.  */
static struct shape make_shape(const struct shunt_dense *p, const struct shunt_dense *q,
                               const struct shunt_dense *d, bool swapped)
{
  struct shape s;
  memset(&s, 0, sizeof s); /* compared by bytes */
  s.rows = swapped ? d->cols : d->rows;
  s.cols = swapped ? d->rows : d->cols;
  s.inner = swapped ? p->rows : p->cols;
  s.ld_p = leading(p);
  s.ld_q = leading(q);
  s.ld_d = leading(d);
  s.transposed_p = column_major(p) == swapped;
  s.transposed_q = column_major(q) == swapped;
  s.type = cuda_type(p->type);
  s.type_d = cuda_type(d->type);
  int a = pointer_alignment(p->values), b = pointer_alignment(q->values);
  int c = pointer_alignment(d->values);
  s.alignment = a < b ? (a < c ? a : c) : (b < c ? b : c);
  return s;
}

static void free_choice(struct shunt_cublaslt *lt, struct choice *c)
{
  if (!c) return;
  if (c->how) lt->call.cublasLtMatmulDescDestroy(c->how);
  if (c->p) lt->call.cublasLtMatrixLayoutDestroy(c->p);
  if (c->q) lt->call.cublasLtMatrixLayoutDestroy(c->q);
  if (c->d) lt->call.cublasLtMatrixLayoutDestroy(c->d);
  free(c);
}

#define LT(call) (SHUNT_TRY_OR(CUBLAS_STATUS_INTERNAL_ERROR, call) == CUBLAS_STATUS_SUCCESS)

static bool describe(struct shunt_cublaslt *lt, struct choice *c)
{
  const struct shape *s = &c->shape;
  const struct library *f = &lt->call;
  cudaDataType scalars = scalar_type(s);
  cublasOperation_t p = s->transposed_p ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasOperation_t q = s->transposed_q ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasLtPointerMode_t mode =
      s->scalars_on_device ? CUBLASLT_POINTER_MODE_DEVICE : CUBLASLT_POINTER_MODE_HOST;
  return LT(f->cublasLtMatmulDescCreate(&c->how, s->compute, scalars)) &&
         LT(f->cublasLtMatmulDescSetAttribute(c->how, CUBLASLT_MATMUL_DESC_TRANSA, &p, sizeof p)) &&
         LT(f->cublasLtMatmulDescSetAttribute(c->how, CUBLASLT_MATMUL_DESC_TRANSB, &q, sizeof q)) &&
         LT(f->cublasLtMatmulDescSetAttribute(c->how, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode,
                                              sizeof mode)) &&
         LT(f->cublasLtMatrixLayoutCreate(&c->p, s->type, s->transposed_p ? s->inner : s->rows,
                                          s->transposed_p ? s->rows : s->inner, s->ld_p)) &&
         LT(f->cublasLtMatrixLayoutCreate(&c->q, s->type, s->transposed_q ? s->cols : s->inner,
                                          s->transposed_q ? s->inner : s->cols, s->ld_q)) &&
         LT(f->cublasLtMatrixLayoutCreate(&c->d, s->type_d, s->rows, s->cols, s->ld_d));
}

/* Which of cuBLASLt's answers, best first, to take: one that the workspace is enough for; -1: none.
   Where other work is to run beside it, one that leaves a sixth of the device free or more, if it
   is among the first and the product is so small that it costs little: what is done beside is
   worth more (tests/bench/dense.md).  In 16-bit types alone: others were not timed so.  */
static int pick(const struct shape *s, const cublasLtMatmulHeuristicResult_t *answer, int count)
{
  const double flop = 2.0 * (double)s->rows * (double)s->cols * (double)s->inner;
  int first = -1;
  for (int i = 0; i < count; i++) {
    if (answer[i].state != CUBLAS_STATUS_SUCCESS || answer[i].workspaceSize > s->workspace)
      continue;
    if (first < 0) first = i;
    if (s->leaves_room && flop <= 2e10 && answer[i].wavesCount >= 0.6f &&
        answer[i].wavesCount <= 0.85f)
      return i;
  }
  return first;
}

/* How what blocks have summed of parts of K may come together: in what is computed in.  In f32 that
   is C's type, too, so C may take them, one block after the other: for little workspace other
   answers mostly have K in one piece there, and take up to 18 times as long.  */
static uint32_t reductions(const struct shape *s)
{
  const bool in_place = s->type == CUDA_R_32F && s->compute == CUBLAS_COMPUTE_32F;
  return CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE |
         (in_place ? CUBLASLT_REDUCTION_SCHEME_INPLACE : 0);
}

/* All but the workspace. */
static bool prefer(const struct library *f, const struct shape *s, cublasLtMatmulPreference_t wish)
{
  static const cublasLtMatmulPreferenceAttributes_t aligned[] = {
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  const uint32_t alignment = (uint32_t)s->alignment, reduction = reductions(s);
  bool done = LT(f->cublasLtMatmulPreferenceSetAttribute(
      wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reduction, sizeof reduction));
  for (unsigned i = 0; done && i < sizeof aligned / sizeof *aligned; i++)
    done =
        LT(f->cublasLtMatmulPreferenceSetAttribute(wish, aligned[i], &alignment, sizeof alignment));
  return done;
}

/* First as if there were all the workspace that is advised, then for what there is. */
static shunt_status ask(struct shunt_cublaslt *lt, struct choice *c)
{
  enum { MOST = 3 };
  const struct library *f = &lt->call;
  const size_t rooms[] = {SHUNT_CUBLAS_WORKSPACE, c->shape.workspace};
  cublasLtMatmulPreference_t wish = NULL;
  cublasLtMatmulHeuristicResult_t answer[MOST];
  int best = -1;
  bool asked = LT(f->cublasLtMatmulPreferenceCreate(&wish)) && prefer(f, &c->shape, wish);
  for (unsigned i = 0; asked && best < 0 && i < sizeof rooms / sizeof *rooms; i++) {
    int answers = 0;
    asked = LT(f->cublasLtMatmulPreferenceSetAttribute(
        wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &rooms[i], sizeof rooms[i]));
    if (!asked) break;
    f->cublasLtMatmulAlgoGetHeuristic(lt->handle, c->how, c->p, c->q, c->d, c->d, wish,
                                      c->shape.leaves_room ? MOST : 1, answer, &answers);
    best = pick(&c->shape, answer, answers);
  }
  if (wish) f->cublasLtMatmulPreferenceDestroy(wish);
  if (!asked) return SHUNT_E_CUDA;
  if (best < 0) return SHUNT_E_UNSUPPORTED;
  c->algorithm = answer[best].algo;
  return SHUNT_OK;
}

static unsigned slot_of(const struct shape *s)
{
  uint64_t word[sizeof *s / 8], h = 0;
  _Static_assert(sizeof *s % 8 == 0, "made of whole words");
  memcpy(word, s, sizeof word);
  for (size_t i = 0; i < sizeof word / 8; i++) {
    h = (h ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
  }
  return (unsigned)(h % MOST_SHAPES);
}

static struct choice *find_choice(struct shunt_cublaslt *lt, const struct shape *s)
{
  unsigned first = slot_of(s);
  for (unsigned i = 0; i < NEIGHBOURS; i++) {
    struct choice *c =
        atomic_load_explicit(&lt->choices[(first + i) % MOST_SHAPES], memory_order_acquire);
    if (!c) break;
    if (memcmp(&c->shape, s, sizeof *s) == 0) return c;
  }
  return NULL;
}

static shunt_status make_choice(struct shunt_cublaslt *lt, const struct shape *s,
                                struct choice **out)
{
  struct choice *c = SHUNT_TRY_OR(NULL, calloc(1, sizeof *c));
  if (!c) return SHUNT_E_MEMORY;
  c->shape = *s;
  shunt_status r = describe(lt, c) ? ask(lt, c) : SHUNT_E_CUDA;
  if (r != SHUNT_OK) {
    free_choice(lt, c);
    return r;
  }
  *out = c;
  return SHUNT_OK;
}

/* False where there is no room; nothing is replaced, as another thread may be using it. */
static bool keep_choice(struct shunt_cublaslt *lt, struct choice *c)
{
  unsigned first = slot_of(&c->shape);
  for (unsigned i = 0; i < NEIGHBOURS; i++) {
    struct choice *none = NULL;
    if (atomic_compare_exchange_strong(&lt->choices[(first + i) % MOST_SHAPES], &none, c))
      return true;
  }
  return false;
}

/* alpha and beta as cuBLASLt takes them: both on the host or both on the device. */
struct scalars {
  const void *alpha, *beta;
  float f[4]; /* alpha's parts, beta's parts; of real types the first ones count */
  double d[4];
};

static bool read_scalars(struct shunt_scalar alpha, struct shunt_scalar beta, bool is_double,
                         struct scalars *s)
{
  if (alpha.device && beta.device) {
    s->alpha = alpha.device;
    s->beta = beta.device;
    return true;
  }
  if (alpha.device || beta.device) return false;
  const double parts[4] = {alpha.host, alpha.imaginary, beta.host, beta.imaginary};
  for (int i = 0; i < 4; i++) s->f[i] = (float)(s->d[i] = parts[i]);
  s->alpha = is_double ? (void *)&s->d[0] : (void *)&s->f[0];
  s->beta = is_double ? (void *)&s->d[2] : (void *)&s->f[2];
  return true;
}

shunt_status shunt_cublaslt_multiply(struct shunt_cublaslt *lt, const struct shunt_dense *a,
                                     const struct shunt_dense *b, const struct shunt_dense *c,
                                     struct shunt_scalar alpha, struct shunt_scalar beta,
                                     enum shunt_math math, bool leaves_room, void *workspace,
                                     size_t workspace_bytes, cudaStream_t stream)
{
  struct scalars scalars;
  struct choice *how;
  const bool is_double = a->type == SHUNT_F64 || a->type == SHUNT_C64;
  if (!read_scalars(alpha, beta, is_double, &scalars)) return SHUNT_E_UNSUPPORTED;
  bool swapped = !column_major(c);
  const struct shunt_dense *p = swapped ? b : a, *q = swapped ? a : b;
  struct shape s = make_shape(p, q, c, swapped);
  s.compute = compute_type(a->type, math);
  s.scalars_on_device = alpha.device != NULL;
  s.workspace = workspace_bytes;
  s.leaves_room = leaves_room && s.alignment >= 16 && shunt_type_size(a->type) == 2;
  how = find_choice(lt, &s);
  bool kept = how != NULL;
  if (!kept) {
    shunt_status r = make_choice(lt, &s, &how);
    if (r != SHUNT_OK) return r;
    kept = keep_choice(lt, how);
  }
  bool done = LT(lt->call.cublasLtMatmul(
      lt->handle, how->how, scalars.alpha, p->values, how->p, q->values, how->q, scalars.beta,
      c->values, how->d, c->values, how->d, &how->algorithm, workspace, workspace_bytes, stream));
  if (!kept) free_choice(lt, how);
  return done ? SHUNT_OK : SHUNT_E_CUDA;
}
