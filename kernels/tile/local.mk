# kernels/tile: 16 x 32 tiles of the columns that 16 rows have.
TILE_CUDA = %D%/tile_spmm.cu %D%/tile_spmm_bf16.cu %D%/tile_spmm_f16.cu %D%/tile_spmm_proved.cu
TILE_HOST = %D%/host_tile_spmm.c
