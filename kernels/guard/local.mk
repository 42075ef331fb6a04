# kernels/guard: proof that a packed copy still matches A, and repair of C where it does not.
GUARD_CUDA = %D%/combine.cu %D%/fingerprint.cu %D%/guard_repair.cu
GUARD_HOST = %D%/host_fingerprint.c
