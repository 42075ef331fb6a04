// stale_results.cuh: the results of stale.cu's calls, checked on the device in stream order and
// counted here later; with the references of batched and transposed products.
#pragma once
#include <algorithm>
#include <map>
#include <mutex>

#include "tests/gpu/blackbox/stale_state.cuh"

// ---- what was found ------------------------------------------------------------
static thread_local Outcome *outcomes; // device, OUTCOMES of them
static thread_local std::vector<std::string> texts, groups;
static thread_local int64_t calls, step;
static thread_local std::vector<bool> by_original; // the result is surely not Shunt's
// More batches, each with values of its own, are always left to the original, whose own products in
// batches go wrong now and then.
enum { MOST_BATCHES_TAKEN = 16 };
static thread_local std::vector<bool> left; // such a result
struct Tally {
  int64_t calls, strict, loose, outside;
};
static thread_local Tally of_left;
static thread_local std::map<std::string, Tally> tallies;
static thread_local int64_t refused, shown, broken_calls;
static bool finished;

static void drain()
{
  std::unique_lock<std::shared_mutex> alone(device_at_rest);
  CUDA_OK(cudaDeviceSynchronize());
  size_t n = texts.size();
  if (n == 0) return;
  std::vector<Outcome> o(n);
  CUDA_OK(cudaMemcpy(o.data(), outcomes, n * sizeof(Outcome), cudaMemcpyDeviceToHost));
  for (size_t k = 0; k < n; k++) {
    Tally &t = left[k] ? of_left : tallies[groups[k]];
    bool imprecise = o[k].strict && !by_original[k];
    t.calls++;
    t.strict += imprecise;
    t.loose += o[k].loose != 0;
    t.outside += o[k].outside != 0;
    if (((strict && imprecise) || o[k].loose || o[k].outside) && !left[k] && shown++ < 24)
      printf("# %s: %u elements wrong (%u far), %u bytes outside; first (%lld, %lld) is %.9g, "
             "want %.9g +- %.2g\n",
             texts[k].c_str(), o[k].strict, o[k].loose, o[k].outside, (long long)o[k].i,
             (long long)o[k].j, o[k].got, o[k].want, o[k].limit);
  }
  CUDA_OK(cudaMemset(outcomes, 0, n * sizeof(Outcome)));
  CUDA_OK(cudaDeviceSynchronize());
  texts.clear();
  groups.clear();
  by_original.clear();
  left.clear();
}

static Outcome *next_outcome(const Problem &p, const Form &f, const std::string &group,
                             const std::string &text)
{
  if (texts.size() == OUTCOMES) drain();
  texts.push_back(text);
  groups.push_back(group);
  by_original.push_back((!p.device_scalars && p.alpha == 0) || p.a.nnz == 0 || f.transposed ||
                        f.batches > 1);
  left.push_back(f.batches > MOST_BATCHES_TAKEN && f.entries);
  calls++;
  return outcomes + (texts.size() - 1);
}

// cuSPARSE's CSR_ALG3 (its default for 16-bit types, too) stops with a misaligned address on
// rows that do not start on 16 bytes; so nothing that is left to it may ask for that.
static bool original_stumbles(const Problem &p)
{
  return !p.sddmm && type_size(p.a.type) == 2 && (p.b.ld % 8 || p.c.ld % 8);
}

// Its csrmm_v3_kernel, ALG3's, reads several elements of B at a time wherever a row starts, with
// the other types, too (f32 by 8 bytes, int8 by 4); what other algorithms run does not.
static bool alg3_stumbles(const Slot &m)
{
  const int64_t size = (int64_t)type_size(m.p.b.type);
  return m.p.b.ld * size % 16 || m.form.b_stride * size % 16;
}

// ---- batches ---------------------------------------------------------------------
static void *moved(const void *array, int64_t elements, size_t size)
{
  return (char *)array + elements * (int64_t)size;
}

static Problem batch_of(const Problem &p, const Form &f, int i)
{
  Problem q = p;
  q.a.columns = moved(p.a.columns, i * f.entries, p.a.wide ? 8 : 4);
  q.a.values = moved(p.a.values, i * f.entries, type_size(p.a.type));
  q.b.values = moved(p.b.values, i * f.b_stride, type_size(p.b.type));
  q.c.values = moved(p.c.values, i * f.c_stride, type_size(p.c.type));
  q.before = p.sddmm ? moved(p.before, i * f.entries, type_size(p.a.type))
                     : moved(p.before, i * f.c_stride, type_size(p.c.type));
  return q;
}

