// test_row_clusters.cu: shunt_csr_cluster_rows_cuda and shunt_csr_vector_measure_cuda write what
// their host twins write; matrices packed in the order of a row list write the bytes that the twin
// writes and come back as they were.
//   --time        also times clustering, measuring and packing
//   --only-time   times without testing
#include <numeric>

#include "conv/vector/row_clusters.h"
#include "conv/vector/vector_conv.h"
#include "tests/gpu/common/harness.cuh"

using namespace harness;

// ---- patterns ------------------------------------------------------------------------

// Sets of `share` rows with one list, of which each row lacks some, in a random order.
static Pattern shuffled_pattern(int64_t rows, int64_t cols, double density, int share, double lost,
                                uint64_t seed)
{
  const Pattern p = random_pattern(rows, cols, density, share, seed);
  Random r(seed + 1);
  std::vector<int64_t> order((size_t)rows);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = rows - 1; i > 0; i--) std::swap(order[(size_t)i], order[(size_t)r.below(i + 1)]);
  Pattern out;
  out.rows = rows;
  out.cols = cols;
  for (int64_t row : order) {
    for (int64_t e = p.offsets[(size_t)row]; e < p.offsets[(size_t)row + 1]; e++)
      if (lost == 0 || r.uniform() >= lost) out.columns.push_back(p.columns[(size_t)e]);
    out.offsets.push_back(out.nnz());
  }
  return out;
}

// ---- a matrix on both sides ------------------------------------------------------------

struct Matrix {
  const Pattern &pattern;
  Buffer offsets, columns, values;
  shunt_csr host, device;

  Matrix(const Pattern &p, shunt_type index, int base, uint64_t seed)
      : pattern(p), offsets((p.rows + 1) * shunt_type_size(index)),
        columns(p.nnz() * shunt_type_size(index)), values(p.nnz() * 2)
  {
    Random r(seed);
    host = {
        p.rows, p.cols,    p.nnz(), offsets.host.data(), columns.host.data(), values.host.data(),
        index,  SHUNT_F16, base};
    device = host;
    device.row_offsets = offsets.device, device.columns = columns.device;
    device.values = values.device;
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, index, (double)(p.offsets[i] + base));
    for (int64_t e = 0; e < p.nnz(); e++) {
      store(columns.host.data(), e, index, (double)(p.columns[(size_t)e] + base));
      store(values.host.data(), e, SHUNT_F16, r.below(9) ? r.value() : 0);
    }
    for (Buffer *x : {&offsets, &columns, &values}) x->upload();
  }
};

static char *aligned(std::vector<char> &memory)
{
  return (char *)(((uintptr_t)memory.data() + 255) & ~(uintptr_t)255);
}

// An order of rows, made on both sides.
struct Clusters {
  const Matrix &m;
  Buffer row_of, scratch;
  std::vector<uint32_t> twin;
  size_t bytes;

  explicit Clusters(const Matrix &matrix)
      : m(matrix), row_of((size_t)matrix.host.rows * 4),
        scratch(shunt_row_clusters_cuda_bytes(&matrix.host) + 256), twin((size_t)matrix.host.rows),
        bytes(shunt_row_clusters_cuda_bytes(&matrix.host))
  {
  }
  shunt_status enqueue(cudaStream_t stream)
  {
    const shunt_device d = this_device();
    return shunt_csr_cluster_rows_cuda(&m.device, (uint32_t *)row_of.device, scratch.device, bytes,
                                       &d, stream);
  }
  // Both; false when one fails, they differ, or memory beyond the scratch was written.
  bool same()
  {
    std::vector<char> memory(shunt_row_clusters_host_bytes(&m.host) + 256);
    memset(scratch.host.data(), 0xee, scratch.host.size());
    scratch.upload();
    bool good = enqueue(0) == SHUNT_OK;
    good = good && shunt_csr_cluster_rows_host(&m.host, twin.data(), aligned(memory),
                                               shunt_row_clusters_host_bytes(&m.host)) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    row_of.download();
    scratch.download();
    for (size_t i = bytes; i < scratch.host.size(); i++)
      good = good && scratch.host[i] == (char)0xee;
    return good && !memcmp(row_of.host.data(), twin.data(), row_of.host.size());
  }
  bool is_permutation() const
  {
    std::vector<char> seen(twin.size());
    for (uint32_t row : twin) {
      if (row >= seen.size() || seen[row]) return false;
      seen[row] = 1;
    }
    return true;
  }
};

