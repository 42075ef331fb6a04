# conv/profile: what a pattern looks like.
CONV_PROFILE_CUDA = %D%/profile.cu %D%/density.cu
CONV_PROFILE_HOST = %D%/host_profile.c %D%/host_density.c %D%/structure.c
CONV_PROFILE_SEMIRING = %D%/host_density_sparse.c
