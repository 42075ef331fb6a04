// csr_sddmm_operands.cu: see csr_sddmm_operands.cuh.
#include "kernels/common/dense_copy.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/csr/csr_sddmm_operands.cuh"

namespace shunt
{
namespace csr::sddmm
{
namespace
{

constexpr int64_t LOAD = 16;      // bytes of a load
constexpr size_t ALIGNMENT = 256; // of each copy

// An operand with the inner dimension along its columns: A, or B transposed.
struct shunt_dense transposed(const struct shunt_dense &m)
{
  struct shunt_dense t = m;
  t.rows = m.cols;
  t.cols = m.rows;
  t.row_stride = m.col_stride;
  t.col_stride = m.row_stride;
  return t;
}

int64_t per_load(const struct shunt_dense &m)
{
  return LOAD / (int64_t)shunt_type_size(m.type);
}

bool is_empty(const struct shunt_dense &m)
{
  return m.rows <= 0 || m.cols <= 0;
}

// Rows shorter than a load are read by elements: alignment is nothing to them.
bool needs_copy(const struct shunt_dense &m)
{
  if (is_empty(m)) return false;
  bool along = m.col_stride == 1 || m.cols == 1;
  bool even = m.rows == 1 || m.cols < per_load(m) || m.row_stride % per_load(m) == 0;
  return !along || !even;
}

int64_t copy_stride(const struct shunt_dense &m)
{
  return (m.cols + per_load(m) - 1) / per_load(m) * per_load(m);
}

size_t copy_bytes(const struct shunt_dense &m)
{
  if (!needs_copy(m)) return 0;
  size_t bytes = (size_t)m.rows * (size_t)copy_stride(m) * shunt_type_size(m.type);
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

bool is_aligned(const struct shunt_dense &m)
{
  return is_empty(m) || needs_copy(m) || m.cols < per_load(m) || (size_t)m.values % LOAD == 0;
}

// `m` where it stands, or its copy at `room`.
shunt_status place(const struct shunt_dense &m, char *room, const struct shunt_device *d,
                   shunt_stream stream, operand *out)
{
  *out = operand{m.values, m.row_stride};
  if (!needs_copy(m)) return SHUNT_OK;
  struct shunt_dense copy = m;
  copy.values = room;
  copy.row_stride = copy_stride(m);
  copy.col_stride = 1;
  *out = operand{room, copy.row_stride};
  return shunt_dense_copy_cuda(&m, &copy, d, stream);
}

} // namespace

size_t operands_bytes(const struct shunt_sddmm *p)
{
  return copy_bytes(p->a) + copy_bytes(transposed(p->b));
}

shunt_status make_operands(const struct shunt_sddmm *p, const struct shunt_device *d,
                           void *workspace, size_t workspace_bytes, shunt_stream stream,
                           operands *out)
{
  const struct shunt_dense bt = transposed(p->b);
  const size_t a_bytes = copy_bytes(p->a), all = a_bytes + copy_bytes(bt);
  if (all && (!workspace || workspace_bytes < all || (size_t)workspace % ALIGNMENT))
    return SHUNT_E_WORKSPACE;
  out->aligned = is_aligned(p->a) && is_aligned(bt);
  shunt_status s = place(p->a, (char *)workspace, d, stream, &out->a);
  if (s != SHUNT_OK) return s;
  return place(bt, (char *)workspace + a_bytes, d, stream, &out->b);
}

shunt_status check_problem(const struct shunt_sddmm *p)
{
  const struct shunt_csr *c = &p->c;
  if (p->a.rows != c->rows || p->b.cols != c->cols || p->a.cols != p->b.rows)
    return SHUNT_E_ARGUMENT;
  if (p->a.type != p->b.type) return SHUNT_E_UNSUPPORTED;
  if (c->index_type != SHUNT_I32 && c->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  // Positions may run a tile past the end before they are cut off.
  if (c->index_type == SHUNT_I32 && c->nnz > INT32_MAX - 65536) return SHUNT_E_UNSUPPORTED;
  switch (p->a.type) {
  case SHUNT_I8:
    if (c->value_type != SHUNT_I32 && c->value_type != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
    if (p->compute == SHUNT_F32 && p->a.cols > SHUNT_CSR_SDDMM_EXACT) return SHUNT_E_UNSUPPORTED;
    return p->compute == c->value_type ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
  case SHUNT_F16:
  case SHUNT_BF16:
    if (c->value_type != p->a.type && c->value_type != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
    return p->compute == SHUNT_F32 ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
  case SHUNT_F32:
  case SHUNT_F64:
  case SHUNT_C32:
  case SHUNT_C64:
    if (c->value_type != p->a.type) return SHUNT_E_UNSUPPORTED;
    return p->compute == p->a.type ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
  default: return SHUNT_E_UNSUPPORTED;
  }
}

} // namespace csr::sddmm
} // namespace shunt
