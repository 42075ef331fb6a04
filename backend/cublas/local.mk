# backend/cublas: cuBLASLt, opened when it pays.
CUBLAS_SOURCES = %D%/cublaslt.c %D%/lazy_init.c