// Counts both sides agree in; false: they do not.
static bool measure(const Matrix &m, Clusters *k, shunt_vector_measure *out)
{
  Buffer counts(sizeof *out);
  const shunt_device d = this_device();
  bool good =
      shunt_csr_vector_measure_cuda(&m.device, k ? (uint32_t *)k->row_of.device : nullptr,
                                    (shunt_vector_measure *)counts.device, &d, 0) == SHUNT_OK &&
      shunt_csr_vector_measure_host(&m.host, k ? k->twin.data() : nullptr, out) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  counts.download();
  const shunt_vector_measure *got = (const shunt_vector_measure *)counts.host.data();
  if (out->irregular || got->irregular) return good && out->irregular == got->irregular;
  return good && got->vectors == out->vectors && got->steps == out->steps &&
         !memcmp(got->crowded, out->crowded, sizeof out->crowded);
}

// Packs in the order of k on both sides and unpacks what the device made.
static bool pack_same(const Matrix &m, const Clusters &k, const shunt_vector_layout &layout,
                      const shunt_vector_measure &measured)
{
  const size_t bytes = shunt_vector_bytes(&m.host, &layout);
  Buffer memory(bytes + 256);
  std::vector<char> twin(bytes + 512, (char)0xee), copy(bytes + 256);
  memset(memory.host.data(), 0xee, memory.host.size());
  memory.upload();
  shunt_vector on_device, on_host, back;
  const shunt_device d = this_device();
  if (!shunt_vector_lay_out(&m.host, &layout, memory.device, &on_device) ||
      !shunt_vector_lay_out(&m.host, &layout, aligned(twin), &on_host) ||
      !shunt_vector_lay_out(&m.host, &layout, aligned(copy), &back))
    return false;
  memcpy(on_host.row_of, k.twin.data(), k.twin.size() * 4);
  CUDA_OK(
      cudaMemcpy(on_device.row_of, k.row_of.device, k.twin.size() * 4, cudaMemcpyDeviceToDevice));
  if (shunt_csr_to_vector_host(&m.host, &layout, &on_host) != SHUNT_OK ||
      shunt_csr_to_vector_cuda(&m.device, &layout, &on_device, &d, 0) != SHUNT_OK)
    return false;
  CUDA_OK(cudaDeviceSynchronize());
  memory.download();
  bool good = !memcmp(memory.host.data(), on_host.counts, bytes);
  for (size_t i = bytes; i < memory.host.size(); i++) good = good && memory.host[i] == (char)0xee;
  memcpy(back.counts, memory.host.data(), bytes);
  if (back.counts->irregular) return good && layout.order == SHUNT_VECTOR_WINDOWED;
  good = good && back.counts->vectors == measured.vectors;
  if (layout.order == SHUNT_VECTOR_SEQUENTIAL) good = good && back.counts->steps == measured.steps;

  shunt_csr a = m.host;
  std::vector<char> offsets(m.offsets.host.size()), columns(m.columns.host.size()),
      values(m.values.host.size());
  a.row_offsets = offsets.data(), a.columns = columns.data(), a.values = values.data();
  good = good && shunt_vector_to_csr_host(&back, &a) == SHUNT_OK;
  return good && offsets == m.offsets.host && columns == m.columns.host && values == m.values.host;
}

// ---- tests -----------------------------------------------------------------------------

