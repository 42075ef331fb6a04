/* test_way_switches.c: while a matrix settles, the way of its products changes once at most,
   however far the program runs ahead of the device, and it is known when.

   A way is the kernel of the product, and what `csr` is told of the longest row: both decide the
   order of the sums.  The device does what was enqueued when a schedule says so.  What it
   says comes in round trips: the profile, asked for by the first call; what the first call that
   knows it asks for.  The first call behind the second round trip is the last that may change the
   way.  */
#include "tests/unit/way/program.h"

enum { CALLS = 24, MOST_TRIPS = 2 };

static struct kind {
  const char *name;
  struct product product;
  char settles_on;
  bool large;
} kind;
/* With all of its accesses watched a large product takes half a minute; small ones by the same
   kernels are computed by test_way.c.  */
#ifdef __SANITIZE_ADDRESS__
enum { COMPUTES_LARGE = false };
#else
enum { COMPUTES_LARGE = true };
#endif
static int every; /* the device works before each call of which the number is a multiple */

static char way_of(const char *trace)
{
  const char *product = strpbrk(trace, "csvwt4rdbk");
  if (!product) return 'o'; /* the original's */
  return (char)(*product == 'c' && device.longest >= 0 ? 'C' : *product);
}

/* Calls; the way of each.  *most: the last one that may change it. */
static void multiply(struct product *x, cudaStream_t *streams, int count, char *ways, int *most)
{
  int trips = 0;
  *most = CALLS;
  for (int i = 0; i < CALLS; i++) {
    if (i % every == 0 && i > 0) {
      device_run();
      if (++trips == MOST_TRIPS) *most = i;
    }
    cusparseSetStream(x->handle, streams[i % count]);
    forget_trace();
    EXPECT(run(x) == CUSPARSE_STATUS_SUCCESS, "call %d succeeds", i);
    ways[i] = way_of(device.trace);
  }
  ways[CALLS] = 0;
}

static void on_streams(int count)
{
  struct product x = kind.product;
  cudaStream_t streams[2];
  char ways[CALLS + 1];
  int most, times[2] = {0, 0}, last = 0;
  for (int i = 0; i < 2; i++) cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
  device.late = device.no_sums = true;
  make(&x);
  multiply(&x, streams, count, ways, &most);
  for (int i = count; i < CALLS; i++)
    if (ways[i] != ways[i - count]) times[i % count]++, last = i;
  printf("# %s every %d on %d: %s\n", kind.name, every, count, ways);
  for (int i = 0; i < count; i++) EXPECT(times[i] <= 1, "%d changes: %s", times[i], ways);
  EXPECT(last < most + count, "call %d changes the way, beyond %d: %s", last, most, ways);
  EXPECT(ways[CALLS - 1] == kind.settles_on, "it settles on another way: %s", ways);
  EXPECT(device.waited == 0 && device.disturbed == 0, "nobody waited for the device");
  device_run();
  device.late = device.no_sums = false;
  if (!kind.large || COMPUTES_LARGE) EXPECT(runs_right(&x), "the last call is right");
  drop(&x);
  for (int i = 0; i < 2; i++) cudaStreamDestroy(streams[i]);
}
static void on_one(void)
{
  on_streams(1);
}
static void on_two(void)
{
  on_streams(2);
}

int main(void)
{
  static const struct kind kinds[] = {
      {"half full", {.m = 256, .k = 512, .n = 256, .two_of_four = true}, '4', false},
      {"in eights",
       {.m = 4096, .k = 4096, .n = 128, .each = 82, .alike = 8, .kind = BRAINS},
       'v',
       false},
      {"in threes",
       {.m = 24000, .k = 6000, .n = 128, .each = 54, .alike = 3, .kind = SINGLES},
       'C',
       true},
      {"in twelves",
       {.m = 24000, .k = 6000, .n = 96, .each = 54, .alike = 12, .kind = SINGLES},
       'b',
       true},
  };
#ifdef __SANITIZE_ADDRESS__ /* half a minute each, and the same memory in all */
  static const int schedules[] = {2};
#else
  static const int schedules[] = {1, 2, 9};
#endif
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (size_t s = 0; s < sizeof schedules / sizeof *schedules; s++) {
      char what[128];
      kind = kinds[k], every = schedules[s];
      snprintf(what, sizeof what, "%s, the device works behind each %d calls: one switch",
               kind.name, every);
      check_case(what, NULL, on_one);
      snprintf(what, sizeof what, "%s, the same on two streams in turn", kind.name);
      check_case(what, NULL, on_two);
    }
  return check_finish();
}
