# kernels/tile: 16 x 32 tiles of the columns that 16 rows have.
TILE_CUDA = %D%/tile_spmm.cu %D%/tile_spmm_bf16.cu %D%/tile_spmm_f16.cu %D%/tile_spmm_proved.cu
# Aligned tiles, and those that are 2:4: no route takes them.
TILE_MIXED_CUDA = %D%/tile_mixed_spmm.cu %D%/tile_mixed_spmm_bf16.cu %D%/tile_mixed_spmm_f16.cu
TILE_HOST = %D%/host_tile_spmm.c
