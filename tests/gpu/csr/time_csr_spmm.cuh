// time_csr_spmm.cuh: times of shunt_csr_spmm_merge_cuda and of cuSPARSE's CSR
// algorithms, by graph replays, on matrices from .csrbin files
// (tests/bench/csrbin writes them).
//
//   time NAME type N tiled_us split_us default_us best_us best_alg ratio
//     default_us  CUSPARSE_SPMM_ALG_DEFAULT without preprocess: what programs call
//     best_us     the best of DEFAULT, CSR_ALG1, 2, 3, each after preprocess
//     ratio       best_us over the better of tiled and split
//   split NAME type N longest LABEL=us ..       other shapes of the split kernel
//   tune NAME type N tile passes_per_block us   other ways to cut the tiled one's work
#pragma once
#include <cusparse.h>

#include <string>

#include "kernels/csr/csr_kernels.h"
#include "kernels/csr/csr_spmm_launch.cuh"
#include "tests/gpu/common/harness.cuh"

namespace harness
{

#define SPARSE_OK(call)                                                                            \
  do {                                                                                             \
    cusparseStatus_t s_ = (call);                                                                  \
    if (s_ != CUSPARSE_STATUS_SUCCESS) {                                                           \
      printf("not ok - %s:%d %s: cuSPARSE %d\n", __FILE__, __LINE__, #call, s_);                   \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)

struct FileMatrix {
  std::string name;
  int64_t rows = 0, cols = 0, nnz = 0;
  std::vector<int32_t> offsets, columns;
};

inline bool read_csrbin(const char *path, FileMatrix *m)
{
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  int64_t head[3];
  std::vector<int64_t> wide;
  bool good = fread(head, 8, 3, f) == 3;
  if (good) {
    m->rows = head[0];
    m->cols = head[1];
    m->nnz = head[2];
    wide.resize(m->rows + 1);
    m->columns.resize(m->nnz);
    good = fread(wide.data(), 8, wide.size(), f) == wide.size() &&
           fread(m->columns.data(), 4, m->nnz, f) == (size_t)m->nnz;
  }
  fclose(f);
  m->offsets.assign(wide.begin(), wide.end());
  const char *slash = strrchr(path, '/');
  m->name = slash ? slash + 1 : path;
  m->name = m->name.substr(0, m->name.rfind('.'));
  return good;
}

// One product, both libraries' view of it.
struct Timed {
  shunt_spmm p = {};
  shunt_device d = this_device();
  Buffer offsets, columns, values, b, c, other_c, workspace;
  size_t workspace_bytes;
  cudaDataType type;
  int64_t longest = 0;              // row
  double one[2] = {}, zero[2] = {}; // alpha and beta of either type, for cuSPARSE

  Timed(const FileMatrix &m, shunt_type t, int64_t n)
      : offsets(m.offsets.size() * 4), columns(m.nnz * 4), values(m.nnz * shunt_type_size(t)),
        b(m.cols * n * shunt_type_size(t)), c(m.rows * n * shunt_type_size(t)),
        other_c(m.rows * n * shunt_type_size(t))
  {
    Random r(7);
    for (int64_t i = 0; i < m.rows; i++)
      longest = std::max<int64_t>(longest, m.offsets[i + 1] - m.offsets[i]);
    memcpy(offsets.host.data(), m.offsets.data(), offsets.host.size());
    memcpy(columns.host.data(), m.columns.data(), columns.host.size());
    for (int64_t i = 0; i < m.nnz; i++) store(values.host.data(), i, t, r.value());
    for (int64_t i = 0; i < m.cols * n; i++) store(b.host.data(), i, t, r.value());
    offsets.upload();
    columns.upload();
    values.upload();
    b.upload();
    p.a = {m.rows, m.cols, m.nnz, offsets.device, columns.device, values.device, SHUNT_I32, t, 0};
    p.b = {m.cols, n, n, 1, b.device, t};
    p.c = {m.rows, n, n, 1, c.device, t};
    p.alpha.host = 1;
    p.compute = t;
    type = t == SHUNT_F32 ? CUDA_R_32F : CUDA_R_64F;
    store(one, 0, t, 1);
    workspace_bytes = shunt_csr_spmm_workspace(&p, &d);
    CUDA_OK(cudaFree(workspace.device));
    // Tuning cuts finer than the planner does.
    CUDA_OK(cudaMalloc(&workspace.device, workspace_bytes * 8 + (1 << 20)));
  }

  double time_rows()
  {
    return time_graph([&](cudaStream_t s) {
      if (shunt_csr_spmm_merge_cuda(&p, &d, workspace.device, workspace_bytes, s) != SHUNT_OK)
        printf("not ok - shunt_csr_spmm_merge_cuda failed\n");
    });
  }

  double time_split()
  {
    return time_graph([&](cudaStream_t s) {
      if (shunt_csr_spmm_split_cuda(&p, longest, &d, nullptr, 0, s) != SHUNT_OK)
        printf("not ok - shunt_csr_spmm_split_cuda failed\n");
    });
  }

  template <class T, int V> double time_shape(const shunt::csr::split_shape &shape)
  {
    using namespace shunt::csr;
    return time_graph([&](cudaStream_t s) {
      shunt::csr::layout how = {};
      how.split = true;
      how.b_stride = p.b.row_stride;
      args<T> a = make_args<T>(&p, how, nullptr);
      a.b_row_bytes = (uint32_t)(a.b_row_stride * sizeof(T));
      if (launch_split<T, T, T, V>(a, shape, &d, s) != SHUNT_OK)
        printf("not ok - launch_split failed\n");
    });
  }

  // The shape that would be chosen, then what differs from it in one or two things.
  template <class T, int V> void time_shapes(const FileMatrix &m)
  {
    using shunt::csr::split_shape;
    int longest = 0;
    for (int64_t i = 0; i < m.rows; i++)
      longest = std::max(longest, m.offsets[i + 1] - m.offsets[i]);
    const shunt::csr::split_matrix a = {p.a.rows, p.a.nnz, longest, shunt_csr_is_cut_as_layer(&p.a),
                                        shunt::csr::has_words<T, T, V>};
    const split_shape base = shunt::csr::choose_split(a, p.b.cols, V, sizeof(T), &d);
    auto show = [&](const char *label, const split_shape &s) {
      printf(" %s=%.2f", label, time_shape<T, V>(s));
    };
    auto with = [&](const char *label, int split_shape::*member, int value) {
      split_shape s = base;
      s.*member = value;
      show(label, s);
    };
    printf("split %s %s %lld %d", m.name.c_str(), sizeof(T) == 4 ? "f32" : "f64",
           (long long)p.b.cols, longest);
    printf(" [lanes %d team %d chunk %d limit %d window %d]", 1 << base.lanes_log2,
           1 << base.team_log2, base.chunk, base.limit, base.window);
    show("base", base);
    with("threads64", &split_shape::threads, 64);
    with("threads128", &split_shape::threads, 128);
    with(base.chunk == 8 ? "chunk4" : "chunk8", &split_shape::chunk, 12 - base.chunk);
    if (longest > base.limit / 4) with("limit/4", &split_shape::limit, base.limit / 4);
    if (longest > base.limit / 2) with("limit/2", &split_shape::limit, base.limit / 2);
    if (longest > base.limit) {
      with("limit*2", &split_shape::limit, base.limit * 2);
      with("longlanes", &split_shape::long_lanes_log2, 5 - base.long_lanes_log2);
      with("window/4", &split_shape::window, std::max(1, base.window / 4));
      with("window*4", &split_shape::window, base.window * 4);
    } else {
      with("nolong", &split_shape::limit, shunt::csr::kMostLimit);
    }
    for (int up = 1; base.team_log2 + up <= 5; up++)
      with(up == 1   ? "team*2"
           : up == 2 ? "team*4"
                     : "team*8",
           &split_shape::team_log2, base.team_log2 + up);
    if (base.team_log2 > base.lanes_log2)
      with("team/2", &split_shape::team_log2, base.team_log2 - 1);
    for (int down = 1; down <= 2 && base.lanes_log2 - down >= 2; down++) {
      split_shape s = base;
      s.lanes_log2 -= down;
      s.limit = std::min(base.limit << down, (int)shunt::csr::kMostLimit);
      show(down == 1 ? "lanes/2" : "lanes/4", s);
      s.team_log2 -= down;
      if (s.team_log2 >= s.lanes_log2) show(down == 1 ? "lanes/2,team/2" : "lanes/4,team/4", s);
    }
    printf("\n");
  }

  double time_cusparse(cusparseHandle_t h, cusparseSpMMAlg_t alg, bool preprocess)
  {
    cusparseSpMatDescr_t a;
    cusparseDnMatDescr_t mb, mc;
    SPARSE_OK(cusparseCreateCsr(&a, p.a.rows, p.a.cols, p.a.nnz, offsets.device, columns.device,
                                values.device, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ZERO, type));
    SPARSE_OK(
        cusparseCreateDnMat(&mb, p.b.rows, p.b.cols, p.b.cols, b.device, type, CUSPARSE_ORDER_ROW));
    SPARSE_OK(cusparseCreateDnMat(&mc, p.c.rows, p.c.cols, p.c.cols, other_c.device, type,
                                  CUSPARSE_ORDER_ROW));
    const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    size_t bytes = 0;
    SPARSE_OK(cusparseSpMM_bufferSize(h, op, op, one, a, mb, zero, mc, type, alg, &bytes));
    void *buffer = nullptr;
    CUDA_OK(cudaMalloc(&buffer, bytes + 16));
    if (preprocess)
      SPARSE_OK(cusparseSpMM_preprocess(h, op, op, one, a, mb, zero, mc, type, alg, buffer));
    CUDA_OK(cudaDeviceSynchronize());
    double us = time_graph([&](cudaStream_t s) {
      SPARSE_OK(cusparseSetStream(h, s));
      SPARSE_OK(cusparseSpMM(h, op, op, one, a, mb, zero, mc, type, alg, buffer));
    });
    SPARSE_OK(cusparseSetStream(h, nullptr));
    cusparseDestroySpMat(a);
    cusparseDestroyDnMat(mb);
    cusparseDestroyDnMat(mc);
    cudaFree(buffer);
    return us;
  }

  // Largest difference of the two results, in units of the largest element.
  double difference()
  {
    c.download();
    other_c.download();
    double most = 0, size = 1e-300;
    for (int64_t i = 0; i < p.c.rows * p.c.cols; i++) {
      double x = load(c.host.data(), i, p.c.type), y = load(other_c.host.data(), i, p.c.type);
      most = fabs(x - y) <= most ? most : fabs(x - y);
      size = std::max(size, fabs(y));
    }
    return most / size;
  }

  void tune(const char *name)
  {
    using namespace shunt::csr;
    for (int tile : {256, 384, 512, 768, 1024}) {
      for (int passes : {1, 2, 4, 64}) {
        shunt::csr::layout how = make_layout(&p, &d);
        how.tile = tile;
        how.tiles = (p.a.rows + p.a.nnz + tile - 1) / tile;
        if (passes > 1 && passes / 2 * kSegment >= p.b.cols * (int64_t)shunt_type_size(p.b.type))
          continue;
        how.passes_per_block = passes;
        size_t slots = how.tiles * how.pitch * shunt_type_size(p.compute);
        how.heads_at = (how.tiles * 8 + 255) / 256 * 256;
        how.tails_at = (how.heads_at + slots + 255) / 256 * 256;
        if (how.tails_at + slots > workspace_bytes * 8 + (1 << 20)) continue;
        double us = time_graph([&](cudaStream_t s) { run(&p, &d, how, workspace.device, s); });
        printf("tune %s %s %lld %d %d %.2f\n", name, p.compute == SHUNT_F32 ? "f32" : "f64",
               (long long)p.b.cols, tile, passes, us);
      }
    }
  }
};

inline bool time_case(cusparseHandle_t h, const FileMatrix &m, shunt_type t, int64_t n, bool tune,
                      double *best_ratio, double *default_ratio)
{
  static const struct {
    cusparseSpMMAlg_t alg;
    const char *name;
  } algs[] = {{CUSPARSE_SPMM_ALG_DEFAULT, "default"},
              {CUSPARSE_SPMM_CSR_ALG1, "alg1"},
              {CUSPARSE_SPMM_CSR_ALG2, "alg2"},
              {CUSPARSE_SPMM_CSR_ALG3, "alg3"}};
  Timed x(m, t, n);
  double plain = x.time_cusparse(h, CUSPARSE_SPMM_ALG_DEFAULT, false), best = plain;
  const char *which = "plain";
  for (auto &a : algs) {
    double us = x.time_cusparse(h, a.alg, true);
    if (us < best) best = us, which = a.name;
  }
  t == SHUNT_F32 ? x.time_shapes<float, 4>(m) : x.time_shapes<double, 2>(m);
  double tiled = x.time_rows(), split = x.time_split();
  double rows = std::min(tiled, split);
  *best_ratio = best / rows;
  *default_ratio = plain / rows;
  printf("time %s %s %lld %.2f %.2f %.2f %.2f %s %.3f\n", m.name.c_str(),
         t == SHUNT_F32 ? "f32" : "f64", (long long)n, tiled, split, plain, best, which,
         best / rows);
  double error = x.difference();
  bool good = error <= (t == SHUNT_F32 ? 1e-4 : 1e-12);
  if (!good) printf("not ok - %s: differs from cuSPARSE by %.3g\n", m.name.c_str(), error);
  if (tune) x.tune(m.name.c_str());
  fflush(stdout);
  return good;
}

// All files, fp32 and fp64, N = 32 and 128; then the geometric means.
inline bool time_csr_spmm(int files, char **file, bool tune)
{
  cusparseHandle_t h;
  SPARSE_OK(cusparseCreate(&h));
  bool good = true;
  double logs[2][2] = {}, worst[2] = {1e9, 1e9};
  int cases[2] = {};
  printf("# time NAME type N tiled_us split_us default_us best_us best_alg ratio\n");
  for (int i = 0; i < files; i++) {
    FileMatrix m;
    if (!read_csrbin(file[i], &m)) {
      printf("not ok - cannot read %s\n", file[i]);
      good = false;
      continue;
    }
    for (int t = 0; t < 2; t++)
      for (int64_t n : {32, 128}) {
        double best, plain;
        good &= time_case(h, m, t ? SHUNT_F64 : SHUNT_F32, n, tune, &best, &plain);
        logs[t][0] += log(best);
        logs[t][1] += log(plain);
        worst[t] = std::min(worst[t], best);
        cases[t]++;
      }
  }
  for (int t = 0; t < 2; t++)
    if (cases[t])
      printf("time geomean %s over best %.3f over default %.3f worst %.3f (%d cases)\n",
             t ? "f64" : "f32", exp(logs[t][0] / cases[t]), exp(logs[t][1] / cases[t]), worst[t],
             cases[t]);
  cusparseDestroy(h);
  return good;
}

} // namespace harness
