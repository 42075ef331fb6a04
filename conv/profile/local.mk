# conv/profile: what a pattern looks like.
CONV_PROFILE_CUDA = %D%/profile.cu
CONV_PROFILE_HOST = %D%/host_profile.c %D%/structure.c
