/* doctor_elf.h: what `shunt doctor` reads of one ELF file, without loading it.

     ELF header        class, machine, type
     program headers   PT_INTERP, PT_DYNAMIC, PT_LOAD (address -> place in the file)
     dynamic section   DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH, DT_SYMBOLIC
     symbol tables     .dynsym, and .symtab where it was not stripped
     sections          .rodata* (texts), .note.shunt (which build of Shunt this is)

   The file may be anything: every offset is checked against its size.  All but the header is read
   of 64-bit little-endian files only.  Pointers are into the mapped file and live until
   doctor_elf_close.  */
#ifndef SHUNT_TOOL_DOCTOR_ELF_H
#define SHUNT_TOOL_DOCTOR_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum doctor_elf_status {
  DOCTOR_ELF_READ,
  DOCTOR_ELF_ABSENT,
  DOCTOR_ELF_UNREADABLE, /* no permission, or no regular file */
  DOCTOR_ELF_OTHER       /* not ELF */
};

enum { DOCTOR_MOST_NEEDED = 256 };

struct doctor_elf_symbols {
  const uint8_t *at; /* Elf64_Sym, perhaps not aligned */
  size_t count;
  const char *names;
  size_t names_size;
};

struct doctor_elf {
  const uint8_t *bytes;
  size_t size;
  int bits, machine, type; /* 32 or 64; EM_*; ET_* */
  bool whole;              /* 64 bits, little-endian: the fields below were read */
  bool dynamic, symbolic;
  const char *interpreter; /* NULL: none */
  const char *soname, *rpath, *runpath;
  const char *needed[DOCTOR_MOST_NEEDED];
  int needed_count;
  struct doctor_elf_symbols exported, all; /* .dynsym, .symtab */
};

enum doctor_elf_status doctor_elf_open(const char *path, struct doctor_elf *out);
void doctor_elf_close(struct doctor_elf *e);

/* Symbol i of a table: its name ("" where broken), and whether the file defines it. */
const char *doctor_elf_symbol(const struct doctor_elf_symbols *s, size_t i, bool *defined);

/* Do the read-only data hold this text?  Reads all of them. */
bool doctor_elf_holds(const struct doctor_elf *e, const char *text);

/* The text that Shunt's libraries carry (backend/loader/build_note.c), or NULL. */
const char *doctor_elf_build(const struct doctor_elf *e);

/* The highest n of a name "GLIBC_2.n" among the dynamic names; 0: none. */
int doctor_elf_glibc(const struct doctor_elf *e);

/* "x86-64", or "machine 243". */
const char *doctor_elf_machine(int machine, char out[32]);

#endif
