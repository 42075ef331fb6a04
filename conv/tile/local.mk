# conv/tile: CSR <-> tiles.
CONV_TILE_CUDA = %D%/tile_from_csr.cu
CONV_TILE_SIZES = %D%/tile_layout.c
CONV_TILE_HOST = $(CONV_TILE_SIZES) %D%/host_tile_from_csr.c %D%/host_tile_order.c \
  %D%/host_tile_to_csr.c