static void test_same()
{
  Random r(20261122);
  for (int64_t rows : {1, 7, 8, 9, 100, 513, 700, 4100, 9000}) {
    if (beyond(rows, 513)) continue;
    bool clusters = true, permutes = true, measures = true, packs = true;
    for (double density : {0.0, 0.03, 0.3})
      for (int share : {8, 3, 1})
        for (double lost : {0.0, 0.1}) {
          if (left_out() || (rows > 1000 && (density != 0.03 || share == 3))) continue;
          if (beyond(rows, 100) && (density == 0 || share == 3)) continue;
          const int64_t cols = rows > 1000 || r.below(2) ? 300 : 20000 / (rows + 20);
          const Pattern p = shuffled_pattern(rows, cols, density, share, lost, r.next());
          Matrix m(p, r.below(2) ? SHUNT_I64 : SHUNT_I32, (int)r.below(2), r.next());
          Clusters k(m);
          shunt_vector_measure before, after;
          clusters = clusters && k.same();
          permutes = permutes && k.is_permutation();
          measures = measures && measure(m, nullptr, &before) && measure(m, &k, &after);
          for (int order = 0; order < 2; order++)
            packs = packs && pack_same(m, k,
                                       {(shunt_vector_order)order,
                                        order ? 1 : shunt_vector_measured_height(&after), 1},
                                       after);
        }
    check(clusters, "device and host put %lld rows in the same order", (long long)rows);
    check(permutes, "every row has one place");
    check(measures, "both count the same vectors");
    check(packs, "both pack the same bytes in that order, which come back as they were");
  }
}

// Every set of eight equal lists is found, whatever else there is.
static void test_equal_lists()
{
  for (int extra : {0, 5, 64}) {
    const Pattern p = shuffled_pattern(640 + extra, 900, 0.1, 8, 0, 40 + (uint64_t)extra);
    Matrix m(p, SHUNT_I32, 0, 1);
    Clusters k(m);
    shunt_vector_measure before, after;
    const bool good = k.same() && measure(m, nullptr, &before) && measure(m, &k, &after);
    const double from = shunt_vector_measured_fill(&m.host, &before),
                 to = shunt_vector_measured_fill(&m.host, &after);
    check(good && from < 0.3 && (extra % 8 ? to > 0.97 : to == 1),
          "%lld shuffled rows in eights: fill %.3f to %.3f", (long long)p.rows, from, to);
  }
  for (double lost : {0.05, 0.1, 0.2}) {
    const Pattern p = shuffled_pattern(640, 1500, 0.1, 8, lost, 50);
    Matrix m(p, SHUNT_I32, 0, 1);
    Clusters k(m);
    shunt_vector_measure before, after;
    const bool good = k.same() && measure(m, nullptr, &before) && measure(m, &k, &after);
    const double from = shunt_vector_measured_fill(&m.host, &before),
                 to = shunt_vector_measured_fill(&m.host, &after);
    check(good && to > 3 * from, "eights that lost %.0f %%: fill %.3f to %.3f", 100 * lost, from,
          to);
  }
}

// Offsets and columns that mean nothing: still a permutation, and nothing else is touched.
static void test_broken()
{
  const Pattern p = shuffled_pattern(120, 300, 0.1, 8, 0, 9);
  struct {
    const char *what;
    int64_t at, value;
    bool offset;
  } cases[] = {{"a column beyond the last", 3, 300, false},
               {"a column before the first", 0, -1, false},
               {"columns out of order", 1, p.columns[0], false},
               {"offsets that descend", 3, p.offsets[4] + 1, true},
               {"an offset out of range", 3, 1 << 30, true}};
  for (auto &c : cases) {
    Pattern broken = p;
    (c.offset ? broken.offsets : broken.columns)[(size_t)c.at] = c.value;
    Matrix m(broken, SHUNT_I32, 1, 4);
    Clusters k(m);
    shunt_vector_measure counts;
    const bool good = k.same() && k.is_permutation() && measure(m, &k, &counts);
    check(good && counts.irregular, "%s: a permutation, and irregular", c.what);
  }
  Matrix m(p, SHUNT_I32, 0, 4);
  Clusters k(m);
  for (uint32_t &row : k.twin) row = 120;
  memcpy(k.row_of.host.data(), k.twin.data(), k.row_of.host.size());
  k.row_of.upload();
  shunt_vector_measure counts;
  check(measure(m, &k, &counts) && counts.irregular, "rows that are none are irregular");
  check(pack_same(m, k, {SHUNT_VECTOR_WINDOWED, 1, 1}, counts), "and packed as such");
}

