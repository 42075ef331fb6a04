// vector_packed_spmm.cu: checks, choice of shape and launch of SpMM over the `vector` format.
//
// The kernels: vector_packed_spmm_direct.cuh, vector_packed_spmm_strips.cuh; and with the proof inside,
// vector_packed_spmm_proved.cu.
#include <math.h>

#include "kernels/common/dense_copy.h"
#include "kernels/common/tensor_map.h"
#include "kernels/vector/vector_packed_spmm_launch.cuh"

namespace shunt
{
namespace vector
{

shunt_status check(const struct shunt_spmm *p, const struct shunt_vector *v)
{
  const shunt_type t = p->a.value_type;
  if (t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (p->b.type != t || (p->c.type != t && p->c.type != SHUNT_F32)) return SHUNT_E_UNSUPPORTED;
  if (p->compute != SHUNT_F32 || p->only_if) return SHUNT_E_UNSUPPORTED;
  if (p->a.rows < 1 || p->a.cols < 1 || p->b.cols < 1) return SHUNT_E_ARGUMENT;
  if (p->b.rows != p->a.cols || p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (v && (v->rows != p->a.rows || v->cols != p->a.cols || v->value_type != t))
    return SHUNT_E_ARGUMENT;
  if (p->a.rows > INT32_MAX - 1024 || p->a.cols > INT32_MAX - 1024) return SHUNT_E_UNSUPPORTED;
  if (p->b.cols > 65535 * INT64_C(64)) return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

// Of 16-bit types: the shapes here are for those.
static bool is_half(const struct shunt_spmm *p)
{
  return shunt_type_size(p->a.value_type) == 2;
}

static bool strips_run(int tile, const struct shunt_device *d)
{
  const int bytes = tile == 128 ? strips_256x128::kBytes : strips_256x64::kBytes;
  return d->compute_capability >= 90 && bytes <= d->shared_per_block;
}
static bool direct_runs(int tile, const struct shunt_device *d)
{
  return (tile == 128 ? direct_128::kBytes : direct_64::kBytes) <= d->shared_per_block;
}
static bool pairs_run(int tile, const struct shunt_device *d)
{
  return tile == 128 && pairs_128::kBytes <= d->shared_per_block;
}

static bool shape_fits(const struct shunt_vector_shape *s, const struct shunt_vector *v,
                       const struct shunt_device *d)
{
  if (s->tile != 64 && s->tile != 128) return false;
  if (s->rows == 0)
    return s->log2_slices >= 0 && s->log2_slices <= 3 &&
           (s->pairs ? pairs_run(s->tile, d) : direct_runs(s->tile, d));
  if (s->pairs || s->rows != 256 || v->order != SHUNT_VECTOR_WINDOWED) return false;
  return strips_run(s->tile, d);
}

// ---- B and C ---------------------------------------------------------------------------

static bool rows_aligned(const struct shunt_dense &m)
{
  const int64_t size = static_cast<int64_t>(shunt_type_size(m.type));
  return m.col_stride == 1 && m.row_stride * size % 16 == 0;
}

// The rows of B start at multiples of 16 bytes and have no ragged last piece.
static bool b_in_place(const struct shunt_spmm *p)
{
  return rows_aligned(p->b) && p->b.cols % (16 / (int64_t)shunt_type_size(p->b.type)) == 0;
}

// ---- the choice --------------------------------------------------------------------------
//
// Times in us, fitted on an H200 (4096^2 and 8192^2, 256 and 1024 columns of B, 2 to 20 % of
// vectors; within 15 %; and layers of 256 to 4608 columns).  Strips pay where the gather of the direct way takes longer than
// bringing all of B to every block.

struct size_of_product {
  double groups, strips, vectors;
  int64_t n;
};

static struct size_of_product size_with(const struct shunt_spmm *p, double vectors)
{
  const int64_t groups = (p->a.rows + SHUNT_VECTOR_ROWS - 1) / SHUNT_VECTOR_ROWS;
  const int64_t strips = (p->a.cols + SHUNT_VECTOR_STRIP - 1) / SHUNT_VECTOR_STRIP;
  const double most = static_cast<double>(groups) * static_cast<double>(p->a.cols);
  return {static_cast<double>(groups), static_cast<double>(strips), vectors < most ? vectors : most,
          p->b.cols};
}

static struct size_of_product size_of(const struct shunt_spmm *p, int height)
{
  return size_with(p, static_cast<double>(p->a.nnz) / (height < 8 ? height : 8));
}

// Narrow tiles unless they are too many for all warps; slices where they are too few.
static struct shunt_vector_shape direct_of(const struct size_of_product &z,
                                           const struct shunt_device *d)
{
  const double warps = 16.0 * d->multiprocessors;
  const double wide = z.groups * static_cast<double>((z.n + 127) / 128);
  const double narrow = z.groups * static_cast<double>((z.n + 63) / 64);
  const bool is_wide = z.n > 64 && wide * 2 > warps && direct_runs(128, d);
  struct shunt_vector_shape s = {0, is_wide ? 128 : 64, 0, 0};
  while (s.tile == 64 && s.log2_slices < 3 && narrow * (2 << s.log2_slices) <= warps &&
         z.vectors / z.groups >= 16 * (2 << s.log2_slices))
    s.log2_slices++;
  return s;
}

// slots: vectors, and those that are not used.  What is gathered, what is stored, and the steps that
// a multiprocessor's warps take one after the other; fitted to 446 products of layers, 1.07 off.
static double direct_us(const struct size_of_product &z, double slots, const struct shunt_device *d)
{
  const struct shunt_vector_shape s = direct_of(z, d);
  const double slices = 1 << s.log2_slices, n = static_cast<double>(z.n);
  const double warps = z.groups * ceil(n / s.tile) * slices;
  const double rounds = ceil(warps / (16.0 * d->multiprocessors));
  const double steps = ceil(slots / z.groups / SHUNT_VECTOR_STEP / slices) * rounds;
  return 3.3 + 0.0685 * steps + (0.147e-6 * slots + 1.3e-6 * SHUNT_VECTOR_ROWS * z.groups) * n;
}

// The same with two groups a warp, which gathers once for both; 12 %.
static double pairs_us(const struct size_of_product &z)
{
  const double tiles = static_cast<double>((z.n + 127) / 128);
  return 3 + tiles * (2.0e-3 * z.groups + 10.2e-6 * z.vectors);
}

// Are there enough of them for all multiprocessors?
static bool pairs_fill(const struct size_of_product &z, const struct shunt_device *d)
{
  const double warps = z.groups / 2 * static_cast<double>((z.n + 127) / 128);
  return pairs_run(128, d) && warps * 5 > 16.0 * d->multiprocessors;
}

static struct shunt_vector_shape pairs_of(const struct size_of_product &z,
                                          const struct shunt_device *d)
{
  const double warps = z.groups / 2 * static_cast<double>((z.n + 127) / 128);
  return {0, 128, warps * 2 <= 16.0 * d->multiprocessors ? 1 : 0, 1};
}

// A block starts and stores; a strip takes so long to bring, and so much longer the more vectors it
// has to do with.
static double strips_us(const struct size_of_product &z, int tile, const struct shunt_device *d)
{
  const int64_t blocks = (static_cast<int64_t>(z.groups) + 31) / 32 * ((z.n + tile - 1) / tile);
  const int64_t rounds = (blocks + d->multiprocessors - 1) / d->multiprocessors;
  const double full = z.vectors / (z.groups * z.strips * SHUNT_VECTOR_STRIP);
  const double start = tile == 128 ? 7.5 : 6;
  const double strip = tile == 128 ? 0.345 + 4.7 * full : 0.27 + 3.7 * full;
  return static_cast<double>(rounds) * (start + z.strips * strip);
}

static int best_strips(const struct size_of_product &z, const struct shunt_device *d)
{
  return strips_us(z, 128, d) <= strips_us(z, 64, d) ? 128 : 64;
}

// Without strips; height: of struct shunt_vector.
static bool takes_pairs(const struct size_of_product &z, int height, const struct shunt_device *d)
{
  return height == 16 && pairs_fill(z, d);
}
static double gather_us(const struct size_of_product &z, double slots, int height,
                        const struct shunt_device *d)
{
  return takes_pairs(z, height, d) ? pairs_us(z) : direct_us(z, slots, d);
}

// Are strips faster, with a proof behind them, than to gather, with one inside or behind?
static bool strips_pay(const struct size_of_product &z, double slots, int height,
                       const struct shunt_device *d)
{
  const int tile = best_strips(z, d);
  const double behind = takes_pairs(z, height, d) ? 0 : 2;
  return strips_run(tile, d) && strips_us(z, tile, d) + behind < gather_us(z, slots, height, d);
}

// ---- a copy of B ---------------------------------------------------------------------------

// An aligned row-major copy of B at `at`.
static struct shunt_dense b_copy(const struct shunt_spmm *p, void *at)
{
  struct shunt_dense copy = p->b;
  copy.row_stride = (p->b.cols + 7) / 8 * 8;
  copy.col_stride = 1;
  copy.values = at;
  return copy;
}
static size_t b_copy_bytes(const struct shunt_spmm *p)
{
  const struct shunt_dense copy = b_copy(p, NULL);
  return static_cast<size_t>(copy.rows) * copy.row_stride * shunt_type_size(copy.type);
}

shunt_status place_b(const struct shunt_spmm *p, void *workspace, size_t workspace_bytes,
                     struct shunt_dense *b)
{
  *b = p->b;
  if (b_in_place(p) && reinterpret_cast<uintptr_t>(p->b.values) % 16 == 0) return SHUNT_OK;
  if (!workspace || workspace_bytes < b_copy_bytes(p) ||
      reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
    return SHUNT_E_WORKSPACE;
  *b = b_copy(p, workspace);
  return SHUNT_OK;
}

shunt_status fill_arguments(arguments *k, const struct shunt_spmm *p, const struct shunt_vector *v,
                            const struct shunt_dense *b, const struct shunt_vector_shape *s)
{
  const int64_t row_bytes = b->row_stride * static_cast<int64_t>(shunt_type_size(b->type));
  if (row_bytes > UINT32_MAX) return SHUNT_E_UNSUPPORTED;
  k->row_of = v->row_of;
  k->begin = v->begin, k->count = v->count, k->strip_end = v->strip_end;
  k->columns = v->columns, k->masks = v->masks;
  k->values = reinterpret_cast<const uint2 *>(v->values);
  k->rows = static_cast<int>(v->rows);
  k->groups = static_cast<int>(v->groups);
  k->strips = static_cast<int>(v->strips);
  k->n = static_cast<int>(b->cols);
  k->b = static_cast<const char *>(b->values);
  k->b_row_bytes = static_cast<uint32_t>(row_bytes);
  k->c = p->c.values;
  k->c_row_stride = p->c.row_stride;
  k->c_col_stride = p->c.col_stride;
  k->c_wide = rows_aligned(p->c) && reinterpret_cast<uintptr_t>(p->c.values) % 16 == 0;
  k->alpha = make_scalar_arg<float>(p->alpha);
  k->beta = make_scalar_arg<float>(p->beta);
  k->log2_slices = s->log2_slices;
  return SHUNT_OK;
}

} // namespace vector
} // namespace shunt

using namespace shunt::vector;

extern "C" size_t shunt_vector_packed_spmm_workspace(const struct shunt_spmm *p)
{
  if (check(p, NULL) != SHUNT_OK || b_in_place(p)) return 0;
  return b_copy_bytes(p);
}

extern "C" enum shunt_vector_order
shunt_vector_packed_spmm_order(const struct shunt_spmm *p, int height, const struct shunt_device *d)
{
  const struct size_of_product z = size_of(p, height);
  return strips_pay(z, z.vectors, height, d) ? SHUNT_VECTOR_WINDOWED : SHUNT_VECTOR_SEQUENTIAL;
}

extern "C" double shunt_vector_packed_spmm_us(const struct shunt_spmm *p, double vectors,
                                              int height, const struct shunt_device *d)
{
  const struct size_of_product z = size_with(p, vectors);
  return strips_pay(z, z.vectors, height, d) ? strips_us(z, best_strips(z, d), d)
                                             : gather_us(z, z.vectors, height, d);
}

// As far as the product counts: only sums alone, and B read in place.
static bool proof_fits(const struct shunt_spmm *p)
{
  return !p->beta.device && p->beta.host == 0 && b_in_place(p) &&
         reinterpret_cast<uintptr_t>(p->b.values) % 16 == 0;
}

shunt_status shunt::vector::prepare_proved(const struct shunt_spmm *p, const struct shunt_vector *v,
                                           const struct shunt_vector_shape *shape,
                                           const struct shunt_device *d, arguments *k)
{
  struct shunt_spmm product = *p;
  product.only_if = nullptr;
  const shunt_status s = check(&product, v);
  if (s != SHUNT_OK) return s;
  if (!is_half(p) || !shape_fits(shape, v, d) || shape->rows != 0 || shape->pairs)
    return SHUNT_E_UNSUPPORTED;
  return proof_fits(p) ? fill_arguments(k, p, v, &p->b, shape) : SHUNT_E_UNSUPPORTED;
}

extern "C" bool shunt_vector_packed_spmm_proves(const struct shunt_spmm *p, double vectors,
                                                int height, const struct shunt_device *d)
{
  const struct size_of_product z = size_with(p, vectors);
  return proof_fits(p) && !takes_pairs(z, height, d) && !strips_pay(z, z.vectors, height, d);
}

extern "C" struct shunt_vector_shape shunt_vector_packed_spmm_shape(const struct shunt_spmm *p,
                                                                    const struct shunt_vector *v,
                                                                    const struct shunt_device *d)
{
  const struct size_of_product z = size_of(p, v->height);
  const struct shunt_vector_shape strips = {256, best_strips(z, d), 0, 0};
  // A random pattern leaves one slot unused in every 40 columns.
  const double slots = z.vectors + 0.026 * z.groups * static_cast<double>(v->cols);
  if (shape_fits(&strips, v, d) && strips_pay(z, slots, v->height, d)) return strips;
  return takes_pairs(z, v->height, d) ? pairs_of(z, d) : direct_of(z, d);
}

extern "C" shunt_status
shunt_vector_packed_spmm_shaped_cuda(const struct shunt_spmm *p, const struct shunt_vector *v,
                                     const struct shunt_vector_shape *shape,
                                     const struct shunt_device *d, void *workspace,
                                     size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = check(p, v);
  if (s != SHUNT_OK) return s;
  if (!is_half(p) || !shape_fits(shape, v, d)) return SHUNT_E_UNSUPPORTED;

  struct shunt_dense b;
  arguments k;
  CUtensorMap map = {};
  s = place_b(p, workspace, workspace_bytes, &b);
  if (s != SHUNT_OK) return s;
  s = fill_arguments(&k, p, v, &b, shape);
  if (s != SHUNT_OK) return s;
  if (shape->rows != 0 && !shunt::make_tensor_map(&map, b, SHUNT_VECTOR_STRIP, 64))
    return SHUNT_E_UNSUPPORTED;

  if (b.values != p->b.values) {
    s = shunt_dense_copy_cuda(&p->b, &b, d, stream);
    if (s != SHUNT_OK) return s;
  }
  const cudaError_t e = p->a.value_type == SHUNT_F16
                            ? launch_f16(k, *shape, map, p->c.type, stream)
                            : launch_bf16(k, *shape, map, p->c.type, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

extern "C" shunt_status shunt_vector_packed_spmm_cuda(const struct shunt_spmm *p,
                                                      const struct shunt_vector *v,
                                                      const struct shunt_device *d, void *workspace,
                                                      size_t workspace_bytes, shunt_stream stream)
{
  const struct shunt_vector_shape shape = shunt_vector_packed_spmm_shape(p, v, d);
  return shunt_vector_packed_spmm_shaped_cuda(p, v, &shape, d, workspace, workspace_bytes, stream);
}
