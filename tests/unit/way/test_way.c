/* test_way.c: calls of cuSPARSE on their whole way, from the exported functions through planner,
   cache and routes to kernels, on the test's own device: right whatever is done to A in place.  */
#include "tests/unit/way/program.h"

/* ---- every route: right, taken, and right again after each change in place ------------------ */

static struct route_case {
  const char *route;
  struct product product;
  char letter; /* its product, in the trace */
  bool packed; /* from a copy that a repair proves */
} of_route;

/* So many calls, all right; was the kernel among them? */
static bool settles(struct product *x, int calls)
{
  forget_trace();
  for (int i = 0; i < calls; i++) EXPECT(runs_right(x), "call %d is right", i);
  return traced(of_route.letter);
}
static void through_route(void)
{
  enum { CALLS = 32 }; /* a copy that did not stand is not made again at once */
  struct product x = of_route.product;
  make(&x);
  EXPECT(settles(&x, CALLS), "calls are taken, not \"%s\"", device.trace);
  change_values(&x);
  EXPECT(settles(&x, CALLS), "calls are taken after other values, not \"%s\"", device.trace);
  change_columns(&x);
  EXPECT(settles(&x, CALLS), "calls are taken after other columns, not \"%s\"", device.trace);
  EXPECT(device.changes == (of_route.packed ? 2 : 0), "repairs found %ld changes", device.changes);
  if (x.kind != BYTES) scale(&x, 1, 2);
  settles(&x, 4);
  forget(&x); /* another descriptor of the same arrays */
  describe(&x);
  scale(&x, 3, 0);
  EXPECT(settles(&x, 4), "calls with another descriptor are taken, not \"%s\"", device.trace);
  drop(&x);
  EXPECT(library.open == 0, "the library has %d descriptors left", library.open);
  EXPECT(device.disturbed == 0 && device.waited == 0, "nobody waited for the device");
}
static void every_route(void)
{
  static const struct route_case cases[] = {
      {"csr", {.m = 61, .k = 50, .n = 9, .each = 7}, 'c', false},
      {"csr", {.m = 61, .k = 50, .n = 9, .each = 7, .wide_index = 1, .base = 1}, 'c', false},
      {"csr", {.m = 61, .k = 50, .n = 9, .each = 7, .kind = SINGLES, .by_columns = 1}, 'c', false},
      {"csr", {.m = 61, .k = 50, .n = 9, .each = 7, .kind = BYTES}, 'c', false},
      {"vector", {.m = 64, .k = 64, .n = 16, .each = 16, .alike = 8}, 'w', true},
      {"vector", {.m = 64, .k = 64, .n = 16, .each = 16, .alike = 4, .kind = BRAINS}, 'w', true},
      {"vector",
       {.m = 64, .k = 64, .n = 16, .each = 16, .alike = 8, .base = 1, .wide_index = 1},
       'w',
       true},
      {"vector", {.m = 64, .k = 64, .n = 16, .each = 16, .alike = 8, .kind = SINGLES}, 'v', false},
      {"bundle", {.m = 64, .k = 2048, .n = 8, .each = 24, .alike = 8, .kind = SINGLES}, 'b', false},
      {"sorted", {.m = 61, .k = 50, .n = 8, .each = 7, .kind = SINGLES}, 'o', false},
      {"sorted", {.m = 61, .k = 50, .n = 8, .each = 7, .wide_index = 1, .base = 1}, 'o', false},
      {"tile", {.m = 64, .k = 64, .n = 32, .each = 16, .alike = 16}, 't', true},
      {"sparse24", {.m = 24, .k = 32, .n = 8, .two_of_four = true}, '4', true},
      {"srbcrs", {.m = 64, .k = 64, .n = 32, .each = 16, .alike = 8, .kind = BYTES}, 'r', true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char what[128];
    const struct setting with[] = {{"SHUNT_ROUTES", cases[i].route}, {NULL, NULL}};
    of_route = cases[i];
    snprintf(what, sizeof what, "%s, case %zu: right, and right after each change in place",
             cases[i].route, i);
    check_case(what, with, through_route);
  }
}

/* ---- sorted: a row that grows is told of, and the rows are sorted anew --------------------- */

static void row_grows(void)
{
  struct product x = of_route.product;
  make(&x);
  EXPECT(settles(&x, 4), "calls are taken, not \"%s\"", device.trace);
  int32_t *offsets = (int32_t *)(uintptr_t)x.a.row_offsets;
  for (int i = 11; i < 15; i++) offsets[i] = offsets[15]; /* row 10 has the entries of five */
  bool sorted = false;
  for (int i = 0; i < 40; i++) {
    forget_trace();
    EXPECT(runs_right(&x), "call %d behind the change is right", i);
    sorted = sorted || traced('S');
  }
  EXPECT(sorted && traced('o'), "rows are sorted anew, and taken so, not \"%s\"", device.trace);
  drop(&x);
}
static void a_row_grows(void)
{
  static const struct setting with[] = {{"SHUNT_ROUTES", "sorted"}, {NULL, NULL}};
  of_route = (struct route_case){
      "sorted", {.m = 61, .k = 50, .n = 8, .each = 7, .kind = SINGLES}, 'o', false};
  check_case("sorted: a row that grows has the rows sorted anew", with, row_grows);
}

int main(void)
{
  every_route();
  a_row_grows();
  return check_finish();
}
