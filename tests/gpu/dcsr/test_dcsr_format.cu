// test_dcsr_format.cu: shunt_source_to_dcsr_cuda writes the bytes that its host twin writes, from
// CSR, CSC and COO, whole and in strips; what is bad is named as the host names it and stays inside
// its memory; the sort and the running sum below it.
//   --time   also times the conversion
#include <cstdint>

#include "conv/common/sort.h"
#include "conv/dcsr/dcsr_conv.h"
#include "tests/gpu/common/captured.cuh"
#include "tests/gpu/common/harness.cuh"

using namespace harness;

static const char *const name_of[] = {"CSR", "CSC", "COO"};

struct Entry {
  int64_t row, column;
};

// Entries in no order, about one in eight twice.
static std::vector<Entry> random_entries(int64_t rows, int64_t cols, double density, uint64_t seed)
{
  Random r(seed);
  std::vector<Entry> e;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++)
      if (r.uniform() < density) e.insert(e.end(), r.below(8) ? 1 : 2, Entry{i, j});
  for (size_t p = e.size(); p > 1; p--) std::swap(e[p - 1], e[(size_t)r.below((int64_t)p)]);
  return e;
}

// A source on both sides, and a dcsr matrix on both.
struct Conversion {
  int64_t lines;
  Buffer offsets, row_indices, columns, values, scratch, memory, host_scratch, twin;
  shunt_dcsr_source host, device;
  shunt_dcsr_layout layout;
  size_t bytes, scratch_bytes;
  shunt_dcsr on_device, on_host;
  shunt_status host_status;
  shunt_dcsr_fault fault;

  static size_t at_least_1(size_t n) { return n ? n : 1; }

  Conversion(std::vector<Entry> e, shunt_dcsr_from from, int64_t rows, int64_t cols,
             shunt_dcsr_layout with, shunt_type index, shunt_type value, int base, uint64_t seed,
             int64_t room = -1)
      : lines(from == SHUNT_DCSR_FROM_CSR ? rows : cols),
        offsets((size_t)(lines + 1) * shunt_type_size(index)),
        row_indices(at_least_1(e.size() * shunt_type_size(index))),
        columns(at_least_1(e.size() * shunt_type_size(index))),
        values(at_least_1(e.size() * shunt_type_size(value))), host{}, device{}, layout(with)
  {
    Random r(seed);
    const bool csr = from == SHUNT_DCSR_FROM_CSR, coo = from == SHUNT_DCSR_FROM_COO;
    if (!coo)
      std::stable_sort(e.begin(), e.end(), [&](const Entry &x, const Entry &y) {
        return csr ? x.row < y.row : x.column < y.column;
      });
    for (int64_t i = 0, p = 0; i <= lines; i++) {
      while (p < (int64_t)e.size() && (csr ? e[(size_t)p].row : e[(size_t)p].column) < i) p++;
      store(offsets.host.data(), i, index, (double)(p + base));
    }
    for (size_t p = 0; p < e.size(); p++) {
      store(row_indices.host.data(), (int64_t)p, index, (double)(e[p].row + base));
      store(columns.host.data(), (int64_t)p, index, (double)(e[p].column + base));
    }
    for (char &x : values.host) x = (char)r.next();
    host = {from,
            rows,
            cols,
            (int64_t)e.size(),
            coo ? nullptr : offsets.host.data(),
            csr ? nullptr : row_indices.host.data(),
            csr || coo ? columns.host.data() : nullptr,
            values.host.data(),
            index,
            value,
            base};
    device = host;
    device.offsets = coo ? nullptr : offsets.device;
    device.row_indices = csr ? nullptr : row_indices.device;
    device.columns = csr || coo ? columns.device : nullptr;
    device.values = values.device;
    if (room < 0) room = shunt_dcsr_most_segments(&host, &layout);
    bytes = shunt_dcsr_bytes(&host, &layout, room);
    scratch_bytes = shunt_dcsr_scratch_bytes_cuda(&device, &layout);
    allocate(room);
  }

  void allocate(int64_t room)
  {
    for (Buffer *x : {&memory, &twin, &scratch})
      x->host.assign((x == &scratch ? scratch_bytes : bytes) + 512, (char)0xee);
    host_scratch.host.resize(shunt_dcsr_scratch_bytes(&host, &layout) + 8);
    for (Buffer *x : {&memory, &scratch}) {
      cudaFree(x->device);
      CUDA_OK(cudaMalloc(&x->device, x->host.size()));
    }
    char *aligned = (char *)(((uintptr_t)twin.host.data() + 255) & ~(uintptr_t)255);
    shunt_dcsr_lay_out(&host, &layout, room, memory.device, &on_device);
    shunt_dcsr_lay_out(&host, &layout, room, aligned, &on_host);
  }

