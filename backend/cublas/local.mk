# backend/cublas: cuBLASLt, opened when first needed.
CUBLAS_SOURCES = %D%/cublaslt.c
