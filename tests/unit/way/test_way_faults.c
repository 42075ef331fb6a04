/* test_way_faults.c: the whole way where something is missing or fails: every one of Shunt's own
   calls in turn, memory, the driver, the device, cuSPARSE; and inside captures.  Whatever it is,
   the program's calls succeed, and C is right.  */
#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/plan/fault.h"
#include "backend/plan/log.h"
#include "tests/unit/way/program.h"

static struct product small = {.m = 16, .k = 32, .n = 8, .each = 8, .alike = 8};

/* ---- what is not there ---------------------------------------------------------------------- */

/* A few calls, all right. */
static void some_calls(struct product *x, int calls)
{
  for (int i = 0; i < calls; i++) EXPECT(runs_right(x), "call %d is right", i);
}
/* All calls are the original's, as is the size of the buffer. */
static void original_does_all(void)
{
  struct product x = small;
  make(&x);
  EXPECT(x.buffer_bytes == 768, "the buffer is the original's, %zu bytes", x.buffer_bytes);
  EXPECT(prepare(&x) == CUSPARSE_STATUS_SUCCESS, "preprocess succeeds");
  some_calls(&x, 20);
  EXPECT(library.products == 20, "%d of 20 calls reached the original", library.products);
  EXPECT(device.launches == 0, "nothing was launched");
  drop(&x);
}
static void no_device(void)
{
  device.count = 0;
  original_does_all();
}
static void old_driver(void)
{
  device.old_driver = true;
  original_does_all();
}
static void old_device(void)
{
  device.capability = 75;
  original_does_all();
}
static void no_memory_ever(void)
{
  device.full = true;
  struct product x = small;
  make(&x);
  some_calls(&x, 40);
  EXPECT(device.peak == 0, "nothing was allocated");
  drop(&x);
}
/* The first products find room, then there is none, and then there is again. */
static void no_memory_for_a_while(void)
{
  struct product x = small, y = small;
  make(&x);
  some_calls(&x, 8);
  EXPECT(traced('w'), "the first matrix is packed");
  device.full = true;
  make(&y);
  some_calls(&y, 40);
  some_calls(&x, 8);
  EXPECT(shunt_context_release_memory(), "what is kept is let go of when the program wants memory");
  some_calls(&x, 8);
  some_calls(&y, 8);
  device.full = false;
  forget_trace();
  some_calls(&y, 200);
  EXPECT(traced('w'), "with room the second is packed, too");
  drop(&x);
  drop(&y);
}
static void no_original(void)
{
  struct product x = small;
  make(&x);
  library.absent = true;
  EXPECT(run(&x) != CUSPARSE_STATUS_SUCCESS, "without a cuSPARSE the call fails");
  EXPECT(prepare(&x) != CUSPARSE_STATUS_SUCCESS, "and so does preprocess");
  library.absent = false;
  some_calls(&x, 4);
  drop(&x);
}
/* What the original refuses is refused, and not computed. */
static void original_refuses(void)
{
  struct product x = small;
  make(&x);
  library.refuses = true;
  EXPECT(ask(&x) == CUSPARSE_STATUS_NOT_SUPPORTED, "bufferSize says so");
  EXPECT(prepare(&x) == CUSPARSE_STATUS_NOT_SUPPORTED, "preprocess says so");
  drop(&x);
}

/* ---- captures ------------------------------------------------------------------------------- */

/* The graph of one call, and its launches after each change in place. */
static void replays(struct product *x, enum cudaStreamCaptureMode mode)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(x->stream, mode);
  EXPECT(run(x) == CUSPARSE_STATUS_SUCCESS, "a captured call succeeds");
  EXPECT(cudaStreamEndCapture(x->stream, &graph) == cudaSuccess, "the capture stands");
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  for (int i = 0; i < 6; i++) {
    if (i % 3 == 1) change_values(x);
    if (i % 3 == 2) change_columns(x);
    expect(x);
    cudaGraphLaunch(exec, x->stream);
    device_run();
    EXPECT(is_right(x), "launch %d is right", i);
    /* The graph's copy stays, though memory is wanted. */
    if (i == 3) shunt_context_release_memory();
  }
  cudaGraphExecDestroy(exec);
}
static void captured(enum cudaStreamCaptureMode mode)
{
  struct product x = small;
  cudaStreamCreateWithFlags(&x.stream, cudaStreamNonBlocking);
  make(&x);
  replays(&x, mode); /* at first sight */
  some_calls(&x, 60);
  EXPECT(traced('w'), "it is packed");
  replays(&x, mode);
  some_calls(&x, 60);
  EXPECT(device.disturbed == 0, "no call disturbs the capture");
  shunt_context_release_memory();
  some_calls(&x, 2);
  drop(&x);
  cudaStreamDestroy(x.stream);
}
static void captured_global(void)
{
  captured(cudaStreamCaptureModeGlobal);
}
static void captured_by_thread(void)
{
  captured(cudaStreamCaptureModeThreadLocal);
}
static void captured_relaxed(void)
{
  captured(cudaStreamCaptureModeRelaxed);
}
/* Another stream is captured in the strictest mode while this one goes on: bufferSize, the first
   calls, packing and dropping do nothing that breaks it.  */
static void beside_a_capture(void)
{
  struct product x = small;
  cudaStream_t other;
  cudaGraph_t graph;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal);
  make(&x);
  prepare(&x);
  some_calls(&x, 20);
  change_values(&x);
  some_calls(&x, 60);
  EXPECT(traced('w'), "it is packed");
  shunt_context_release_memory();
  EXPECT(cudaStreamEndCapture(other, &graph) == cudaSuccess && device.disturbed == 0,
         "the other stream's capture stands");
  cudaGraphDestroy(graph);
  drop(&x);
  cudaStreamDestroy(other);
}