  shunt_status enqueue(cudaStream_t stream)
  {
    const shunt_device d = this_device();
    return shunt_source_to_dcsr_cuda(&device, &layout, scratch.device, scratch_bytes, &on_device,
                                     &d, stream);
  }

  // Both ways; what is not written stays 0xee.
  bool convert()
  {
    for (Buffer *x : {&offsets, &row_indices, &columns, &values, &memory, &scratch}) x->upload();
    host_status =
        shunt_source_to_dcsr_host(&host, &layout, host_scratch.host.data(), &on_host, &fault);
    const bool good = enqueue(0) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    memory.download();
    scratch.download();
    return good;
  }

  bool same() const { return !memcmp(memory.host.data(), on_host.counts, bytes); }
  bool inside() const
  {
    bool good = true;
    for (size_t i = 0; i < 512; i++)
      good = good && memory.host[bytes + i] == (char)0xee &&
             scratch.host[scratch_bytes + i] == (char)0xee;
    return good;
  }
  const shunt_dcsr_counts *counts() const { return (const shunt_dcsr_counts *)memory.host.data(); }
};

static void test_same()
{
  static const shunt_type values[] = {SHUNT_F16, SHUNT_F32, SHUNT_F64, SHUNT_I8};
  Random r(5);
  for (int from = 0; from < 3; from++) {
    bool good = true, inside = true;
    int cases = 0;
    for (int64_t rows : {0, 1, 65, 150})
      for (int64_t cols : {0, 1, 64, 190})
        for (double density : {0.0, 0.03, 0.4})
          for (int64_t width : {0, 1, 64}) {
            const shunt_dcsr_layout layout = {width, r.below(2) ? SHUNT_I64 : SHUNT_I32};
            Conversion c(random_entries(rows, cols, density, r.next()), (shunt_dcsr_from)from, rows,
                         cols, layout, r.below(2) ? SHUNT_I64 : SHUNT_I32, values[r.below(4)],
                         (int)r.below(2), r.next());
            const bool same = c.convert() && c.host_status == SHUNT_OK && c.same();
            if (!same)
              printf("# %lld x %lld, density %g, width %lld\n", (long long)rows, (long long)cols,
                     density, (long long)width);
            good = good && same;
            inside = inside && c.inside();
            cases++;
          }
    check(good, "%s: device and host write the same bytes, %d matrices", name_of[from], cases);
    check(inside, "%s: and nothing beyond", name_of[from]);
  }
}

// ---- faults -------------------------------------------------------------------------------------

static void test_fault(const char *what, shunt_dcsr_from from, Buffer Conversion::*array,
                       int64_t at, int64_t value)
{
  Conversion c(random_entries(40, 200, 0.1, 9), from, 40, 200, {64, SHUNT_I32}, SHUNT_I64,
               SHUNT_F32, 1, 3);
  const size_t last = (c.*array).host.size() / 8 - 1;
  ((int64_t *)(c.*array).host.data())[at < 0 ? last : (size_t)at] = value;
  int64_t place = -1;
  const bool ran = c.convert() && c.host_status == SHUNT_E_ARGUMENT;
  const shunt_dcsr_rule rule = shunt_dcsr_fault_place(c.counts()->fault, &place);
  check(ran && rule == c.fault.rule && place == c.fault.at &&
            c.counts()->irregular == SHUNT_IRREGULAR &&
            c.counts()->fault == c.on_host.counts->fault && c.inside(),
        "%s: rule %d at %lld on both sides", what, (int)rule, (long long)place);
}

static void test_faults()
{
  test_fault("CSR, the first offset", SHUNT_DCSR_FROM_CSR, &Conversion::offsets, 0, 0);
  test_fault("CSR, a descending offset", SHUNT_DCSR_FROM_CSR, &Conversion::offsets, 7, 2);
  test_fault("CSR, an absurd offset", SHUNT_DCSR_FROM_CSR, &Conversion::offsets, 7, INT64_MIN);
  test_fault("CSR, a huge offset", SHUNT_DCSR_FROM_CSR, &Conversion::offsets, 7, INT64_MAX);
  test_fault("CSR, the last offset", SHUNT_DCSR_FROM_CSR, &Conversion::offsets, -1, 1 << 20);
  test_fault("CSR, a column beyond the last", SHUNT_DCSR_FROM_CSR, &Conversion::columns, 100, 201);
  test_fault("CSR, an absurd column", SHUNT_DCSR_FROM_CSR, &Conversion::columns, -1, INT64_MIN);
  test_fault("CSC, a descending offset", SHUNT_DCSR_FROM_CSC, &Conversion::offsets, 190, 2);
  test_fault("CSC, a row beyond the last", SHUNT_DCSR_FROM_CSC, &Conversion::row_indices, 11, 41);
  test_fault("COO, a row before the first", SHUNT_DCSR_FROM_COO, &Conversion::row_indices, 300, 0);
  test_fault("COO, a column beyond the last", SHUNT_DCSR_FROM_COO, &Conversion::columns, 0, 4000);
}

