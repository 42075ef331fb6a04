/* build_note.c: which build of Shunt a library is, to be read from its file: an ELF note of the
   owner "Shunt" whose text is

     0.1.0 cuda=13000 -gencode arch=compute_90,code=sm_90 ...
     |     |          nvcc's options for the GPUs that there is code for, and -Ofc=max where the
     |     |          code is not optimized (--enable-fast-compile)
     |     the toolkit's runtime; 0: none
     version

   `shunt doctor` compares it with itself and with the GPU.  */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <elf.h>

#if defined SHUNT_HAVE_CUDA && !defined SHUNT_GRB_STATIC
#include <cuda_runtime_api.h>
#else
#define CUDART_VERSION 0
#endif
#ifndef SHUNT_GENCODE
#define SHUNT_GENCODE ""
#endif
#define TEXT_OF(n) #n
#define NUMBER(n) TEXT_OF(n)
#define TEXT PACKAGE_VERSION " cuda=" NUMBER(CUDART_VERSION) " " SHUNT_GENCODE

struct build_note {
  Elf64_Nhdr head;
  char owner[8];
  char text[sizeof TEXT];
};

__attribute__((used, section(".note.shunt"), aligned(4))) static const struct build_note note = {
    {sizeof "Shunt", sizeof TEXT, 1}, "Shunt", TEXT};
