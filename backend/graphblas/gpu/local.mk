# backend/graphblas/gpu, ../epoch: the GPU engine, and what counts changes of what it keeps.
if HAVE_CUDA
noinst_LTLIBRARIES += libshunt-graphblas-gpu.la
libshunt_graphblas_gpu_la_SOURCES = \
  %D%/budget.c %D%/cost.c %D%/device.c %D%/fill.cu %D%/gpu_engine.c %D%/gpu_cut.c \
  %D%/gpu_product.c \
  %D%/gpu_semiring.c %D%/launch.c %D%/pages.c %D%/part.c %D%/pins.c %D%/placement.c %D%/proof.c \
  %D%/resident.c %D%/rows.c %D%/shard.c %D%/view.c \
  %D%/pipeline/enqueue.c %D%/pipeline/host_fallback.c %D%/pipeline/pipeline.c \
  %D%/pipeline/strip.c %D%/pipeline/tasks.c %D%/pipeline/units.c \
  %D%/masked/gpu_masked.c %D%/masked/masked_host.c %D%/masked/masked_operands.c \
  %D%/masked/masked_parts.c %D%/masked/masked_seconds.c \
  %D%/masked/transfer.c $(SEMIRING_CUDA) \
  backend/graphblas/epoch/epochs.c backend/graphblas/epoch/interposed.c \
  backend/graphblas/epoch/resolve.c
endif