// Part of a converted matrix as it came from the device.
static const int32_t *part(const Conversion &c, const void *array)
{
  return (const int32_t *)(c.memory.host.data() + ((const char *)array - (char *)c.memory.device));
}

static void test_room()
{
  const std::vector<Entry> e = random_entries(40, 200, 0.1, 9);
  const shunt_dcsr_layout layout = {64, SHUNT_I32};
  Conversion c(e, SHUNT_DCSR_FROM_CSR, 40, 200, layout, SHUNT_I32, SHUNT_F32, 0, 3, 17);
  Conversion full(e, SHUNT_DCSR_FROM_CSR, 40, 200, layout, SHUNT_I32, SHUNT_F32, 0, 3);
  int64_t at;
  check(c.convert() && full.convert() && c.host_status == SHUNT_E_WORKSPACE && c.inside() &&
            c.counts()->irregular == SHUNT_IRREGULAR && c.counts()->segments == 17 &&
            shunt_dcsr_fault_place(c.counts()->fault, &at) == SHUNT_DCSR_SOUND,
        "more segments than there is room for are told");
  check(!memcmp(part(c, c.on_device.row_ids), part(full, full.on_device.row_ids), 17 * 4) &&
            !memcmp(part(c, c.on_device.offsets), part(full, full.on_device.offsets), 17 * 4) &&
            part(c, c.on_device.offsets)[17] == c.host.nnz &&
            !memcmp(part(c, c.on_device.columns), part(full, full.on_device.columns),
                    (size_t)c.host.nnz * 4),
        "and do not run into each other");
}

static void test_declined()
{
  Conversion c(random_entries(9, 20, 0.5, 9), SHUNT_DCSR_FROM_COO, 9, 20, {4, SHUNT_I32}, SHUNT_I32,
               SHUNT_F32, 0, 3);
  const shunt_device d = this_device(), none = {0, d.compute_capability, 0, 0};
  shunt_dcsr_source a = c.device;
  shunt_dcsr_layout layout = c.layout;

  c.convert();
  check(shunt_source_to_dcsr_cuda(&a, &layout, c.scratch.device, c.scratch_bytes - 1, &c.on_device,
                                  &d, 0) == SHUNT_E_WORKSPACE &&
            shunt_source_to_dcsr_cuda(&a, &layout, (char *)c.scratch.device + 8, c.scratch_bytes,
                                      &c.on_device, &d, 0) == SHUNT_E_WORKSPACE,
        "too little scratch, or misaligned");
  layout.width = -1;
  check(shunt_source_to_dcsr_cuda(&a, &layout, c.scratch.device, c.scratch_bytes, &c.on_device, &d,
                                  0) == SHUNT_E_UNSUPPORTED &&
            shunt_dcsr_scratch_bytes_cuda(&a, &layout) == 0,
        "a width below 0");
  layout = {1, SHUNT_I64};
  a.rows = a.cols = int64_t(1) << 40;
  check(shunt_dcsr_scratch_bytes_cuda(&a, &layout) == 0, "keys of more than 64 bits");
  a.rows = -1;
  check(shunt_source_to_dcsr_cuda(&a, &layout, c.scratch.device, c.scratch_bytes, &c.on_device, &d,
                                  0) == SHUNT_E_ARGUMENT,
        "a negative size");
  CUDA_OK(cudaDeviceSynchronize());
  c.memory.download();
  check(c.same(), "nothing was written by any of these");
  a = c.device, layout = c.layout;
  check(shunt_source_to_dcsr_cuda(&a, &layout, c.scratch.device, c.scratch_bytes, &c.on_device,
                                  &none, 0) == SHUNT_E_CUDA,
        "a launch that fails");
  cudaGetLastError();
}

// ---- replays ------------------------------------------------------------------------------------

static void test_capture()
{
  Conversion c(random_entries(60, 150, 0.1, 9), SHUNT_DCSR_FROM_CSC, 60, 150, {64, SHUNT_I32},
               SHUNT_I32, SHUNT_F32, 0, 3);
  Captured calls([&](cudaStream_t s) { return c.enqueue(s) == SHUNT_OK; });
  bool good = calls.good;
  for (int replay = 0; replay < 2; replay++) {
    for (char &v : c.values.host) v = (char)(v + 1 + replay);
    for (Buffer *b : {&c.offsets, &c.row_indices, &c.values, &c.memory}) b->upload();
    CUDA_OK(cudaDeviceSynchronize());
    calls.replay();
    c.memory.download();
    good = good && shunt_source_to_dcsr_host(&c.host, &c.layout, c.host_scratch.host.data(),
                                             &c.on_host, nullptr) == SHUNT_OK;
    good = good && c.same();
  }
  check(good, "a captured conversion reads its source anew on each replay");
}

