#define _GNU_SOURCE /* memmem */
#include "backend/tool/doctor/doctor_elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- places in the file --------------------------------------------------------------------- */

static bool inside(const struct doctor_elf *e, uint64_t at, uint64_t bytes)
{
  return at <= e->size && bytes <= e->size - at;
}

/* A copy of what stands at `at`; false: it is not all in the file. */
static bool fetch(const struct doctor_elf *e, uint64_t at, void *to, size_t bytes)
{
  if (!inside(e, at, bytes)) return false;
  memcpy(to, e->bytes + at, bytes);
  return true;
}

/* A terminated text at `at`, before `end`; NULL: there is none. */
static const char *text_at(const struct doctor_elf *e, uint64_t at, uint64_t end)
{
  if (end > e->size) end = e->size;
  if (at >= end || !memchr(e->bytes + at, 0, end - at)) return NULL;
  return (const char *)e->bytes + at;
}

static bool segment(const struct doctor_elf *e, const Elf64_Ehdr *h, int i, Elf64_Phdr *out)
{
  return h->e_phentsize == sizeof *out && i < h->e_phnum &&
         fetch(e, h->e_phoff + (uint64_t)i * sizeof *out, out, sizeof *out);
}

static bool section(const struct doctor_elf *e, const Elf64_Ehdr *h, int i, Elf64_Shdr *out)
{
  return h->e_shentsize == sizeof *out && i < h->e_shnum &&
         fetch(e, h->e_shoff + (uint64_t)i * sizeof *out, out, sizeof *out);
}

static Elf64_Ehdr header(const struct doctor_elf *e)
{
  Elf64_Ehdr h = {0};
  if (e->whole) fetch(e, 0, &h, sizeof h);
  return h;
}

/* Where in the file the loader's address is. */
static bool place_of(const struct doctor_elf *e, uint64_t address, uint64_t *place)
{
  const Elf64_Ehdr h = header(e);
  Elf64_Phdr p;
  for (int i = 0; segment(e, &h, i, &p); i++)
    if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz) {
      *place = address - p.p_vaddr + p.p_offset;
      return true;
    }
  return false;
}

/* ---- the dynamic section -------------------------------------------------------------------- */

struct names {
  uint64_t at, size;
};

static bool read_names(const struct doctor_elf *e, const Elf64_Phdr *p, struct names *n)
{
  uint64_t address = 0;
  Elf64_Dyn d;
  *n = (struct names){0, 0};
  for (uint64_t i = 0; i + sizeof d <= p->p_filesz && fetch(e, p->p_offset + i, &d, sizeof d);
       i += sizeof d) {
    if (d.d_tag == DT_NULL) break;
    if (d.d_tag == DT_STRTAB) address = d.d_un.d_ptr;
    if (d.d_tag == DT_STRSZ) n->size = d.d_un.d_val;
  }
  return address && place_of(e, address, &n->at) && inside(e, n->at, n->size);
}

static void read_entry(struct doctor_elf *e, const Elf64_Dyn *d, const struct names *n)
{
  const char *text = text_at(e, n->at + d->d_un.d_val, n->at + n->size);
  switch (d->d_tag) {
  case DT_NEEDED:
    if (text && e->needed_count < DOCTOR_MOST_NEEDED) e->needed[e->needed_count++] = text;
    break;
  case DT_SONAME: e->soname = text; break;
  case DT_RPATH: e->rpath = text; break;
  case DT_RUNPATH: e->runpath = text; break;
  case DT_SYMBOLIC: e->symbolic = true; break;
  case DT_FLAGS: e->symbolic |= (d->d_un.d_val & DF_SYMBOLIC) != 0; break;
  default: break;
  }
}

static void read_dynamic(struct doctor_elf *e, const Elf64_Phdr *p)
{
  struct names n;
  Elf64_Dyn d;
  e->dynamic = true;
  if (!read_names(e, p, &n)) return;
  for (uint64_t i = 0; i + sizeof d <= p->p_filesz && fetch(e, p->p_offset + i, &d, sizeof d);
       i += sizeof d) {
    if (d.d_tag == DT_NULL) break;
    read_entry(e, &d, &n);
  }
}

static void read_segments(struct doctor_elf *e)
{
  const Elf64_Ehdr h = header(e);
  Elf64_Phdr p;
  for (int i = 0; segment(e, &h, i, &p); i++) {
    if (p.p_type == PT_INTERP) e->interpreter = text_at(e, p.p_offset, p.p_offset + p.p_filesz);
    if (p.p_type == PT_DYNAMIC) read_dynamic(e, &p);
  }
}

/* ---- sections ------------------------------------------------------------------------------- */

static void read_symbols(const struct doctor_elf *e, const Elf64_Ehdr *h, const Elf64_Shdr *s,
                         struct doctor_elf_symbols *out)
{
  Elf64_Shdr names;
  if (s->sh_entsize != sizeof(Elf64_Sym) || !section(e, h, (int)s->sh_link, &names)) return;
  if (!inside(e, s->sh_offset, s->sh_size) || !inside(e, names.sh_offset, names.sh_size)) return;
  *out = (struct doctor_elf_symbols){e->bytes + s->sh_offset, s->sh_size / sizeof(Elf64_Sym),
                                     (const char *)e->bytes + names.sh_offset, names.sh_size};
}

