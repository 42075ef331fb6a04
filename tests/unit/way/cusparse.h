/* cusparse.h: a cuSPARSE of the test's own, which computes by the twins on the test's device.

   Programs call the exported functions (cusparseSpMM, ..), which are Shunt's, and make descriptors
   by the functions here, which are nobody's but the library's.  */
#ifndef WAY_CUSPARSE_H
#define WAY_CUSPARSE_H

#include "backend/cusparse/original.h"

struct library {
  _Atomic int products; /* SpMM and SDDMM that reached it */
  _Atomic int others;   /* bufferSize and preprocess that did */
  _Atomic int open;     /* descriptors and handles that live */
  bool absent;          /* the process holds no cuSPARSE */
  bool refuses;         /* it does not support the types */
};
extern struct library library;

#endif
