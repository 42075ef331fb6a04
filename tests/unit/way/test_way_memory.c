/* test_way_memory.c: the whole way of a program that needs all of a device of 80 GB, while its
   products go on.  What fits without Shunt fits with it; and Shunt helps again afterwards.  */
#include "backend/plan/context.h"
#include "tests/unit/way/program.h"

enum { LAYERS = 8 };
static const size_t DEVICE = (size_t)85017755648;
static const struct product small = {.m = 16, .k = 32, .n = 16, .each = 8, .alike = 8};

/* ---- the program's allocations -------------------------------------------------------------- */

/* As the program's own function sees it (backend/cusparse/allocations.c). */
static bool allocate(size_t bytes)
{
  return device_take(bytes) || (shunt_context_release_memory() && device_take(bytes));
}

static void passes(struct product *x, int count)
{
  for (int i = 0; i < count * LAYERS; i++)
    EXPECT(runs_right(&x[i % LAYERS]), "product %d is right", i);
}

/* All layers have their copies; what the device has in use without these. */
static size_t packed_layers(struct product *x)
{
  device.total = DEVICE;
  for (int i = 0; i < LAYERS; i++) x[i] = small, make(&x[i]);
  const size_t without = device.used;
  passes(x, 12);
  EXPECT(device.used >= without + LAYERS * 256, "copies are kept");
  return without;
}
static void drop_layers(struct product *x)
{
  for (int i = 0; i < LAYERS; i++) drop(&x[i]);
}

static void all_of_the_device(void)
{
  struct product x[LAYERS];
  const size_t all = DEVICE - packed_layers(x);
  for (int round = 0; round < 3; round++) {
    EXPECT(allocate(all), "round %d: all that there is without copies", round);
    EXPECT(!allocate(1), "and no more");
    passes(x, 2);
    device_return(all);
    forget_trace();
    passes(x, 70);
    EXPECT(traced('w'), "then copies come back");
  }
  drop_layers(x);
}

/* Copies that went before the program asked, as memory was short, are with the device, too. */
static void short_first(void)
{
  struct product x[LAYERS];
  const size_t all = DEVICE - packed_layers(x), most = all / 100 * 99;
  EXPECT(allocate(most), "nearly all");
  passes(x, 2048 / LAYERS);
  EXPECT(allocate(all - most), "and the rest");
  passes(x, 2);
  device_return(all);
  drop_layers(x);
}

/* Work that has not come to its end is not waited for without end, and its copies come later. */
static void late(void)
{
  struct product x[LAYERS];
  const size_t all = DEVICE - packed_layers(x);
  device.late = true;
  for (int i = 0; i < LAYERS; i++) EXPECT(run(&x[i]) == CUSPARSE_STATUS_SUCCESS, "product %d", i);
  EXPECT(!allocate(all), "not while work reads the copies");
  device_run();
  EXPECT(allocate(all), "but when it has ended");
  device_return(all);
  drop_layers(x);
}

/* ---- workspaces ----------------------------------------------------------------------------- */

/* x, all but 4 MiB of the device taken before bufferSize is asked, and given back after it. */
static void make_while_short(struct product *x)
{
  struct product first = small;
  device.total = DEVICE;
  make(&first); /* the context is there */
  const size_t most = DEVICE - device.used - ((size_t)4 << 20);
  EXPECT(device_take(most), "nearly all");
  make(x);
  EXPECT(x->buffer_bytes > 768 && x->buffer_bytes < 1 << 20, "%zu bytes are asked for",
         x->buffer_bytes);
  for (int i = 0; i < 4; i++) EXPECT(runs_right(x), "call %d is right", i);
  device_return(most);
  drop(&first);
}

/* A buffer from when memory was short is enough for some way. */
static void small_buffer(void)
{
  struct product x = {.m = 16, .k = 32, .n = 128, .each = 8, .alike = 8};
  make_while_short(&x);
  for (int i = 0; i < 40; i++) EXPECT(runs_right(&x), "call %d is right", i);
  EXPECT(ask(&x) == CUSPARSE_STATUS_SUCCESS && x.buffer_bytes < 1 << 20,
         "no more is asked for, as such buffers are about");
  for (int i = 0; i < 40; i++) EXPECT(runs_right(&x), "call %d is right", i);
  EXPECT(library.products == 0, "%d calls reached the original", library.products);
  drop(&x);
}

int main(void)
{
  static const struct setting vector[] = {{"SHUNT_ROUTES", "vector"}, {NULL, NULL}};
  static const struct setting csr[] = {{"SHUNT_ROUTES", "csr"}, {NULL, NULL}};
  check_case("all of the device, three times", vector, all_of_the_device);
  check_case("what went as memory was short, and the rest", vector, short_first);
  check_case("while work is late", vector, late);
  check_case("csr with a buffer from when memory was short", csr, small_buffer);
  return check_finish();
}
