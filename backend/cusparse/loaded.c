#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr1, dl_iterate_phdr, RTLD_NEXT */
#endif
#include "backend/cusparse/loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <unistd.h>

#include "backend/plan/fault.h"

void *shunt_dlsym(void *handle, const char *name)
{
  return shunt_fault() ? NULL : dlsym(handle, name);
}

void *loaded_symbol(void *handle, const char *name)
{
  void *p = shunt_dlsym(handle, name);
  return p ? p : shunt_dlsym(handle, name);
}

void *loaded_base(const void *address)
{
  Dl_info info;
  return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

const char *loaded_name(const void *address)
{
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 35)
  struct dl_find_object found;
  if (_dl_find_object((void *)address, &found) != 0) return "";
  return found.dlfo_link_map->l_name;
#else
  Dl_info info;
  struct link_map *map = NULL;
  return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map ? map->l_name : "";
#endif
}

static void *open_loaded(const char *name)
{
  return shunt_fault() ? NULL : dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

bool loaded_open(const void *address, struct loaded *out)
{
  /* By the name under which it is loaded: a search by SONAME would miss the renamed
     libraries of Python wheels.  The main program has none.  */
  const char *name = loaded_name(address);
  void *base = loaded_base(address);
  *out = (struct loaded){ NULL, NULL, NULL };
  if (!base || !name[0]) return false;
  void *handle = open_loaded(name);
  if (!handle) handle = open_loaded(name); /* as in loaded_symbol */
  if (!handle) return false;
  *out = (struct loaded){ base, handle, name };
  return true;
}

void loaded_close(struct loaded *o)
{
  if (o->handle) dlclose(o->handle);
  *o = (struct loaded){ NULL, NULL, NULL };
}

/* Where dladdr says that an object starts: its first loadable segment. */
static void *first_address(const struct dl_phdr_info *o)
{
  for (size_t i = 0; i < o->dlpi_phnum; i++)
    if (o->dlpi_phdr[i].p_type == PT_LOAD) {
      uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
      return (void *)((o->dlpi_addr + o->dlpi_phdr[i].p_vaddr) & ~(page - 1));
    }
  return NULL;
}

struct list {
  size_t skip, room, count;
  void **bases;
};

static int list_one(struct dl_phdr_info *o, size_t size, void *data)
{
  struct list *l = data;
  (void)size;
  if (l->skip > 0) {
    l->skip--;
    return 0;
  }
  if (l->count == l->room) return 1;
  l->bases[l->count++] = first_address(o);
  return 0;
}

size_t loaded_list(size_t skip, void **bases, size_t room)
{
  struct list l = { skip, room, 0, bases };
  dl_iterate_phdr(list_one, &l);
  return l.count;
}

struct order {
  const void *a, *b;
};

/* Stops at whichever comes first, and says which: 1 for a, 2 for b. */
static int order_one(struct dl_phdr_info *o, size_t size, void *data)
{
  const struct order *x = data;
  const void *base = first_address(o);
  (void)size;
  return base == x->a ? 1 : base == x->b ? 2 : 0;
}

bool loaded_before(const void *a, const void *b)
{
  struct order x = { a, b };
  return dl_iterate_phdr(order_one, &x) == 1;
}
