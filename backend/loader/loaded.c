#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr1, dl_iterate_phdr, RTLD_NEXT */
#endif
#include "backend/loader/loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
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

/* dladdr also searches all symbols of the object for the nearest one, which takes 100 us in a
   library with 20,000 of them; so the object alone is asked for.  */
struct object {
  void *base;
  const char *name;
  const struct link_map *map; /* NULL where it is not known */
};

#if defined __GLIBC__ && __GLIBC_PREREQ(2, 35) && !defined SHUNT_WITHOUT_FIND_OBJECT
static struct object object_around(const void *address)
{
  struct dl_find_object found;
  if (_dl_find_object((void *)address, &found) != 0) return (struct object){NULL, "", NULL};
  const struct link_map *map = found.dlfo_link_map;
  return (struct object){found.dlfo_map_start, map->l_name, map};
}
#else
struct around {
  uintptr_t address;
  struct object found;
};

static int look_around(struct dl_phdr_info *o, size_t size, void *data)
{
  struct around *x = data;
  (void)size;
  for (size_t i = 0; i < o->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &o->dlpi_phdr[i];
    if (h->p_type != PT_LOAD || x->address - (o->dlpi_addr + h->p_vaddr) >= h->p_memsz) continue;
    x->found = (struct object){first_address(o), o->dlpi_name, NULL};
    return 1;
  }
  return 0;
}

static struct object object_around(const void *address)
{
  struct around x = {(uintptr_t)address, {NULL, "", NULL}};
  dl_iterate_phdr(look_around, &x);
  return x.found;
}
#endif

void *loaded_base(const void *address)
{
  return address ? object_around(address).base : NULL;
}

const char *loaded_name(const void *address)
{
  return object_around(address).name;
}

static const struct link_map *map_around(const void *address)
{
  Dl_info info;
  struct link_map *map = NULL;
  const struct object o = object_around(address);
  if (o.map || !o.base) return o.map;
  return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static void *open_loaded(const char *name)
{
  return shunt_fault() ? NULL : dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

bool loaded_open(const void *address, struct loaded *out)
{
  /* By the name under which it is loaded: a search by SONAME would miss the renamed
     libraries of Python wheels.  The main program has none.  */
  const struct object o = object_around(address);
  *out = (struct loaded){NULL, NULL, NULL};
  if (!o.base || !o.name[0]) return false;
  void *handle = open_loaded(o.name);
  if (!handle) handle = open_loaded(o.name); /* as in loaded_symbol */
  if (!handle) return false;
  *out = (struct loaded){o.base, handle, o.name};
  return true;
}

void loaded_close(struct loaded *o)
{
  if (o->handle) dlclose(o->handle);
  *o = (struct loaded){NULL, NULL, NULL};
}

bool loaded_defines(const struct loaded *o, const char *name)
{
  void *p = loaded_symbol(o->handle, name);
  return p && loaded_base(p) == o->base;
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
  struct list l = {skip, room, 0, bases};
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
  struct order x = {a, b};
  return dl_iterate_phdr(order_one, &x) == 1;
}

/* ---- what references are bound to ------------------------------------------------

   The loader keeps a table of relocations for every object, and writes the answer of each
   to the place that the relocation names:

     dynamic section (link_map.l_ld)
       DT_JMPREL  functions called through the PLT    +- rela: r_offset -> place in the object
       DT_RELA    other pointers to symbols           |        r_info   -> number of the symbol
       DT_SYMTAB  symbols, named by offsets into      +- sym:  st_name
       DT_STRTAB  names

   ELF with addends in the relocations only (x86-64, aarch64, and most others).  */
#if UINTPTR_MAX == UINT64_MAX
#define SYMBOL_OF ELF64_R_SYM
#else
#define SYMBOL_OF ELF32_R_SYM
#endif

struct tables {
  const struct link_map *map;
  const ElfW(Sym) * symbols;
  const char *names;
  const ElfW(Rela) * calls, *pointers;
  size_t call_bytes, pointer_bytes, relative;
};

/* glibc turns the addresses of a dynamic section into absolute ones where it can write. */
static const void *absolute(const struct link_map *map, ElfW(Addr) at)
{
  return (const void *)(at < map->l_addr ? at + map->l_addr : at);
}

static bool read_tables(const struct link_map *map, struct tables *t)
{
  bool with_addends = true;
  *t = (struct tables){.map = map};
  for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) switch (d->d_tag) {
    case DT_SYMTAB: t->symbols = absolute(map, d->d_un.d_ptr); break;
    case DT_STRTAB: t->names = absolute(map, d->d_un.d_ptr); break;
    case DT_JMPREL: t->calls = absolute(map, d->d_un.d_ptr); break;
    case DT_PLTRELSZ: t->call_bytes = d->d_un.d_val; break;
    case DT_PLTREL: with_addends = d->d_un.d_val == DT_RELA; break;
    case DT_RELA: t->pointers = absolute(map, d->d_un.d_ptr); break;
    case DT_RELASZ: t->pointer_bytes = d->d_un.d_val; break;
    case DT_RELACOUNT: t->relative = d->d_un.d_val; break; /* these, in front, have no symbol */
    }
  return with_addends && t->symbols && t->names;
}

static bool find_in(const struct tables *t, const ElfW(Rela) * first, size_t bytes,
                    bool (*wanted)(const struct loaded_reference *), struct loaded_reference *out)
{
  if (!first) return false;
  for (const ElfW(Rela) *r = first; r < first + bytes / sizeof *first; r++) {
    const ElfW(Sym) *s = &t->symbols[SYMBOL_OF(r->r_info)];
    if (s == t->symbols || s->st_shndx != SHN_UNDEF) continue;
    out->name = t->names + s->st_name;
    memcpy(&out->bound, (const void *)(t->map->l_addr + r->r_offset), sizeof out->bound);
    if (wanted(out)) return true;
  }
  return false;
}

bool loaded_find_reference(const void *address, bool (*wanted)(const struct loaded_reference *),
                           struct loaded_reference *out)
{
  const struct link_map *map = address ? map_around(address) : NULL;
  struct tables t;
  if (!map || !read_tables(map, &t)) return false;
  size_t relative = t.relative * sizeof *t.pointers;
  return find_in(&t, t.calls, t.call_bytes, wanted, out) ||
         (t.pointers && relative <= t.pointer_bytes &&
          find_in(&t, t.pointers + t.relative, t.pointer_bytes - relative, wanted, out));
}
