#include "backend/graphblas/gpu/launch.h"

#include "backend/graphblas/gpu/fill.h"
#include "backend/graphblas/gpu/gpu_semiring.h"
#include "backend/graphblas/gpu/pipeline/units.h"
#include "backend/plan/cuda_call.h"
#include "kernels/common/dense_copy.h"
#include "kernels/csr/csr_kernels.h"

static struct shunt_dense dense(const struct grb_gpu_run *r, char *values, int64_t rows,
                                int64_t cols, bool by_column)
{
  return (struct shunt_dense){.rows = rows,
                              .cols = cols,
                              .row_stride = by_column ? 1 : cols,
                              .col_stride = by_column ? rows : 1,
                              .values = values,
                              .type = r->p->semiring.type};
}

static shunt_status turn(const struct grb_gpu_run *r, char *from, char *to, int64_t rows,
                         int64_t cols, bool from_by_column)
{
  struct shunt_dense a = dense(r, from, rows, cols, from_by_column);
  struct shunt_dense b = dense(r, to, rows, cols, !from_by_column);
  return SHUNT_LAUNCH(shunt_dense_copy_cuda(&a, &b, &r->device->about, r->device->compute));
}

static shunt_status multiply(const struct grb_gpu_run *r, int unit)
{
  const struct shunt_host_spmm *p = r->p;
  const int blocks = r->cut.blocks, block = r->cut.c_order[unit % blocks],
            s = grb_gpu_strip_of(r, unit);
  const int64_t columns = grb_gpu_strip_columns(r, s);
  const int64_t first = grb_gpu_unit_row(r, false, unit, 0);
  const int64_t rows = grb_gpu_unit_row(r, false, unit, 1) - first;
  const int32_t *begin = &r->s.chunks.begin[block * (GRB_GPU_CHUNKS / blocks)];
  const struct shunt_spmm x = {
      .a = {.rows = rows,
            .cols = p->s.cols,
            .nnz = begin[GRB_GPU_CHUNKS / blocks] - begin[0],
            .row_offsets = r->s.offsets + first,
            .columns = r->s.columns,
            .values = r->s.values,
            .index_type = SHUNT_I32,
            .value_type = p->semiring.type},
      .b = dense(r, grb_gpu_b_row_major(r, s), p->s.cols, columns, false),
      .c = dense(r, grb_gpu_c_row_major(r, unit), rows, columns, false),
      .alpha = {.host = 1},
      .compute = p->semiring.type,
  };
  const struct shunt_device *d = &r->device->about;
  /* The kernel would look for long rows from entry 0 on, which is not the block's first.  The cut
     has seen to it that there are none that matter.  */
  if (blocks > 1)
    return SHUNT_LAUNCH(shunt_csr_spmm_split_cuda(&x, 0, d, NULL, 0, r->device->compute));
  if (!grb_gpu_balanced(&r->s)) {
    shunt_status status =
        SHUNT_LAUNCH(shunt_csr_spmm_split_cuda(&x, r->s.longest, d, NULL, 0, r->device->compute));
    if (status != SHUNT_E_UNSUPPORTED) return status;
  }
  return SHUNT_LAUNCH(shunt_csr_spmm_merge_cuda(&x, d, r->block + r->cut.workspace_at,
                                                (size_t)(r->cut.block_bytes - r->cut.workspace_at),
                                                r->device->compute));
}

/* What is the same all over need not be sent. */
static shunt_status fill_constants(struct grb_gpu_run *r)
{
  const struct shunt_host_spmm *p = r->p;
  const shunt_type type = p->semiring.type;
  shunt_status s = SHUNT_OK;
  if (r->rows && p->s.nnz > 0 && (r->ones || p->s.iso)) {
    double value = r->ones             ? 1
                   : type == SHUNT_F32 ? (double)*(const float *)p->s.values
                                       : *(const double *)p->s.values;
    s = SHUNT_LAUNCH(grb_gpu_fill(r->s.values, p->s.nnz, type, value, r->device->compute));
  }
  if (s == SHUNT_OK && r->cut.b == GRB_GPU_B_CONSTANT)
    s = SHUNT_LAUNCH(grb_gpu_fill(r->block + r->cut.b_scratch_at, p->s.cols * r->cut.width, type,
                                  grb_gpu_constant_of_b(r->p), r->device->compute));
  return s;
}

shunt_status grb_gpu_launch(struct grb_gpu_run *r, int unit)
{
  const struct grb_gpu_cut *cut = &r->cut;
  const int s = grb_gpu_strip_of(r, unit);
  cudaStream_t stream = r->device->compute;
  shunt_status status = SHUNT_OK;
  if (unit == 0) {
    status = fill_constants(r);
    if (status == SHUNT_OK && r->rows)
      status = SHUNT_CUDA(cudaStreamWaitEvent(stream, grb_gpu_s_sent(r), 0));
  }
  while (status == SHUNT_OK && r->b_awaited < grb_gpu_units_needed(r, unit))
    status = SHUNT_CUDA(cudaStreamWaitEvent(stream, grb_gpu_sent(r, r->b_awaited++), 0));
  if (status == SHUNT_OK && cut->c_ring && unit >= cut->c_ring_blocks)
    status =
        SHUNT_CUDA(cudaStreamWaitEvent(stream, grb_gpu_fetched(r, unit - cut->c_ring_blocks), 0));
  if (status == SHUNT_OK && cut->b == GRB_GPU_B_HOST && cut->b_turned)
    status = turn(r, grb_gpu_b_as_sent(r, s), grb_gpu_b_row_major(r, s), r->p->s.cols,
                  grb_gpu_strip_columns(r, s), true);
  if (status == SHUNT_OK) status = multiply(r, unit);
  if (status == SHUNT_OK && cut->c_turned)
    status = turn(r, grb_gpu_c_row_major(r, unit), grb_gpu_c_as_fetched(r, unit), r->p->s.rows,
                  grb_gpu_strip_columns(r, s), false);
  if (status == SHUNT_OK) status = SHUNT_CUDA(cudaEventRecord(grb_gpu_computed(r, unit), stream));
  return status;
}
