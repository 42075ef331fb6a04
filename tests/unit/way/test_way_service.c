/* test_way_service.c: the whole way in long-lived programs: streams without end, matrices that come
   and go, threads, forks, epochs, promises without end, and the deterministic mode.  */
#include <pthread.h>
#include <sys/mman.h>

#include "backend/plan/context.h"
#include "tests/unit/way/program.h"

static const struct product small = {.m = 16, .k = 32, .n = 16, .each = 8, .alike = 8};

static void some_calls(struct product *x, int calls)
{
  for (int i = 0; i < calls; i++) EXPECT(runs_right(x), "call %d is right", i);
}

/* ---- streams, matrices, memory -------------------------------------------------------------- */

/* A stream for each call: ids never repeat, and nothing may pile up. */
static void many_streams(void)
{
  enum { STREAMS = 5000 };
  struct product x = small;
  int events = 0, pieces = 0;
  make(&x);
  for (int i = 0; i < STREAMS; i++) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cusparseSetStream(x.handle, s);
    EXPECT(i % 50 ? run(&x) == CUSPARSE_STATUS_SUCCESS : runs_right(&x), "call %d is right", i);
    cudaStreamDestroy(s);
    if (i == 500) events = device.events, pieces = device.pieces;
  }
  EXPECT(traced('w'), "it is packed");
  EXPECT(device.events == events && device.pieces == pieces, "%d events, %d pieces more",
         device.events - events, device.pieces - pieces);
  const size_t kept = device.used;
  cusparseSetStream(x.handle, NULL);
  EXPECT(shunt_context_release_memory() && device.used < kept, "the copy can be let go of");
  some_calls(&x, 2);
  drop(&x);
}

/* Matrices in turn on four streams, whose work comes late: copies that have to go while work that
   reads them is under way are freed behind it, and the limit holds.  */
static void matrices_in_turn(void)
{
  enum { MATRICES = 120, ROUNDS = 16, STREAMS = 4, LIMIT = 1 << 20 };
  static struct product x[MATRICES];
  cudaStream_t stream[STREAMS];
  for (int i = 0; i < STREAMS; i++) cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
  for (int i = 0; i < MATRICES; i++) {
    x[i] = small;
    x[i].stream = stream[i % STREAMS];
    make(&x[i]);
    expect(&x[i]);
  }
  const size_t before = device.used;
  device.late = true;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < MATRICES; i++)
      EXPECT(run(&x[i]) == CUSPARSE_STATUS_SUCCESS, "call %d of %d", round, i);
    if (round % 3 == 0) device_run();
    EXPECT(device.used - before <= 2 * LIMIT, "%zu bytes are kept", device.used - before);
  }
  device_run();
  for (int i = 0; i < MATRICES; i++) EXPECT(is_right(&x[i]), "product %d is right", i);
  EXPECT(traced('w'), "some are packed");
  for (int i = 0; i < MATRICES; i++) drop(&x[i]);
}

/* Far more matrices than the 64 that were kept once: each runs from its copy. */
static void many_matrices(void)
{
  enum { MATRICES = 300 };
  static struct product x[MATRICES];
  for (int i = 0; i < MATRICES; i++) x[i] = small, make(&x[i]);
  for (int round = 0; round < 12; round++)
    for (int i = 0; i < MATRICES; i++)
      EXPECT(run(&x[i]) == CUSPARSE_STATUS_SUCCESS, "call %d of %d", round, i);
  for (int i = 0; i < MATRICES; i++) {
    forget_trace();
    EXPECT(runs_right(&x[i]) && traced('w'), "product %d runs from its copy: %s", i, device.trace);
  }
  for (int i = 0; i < MATRICES; i++) drop(&x[i]);
}

/* A diverging step, and recovery. */
static void a_nan_and_back(void)
{
  struct product x = small;
  make(&x);
  some_calls(&x, 20);
  uint16_t *values = x.a.values, old = values[0];
  values[0] = 0x7e00; /* NaN */
  for (int i = 0; i < 10; i++) EXPECT(run(&x) == CUSPARSE_STATUS_SUCCESS, "NaN is no failure");
  EXPECT((((uint16_t *)x.c)[0] & 0x7c00) == 0x7c00, "NaN reaches C");
  values[0] = old;
  some_calls(&x, 200);
  forget_trace();
  some_calls(&x, 1);
  EXPECT(traced('w'), "its copies come back");
  drop(&x);
}

/* A context is destroyed and another made: nothing of the old one is used. */
static void another_context(void)
{
  struct product x = small;
  make(&x);
  some_calls(&x, 12);
  device_new_context();
  some_calls(&x, 1);
  EXPECT(ask(&x) == CUSPARSE_STATUS_SUCCESS, "bufferSize succeeds");
  forget_trace();
  some_calls(&x, 24);
  EXPECT(traced('w'), "it is packed anew");
  drop(&x);
}

/* ---- handles, threads, forks ---------------------------------------------------------------- */

