/* library_static.c: the one copy of GraphBLAS that a static program holds.

   Part of libshunt-graphblas.a in place of library_loaded.c.  The program is linked with

     -Wl,--wrap=GrB_mxm -Wl,--wrap=GrB_mxv -Wl,--wrap=GrB_vxm ... -lshunt-graphblas -lgraphblas

   which turns its GrB_mxm into our __wrap_GrB_mxm, and our __real_GrB_mxm into GraphBLAS'.
   Each name is optional; a program that calls GxB_init with an allocator of its own
   must wrap GxB_init, too, where GraphBLAS is older than 8.  */
#include <pthread.h>
#include <string.h>

#include "backend/graphblas/library.h"

#define REAL(f, arguments) extern int __real_##f arguments __attribute__((weak));
#define STRONG(f, arguments) extern int f arguments;
#define WEAK(f, arguments) extern int f arguments __attribute__((weak));
#define OBJECT(name) extern void *GrB_##name;
#define OPERATOR(name, number) extern void *GrB_##name##_##number;
#define ANY(number) extern void *GxB_ANY_##number;
#define EACH_NUMBER(number)                                                                        \
  OBJECT(number)                                                                                   \
  ANY(number)                                                                                      \
  OPERATOR(IDENTITY, number)                                                                       \
  GRB_OPERATORS(OPERATOR, number)
#define DESCRIPTOR(name) extern void *GrB_DESC_##name;
GRB_TAKEN(REAL)
GRB_FUNCTIONS(STRONG)
GRB_OPTIONAL_FUNCTIONS(WEAK)
GRB_OTHER_TYPES(OBJECT)
GRB_NUMBERS(EACH_NUMBER)
GRB_DESCRIPTORS(DESCRIPTOR)
GRB_LOGICALS(OBJECT)
#undef REAL
#undef STRONG
#undef WEAK
#undef OBJECT
#undef OPERATOR
#undef ANY
#undef DESCRIPTOR

static const struct symbol {
  const char *name;
  void *address;
} symbols[] = {
#define REAL(f, arguments) {#f, (void *)__real_##f},
#define FUNCTION(f, arguments) {#f, (void *)f},
#define OBJECT(name) {"GrB_" #name, &GrB_##name},
#define OPERATOR(name, number) {"GrB_" #name "_" #number, &GrB_##name##_##number},
#define ANY(number) {"GxB_ANY_" #number, &GxB_ANY_##number},
#define DESCRIPTOR(name) {"GrB_DESC_" #name, &GrB_DESC_##name},
    GRB_TAKEN(REAL) GRB_FUNCTIONS(FUNCTION) GRB_OPTIONAL_FUNCTIONS(FUNCTION) GRB_OTHER_TYPES(OBJECT)
        GRB_NUMBERS(EACH_NUMBER) GRB_DESCRIPTORS(DESCRIPTOR) GRB_LOGICALS(OBJECT)};

static void *symbol(void *unused, const char *name)
{
  (void)unused;
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (strcmp(symbols[i].name, name) == 0) return symbols[i].address;
  return NULL;
}

static struct grb_library library = {.path = ""};

static void fill(void)
{
  grb_library_fill(&library, symbol, NULL);
}

struct grb_library *grb_library_for(void *return_address)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)return_address;
  pthread_once(&once, fill);
  return &library;
}
