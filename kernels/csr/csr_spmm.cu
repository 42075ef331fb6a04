// csr_spmm.cu: SpMM for any CSR matrix: checks, the layout, and the way to the
// kernels of each type (csr_spmm.cuh explains how work is cut).
#include "kernels/common/alignment.h"
#include "kernels/common/dense_copy.h"
#include "kernels/common/divide.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/csr/csr_layers.h"
#include "kernels/csr/csr_spmm.cuh"

namespace shunt
{
namespace csr
{

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
  return x < low ? low : x > high ? high : x;
}

// Items of a tile: so long that the grid is a few full waves, within limits.
static int choose_tile(int64_t items, int64_t slots)
{
  int64_t waves = shunt_div_up(items, slots * kTileMax);
  int64_t tile = waves ? shunt_div_up(items, slots * waves) : 0;
  return (int)clamp(shunt_div_up(tile, 32) * 32, kTileMin, kTileMax);
}

// Passes that one block makes over its tile: all, so that A is read once; fewer
// when tiles do not fill the device, or when the slices of B that many blocks
// gather at once would not fit in L2 together.
static int choose_passes(const shunt_spmm *p, const shunt_device *d, int64_t tiles, int64_t slots)
{
  int64_t passes = shunt_div_up(p->b.cols * (int64_t)shunt_type_size(p->b.type), kSegment);
  int64_t apart = clamp(shunt_div_up(slots, tiles ? tiles : 1), 1, passes);
  int64_t fit = d->l2_bytes / 2 / (kSegment * (p->b.rows ? p->b.rows : 1));
  return (int)clamp(shunt_div_up(passes, apart), 1, fit > 0 ? fit : 1);
}

// Beyond what the tiled kernel's 32-bit words hold.
static bool too_large(const shunt_spmm *p, int64_t b_stride)
{
  const int64_t word = (int64_t)1 << 32;
  return p->a.rows >= word / 2 || p->a.cols >= word || p->b.cols >= word / 2 ||
         b_stride >= word / (int64_t)shunt_type_size(p->b.type);
}

layout make_layout(const shunt_spmm *p, const shunt_device *d)
{
  layout how = {};
  const size_t element = shunt_type_size(p->b.type), partial = shunt_type_size(p->compute);
  const int64_t n = p->b.cols, items = p->a.rows + p->a.nnz;
  const int64_t slots = (int64_t)d->multiprocessors * kBlocksPerSm;

  how.b_stride = p->b.row_stride;
  how.copies_b = p->b.col_stride != 1 && n > 1 && p->b.rows > 0;
  if (how.copies_b) how.b_stride = shunt_div_up(n * element, 16) * 16 / element;
  if (p->only_if || too_large(p, how.b_stride)) {
    how.direct = true;
    how.copies_b = false;
    return how;
  }
  how.tile = choose_tile(items, slots);
  how.tiles = shunt_div_up(items, how.tile);
  how.passes_per_block = choose_passes(p, d, how.tiles, slots);
  how.pitch = shunt_div_up(n, 8) * 8;

  how.heads_at = shunt_align_up(how.tiles * sizeof(cut_row), 256);
  how.tails_at = how.heads_at + shunt_align_up(how.tiles * how.pitch * partial, 256);
  how.b_at = how.tails_at + shunt_align_up(how.tiles * how.pitch * partial, 256);
  how.bytes =
      how.b_at + (how.copies_b ? shunt_align_up(p->b.rows * how.b_stride * element, 256) : 0);
  return how;
}

static shunt_status check(const shunt_spmm *p)
{
  return check_csr_sizes(p, p->a.rows, p->a.cols);
}

static bool is_mixed(const shunt_spmm *p)
{
  return p->a.value_type != p->b.type;
}

static shunt_status copy_b(const shunt_spmm *p, const shunt_device *d, const layout &how,
                           void *workspace, shunt_stream stream)
{
  shunt_dense to = p->b;
  to.row_stride = how.b_stride;
  to.col_stride = 1;
  to.values = static_cast<char *>(workspace) + how.b_at;
  return shunt_dense_copy_cuda(&p->b, &to, d, stream);
}

shunt_status run(const shunt_spmm *p, const shunt_device *d, const layout &how, void *workspace,
                 shunt_stream stream)
{
  if (how.copies_b) {
    shunt_status status = copy_b(p, d, how, workspace, stream);
    if (status != SHUNT_OK) return status;
  }
  if (is_mixed(p)) return launch_mixed(p, d, how, workspace, stream);
  switch (p->a.value_type) {
  case SHUNT_F16: return launch_f16(p, d, how, workspace, stream);
  case SHUNT_BF16: return launch_bf16(p, d, how, workspace, stream);
  case SHUNT_F32: return launch_f32(p, d, how, workspace, stream);
  case SHUNT_F64: return launch_f64(p, d, how, workspace, stream);
  case SHUNT_I8: return launch_i8(p, d, how, workspace, stream);
  case SHUNT_C32: return launch_c32(p, d, how, workspace, stream);
  case SHUNT_C64: return launch_c64(p, d, how, workspace, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}

static bool is_half(shunt_type t)
{
  return t == SHUNT_F16 || t == SHUNT_BF16;
}

// The combinations of types that launch_* know.
static bool built(const shunt_spmm *p)
{
  const shunt_type s = p->a.value_type, b = p->b.type, out = p->c.type, t = p->compute;
  if (is_mixed(p)) {
    const bool known = (s == SHUNT_F32 && is_half(b)) || (is_half(s) && b == SHUNT_F32);
    return known && t == SHUNT_F32 && (out == b || out == SHUNT_F32);
  }
  if (s == SHUNT_F64 || shunt_type_is_complex(s)) return out == s && t == s;
  if (s == SHUNT_I8 && t == SHUNT_I32) return out == SHUNT_I32;
  if (s == SHUNT_I8) return out == SHUNT_F32 && t == SHUNT_F32;
  return (is_half(s) || s == SHUNT_F32) && t == SHUNT_F32 && (out == s || out == SHUNT_F32);
}

} // namespace csr
} // namespace shunt

using namespace shunt::csr;

extern "C" size_t shunt_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d)
{
  if (p->a.rows == 0 || p->b.cols == 0 || !built(p)) return 0;
  return make_layout(p, d).bytes;
}