static void two_handles(void)
{
  struct product x = small;
  cusparseHandle_t first, second;
  union scalars on_device[2] = {{.f = 2}, {.f = 0}};
  make(&x);
  first = x.handle;
  cusparseCreate(&second);
  cusparseSetPointerMode(second, CUSPARSE_POINTER_MODE_DEVICE);
  cudaStreamCreateWithFlags(&x.stream, cudaStreamNonBlocking);
  cusparseSetStream(second, x.stream);
  for (int i = 0; i < 30; i++) {
    some_calls(&x, 1);
    x.alpha = 2; /* of the other, on the device; its problem is another, with no room asked for */
    fill(x.c, x.t_out, x.m * x.n);
    expect(&x);
    const cusparseStatus_t s = cusparseSpMM(
        second, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &on_device[0],
        x.sparse, x.left, &on_device[1], x.right, x.compute, x.algorithm, x.buffer);
    EXPECT(s == CUSPARSE_STATUS_SUCCESS && is_right(&x), "call %d by the second is right", i);
    x.alpha = 1;
    x.handle = first;
    if (i == 15) change_columns(&x);
  }
  cusparseDestroy(second);
  drop(&x);
  cudaStreamDestroy(x.stream);
}

static struct product shared;
static void *by_thread(void *unused)
{
  struct product x = shared;
  (void)unused;
  cudaStreamCreateWithFlags(&x.stream, cudaStreamNonBlocking);
  cusparseCreate(&x.handle);
  cusparseSetStream(x.handle, x.stream);
  x.c = room_for(x.m * x.n, shunt_type_size(x.t_out));
  x.want = room_for(x.m * x.n, shunt_type_size(x.t_out));
  describe(&x);
  x.buffer = NULL;
  ask(&x);
  memset(x.c, 0, bytes_of_c(&x));
  expect(&x);
  for (int i = 0; i < 100; i++) {
    memset(x.c, 0, bytes_of_c(&x));
    EXPECT(run(&x) == CUSPARSE_STATUS_SUCCESS && is_right(&x), "call %d of a thread is right", i);
  }
  forget(&x);
  cusparseDestroy(x.handle);
  free(x.c), free(x.want), free(x.buffer);
  cudaStreamDestroy(x.stream);
  return NULL;
}
static void threads(void)
{
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  shared = small;
  make(&shared);
  for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, by_thread, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  EXPECT(traced('w'), "it is packed");
  drop(&shared);
}

/* The child has no context of the parent's; both go on. */
static struct product forked;
static void child_goes_on(void)
{
  device_new_context();
  some_calls(&forked, 2);
  EXPECT(ask(&forked) == CUSPARSE_STATUS_SUCCESS, "bufferSize succeeds");
  forget_trace();
  some_calls(&forked, 24);
  EXPECT(traced('w'), "the child packs for itself");
  fflush(stdout);
  _exit(wrong != 0); /* what it forgot of the parent's is no leak */
}
static void forks(void)
{
  forked = small;
  make(&forked);
  some_calls(&forked, 12);
  EXPECT(in_child(NULL, child_goes_on) == 0, "the child's calls are right");
  some_calls(&forked, 12);
  EXPECT(traced('w'), "the parent's copy stands");
  drop(&forked);
}

/* ---- epochs and setters --------------------------------------------------------------------- */

static void equal_values(struct product *x)
{
  for (int64_t i = 0; i < x->a.nnz; i++) store(x->a.values, x->t, i, 1);
}

/* In an epoch the proof is of values alone: cheaper, and enough as long as the epoch lasts. */
static void epochs(void)
{
  struct product x = small;
  make(&x);
  equal_values(&x);
  EXPECT(prepare(&x) == CUSPARSE_STATUS_SUCCESS, "preprocess succeeds");
  some_calls(&x, 30);
  change_values(&x);
  some_calls(&x, 60);
  equal_values(&x);
  some_calls(&x, 60);
  /* It ends with the next one, */
  change_columns(&x);
  EXPECT(prepare(&x) == CUSPARSE_STATUS_SUCCESS, "preprocess succeeds");
  some_calls(&x, 60);
  /* when arrays are set, */
  change_columns(&x);
  cusparseCsrSetPointers(x.sparse, (void *)(uintptr_t)x.a.row_offsets,
                         (void *)(uintptr_t)x.a.columns, x.a.values);
  some_calls(&x, 60);
  /* and with the descriptor, whose address the next one may get. */
  EXPECT(prepare(&x) == CUSPARSE_STATUS_SUCCESS, "preprocess succeeds");
  some_calls(&x, 30);
  forget(&x);
  change_columns(&x);
  describe(&x);
  some_calls(&x, 60);
  EXPECT(traced('w'), "it is packed");
  drop(&x);
}

