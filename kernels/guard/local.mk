# kernels/guard: proof that what is kept still matches A, and repair of C where it does not.
GUARD_CUDA = %D%/combine.cu %D%/fingerprint.cu
GUARD_HOST = %D%/host_fingerprint.c
