// service.cu: matrices that come, change and go, for as long as it is asked to.
//
//   service [PRODUCTS [MATRICES [SEED]]]
//
// MATRICES (200) of f16 and f32 are there at any time, each in memory of its own.  PRODUCTS
// (100,000) products are made, on four streams, each of a matrix drawn at random, 8 times in a row
// at most.  Before it
//
//   1 in 20   the matrix is freed, and another one, of another size and pattern, takes its place
//   1 in 10   its values change in place
//   1 in 30   its columns do
//
// The bar: every result that is looked at (1 in 4) is right; no call fails; the memory that the
// process has on the host, and that of the device beyond the matrices, grow no more from the first
// quarter to the end than SLACK; calls take no longer (1.25 x).  All arrays are of the largest
// size, so that the program itself needs the same at any time.
#include "tests/gpu/torture/torture_matrix.cuh"

using namespace blackbox;

enum { LANES = 4, MOST_SIDE = 1024, MOST_WIDTH = 128, MOST_LENGTH = 512, OUTCOMES = 4096 };
static const int64_t HOST_SLACK = 32 << 20, DEVICE_SLACK = 96 << 20;

struct Tenant {
  Csr a;
  int group;
};

struct Service {
  Lane lanes[LANES];
  cudaEvent_t done; // what was enqueued last
  std::vector<Tenant> tenants;
  Dense b, c;
  Outcome *outcomes;
  int looked_at;
  uint64_t rng;
  int64_t products, refused, wrong, arrivals;
};

static int64_t below(Service &s, int64_t n)
{
  return random_below(&s.rng, n);
}

static void set_sizes(Service &s, Tenant &t)
{
  static const int64_t lengths[] = {3, 4, 8, 16, 25, 50};
  const int64_t side = 256 + 8 * below(s, (MOST_SIDE - 256) / 8 + 1);
  t.a.rows = side;
  t.a.cols = 256 + 8 * below(s, (MOST_SIDE - 256) / 8 + 1);
  t.a.type = below(s, 3) ? CUDA_R_16F : CUDA_R_32F;
  t.a.nnz = side * std::max<int64_t>(t.a.cols * lengths[below(s, 6)] / 100, 1);
  t.group = below(s, 2) ? 8 : 1;
}

static void fill_tenant(Service &s, Tenant &t, cudaStream_t stream)
{
  even_offsets_kernel<<<blocks_for(t.a.rows + 1), 256, 0, stream>>>((int32_t *)t.a.offsets,
                                                                    t.a.rows, t.a.nnz / t.a.rows);
  CUDA_OK(cudaGetLastError());
  fill_matrix(t.a, t.group, random_next(&s.rng), stream);
}

static Tenant make_tenant(Service &s, cudaStream_t stream)
{
  Tenant t = Tenant();
  t.a.offsets = device_bytes((MOST_SIDE + 1) * 4);
  t.a.columns = device_bytes((size_t)MOST_SIDE * MOST_LENGTH * 4);
  t.a.values = device_bytes((size_t)MOST_SIDE * MOST_LENGTH * 4);
  set_sizes(s, t);
  fill_tenant(s, t, stream);
  return t;
}

static void destroy_tenant(Tenant &t)
{
  CUDA_OK(cudaFree(t.a.offsets));
  CUDA_OK(cudaFree(t.a.columns));
  CUDA_OK(cudaFree(t.a.values));
}

// What the checks so far have found.
static void drain(Service &s)
{
  std::vector<Outcome> found((size_t)s.looked_at);
  CUDA_OK(cudaDeviceSynchronize());
  if (s.looked_at == 0) return;
  CUDA_OK(
      cudaMemcpy(found.data(), s.outcomes, found.size() * sizeof(Outcome), cudaMemcpyDeviceToHost));
  for (const Outcome &o : found) s.wrong += o.loose != 0;
  CUDA_OK(cudaMemset(s.outcomes, 0, found.size() * sizeof(Outcome)));
  CUDA_OK(cudaDeviceSynchronize());
  s.looked_at = 0;
}

static void change(Service &s, Tenant &t, cudaStream_t stream)
{
  if (below(s, 20) == 0) {
    CUDA_OK(cudaStreamSynchronize(stream));
    destroy_tenant(t);
    t = make_tenant(s, stream);
    s.arrivals++;
  } else if (below(s, 30) == 0) {
    fill_columns(t.a, t.group, random_next(&s.rng), PATTERN_PLAIN, stream);
  } else if (below(s, 10) == 0) {
    fill(t.a.values, t.a.nnz, t.a.type, random_next(&s.rng), FILL_RANDOM, stream);
  }
}