static int64_t stored_b(const Problem &p, const Form &f)
{
  return p.b.stored() + (f.batches - 1) * f.b_stride;
}

static int64_t stored_c(const Problem &p, const Form &f)
{
  return p.c.stored() + (f.batches - 1) * f.c_stride;
}

static int64_t stored_values(const Problem &p, const Form &f)
{
  return p.a.nnz + (f.batches - 1) * f.entries;
}

// For the sizes and row lengths in m.p.
static void draw_batches(Slot &m)
{
  const Problem &p = m.p;
  Form f = m.form;
  m.form.batches = 1;
  m.form.entries = m.form.b_stride = m.form.c_stride = 0;
  if (f.as_csc || f.transposed || original_stumbles(p) || !chance(0.15)) return;
  f.batches = chance(0.1) ? MOST_BATCHES_TAKEN + 1 : 2 + (int)below(3);
  f.entries = !p.sddmm && chance(0.4) ? 0 : p.a.nnz;
  int64_t gap = chance(0.3) ? (int64_t)PAD : 0;
  f.b_stride = p.b.stored() + gap;
  f.c_stride = p.c.stored() + gap;
  const size_t entry_bytes = std::max(type_size(p.a.type), sizeof(int64_t));
  if ((size_t)stored_values(p, f) * entry_bytes <= ENTRY_BYTES &&
      (size_t)stored_b(p, f) * type_size(p.b.type) <= DENSE_BYTES &&
      (size_t)stored_c(p, f) * type_size(p.c.type) <= DENSE_BYTES)
    m.form = f;
}

// ---- references of transposed products -----------------------------------------------
// One block a row of p.a: adds to sum [c.rows][c.cols][2], scale [c.rows][c.cols] and terms
// [c.rows].
__global__ void add_transposed_kernel(Problem p, bool conjugated, double *sum, double *scale,
                                      double *terms)
{
  int64_t l = blockIdx.x, n = p.c.cols;
  int64_t q = index_at(p.a.offsets, l, p.a.wide) - p.a.base;
  int64_t end = index_at(p.a.offsets, l + 1, p.a.wide) - p.a.base;
  for (; q < end; q++) {
    int64_t i = index_at(p.a.columns, q, p.a.wide) - p.a.base;
    Number a = get(p.a.values, q, p.a.type);
    if (conjugated) a.im = -a.im;
    if (threadIdx.x == 0) atomicAdd(&terms[i], 1.0);
    for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
      Number v = a * get(p.b.values, p.b.at(l, j), p.b.type);
      atomicAdd(&sum[2 * (i * n + j)], v.re);
      if (v.im != 0) atomicAdd(&sum[2 * (i * n + j) + 1], v.im);
      atomicAdd(&scale[i * n + j], absolute(v));
    }
  }
}

// One thread per stored element of c, padding included.
__global__ void check_transposed_kernel(Problem p, int size, const double *sum, const double *scale,
                                        const double *terms, Outcome *o)
{
  int64_t stored = p.c.ld * (p.c.column_order ? p.c.cols : p.c.rows);
  for (int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; t < stored;
       t += (int64_t)gridDim.x * blockDim.x) {
    int64_t i, j;
    if (!is_inside(p, t, size, &i, &j, o)) continue;
    int64_t e = i * p.c.cols + j;
    check_element(p, t, i, j, {sum[2 * e], sum[2 * e + 1]}, scale[e], terms[i], o);
  }
}

static void check_transposed(const Problem &p, const Form &f, Outcome *o, cudaStream_t s)
{
  int lane = 0;
  while (streams[lane] != s) lane++;
  int64_t elements = p.c.rows * p.c.cols;
  double *sum = sums[lane], *scale = sum + 2 * elements, *terms = scale + elements;
  CUDA_OK(cudaMemsetAsync(sum, 0, (size_t)(3 * elements + p.c.rows) * sizeof(double), s));
  add_transposed_kernel<<<(unsigned)p.a.rows, 128, 0, s>>>(p, f.conjugated, sum, scale, terms);
  CUDA_OK(cudaGetLastError());
  check_transposed_kernel<<<blocks_for(p.c.stored()), 256, 0, s>>>(p, (int)type_size(p.c.type), sum,
                                                                   scale, terms, o);
  CUDA_OK(cudaGetLastError());
}

static void check_all(const Problem &p, const Form &f, Outcome *o, cudaStream_t s)
{
  if (f.transposed) return check_transposed(p, f, o, s);
  for (int i = 0; i < f.batches; i++) check_result(batch_of(p, f, i), o, s);
}