/* ---- every call of Shunt's own fails, one at a time ----------------------------------------- */

static long nth;
/* Of a life without a fault; by a pipe, as it is a child that has it. */
static struct life_facts {
  long faults;               /* calls that can fail, */
  long alike_from, alike_to; /* of these many that are alike */
  size_t live;               /* bytes of the device at the end */
} whole, facts;

/* As the program frees its arrays (backend/cusparse/allocations.c). */
static void free_arrays(const struct product *x)
{
  struct shunt_context *context = shunt_context_find();
  const void *const array[] = {x->a.row_offsets, x->a.columns, x->a.values};
  for (int i = 0; context && i < 3; i++) shunt_cache_forget_range(context->cache, array[i], 1);
}

/* bufferSize, preprocess, calls, a capture, changes in place, other arrays, all copies let go of,
   new ones, the end. */
static void life(void)
{
  struct product x = small;
  shunt_fault_arm(nth);
  cudaStreamCreateWithFlags(&x.stream, cudaStreamNonBlocking);
  make(&x);
  some_calls(&x, 4);
  EXPECT(prepare(&x) == CUSPARSE_STATUS_SUCCESS, "preprocess succeeds");
  some_calls(&x, 4);
  change_values(&x);
  some_calls(&x, 3);
  replays(&x, cudaStreamCaptureModeGlobal);
  if (x.kind != BYTES) scale(&x, 1, 1);
  some_calls(&x, 2);
  EXPECT(cusparseCsrSetPointers(x.sparse, (void *)(uintptr_t)x.a.row_offsets,
                                (void *)(uintptr_t)x.a.columns,
                                x.a.values) == CUSPARSE_STATUS_SUCCESS,
         "SetPointers succeeds");
  some_calls(&x, 2);
  shunt_context_release_memory();
  facts.alike_from = shunt_faults_seen();
  some_calls(&x, 68); /* copies come back */
  facts.alike_to = shunt_faults_seen() - 8;
  free_arrays(&x);
  EXPECT(nth == 0 || device_live() <= whole.live,
         "%zu bytes in use at the end, %zu without a fault", device_live(), whole.live);
  drop(&x);
  cudaStreamDestroy(x.stream);
}
static int facts_pipe[2];
static void live_whole(void)
{
  nth = 0;
  life();
  facts.faults = shunt_faults_seen(), facts.live = device_live();
  if (write(facts_pipe[1], &facts, sizeof facts) != sizeof facts) wrong++;
}
/* The report names the call that was made to fail. */
static void named(void)
{
  static char text[1 << 16];
  struct product x = {.m = 16, .k = 32, .n = 8, .each = 8, .alike = 8};
  shunt_fault_arm(1);
  make(&x);
  FILE *report = fmemopen(text, sizeof text, "w");
  shunt_log_print(report);
  fclose(report);
  const char *at = strstr(text, "\n# fault\tcuda");
  EXPECT(at && strstr(at, ".c:") && strstr(at, ".c:") < strchr(at + 1, '\n'), "it does: %s", text);
  drop(&x);
}
static void failures(const char *routes, const struct product *product, int every)
{
  const struct setting with[] = {{"SHUNT_ROUTES", routes}, {NULL, NULL}};
  int bad = 0;
  small = *product;
  if (pipe(facts_pipe)) return;
  const int end = in_child(with, live_whole);
  if (end || read(facts_pipe[0], &whole, sizeof whole) != sizeof whole) whole.faults = 0;
  close(facts_pipe[0]);
  close(facts_pipe[1]);
  const long count = whole.faults;
  for (nth = 1; nth <= count; nth += nth > whole.alike_from && nth < whole.alike_to ? 8 : every)
    if (in_child(with, life)) {
      bad++;
      printf("# call %ld matters\n", nth);
    }
  check(count > 40 && bad == 0,
        "%s: any one of Shunt's own %ld calls fails (step %d), and all is right", routes, count,
        every);
}

int main(void)
{
  static const struct setting nothing[] = {{NULL, NULL}};
  static const struct setting vector[] = {{"SHUNT_ROUTES", "vector"}, {NULL, NULL}};
  check_case("no device: the original does all", nothing, no_device);
  check_case("an old driver: the original does all", nothing, old_driver);
  check_case("an old device: the original does all", nothing, old_device);
  check_case("no memory, ever", vector, no_memory_ever);
  check_case("no memory for a while", vector, no_memory_for_a_while);
  check_case("no cuSPARSE in the process for a while", nothing, no_original);
  check_case("cuSPARSE refuses", nothing, original_refuses);
  check_case("captured in the global mode", vector, captured_global);
  check_case("captured in the thread's mode", vector, captured_by_thread);
  check_case("captured in the relaxed mode", vector, captured_relaxed);
  check_case("beside another stream's capture", vector, beside_a_capture);
  check_case("the report names a call that was made to fail", nothing, named);
  const struct product vectors = small;
  failures("vector", &vectors, 1);
  failures("csr", &vectors, 1);
  failures("tile", &(struct product){.m = 32, .k = 32, .n = 16, .each = 8, .alike = 16}, 3);
  failures("sparse24", &(struct product){.m = 8, .k = 16, .n = 8, .two_of_four = true}, 3);
  failures("srbcrs",
           &(struct product){.m = 32, .k = 32, .n = 16, .each = 8, .alike = 8, .kind = BYTES}, 3);
  failures("bundle",
           &(struct product){.m = 8, .k = 1024, .n = 4, .each = 8, .alike = 8, .kind = SINGLES}, 3);
  failures("sorted", &(struct product){.m = 40, .k = 32, .n = 8, .each = 5, .kind = SINGLES}, 3);
  return check_finish();
}