/* A captured preprocess has not run: it begins no epoch, and no later one counts.  */
static void captured_preprocess(void)
{
  struct product x = small;
  cudaGraph_t graph;
  cudaStreamCreateWithFlags(&x.stream, cudaStreamNonBlocking);
  make(&x);
  equal_values(&x);
  cudaStreamBeginCapture(x.stream, cudaStreamCaptureModeGlobal);
  EXPECT(prepare(&x) == CUSPARSE_STATUS_SUCCESS, "a captured preprocess succeeds");
  EXPECT(run(&x) == CUSPARSE_STATUS_SUCCESS, "a captured product succeeds");
  EXPECT(cudaStreamEndCapture(x.stream, &graph) == cudaSuccess, "the capture stands");
  for (int i = 0; i < 4; i++) {
    some_calls(&x, 60);
    EXPECT(traced('w'), "it is packed");
    change_columns(&x); /* to others with the same values */
    some_calls(&x, 2);
  }
  cudaGraphDestroy(graph);
  drop(&x);
  cudaStreamDestroy(x.stream);
}

/* ---- promises ------------------------------------------------------------------------------- */

/* More problems than the table holds: those asked for last keep their workspace. */
static void many_promises(void)
{
  enum { PROBLEMS = 70000 };
  struct product x = small;
  size_t bytes;
  make(&x);
  for (int i = 0; i < PROBLEMS; i++) {
    cusparseDestroyDnMat(x.left);
    cusparseDestroyDnMat(x.right);
    cusparseCreateDnMat(&x.left, x.k, 1 + i, 1 + i, x.b, x.type, CUSPARSE_ORDER_ROW);
    cusparseCreateDnMat(&x.right, x.m, 1 + i, 1 + i, x.c, x.out, CUSPARSE_ORDER_ROW);
    EXPECT(cusparseSpMM_bufferSize(OF(&x), &bytes) == CUSPARSE_STATUS_SUCCESS && bytes > 768,
           "problem %d is promised room", i);
  }
  forget(&x);
  describe(&x); /* long forgotten, perhaps: right all the same */
  some_calls(&x, 4);
  EXPECT(ask(&x) == CUSPARSE_STATUS_SUCCESS, "bufferSize succeeds");
  library.products = 0;
  some_calls(&x, 8);
  EXPECT(library.products == 0, "%d of 8 calls reached the original", library.products);
  drop(&x);
}

/* ---- the same way, whatever the clock says -------------------------------------------------- */

enum { CALLS = 40, KINDS = 3 };
static struct ways {
  char trace[4096];
} * ways;            /* shared with the children */
static int schedule; /* 0: at once; 1: late, profiles too; 2: late by fits and starts */

static void deterministic_program(void)
{
  struct product x = {.m = 64, .k = 64, .n = 16, .each = 16, .alike = 8};
  device.late = schedule > 0;
  make(&x);
  for (int i = 0; i < CALLS; i++) {
    if (i == 20) EXPECT(prepare(&x) == CUSPARSE_STATUS_SUCCESS, "preprocess succeeds");
    EXPECT(run(&x) == CUSPARSE_STATUS_SUCCESS, "call %d succeeds", i);
    if (schedule == 2 && i % 7 == 3) device_run();
  }
  device_run();
  memset(x.c, 0, bytes_of_c(&x));
  EXPECT(runs_right(&x), "the last call is right");
  memcpy(ways[schedule].trace, device.trace, sizeof ways[schedule].trace);
  drop(&x);
}
static void same_way(const char *what, const struct setting *with)
{
  int ends = 0;
  for (schedule = 0; schedule < KINDS; schedule++) ends += in_child(with, deterministic_program);
  const bool same =
      strcmp(ways[0].trace, ways[1].trace) == 0 && strcmp(ways[0].trace, ways[2].trace) == 0;
  if (!same)
    for (int i = 0; i < KINDS; i++) printf("# %s\n", ways[i].trace);
  check(ends == 0 && same && ways[0].trace[0], "%s: kernels are the same whenever work is done",
        what);
}

int main(void)
{
  static const struct setting nothing[] = {{NULL, NULL}};
  static const struct setting vector[] = {{"SHUNT_ROUTES", "vector"}, {NULL, NULL}};
  static const struct setting little[] = {
      {"SHUNT_ROUTES", "vector"}, {"SHUNT_CACHE_MB", "1"}, {NULL, NULL}};
  static const struct setting same[] = {{"SHUNT_DETERMINISTIC", "1"}, {NULL, NULL}};
  static const struct setting same_forced[] = {
      {"SHUNT_DETERMINISTIC", "1"}, {"SHUNT_ROUTES", "vector,csr"}, {NULL, NULL}};
  ways =
      mmap(NULL, KINDS * sizeof *ways, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (ways == MAP_FAILED) return 2;
  check_case("a stream for each of 5,000 calls", vector, many_streams);
  check_case("120 matrices in turn in 1 MiB, late", little, matrices_in_turn);
  check_case("300 matrices, each from its copy", vector, many_matrices);
  check_case("a NaN, and back", vector, a_nan_and_back);
  check_case("another context", vector, another_context);
  check_case("two handles, one with scalars on the device", vector, two_handles);
  check_case("four threads", vector, threads);
  check_case("a fork", vector, forks);
  check_case("epochs", vector, epochs);
  check_case("a captured preprocess begins no epoch", vector, captured_preprocess);
  check_case("70,000 problems", nothing, many_promises);
  same_way("SHUNT_DETERMINISTIC=1", same);
  same_way("SHUNT_DETERMINISTIC=1 with two routes", same_forced);
  return check_finish();
}
