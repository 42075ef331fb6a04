/* interposed.c: the exported trampolines of all functions in mutators.h.

   A trampoline raises the epoch of its first argument and jumps to the original with every
   register and the stack as they were, so it needs to know nothing of the arguments;
   variadic functions pass through it, too.  Free for use on entry of a function of the
   x86_64 ABI are r10 and r11 alone.

     trampoline  r10 = number
     HANDLE      r11 = first argument        POINTER   r11 = what it points to
     raise       counters[hash(r11)] += 1    ALL       all_counter += 1
                 neither with SHUNT_DISABLE=1, from the second call of a page on
     dispatch    the caller's page is known, and so is the original: jump there
     search      else, or while an array is pinned, save all argument registers, ask
                 grb_mutator_original, restore

   What GraphBLAS calls of itself by name comes here as well.  */
#include "backend/graphblas/epoch/interposed.h"
#include "backend/graphblas/epoch/pinned.h"

#if GRB_HAVE_TRAMPOLINES

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/* 8 vector registers of 16 bytes at 0(%rsp), then 8 others. */
#define SAVED "192"

/* A line of assembly stands in a line. */
/* clang-format off */
__asm__(
    ".pushsection .text.grb_trampolines, \"ax\", @progbits\n"
    ".p2align 4\n"
    "grb_raise_POINTER:\n"
    "  .cfi_startproc\n"
    "  cmpb $0, shunt_disabled_state(%rip)\n"
    "  jg grb_save\n"
    "  xorl %r11d, %r11d\n"
    "  testq %rdi, %rdi\n"
    "  jz grb_raise\n"
    "  movq (%rdi), %r11\n"
    "  jmp grb_raise\n"
    ".p2align 4\n"
    "grb_raise_HANDLE:\n"
    "  cmpb $0, shunt_disabled_state(%rip)\n"
    "  jg grb_save\n"
    "  movq %rdi, %r11\n"
    "grb_raise:\n"
    "  imulq $" TEXT(GRB_COUNTER_FACTOR) ", %r11, %r11\n"
    "  pushq %rax\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rcx\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  leaq grb_counters(%rip), %rax\n"
    "  shrq $32, %r11\n"
    "  andl $" TEXT(GRB_COUNTERS) " - 1, %r11d\n"
    "  lock incq (%rax, %r11, 8)\n"
    "grb_dispatch:\n"
    "  movq 16(%rsp), %r11\n"
    "  shrq $" TEXT(GRB_PAGE_BITS) ", %r11\n"
    "  movl %r11d, %ecx\n"
    "  andl $" TEXT(GRB_SITES) " - 1, %ecx\n"
    "  shll $4, %ecx\n"
    "  leaq grb_sites(%rip), %rax\n"
    "  addq %rcx, %rax\n"
    "  cmpb $0, grb_several_copies(%rip)\n"
    "  jne grb_search\n"
    "  cmpb $0, grb_pinned(%rip)\n"
    "  jne grb_search\n"
    "  cmpq %r11, (%rax)\n"
    "  jne grb_search\n"
    "  movq 8(%rax), %rax\n"
    "  movq (%rax, %r10, 8), %r11\n"
    "  testq %r11, %r11\n"
    "  jz grb_search\n"
    "  popq %rcx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rax\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  jmp *%r11\n"
    "grb_search:\n"
    "  .cfi_adjust_cfa_offset 16\n"
    "  popq %rcx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rax\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  pushq %rbp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_rel_offset %rbp, 0\n"
    "  movq %rsp, %rbp\n"
    "  .cfi_def_cfa_register %rbp\n"
    "  subq $" SAVED ", %rsp\n"
    "  andq $-16, %rsp\n"
    "  movaps %xmm0, 0(%rsp)\n"
    "  movaps %xmm1, 16(%rsp)\n"
    "  movaps %xmm2, 32(%rsp)\n"
    "  movaps %xmm3, 48(%rsp)\n"
    "  movaps %xmm4, 64(%rsp)\n"
    "  movaps %xmm5, 80(%rsp)\n"
    "  movaps %xmm6, 96(%rsp)\n"
    "  movaps %xmm7, 112(%rsp)\n"
    "  movq %rdi, 128(%rsp)\n"
    "  movq %rsi, 136(%rsp)\n"
    "  movq %rdx, 144(%rsp)\n"
    "  movq %rcx, 152(%rsp)\n"
    "  movq %r8, 160(%rsp)\n"
    "  movq %r9, 168(%rsp)\n"
    "  movq %rax, 176(%rsp)\n"
    "  movq %rdi, %rdx\n"
    "  movl %r10d, %edi\n"
    "  movq 8(%rbp), %rsi\n"
    "  call grb_mutator_original\n"
    "  movq %rax, %r11\n"
    "  movaps 0(%rsp), %xmm0\n"
    "  movaps 16(%rsp), %xmm1\n"
    "  movaps 32(%rsp), %xmm2\n"
    "  movaps 48(%rsp), %xmm3\n"
    "  movaps 64(%rsp), %xmm4\n"
    "  movaps 80(%rsp), %xmm5\n"
    "  movaps 96(%rsp), %xmm6\n"
    "  movaps 112(%rsp), %xmm7\n"
    "  movq 128(%rsp), %rdi\n"
    "  movq 136(%rsp), %rsi\n"
    "  movq 144(%rsp), %rdx\n"
    "  movq 152(%rsp), %rcx\n"
    "  movq 160(%rsp), %r8\n"
    "  movq 168(%rsp), %r9\n"
    "  movq 176(%rsp), %rax\n"
    "  leave\n"
    "  .cfi_def_cfa %rsp, 8\n"
    "  .cfi_restore %rbp\n"
    "  testq %r11, %r11\n"
    "  jz 1f\n"
    "  jmp *%r11\n"
    "1: movl $" TEXT(GRB_PANIC_CODE) ", %eax\n"
    "  ret\n"
    ".p2align 4\n"
    "grb_raise_ALL:\n"
    "  cmpb $0, shunt_disabled_state(%rip)\n"
    "  jg grb_save\n"
    "  lock incq grb_all_counter(%rip)\n"
    "grb_save:\n"
    "  pushq %rax\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rcx\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  jmp grb_dispatch\n"
    "  .cfi_endproc\n"
    ".popsection\n");

#define TRAMPOLINE(number, name, what)                                                             \
  __asm__(".pushsection .text.grb_trampolines, \"ax\", @progbits\n"                                \
          ".p2align 4\n"                                                                           \
          ".globl " #name "\n"                                                                     \
          ".type " #name ", @function\n" #name ":\n"                                               \
          "  .cfi_startproc\n"                                                                     \
          "  endbr64\n"                                                                            \
          "  movl $" #number ", %r10d\n"                                                           \
          "  jmp grb_raise_" #what "\n"                                                            \
          "  .cfi_endproc\n"                                                                       \
          ".size " #name ", . - " #name "\n"                                                       \
          ".popsection\n");
/* clang-format on */
GRB_MUTATORS(TRAMPOLINE)

#endif