static void test_declined()
{
  const Pattern p = shuffled_pattern(64, 64, 0.1, 8, 0, 9);
  Matrix m(p, SHUNT_I32, 0, 4);
  Clusters k(m);
  const size_t bytes = k.bytes;
  k.bytes = bytes - 1;
  check(k.enqueue(0) == SHUNT_E_WORKSPACE, "scratch that is too small is declined");
  k.bytes = bytes;
  m.device.index_type = SHUNT_F32;
  check(k.enqueue(0) == SHUNT_E_UNSUPPORTED, "indices of no known type too");
}

// ---- timing -----------------------------------------------------------------------------

static void time_case(int64_t size, double density, double lost)
{
  const Pattern p = shuffled_pattern(size, size, density, 8, lost, 7);
  Matrix m(p, SHUNT_I32, 0, 8);
  Clusters k(m);
  const shunt_device d = this_device();
  Buffer counts(sizeof(shunt_vector_measure));
  shunt_vector_measure *at = (shunt_vector_measure *)counts.device, before, after;
  const auto fetch = [&](const uint32_t *row_of, shunt_vector_measure *to) {
    if (shunt_csr_vector_measure_cuda(&m.device, row_of, at, &d, 0) != SHUNT_OK) exit(3);
    CUDA_OK(cudaMemcpy(to, at, sizeof *to, cudaMemcpyDeviceToHost));
  };
  if (k.enqueue(0) != SHUNT_OK) exit(3);
  fetch(nullptr, &before);
  fetch((uint32_t *)k.row_of.device, &after);
  const double cluster = time_graph([&](cudaStream_t s) {
    if (k.enqueue(s) != SHUNT_OK) exit(3);
  });
  const double measuring = time_graph([&](cudaStream_t s) {
    if (shunt_csr_vector_measure_cuda(&m.device, (uint32_t *)k.row_of.device, at, &d, s) !=
        SHUNT_OK)
      exit(3);
  });
  const shunt_vector_layout layout = {SHUNT_VECTOR_WINDOWED, shunt_vector_measured_height(&after),
                                      1};
  Buffer memory(shunt_vector_bytes(&m.host, &layout));
  shunt_vector v;
  shunt_vector_lay_out(&m.host, &layout, memory.device, &v);
  CUDA_OK(cudaMemcpy(v.row_of, k.row_of.device, (size_t)size * 4, cudaMemcpyDeviceToDevice));
  const double packing = time_graph([&](cudaStream_t s) {
    if (shunt_csr_to_vector_cuda(&m.device, &layout, &v, &d, s) != SHUNT_OK) exit(3);
  });
  printf("time clusters %5lld density %.2f lost %.2f fill %.3f -> %.3f height %d: cluster %.1f us, "
         "measure %.1f us, pack %.1f us\n",
         (long long)size, density, lost, shunt_vector_measured_fill(&m.host, &before),
         shunt_vector_measured_fill(&m.host, &after), layout.height, cluster, measuring, packing);
  fflush(stdout);
}

int main(int argc, char **argv)
{
  const bool only = argc > 1 && !strcmp(argv[1], "--only-time");
  if (!only) {
    test_same();
    test_equal_lists();
    test_broken();
    test_declined();
  }
  if (only || (argc > 1 && !strcmp(argv[1], "--time")))
    for (int64_t size : {4096, 8192})
      for (double density : {0.1, 0.05})
        for (double lost : {0.0, 0.1}) time_case(size, density, lost);
  return finish();
}
