/* driver.c: a program that is linked to nothing and loads everything at run time, one
   row of the loading matrix per name.  It runs in the folder that holds:

     libcusparse.so.12          copy 1
     libcusparse-9f3a.so.12     copy 2, renamed in file and SONAME, as wheels are
     libcusparse-old.so.11      copy 4, without the functions of CUDA 12
     extension_1.so, _2, _4     linked to these copies
     extension_static.so        with copy 3 inside
     extension_orphan.so        linked to none, uses what its loader holds
     extension_parent.so        linked to the orphan and to copy 2
     lookup.so                  looks the functions up */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "expect.h"

#define COPY_1 "./libcusparse.so.12"
#define COPY_2 "./libcusparse-9f3a.so.12"

typedef int use_function(cusparseHandle_t);
typedef int lookup_function(cusparseHandle_t, void *);

static void *open_or_die(const char *name, int flags)
{
  void *library = dlopen(name, flags);
  if (library) return library;
  fprintf(stderr, "%s\n", dlerror());
  exit(99);
}

/* ---- extensions --------------------------------------------------------------------- */

static use_function *extension(const char *name, int flags)
{
  return (use_function *)dlsym(open_or_die(name, flags), "extension_use");
}

static void use(use_function *f, int copy)
{
  struct cusparseContext h = {.copy = 0};
  EXPECT(f(&h) == 0);
  expect_reached(&h, copy, 6);
}

static void row_local(void)
{
  use_function *f = extension("./extension_1.so", RTLD_NOW | RTLD_LOCAL);
  use(f, 1);
  use(f, 1);
}

static void row_lazy(void)
{
  use(extension("./extension_1.so", RTLD_LAZY | RTLD_LOCAL), 1);
}

static void row_global(void)
{
  open_or_die(COPY_1, RTLD_NOW | RTLD_GLOBAL);
  use(extension("./extension_1.so", RTLD_NOW | RTLD_LOCAL), 1);
}

static void row_promoted(void)
{
  use_function *f = extension("./extension_1.so", RTLD_NOW | RTLD_LOCAL);
  use(f, 1);
  open_or_die(COPY_1, RTLD_NOW | RTLD_GLOBAL);
  use(f, 1);
  use(extension("./extension_1b.so", RTLD_NOW | RTLD_LOCAL), 1);
}

/* Another copy becomes global while an extension is bound to its own, or is not yet. */
static void row_other_global(void)
{
  use_function *f = extension("./extension_1.so", RTLD_NOW | RTLD_LOCAL);
  open_or_die(COPY_2, RTLD_NOW | RTLD_GLOBAL);
  use(f, 1);
}

static void row_other_global_lazy(void)
{
  use_function *f = extension("./extension_1.so", RTLD_LAZY | RTLD_LOCAL);
  open_or_die(COPY_2, RTLD_NOW | RTLD_GLOBAL);
  use(f, 2);
}

