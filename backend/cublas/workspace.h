/* workspace.h: device memory that cuBLAS is given for a product. */
#ifndef SHUNT_CUBLAS_WORKSPACE_H
#define SHUNT_CUBLAS_WORKSPACE_H

/* Bytes, as cuBLAS' manual advises for Hopper: the most that a product gets.  cuBLASLt is asked
   for algorithms as if it had them, whatever it has: to less it answers with others, which take up
   to 20 times as long where the advised ones need less, too (tests/bench/dense.md).  */
enum { SHUNT_CUBLAS_WORKSPACE = 32 << 20 };

#endif
