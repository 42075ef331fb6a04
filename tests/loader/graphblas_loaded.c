/* graphblas_loaded.c: objects as backend/loader/loaded.c finds them, against dladdr, which is slow.
   Compiled as it is, and with -DSHUNT_WITHOUT_FIND_OBJECT as for a C library that lacks
   _dl_find_object.  */
#include "backend/loader/loaded.c"

#include <stdio.h>
#include <stdlib.h>

int shunt_fault_armed;
int shunt_fault_count(const char *call, const char *file, int line)
{
  return (void)call, (void)file, (void)line, 0;
}

static int same(const char *what, const void *address)
{
  Dl_info info;
  struct link_map *map = NULL;
  const int found = dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP);
  const void *base = found ? info.dli_fbase : NULL;
  const char *name = found && map ? map->l_name : "";
  if (loaded_base(address) == base && strcmp(loaded_name(address), name) == 0 &&
      (!found || map_around(address) == map))
    return 1;
  printf("%s: %p %s, by dladdr %p %s\n", what, loaded_base(address), loaded_name(address), base,
         name);
  return 0;
}

static bool is_printf(const struct loaded_reference *r)
{
  return strcmp(r->name, "printf") == 0;
}

int main(void)
{
  struct loaded_reference r;
  int on_stack, good = 1;
  void *on_heap = malloc(64);
  void *bases[64];
  size_t n = loaded_list(0, bases, 64);
  good &= same("this program", (void *)main);
  good &= same("its data", &shunt_fault_armed);
  good &= same("the C library", dlsym(RTLD_DEFAULT, "printf"));
  good &= same("the heap", on_heap) & same("the stack", &on_stack);
  for (size_t i = 0; i < n; i++) good &= loaded_base(bases[i]) == bases[i];
  good &= loaded_find_reference((void *)main, is_printf, &r);
  good &= !loaded_base(NULL);
  free(on_heap);
  return !good;
}