extern "C" shunt_status shunt_csr_spmm_merge_cuda(const struct shunt_spmm *p,
                                                  const struct shunt_device *d, void *workspace,
                                                  size_t workspace_bytes, shunt_stream stream)
{
  shunt_status status = check(p);
  if (status != SHUNT_OK) return status;
  if (!built(p)) return SHUNT_E_UNSUPPORTED;
  if (p->c.rows == 0 || p->c.cols == 0) return SHUNT_OK;
  const layout how = make_layout(p, d);
  if (how.direct && is_mixed(p)) return SHUNT_E_UNSUPPORTED;
  if (workspace_bytes < how.bytes || (how.bytes && !workspace) ||
      reinterpret_cast<uintptr_t>(workspace) % 256)
    return SHUNT_E_WORKSPACE;
  return run(p, d, how, workspace, stream);
}

extern "C" shunt_status shunt_csr_spmm_split_cuda(const struct shunt_spmm *p, int64_t longest_row,
                                                  const struct shunt_device *d, void *workspace,
                                                  size_t workspace_bytes, shunt_stream stream)
{
  shunt_status status = check(p);
  if (status != SHUNT_OK) return status;
  if (!built(p) || p->only_if || is_mixed(p)) return SHUNT_E_UNSUPPORTED;
  if (p->c.rows == 0 || p->c.cols == 0) return SHUNT_OK;
  layout how = make_layout(p, d); // where a copy of B stands, if one is needed
  if (how.direct) return SHUNT_E_UNSUPPORTED;
  if (how.copies_b && (workspace_bytes < how.bytes || reinterpret_cast<uintptr_t>(workspace) % 256))
    return SHUNT_E_WORKSPACE;
  how.split = true;
  how.longest = longest_row;
  how.layer = shunt_csr_is_cut_as_layer(&p->a);
  return run(p, d, how, workspace, stream);
}
