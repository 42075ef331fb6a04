/* dlsym.c: libshunt-dlsym.so, the opt-in second preload for programs that bind cuSPARSE
   by dlsym on a handle (JAX), which no preload of the functions themselves ever sees.

     dlsym(handle, name)
       one of our six names, a real handle, and the answer lies in a cuSPARSE
              -> libshunt-cusparse.so's function instead
       everything else
              -> the next dlsym, by a jump

   It must be a jump, not a call: for RTLD_NEXT and RTLD_DEFAULT dlsym looks at its return
   address to learn who asks.  A compiler makes the jump only if it optimises, so the
   entry is written in assembly.  It runs inside of programs' memory allocators (theirs
   find malloc by dlsym), so it neither allocates nor locks, nor calls
   anything at all before the name is known to be one of the six.

   dlvsym is left alone: nobody asks for cuSPARSE's functions by version.  */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, RTLD_NEXT, dlvsym */
#endif
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdbool.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef void *dlsym_function(void *, const char *);

/* Both are named in the assembly below. */
extern dlsym_function *shunt_dlsym_next HIDDEN;
void *shunt_dlsym_answer(void *handle, const char *name, void *caller) HIDDEN;

/* In libshunt-cusparse.so; NULL when that is not loaded. */
extern void *shunt_cusparse_note_original(const char *name, void *found) __attribute__((weak));

dlsym_function *shunt_dlsym_next;

/* glibc moved dlsym from libdl to libc in 2.34 and gave it that version.  The name
   that exists is asked for first, because a failed look-up allocates a message.  */
static void find_next(void)
{
#if defined __x86_64__
  static const char *const version[2] = {"GLIBC_2.34", "GLIBC_2.2.5"};
#else
  static const char *const version[2] = {"GLIBC_2.34", "GLIBC_2.17"};
#endif
  const char *libc = gnu_get_libc_version(); /* "2.36" */
  bool old = libc[0] == '2' && libc[1] == '.' &&
             (libc[2] < '3' || libc[3] < '0' || (libc[2] == '3' && libc[3] < '4'));
  void *p = dlvsym(RTLD_NEXT, "dlsym", version[old]);
  if (!p) p = dlvsym(RTLD_NEXT, "dlsym", version[!old]);
  __atomic_store_n(&shunt_dlsym_next, (dlsym_function *)p, __ATOMIC_RELEASE);
}

/* strcmp, without the call: another library's relocation may not have come so far. */
static bool same(const char *a, const char *b)
{
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

static bool is_taken(const char *name)
{
  static const char *const taken[] = {
      "cusparseSpMM",  "cusparseSpMM_bufferSize",  "cusparseSpMM_preprocess",
      "cusparseSDDMM", "cusparseSDDMM_bufferSize", "cusparseSDDMM_preprocess",
  };
  if (!name) return false;
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (same(name, taken[i])) return true;
  return false;
}

/* libshunt-cusparse.so looks for the originals by these names too: it means them. */
static bool is_shunt(void *caller)
{
  Dl_info asks, shunt;
  return dladdr(caller, &asks) && dladdr((void *)shunt_cusparse_note_original, &shunt) &&
         asks.dli_fbase == shunt.dli_fbase;
}

/* What to answer instead of the next dlsym; NULL: let it answer.  Called by the assembly. */
__attribute__((used)) void *shunt_dlsym_answer(void *handle, const char *name, void *caller)
{
  if (!__atomic_load_n(&shunt_dlsym_next, __ATOMIC_ACQUIRE)) find_next();
  if (!is_taken(name) || handle == RTLD_DEFAULT || handle == RTLD_NEXT) return NULL;
  if (!shunt_dlsym_next || !shunt_cusparse_note_original || is_shunt(caller)) return NULL;
  void *found = shunt_dlsym_next(handle, name);
  return found ? shunt_cusparse_note_original(name, found) : NULL;
}

/* void *dlsym(void *handle, const char *name)
   {
     void *p = shunt_dlsym_answer(handle, name, <return address>);
     if (p) return p;
     if (!shunt_dlsym_next) return NULL;
     goto *shunt_dlsym_next;                  // with handle, name and the stack as they came
   }  */
#if defined __x86_64__
/* At entry rsp is 8 below a multiple of 16, and the return address is at (rsp). */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "  .cfi_startproc\n"
        "  endbr64\n"
        "  movq (%rsp), %rdx\n"
        "  subq $24, %rsp\n"
        "  .cfi_adjust_cfa_offset 24\n"
        "  movq %rdi, 8(%rsp)\n"
        "  movq %rsi, 16(%rsp)\n"
        "  call shunt_dlsym_answer\n"
        "  movq 8(%rsp), %rdi\n"
        "  movq 16(%rsp), %rsi\n"
        "  addq $24, %rsp\n"
        "  .cfi_adjust_cfa_offset -24\n"
        "  testq %rax, %rax\n"
        "  jnz 1f\n"
        "  movq shunt_dlsym_next(%rip), %rax\n"
        "  testq %rax, %rax\n"
        "  jz 1f\n"
        "  jmp *%rax\n"
        "1:\n"
        "  ret\n"
        "  .cfi_endproc\n"
        "  .size dlsym, .-dlsym\n");
#elif defined __aarch64__
__asm__(".text\n"
        ".p2align 4\n"
        ".globl dlsym\n"
        ".type dlsym, %function\n"
        "dlsym:\n"
        "  .cfi_startproc\n"
        "  hint #34\n" /* bti c */
        "  stp x29, x30, [sp, #-32]!\n"
        "  .cfi_adjust_cfa_offset 32\n"
        "  .cfi_offset 29, -32\n"
        "  .cfi_offset 30, -24\n"
        "  mov x29, sp\n"
        "  stp x0, x1, [sp, #16]\n"
        "  mov x2, x30\n"
        "  bl shunt_dlsym_answer\n"
        "  mov x9, x0\n"
        "  ldp x0, x1, [sp, #16]\n"
        "  ldp x29, x30, [sp], #32\n"
        "  .cfi_adjust_cfa_offset -32\n"
        "  .cfi_restore 29\n"
        "  .cfi_restore 30\n"
        "  cbnz x9, 1f\n"
        "  adrp x16, shunt_dlsym_next\n"
        "  ldr x16, [x16, #:lo12:shunt_dlsym_next]\n"
        "  cbz x16, 1f\n"
        "  br x16\n"
        "1:\n"
        "  mov x0, x9\n"
        "  ret\n"
        "  .cfi_endproc\n"
        "  .size dlsym, .-dlsym\n");
#else
#error "libshunt-dlsym.so needs its entry in this machine's assembly"
#endif