static void serve(Service &s)
{
  static const int64_t widths[] = {1, 8, 32, 64, 64, 128};
  Lane &l = s.lanes[below(s, LANES)];
  Tenant &t = s.tenants[(size_t)below(s, (int64_t)s.tenants.size())];
  const int64_t calls = 1 + below(s, 8), width = widths[below(s, 6)];
  CUDA_OK(cudaStreamWaitEvent(l.stream, s.done, 0));
  change(s, t, l.stream);
  Problem p = product_of(t.a, s.b, s.c);
  p.b.rows = t.a.cols;
  p.c.rows = t.a.rows;
  p.b.cols = p.b.ld = p.c.cols = p.c.ld = width;
  p.b.type = p.c.type = t.a.type;
  fill(p.b.values, p.b.stored(), p.b.type, random_next(&s.rng), FILL_RANDOM, l.stream);
  for (int64_t i = 0; i < calls; i++) {
    const bool look = below(s, 4) == 0;
    if (look)
      CUDA_OK(
          cudaMemsetAsync(p.c.values, 0xff, (size_t)p.c.stored() * type_size(p.c.type), l.stream));
    s.refused += multiply(l, p) != CUSPARSE_STATUS_SUCCESS;
    s.products++;
    if (look) check_result(p, s.outcomes + s.looked_at++, l.stream);
    if (s.looked_at == OUTCOMES) drain(s);
  }
  CUDA_OK(cudaEventRecord(s.done, l.stream));
}

static double us_for(Service &s, int64_t products)
{
  const int64_t from = s.products;
  const double begin = clock_us();
  while (s.products - from < products) serve(s);
  drain(s);
  return (clock_us() - begin) / (double)(s.products - from);
}

static void set_up(Service &s, int matrices, uint64_t seed)
{
  s = Service();
  s.rng = seed;
  for (Lane &l : s.lanes) {
    l = make_lane();
    grow_workspace(l, 64 << 20);
  }
  CUDA_OK(cudaEventCreateWithFlags(&s.done, cudaEventDisableTiming));
  s.b = make_dense(MOST_SIDE, MOST_WIDTH, false, CUDA_R_32F);
  s.c = make_dense(MOST_SIDE, MOST_WIDTH, false, CUDA_R_32F);
  s.outcomes = (Outcome *)device_bytes(OUTCOMES * sizeof(Outcome));
  CUDA_OK(cudaMemset(s.outcomes, 0, OUTCOMES * sizeof(Outcome)));
  for (int i = 0; i < matrices; i++) s.tenants.push_back(make_tenant(s, s.lanes[0].stream));
  CUDA_OK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
  const int64_t products = std::max<int64_t>(argc > 1 ? atoll(argv[1]) : 100000, 1000);
  const int matrices = argc > 2 ? atoi(argv[2]) : 200;
  static Service s;
  set_up(s, std::max(matrices, 1), argc > 3 ? (uint64_t)atoll(argv[3]) : 1);
  const int64_t before = device_bytes_used();
  us_for(s, products / 8);
  const double early = us_for(s, products / 8);
  const int64_t host = host_bytes(), device = device_bytes_used();
  us_for(s, products / 2);
  us_for(s, products / 8);
  const double late = us_for(s, products / 8);
  const int64_t host_more = host_bytes() - host, device_more = device_bytes_used() - device;
  printf("value device_beyond_matrices_mb=%.1f\n", megabytes(device_bytes_used() - before));
  check(s.wrong == 0 && s.refused == 0,
        "%lld products of %d matrices, %lld came and went: %lld wrong results, %lld calls failed",
        (long long)s.products, (int)s.tenants.size(), (long long)s.arrivals, (long long)s.wrong,
        (long long)s.refused);
  check(host_more <= HOST_SLACK, "%.1f MB more of the host's memory than after a quarter",
        megabytes(host_more));
  check(device_more <= DEVICE_SLACK, "%.1f MB more of the device's memory than after a quarter",
        megabytes(device_more));
  check(late <= 1.25 * early, "%.2f us a product in the last eighth, %.2f in the second", late,
        early);
  for (Tenant &t : s.tenants) destroy_tenant(t);
  for (Lane &l : s.lanes) destroy_lane(l);
  return finish();
}