static void read_sections(struct doctor_elf *e)
{
  const Elf64_Ehdr h = header(e);
  Elf64_Shdr s;
  for (int i = 0; section(e, &h, i, &s); i++) {
    if (s.sh_type == SHT_DYNSYM) read_symbols(e, &h, &s, &e->exported);
    if (s.sh_type == SHT_SYMTAB) read_symbols(e, &h, &s, &e->all);
  }
}

/* The next section after *i whose name begins so; false: there is none. */
static bool next_section(const struct doctor_elf *e, const char *name, int *i, Elf64_Shdr *out)
{
  const Elf64_Ehdr h = header(e);
  Elf64_Shdr names;
  if (!section(e, &h, h.e_shstrndx, &names)) return false;
  while (section(e, &h, ++*i, out)) {
    const char *own = text_at(e, names.sh_offset + out->sh_name, names.sh_offset + names.sh_size);
    if (own && strncmp(own, name, strlen(name)) == 0 && out->sh_type != SHT_NOBITS &&
        inside(e, out->sh_offset, out->sh_size))
      return true;
  }
  return false;
}

const char *doctor_elf_symbol(const struct doctor_elf_symbols *s, size_t i, bool *defined)
{
  Elf64_Sym symbol;
  memcpy(&symbol, s->at + i * sizeof symbol, sizeof symbol);
  *defined = symbol.st_shndx != SHN_UNDEF;
  if (symbol.st_name >= s->names_size) return "";
  const char *name = s->names + symbol.st_name;
  return memchr(name, 0, s->names_size - symbol.st_name) ? name : "";
}

bool doctor_elf_holds(const struct doctor_elf *e, const char *text)
{
  Elf64_Shdr s;
  for (int i = 0; next_section(e, ".rodata", &i, &s);)
    if (memmem(e->bytes + s.sh_offset, s.sh_size, text, strlen(text))) return true;
  return false;
}

/* Elf64_Nhdr, "Shunt", padding to 4 bytes, the text. */
const char *doctor_elf_build(const struct doctor_elf *e)
{
  Elf64_Shdr s;
  Elf64_Nhdr n;
  int i = 0;
  if (!next_section(e, ".note.shunt", &i, &s) || !fetch(e, s.sh_offset, &n, sizeof n)) return NULL;
  const uint64_t name = s.sh_offset + sizeof n, text = name + (n.n_namesz + UINT64_C(3)) / 4 * 4;
  const char *owner = text_at(e, name, s.sh_offset + s.sh_size);
  if (!owner || strcmp(owner, "Shunt") != 0) return NULL;
  return text_at(e, text, s.sh_offset + s.sh_size);
}

int doctor_elf_glibc(const struct doctor_elf *e)
{
  static const char mark[] = "GLIBC_2.";
  const char *names = e->exported.names;
  size_t size = names ? e->exported.names_size : 0, at = 0;
  int most = 0;
  while (at < size) {
    const char *found = memmem(names + at, size - at, mark, sizeof mark - 1);
    if (!found) break;
    at = (size_t)(found - names) + sizeof mark - 1;
    /* the table of names ends with a zero, or the number was not read to its end */
    int n = memchr(names + at, 0, size - at) ? atoi(names + at) : 0;
    if (n > most) most = n;
  }
  return most;
}

/* ---- the file ------------------------------------------------------------------------------- */

static void read_header(struct doctor_elf *e)
{
  const bool little = e->bytes[EI_DATA] == ELFDATA2LSB;
  uint16_t two[2];
  memcpy(two, e->bytes + EI_NIDENT, sizeof two); /* e_type, e_machine */
  e->bits = e->bytes[EI_CLASS] == ELFCLASS64 ? 64 : 32;
  e->type = little ? two[0] : two[0] >> 8 | (two[0] & 255) << 8;
  e->machine = little ? two[1] : two[1] >> 8 | (two[1] & 255) << 8;
  e->whole = little && e->bits == 64 && e->size >= sizeof(Elf64_Ehdr);
}

enum doctor_elf_status doctor_elf_open(const char *path, struct doctor_elf *out)
{
  struct stat s;
  *out = (struct doctor_elf){0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return errno == ENOENT || errno == ENOTDIR ? DOCTOR_ELF_ABSENT : DOCTOR_ELF_UNREADABLE;
  const bool regular = fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
  void *bytes = MAP_FAILED;
  if (regular && s.st_size >= EI_NIDENT + 4)
    bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (!regular) return DOCTOR_ELF_UNREADABLE;
  if (bytes == MAP_FAILED) return DOCTOR_ELF_OTHER;
  out->bytes = bytes;
  out->size = (size_t)s.st_size;
  if (memcmp(bytes, ELFMAG, SELFMAG) != 0) {
    doctor_elf_close(out);
    return DOCTOR_ELF_OTHER;
  }
  read_header(out);
  if (out->whole) {
    read_segments(out);
    read_sections(out);
  }
  return DOCTOR_ELF_READ;
}

void doctor_elf_close(struct doctor_elf *e)
{
  if (e->bytes) munmap((void *)(uintptr_t)e->bytes, e->size);
  *e = (struct doctor_elf){0};
}

const char *doctor_elf_machine(int machine, char out[32])
{
  switch (machine) {
  case EM_386: return "x86";
  case EM_X86_64: return "x86-64";
  case EM_ARM: return "arm";
  case EM_AARCH64: return "aarch64";
  case EM_PPC64: return "ppc64";
  case EM_RISCV: return "riscv";
  default: snprintf(out, 32, "machine %d", machine); return out;
  }
}