static void row_deepbind(void)
{
  struct cusparseContext h = {.copy = 0};
  use_function *f = extension("./extension_1.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  EXPECT(f(&h) == 0);
  expect_reached_unseen(&h, 1, 6);
}

static void row_renamed(void)
{
  use(extension("./extension_2.so", RTLD_NOW | RTLD_LOCAL), 2);
}

static void row_old(void)
{
  use(extension("./extension_4.so", RTLD_NOW | RTLD_LOCAL), 4);
}

static void row_static(void)
{
  open_or_die(COPY_1, RTLD_NOW | RTLD_LOCAL);
  use(extension("./extension_static.so", RTLD_NOW | RTLD_LOCAL), 3);
}

/* The caller is in the scope of a library that its own handle does not show. */
static void row_orphan(void)
{
  open_or_die("./extension_parent.so", RTLD_LAZY | RTLD_LOCAL);
  use(extension("./extension_orphan.so", RTLD_LAZY | RTLD_LOCAL), 2);
}

static void row_two(void)
{
  use_function *f = extension("./extension_1.so", RTLD_NOW | RTLD_LOCAL);
  use_function *g = extension("./extension_2.so", RTLD_NOW | RTLD_LOCAL);
  for (int i = 0; i < 3; i++) {
    use(g, 2);
    use(f, 1);
  }
}

/* Opened and closed again and again, in changing company, so that addresses are reused. */
static void row_twice(void)
{
  for (int i = 0; i < 40; i++) {
    void *other = i % 3 == 0 ? open_or_die("./extension_2.so", RTLD_NOW | RTLD_LOCAL) : NULL;
    void *e = open_or_die("./extension_1.so", RTLD_NOW | RTLD_LOCAL);
    use((use_function *)dlsym(e, "extension_use"), 1);
    if (other) use((use_function *)dlsym(other, "extension_use"), 2);
    dlclose(e);
    if (other) dlclose(other);
  }
}

/* ---- looking up by name ----------------------------------------------------------- */

static int look_up_and_use(lookup_function *f, void *library, cusparseHandle_t h)
{
  *h = (struct cusparseContext){.copy = 0};
  return f(h, library);
}

static void row_never(void)
{
  struct cusparseContext h;
  lookup_function *f =
      (lookup_function *)dlsym(open_or_die("./lookup.so", RTLD_NOW | RTLD_LOCAL), "lookup_use");
  for (int i = 0; i < 3; i++) {
    EXPECT(look_up_and_use(f, NULL, &h) == CUSPARSE_STATUS_NOT_INITIALIZED);
    EXPECT(h.calls == 0);
  }
}

/* The exported name is found before there is a library to serve it. */
static void row_lookup(void)
{
  struct cusparseContext h;
  row_never();
  lookup_function *f =
      (lookup_function *)dlsym(open_or_die("./lookup.so", RTLD_NOW | RTLD_LOCAL), "lookup_use");
  void *library = open_or_die(COPY_1, RTLD_NOW | RTLD_LOCAL);
  for (int i = 0; i < 3; i++) {
    EXPECT(look_up_and_use(f, library, &h) == 0);
    expect_reached(&h, 1, 1);
  }
}

static void row_lookup_main(void)
{
  struct cusparseContext h = {.copy = 0};
  float one = 1;
  open_or_die(COPY_1, RTLD_NOW | RTLD_LOCAL);
  __typeof__(cusparseSpMM) *f = (__typeof__(cusparseSpMM) *)dlsym(RTLD_DEFAULT, "cusparseSpMM");
  EXPECT(f && f(&h, 0, 0, &one, NULL, NULL, &one, NULL, CUDA_C_16F, 0, NULL) == 0);
  expect_reached(&h, 1, 1);
}

/* ---- handles ---------------------------------------------------------------------- */

struct bound {
  __typeof__(cusparseSpMM) *spmm;
  __typeof__(cusparseSDDMM_preprocess) *prepare;
};

static struct bound bind_to(void *library)
{
  return (struct bound){
      (__typeof__(cusparseSpMM) *)dlsym(library, "cusparseSpMM"),
      (__typeof__(cusparseSDDMM_preprocess) *)dlsym(library, "cusparseSDDMM_preprocess"),
  };
}

static void use_bound(const struct bound *b, int copy, int entered)
{
  struct cusparseContext h = {.copy = 0};
  float one = 1;
  if (b->spmm(&h, 0, 0, &one, NULL, NULL, &one, NULL, CUDA_C_16F, 0, NULL) != 0 ||
      b->prepare(&h, 0, 0, &one, NULL, NULL, &one, NULL, CUDA_C_16F, 0, NULL) != 0)
    EXPECT(!"a bound function failed");
  expect_way(&h, copy, 2, entered);
}

/* Two copies by handle, a third party's in the global scope: each handle means its own. */
static void handles(int entered)
{
  void *one = open_or_die(COPY_1, RTLD_NOW | RTLD_LOCAL);
  void *two = open_or_die(COPY_2, RTLD_NOW | RTLD_LOCAL);
  struct bound b1 = bind_to(one), b2 = bind_to(two);
  for (int i = 0; i < 3; i++) {
    use_bound(&b1, 1, entered);
    use_bound(&b2, 2, entered);
  }
  open_or_die(COPY_1, RTLD_NOW | RTLD_GLOBAL);
  use_bound(&b2, 2, entered);
  EXPECT(dlsym(one, "cusparseSpMM") == (void *)b1.spmm);
  EXPECT(dlsym(two, "cusparseSpMM") == (void *)b2.spmm);
  EXPECT(b1.spmm != b2.spmm);
  dlerror();
  EXPECT(dlsym(open_or_die("./libcusparse-old.so.11", RTLD_NOW | RTLD_LOCAL), "cusparseSpMM"));
  EXPECT(dlerror() == NULL);
  EXPECT(dlsym(one, "cusparseNoSuchThing") == NULL && dlerror() != NULL);
  EXPECT(dlsym(one, "cusparseGetVersion") != NULL);
  use(extension("./extension_1.so", RTLD_NOW | RTLD_LOCAL), 1);
}

static void row_handle_unseen(void)
{
  handles(0);
}

static void row_handle(void)
{
  handles(1);
}

/* More copies than the dlsym object has room for, under names of their own; run.sh makes
   the links.  Those beyond are right, only not seen.  */
static void row_handle_many(void)
{
  for (int i = 0; i < 12; i++) {
    char name[32];
    struct cusparseContext h = {.copy = 0};
    float one = 1;
    snprintf(name, sizeof name, "./many/copy%d.so", i);
    struct bound b = bind_to(open_or_die(name, RTLD_NOW | RTLD_LOCAL));
    EXPECT(b.spmm(&h, 0, 0, &one, NULL, NULL, &one, NULL, CUDA_C_16F, 0, NULL) == 0);
    EXPECT(h.calls == 1 && h.copy == 1);
    if (getenv("ENTRY")) EXPECT(h.entry == (i < 8));
  }
}

/* ---- threads ---------------------------------------------------------------------- */

enum { THREADS = 8, THREAD_CALLS = 2000 };

static pthread_barrier_t barrier;
static use_function *threaded[2];

static void *thread_main(void *number)
{
  int which = (int)(size_t)number % 2;
  const char *entry = getenv("ENTRY");
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < THREAD_CALLS; i++) {
    struct cusparseContext h = {.copy = 0};
    if (threaded[which](&h) != 0 || h.copy != which + 1 || h.calls != 6 ||
        (entry && h.entry != (strcmp(entry, "yes") == 0 ? 6 : 0)))
      return "wrong";
  }
  return NULL;
}

