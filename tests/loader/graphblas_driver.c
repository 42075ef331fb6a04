/* graphblas_driver.c: a program that knows nothing of GraphBLAS and loads extensions that do
   (python3).  All are loaded before the first runs.  usage: driver EXTENSION...  */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  enum { MOST = 8 };
  int (*run[MOST])(void);
  int bad = 0;
  for (int i = 1; i < argc && i <= MOST; i++) {
    void *extension = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    void *p = extension ? dlsym(extension, "run") : NULL;
    if (!p) {
      printf("%s\n", dlerror());
      return 2;
    }
    memcpy(&run[i - 1], &p, sizeof p);
  }
  for (int turn = 0; turn < argc - 1 && turn < MOST; turn++) bad |= run[turn]();
  return bad;
}