// ---- the sort and the running sum
// --------------------------------------------------------------------

template <class J> static bool sort_one(int64_t n, int first, int last, uint64_t seed)
{
  const shunt_type place = sizeof(J) == 4 ? SHUNT_I32 : SHUNT_I64;
  Random r(seed);
  Buffer keys((size_t)n * 8 + 8), places((size_t)n * sizeof(J) + 8);
  Buffer spare_keys((size_t)n * 8 + 8), spare_places((size_t)n * sizeof(J) + 8);
  Buffer temporary(shunt_sort_bytes(n, place));
  std::vector<std::pair<uint64_t, int64_t>> want;
  for (int64_t p = 0; p < n; p++) {
    want.push_back({r.next() >> r.below(40), p});
    ((uint64_t *)keys.host.data())[p] = want.back().first;
    ((J *)places.host.data())[p] = (J)p;
  }
  keys.upload();
  places.upload();
  shunt_pairs a = {(uint64_t *)keys.device, places.device};
  shunt_pairs b = {(uint64_t *)spare_keys.device, spare_places.device};
  bool good = shunt_sort_pairs(temporary.device, &a, &b, n, place, first, last, 0) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  Buffer &sorted_keys = a.keys == keys.device ? keys : spare_keys;
  Buffer &sorted_places = a.keys == keys.device ? places : spare_places;
  sorted_keys.download();
  sorted_places.download();
  std::stable_sort(want.begin(), want.end(), [&](auto &x, auto &y) {
    const uint64_t mask = last - first < 64 ? (uint64_t(1) << (last - first)) - 1 : ~uint64_t(0);
    return (x.first >> first & mask) < (y.first >> first & mask);
  });
  for (int64_t p = 0; p < n; p++)
    good = good && ((uint64_t *)sorted_keys.host.data())[p] == want[(size_t)p].first &&
           ((J *)sorted_places.host.data())[p] == want[(size_t)p].second;
  return good;
}

template <class J> static bool sum_one(int64_t n)
{
  const shunt_type place = sizeof(J) == 4 ? SHUNT_I32 : SHUNT_I64;
  Buffer sums((size_t)n * sizeof(J) + 8), temporary(shunt_sort_bytes(n, place));
  J *x = (J *)sums.host.data();
  Random r(1);
  std::vector<J> want;
  J sum = 0;
  for (int64_t i = 0; i < n; i++) want.push_back(sum += x[i] = (J)r.below(3));
  sums.upload();
  const bool good = shunt_running_sum(temporary.device, sums.device, n, place, 0) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  sums.download();
  return good && !memcmp(x, want.data(), (size_t)n * sizeof(J));
}

static void test_sort()
{
  bool sorted = true, summed = true;
  for (int64_t n : {0, 1, 31, 2047, 2048, 2049, 9000}) {
    sorted = sorted && sort_one<int32_t>(n, 0, 64, 2) && sort_one<int64_t>(n, 0, 13, 3);
    sorted = sorted && sort_one<int32_t>(n, 5, 6, 4) && sort_one<int32_t>(n, 7, 7, 5);
    summed = summed && sum_one<int32_t>(n) && sum_one<int64_t>(n);
  }
  check(sorted, "pairs are sorted by any bits, stably, across tiles");
  check(summed && sum_one<int32_t>(2048 * 513 + 5), "running sums, also of more than 512 tiles");
}

static void time_conversion(shunt_dcsr_from from, int64_t width)
{
  const Pattern p = skewed_pattern(100000, 100000, 20, 7);
  std::vector<Entry> e;
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t q = p.offsets[(size_t)i]; q < p.offsets[(size_t)i + 1]; q++)
      e.push_back({i, p.columns[(size_t)q]});
  Conversion c(e, from, p.rows, p.cols, {width, SHUNT_I32}, SHUNT_I32, SHUNT_F32, 0, 8);
  if (!c.convert()) exit(3);
  const double us = time_graph([&](cudaStream_t s) {
    if (c.enqueue(s) != SHUNT_OK) exit(3);
  });
  printf("time dcsr from %s width %lld: %.1f us, %lld entries, %llu segments\n", name_of[from],
         (long long)width, us, (long long)c.host.nnz, (unsigned long long)c.counts()->segments);
}

int main(int argc, char **argv)
{
  test_sort();
  test_same();
  test_faults();
  test_room();
  test_declined();
  test_capture();
  if (argc > 1 && !strcmp(argv[1], "--time"))
    for (int from = 0; from < 3; from++)
      for (int64_t width : {0, 64}) time_conversion((shunt_dcsr_from)from, width);
  return finish();
}