static void row_threads(void)
{
  pthread_t thread[THREADS];
  threaded[0] = extension("./extension_1.so", RTLD_LAZY | RTLD_LOCAL);
  threaded[1] = extension("./extension_2.so", RTLD_LAZY | RTLD_LOCAL);
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (size_t i = 0; i < THREADS; i++)
    EXPECT(pthread_create(&thread[i], NULL, thread_main, (void *)i) == 0);
  for (size_t i = 0; i < THREADS; i++) {
    void *result = NULL;
    pthread_join(thread[i], &result);
    EXPECT(result == NULL);
  }
}

/* ---- other users of dlsym --------------------------------------------------------- */

static void row_next(void)
{
  int (*first)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "next_first");
  int (*second)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "next_second");
  EXPECT(first && second);
  if (!first || !second) return;
  int before = first();
  EXPECT(getppid() == (pid_t)syscall(SYS_getppid));
  EXPECT(first() == before + 1 && second() == first());
  use(extension("./extension_1.so", RTLD_NOW | RTLD_LOCAL), 1);
}

/* The program's errno and dlerror are as they were. */
static void row_traces(void)
{
  use_function *f = extension("./extension_1.so", RTLD_NOW | RTLD_LOCAL);
  dlerror();
  errno = 1234;
  use(f, 1);
  EXPECT(errno == 1234);
  EXPECT(dlerror() == NULL);
}

static const struct row {
  const char *name;
  void (*run)(void);
} rows[] = {
#define ROW(name)                                                                                  \
  {                                                                                                \
#name, row_##name                                                                              \
  }
    ROW(other_global), ROW(other_global_lazy),
    ROW(local),        ROW(lazy),
    ROW(global),       ROW(promoted),
    ROW(deepbind),     ROW(renamed),
    ROW(old),          ROW(static),
    ROW(orphan),       ROW(two),
    ROW(twice),        ROW(never),
    ROW(lookup),       ROW(lookup_main),
    ROW(handle),       ROW(handle_unseen),
    ROW(handle_many),  ROW(threads),
    ROW(next),         ROW(traces),
};

int main(int argc, char **argv)
{
  for (size_t i = 0; argc == 2 && i < sizeof rows / sizeof *rows; i++)
    if (strcmp(argv[1], rows[i].name) == 0) {
      rows[i].run();
      return expect_failures;
    }
  fprintf(stderr, "usage: driver ROW\n");
  return 2;
}
