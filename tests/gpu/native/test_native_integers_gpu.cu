// test_native_integers_gpu.cu: libshunt.so's functions of integers on the device against the same
// calls on the host engine: quantisation, products and sampled products bit by bit, softmax and
// attention within what a rounding of the weights leaves; graph replays, and every CUDA call that can
// fail.
//   --time   also times attention beside the f16 kernels
#include "tests/gpu/srbcrs/integer_operands.cuh"

#include "backend/native/integers.h"
#include "backend/plan/fault.h"

using namespace harness;

namespace
{

// A pattern packed in both places.
struct Both {
  Pattern pattern;
  Strides csr;
  shunt_packed_integers *host = nullptr, *device = nullptr;
  shunt_packed_integers_info info;

  Both(const Pattern &p, int bits, int height, bool is_unsigned = false)
      : pattern(p),
        csr(p, {height ? height : 2, 1, bits}, SHUNT_I32, 0, RANDOM_VALUES, 3, is_unsigned)
  {
    if (shunt_pack_integers(&csr.host, SHUNT_HOST, bits, height, nullptr, &host) != SHUNT_OK ||
        shunt_pack_integers(&csr.device, SHUNT_DEVICE, bits, height, nullptr, &device) !=
            SHUNT_OK) {
      printf("not ok - the test's pattern could not be packed\n");
      exit(3);
    }
    shunt_packed_integers_describe(device, &info);
  }
  ~Both()
  {
    shunt_packed_integers_free(host);
    shunt_packed_integers_free(device);
  }
};

// Rows of real numbers for each (batch, head), [batch][row][head][d].
struct Tensor {
  Buffer at;
  shunt_tensor host, device;

  Tensor(int64_t rows, int64_t cols, int64_t batches, int64_t heads, shunt_type t, uint64_t seed)
      : at((size_t)(batches * heads * rows * cols) * shunt_type_size(t))
  {
    Random r(seed);
    for (int64_t i = 0; i < batches * heads * rows * cols; i++)
      store(at.host.data(), i, t, r.value());
    at.upload();
    host = {at.host.data(), t, batches, heads, rows, cols, heads * cols, cols, rows * heads * cols};
    device = host;
    device.values = at.device;
  }
};

// `cols` of 8, 16 .. 256: short rows, read by 16 bytes.
void test_quantise(shunt_type type, int bits, int per_row, int64_t cols)
{
  const int64_t rows = 33, pitch = (cols * bits / 8 + 16) / 16 * 16, heads = 3;
  Tensor x(rows, cols, 2, heads, type, 7);
  Buffer to((size_t)(2 * heads * rows * pitch)), scales((size_t)(2 * heads * rows) * 4);
  std::vector<char> twin(to.host.size() + 16, (char)0xff);
  std::vector<float> twin_scales(scales.host.size() / 4);
  char *first = (char *)(((uintptr_t)twin.data() + 15) & ~(uintptr_t)15);
  const shunt_integers there = {to.device, bits, rows, cols, pitch, 0};
  const shunt_integers here = {first, bits, rows, cols, pitch, 0};
  bool good =
      shunt_quantise(&x.device, SHUNT_DEVICE, per_row, &there, (float *)scales.device, nullptr) ==
          SHUNT_OK &&
      shunt_quantise(&x.host, SHUNT_HOST, per_row, &here, twin_scales.data(), nullptr) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  to.download(), scales.download();
  const size_t n = (size_t)(2 * heads * (per_row ? rows : 1)) * 4;
  good = good && !memcmp(to.host.data(), first, to.host.size()) &&
         !memcmp(scales.host.data(), twin_scales.data(), n);
  check(good, "quantise: type %d, %d bits, by rows: %d, %lld columns", type, bits, per_row,
        (long long)cols);
}

// Three matrices in one call have the bits of the twin: where they share a launch, and where one of
// another type, or one that begins an element further on, keeps them apart.  The third has
// integers, or numbers of e4m3.
void test_quantise_several(shunt_type type, shunt_type third, int64_t further, bool is_e4m3)
{
  static const struct {
    int64_t rows, problems;
    int bits, per_row;
  } of[] = {{300, 6, 8, 1}, {41, 6, 4, 1}, {520, 3, 8, 0}};
  const shunt_place places[] = {SHUNT_DEVICE, SHUNT_HOST};
  std::vector<Tensor *> x;
  std::vector<Buffer *> to, scales;
  struct shunt_quantise jobs[2][3];
  for (int i = 0; i < 3; i++) {
    const auto &k = of[i];
    const shunt_type t = i == 2 ? third : type;
    x.push_back(new Tensor(k.rows, 32, k.problems / 3, 3, t, 20 + (uint64_t)i));
    to.push_back(new Buffer((size_t)(k.problems * k.rows) * 32));
    scales.push_back(new Buffer((size_t)(k.problems * k.rows) * 4));
    for (const shunt_place place : places) {
      const bool there = place == SHUNT_DEVICE;
      const shunt_tensor &from = there ? x[i]->device : x[i]->host;
      char *values = (char *)from.values + (i == 1 ? further : 0) * (int64_t)shunt_type_size(t);
      void *into = there ? to[i]->device : to[i]->host.data();
      void *by = there ? scales[i]->device : scales[i]->host.data();
      jobs[place][i] = {{k.rows, 24, from.row_stride, 1, values, t},
                        k.problems,
                        3,
                        from.head_stride,
                        from.batch_stride,
                        {into, k.bits, k.rows, 24, 32},
                        (float *)by,
                        k.per_row,
                        i == 2 && is_e4m3};
    }
  }
  const shunt_device d = this_device();
  bool good = shunt_quantise_several_cuda(jobs[SHUNT_DEVICE], 3, &d, nullptr) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 3; i++) {
    Buffer &q = *to[i], &f = *scales[i];
    memset(q.host.data(), 0xff, q.host.size()), memset(f.host.data(), 0xff, f.host.size());
    good &= shunt_quantise_host(&jobs[SHUNT_HOST][i]) == SHUNT_OK;
    const std::vector<char> integers = q.host, factors = f.host;
    q.download(), f.download();
    good &= q.host == integers && f.host == factors;
    delete x[i], delete to[i], delete scales[i];
  }
  check(good, "quantise three: types %d and %d, one %lld further on, e4m3: %d", type, third,
        (long long)further, is_e4m3);
}

void test_products(int bits, int height)
{
  Both m(random_pattern(45, 130, 0.3, height ? height : 1, 5), bits, height);
  bool good = true;
  for (int bits_b : {16, 8, 4}) {
    if (bits_b > bits) continue;
    Integers b(bits_b, 130, 50, RANDOM_VALUES, 9);
    Scaling by(SHUNT_F16, 45, 50, 3, 10);
    Buffer c((size_t)(45 * 56) * 2), there((size_t)(45 * 56) * 2);
    memset(there.host.data(), 0xff, there.host.size());
    good &= shunt_integer_spmm(m.host, nullptr, &b.host, &by.host, there.host.data(), 56,
                               nullptr) == SHUNT_OK;
    good &= shunt_integer_spmm(m.device, nullptr, &b.device, &by.device, c.device, 56, nullptr) ==
            SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    c.download();
    good &= c.host == there.host;
  }
  Integers a(bits, 45, 70, RANDOM_VALUES, 11), b(bits, 130, 70, RANDOM_VALUES, 12);
  Scaling by(SHUNT_I32, 45, 130, 0, 13);
  Buffer x(m.info.places * 4), there(m.info.places * 4);
  memset(there.host.data(), 0xff, there.host.size());
  good &= shunt_integer_sddmm(m.host, &a.host, &b.host, &by.host, there.host.data(), nullptr) ==
          SHUNT_OK;
  good &= shunt_integer_sddmm(m.device, &a.device, &b.device, &by.device, x.device, nullptr) ==
          SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  x.download();
  check(good && x.host == there.host, "spmm and sddmm of %d bits, height %d", bits, height);
}

// Of attention: bits of the weights, of Q and K, of V.
struct Scheme {
  int weights, qk, v;
  const char *name; // weights of 8 bits are unsigned, but for the one that says so
  bool is_unsigned = true;
};
const Scheme kSchemes[] = {
    {16, 8, 8, "16b-8b", false},      {12, 8, 8, "12b-8b", false},     {8, 8, 8, "8b-8b"},
    {8, 8, 8, "8b-8b signed", false}, {8, 8, 4, "8b-8b-4b"},           {8, 4, 4, "8b-4b"},
    {8, 8, SHUNT_REAL_V, "8b-f16"},   {8, 8, SHUNT_E4M3_V, "8b-e4m3"}, {16, 4, 4, "16b-4b", false}};

// Do the scales agree: both no number, or equal within what some weights that are 1 off leave?
bool scales_agree(const Buffer &got, const std::vector<float> &want)
{
  bool good = true;
  for (size_t i = 0; i < want.size(); i++) {
    const double x = load(got.host.data(), (int64_t)i, SHUNT_F32), y = (double)want[i];
    good &= std::isnan(y) ? std::isnan(x) : fabs(x - y) <= 1e-3 * y;
  }
  return good;
}

// Rows of few strides, and of many; `spread`: of the scores.
void test_softmax(int bits, int64_t cols, double spread, bool is_unsigned)
{
  Both m(random_pattern(45, cols, 0.3, 4, 5), bits, 8, is_unsigned);
  Buffer scores(m.info.places * 4), weights(m.info.places * (size_t)bits / 8), scales(45 * 4);
  std::vector<float> twin_scales(45);
  std::vector<char> twin(weights.host.size() + 256);
  char *first = (char *)(((uintptr_t)twin.data() + 255) & ~(uintptr_t)255);
  Random r(3);
  for (size_t i = 0; i < m.info.places; i++)
    store(scores.host.data(), (int64_t)i, SHUNT_F32, spread * r.value());
  const shunt_srbcrs &v = m.host->v;
  const float special[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) // the first entries of rows 0, 9 and 18
    for (int64_t s = v.begin[i]; s < v.end[i]; s++)
      if (v.masks[s] >> i & 1) {
        store(scores.host.data(), shunt_srbcrs_place(8, i, s), SHUNT_F32, special[i]);
        break;
      }
  scores.upload();
  memset(weights.host.data(), 0, weights.host.size());
  weights.upload();
  bool good = shunt_integer_softmax(m.host, 0.5f, (const float *)scores.host.data(), 8, first,
                                    twin_scales.data(), nullptr) == SHUNT_OK;
  good &= shunt_integer_softmax(m.device, 0.5f, (const float *)scores.device, 8, weights.device,
                                (float *)scales.device, nullptr) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  weights.download(), scales.download();
  good &= scales_agree(scales, twin_scales) && std::isnan(twin_scales[0]);
  shunt_srbcrs got = v, want = v;
  got.values = (uint8_t *)weights.host.data(), want.values = (uint8_t *)first;
  int worst = 0, largest = 0;
  for (int64_t g = 0; g < v.groups; g++)
    for (int64_t s = v.begin[g]; s < v.end[g]; s++)
      for (int q = 0; q < 8; q++) {
        worst =
            std::max(worst, abs(shunt_srbcrs_value(&got, q, s) - shunt_srbcrs_value(&want, q, s)));
        largest = std::max(largest, shunt_srbcrs_value(&want, q, s));
      }
  // Only rows so long that they could leave int32 have less.
  const int most = is_unsigned ? 255 : (1 << (bits - 1)) - 1;
  check(good && worst <= 1 && (bits < 16 || cols < 1000 ? largest == most : largest > 4096),
        "softmax of %lld columns, spread %g, into %d bits%s, at most %d off, largest %d",
        (long long)cols, spread, bits, is_unsigned ? " unsigned" : "", worst, largest);
}

// On the device, by a graph, twice: all in one launch where that is to be had, or in three launches.
bool device_attention(const Both &m, const Scheme &by, const shunt_tensor *const x[4], bool three)
{
  const uint32_t longest = m.device->counts.longest;
  if (three) m.device->counts.longest = 1 << 20; // no shared memory holds them
  const size_t bytes =
      shunt_integer_attention_workspace(m.device, by.qk, by.v, x[0], x[1], x[2], x[3]);
  Buffer room(bytes + 256);
  void *there = (void *)(((uintptr_t)room.device + 255) & ~(uintptr_t)255);
  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t e;
  CUDA_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  const bool good = shunt_integer_attention(m.device, by.qk, by.v, 0.5f, x[0], x[1], x[2], x[3],
                                            there, bytes, s) == SHUNT_OK;
  CUDA_OK(cudaStreamEndCapture(s, &g));
  CUDA_OK(cudaGraphInstantiate(&e, g, 0));
  for (int i = 0; i < 2; i++) CUDA_OK(cudaGraphLaunch(e, s));
  CUDA_OK(cudaStreamSynchronize(s));
  cudaGraphExecDestroy(e), cudaGraphDestroy(g), cudaStreamDestroy(s);
  m.device->counts.longest = longest;
  return good;
}

// Rows of about 0.4 n entries.  Long ones: of three launches four problems at once, then the last
// two.  d: columns of a head; of 25 neither rows nor heads begin at multiples of more than an element.
void test_attention(const Scheme &by, shunt_type type, int64_t n, int64_t d)
{
  Both m(random_pattern(40, n, 0.4, 8, 1), by.weights, 0, by.is_unsigned);
  Tensor q(40, d, 2, 3, type, 1), k(n, d, 2, 3, type, 2), v(n, d, 2, 3, type, 3);
  Tensor o(40, d, 2, 3, type, 4);
  const shunt_tensor *const x[4] = {&q.device, &k.device, &v.device, &o.device};
  if (n > 1000) m.host->score_bytes = m.device->score_bytes = 4 * 2 * m.info.places;
  const size_t bytes =
      shunt_integer_attention_workspace(m.host, by.qk, by.v, &q.host, &k.host, &v.host, &o.host);
  const size_t fused =
      shunt_integer_attention_workspace(m.device, by.qk, by.v, x[0], x[1], x[2], x[3]);
  const bool fuses = by.v == 8 || by.v == 4; // of V as it is the host does, too
  check(fuses ? fused < bytes : fused == bytes, "attention, %s: workspace of %zu bytes, not %zu",
        by.name, fused, bytes);
  std::vector<char> here(bytes + 256);
  void *on_host = (void *)(((uintptr_t)here.data() + 255) & ~(uintptr_t)255);
  bool good = device_attention(m, by, x, true);
  o.at.download();
  const std::vector<char> three = o.at.host;
  CUDA_OK(cudaMemset(o.at.device, 0xff, o.at.host.size()));
  good &= device_attention(m, by, x, false);
  good &= shunt_integer_attention(m.host, by.qk, by.v, 0.5f, &q.host, &k.host, &v.host, &o.host,
                                  on_host, bytes, nullptr) == SHUNT_OK;
  const std::vector<char> want = o.at.host;
  o.at.download();
  check(o.at.host == three, "attention, %s: the bits of three launches, or without kept scores",
        by.name);
  double worst = 0;
  for (int64_t i = 0; i < 2 * 3 * 40 * d; i++)
    worst = fmax(worst, fabs(load(want.data(), i, type) - load(o.at.host.data(), i, type)));
  check(good && worst < (by.weights > 8 ? 0.002 : 0.006),
        "attention, %s, type %d, %lld columns, heads of %lld, error %g", by.name, type,
        (long long)n, (long long)d, worst);
  m.device->at.ordinal++;
  check(shunt_integer_attention(m.device, by.qk, by.v, 1, x[0], x[1], x[2], x[3], on_host, bytes,
                                nullptr) == SHUNT_E_ARGUMENT,
        "another device than the matrix's");
  m.device->at.ordinal--;
}

// Each CUDA call fails once: the status says it, and O is as it was unless the status says not.
// `three` launches for each problem by itself, so that there is something between them.
void test_attention_faults(bool three)
{
  Both m(random_pattern(16, 64, 0.3, 8, 6), 8, 8);
  m.device->score_bytes = 0;
  if (three) m.device->counts.longest = 1 << 20;
  Tensor q(16, 24, 1, 2, SHUNT_F16, 1), k(64, 24, 1, 2, SHUNT_F16, 2);
  Tensor v(64, 24, 1, 2, SHUNT_F16, 3), o(16, 24, 1, 2, SHUNT_F16, 4);
  const size_t bytes =
      shunt_integer_attention_workspace(m.device, 8, 8, &q.device, &k.device, &v.device, &o.device);
  Buffer room(bytes + 256);
  void *there = (void *)(((uintptr_t)room.device + 255) & ~(uintptr_t)255);
  const std::vector<char> before = o.at.host;
  bool good = true, failed = true;
  int written = 0;
  long n = 0;
  while (failed) {
    shunt_fault_arm(++n);
    const shunt_status s = shunt_integer_attention(m.device, 8, 8, 1, &q.device, &k.device,
                                                   &v.device, &o.device, there, bytes, nullptr);
    failed = shunt_faults_seen() >= n;
    CUDA_OK(cudaDeviceSynchronize());
    o.at.download();
    written += s == SHUNT_E_WRITTEN;
    if (failed && s == SHUNT_E_CUDA)
      good = good && o.at.host == before;
    else
      good = good && (failed ? s == SHUNT_E_WRITTEN : s == SHUNT_OK && o.at.host != before);
  }
  shunt_fault_arm(0);
  check(good && n == (three ? 9 : 4) && written == (three ? 3 : 0),
        "each of %ld calls of attention fails", n - 1);
}

void test_pack_faults()
{
  Both m(random_pattern(16, 64, 0.3, 8, 6), 8, 8);
  bool good = true;
  long n = 0;
  for (bool failed = true; failed;) {
    shunt_packed_integers *x = nullptr;
    shunt_fault_arm(++n);
    const shunt_status s = shunt_pack_integers(&m.csr.device, SHUNT_DEVICE, 8, 0, nullptr, &x);
    failed = shunt_faults_seen() >= n;
    good = good && (failed ? (s == SHUNT_E_CUDA || s == SHUNT_E_MEMORY) && !x : s == SHUNT_OK);
    shunt_packed_integers_free(x);
  }
  shunt_fault_arm(0);
  check(good && n >= 10, "each of %ld calls of packing fails", n - 1);
}

double time_f16(const Pattern &p, const shunt_csr &a, Tensor *const x[4])
{
  shunt_csr pattern = a;
  shunt_packed *packed = nullptr;
  pattern.value_type = SHUNT_F16, pattern.values = nullptr;
  if (shunt_pack(&pattern, SHUNT_DEVICE, nullptr, nullptr, &packed) != SHUNT_OK) return 0;
  shunt_packed_info info;
  shunt_packed_describe(packed, &info);
  const shunt_tensor &q = x[0]->device;
  const int64_t problems = q.batches * q.heads;
  Buffer values((size_t)problems * info.value_bytes);
  const shunt_values all = {values.device, info.value_bytes};
  const double us = time_graph([&](cudaStream_t s) {
    shunt_sddmm(packed, 0.125f, &q, &x[1]->device, &all, s);
    shunt_softmax(packed, problems, 1, &all, &all, s);
    shunt_spmm(packed, &all, 1, &x[2]->device, 0, &x[3]->device, nullptr, 0, s);
  });
  const double fused = time_graph([&](cudaStream_t s) {
    shunt_attention(packed, 0.125f, &q, &x[1]->device, &x[2]->device, &x[3]->device, nullptr, 0, s);
  });
  printf("time attention %lld heads %lld sparsity %g f16 trio: %.2f us, fused %.2f us\n",
         (long long)p.rows, (long long)problems, 1 - (double)p.nnz() / (double)(p.rows * p.cols),
         us, fused);
  shunt_packed_free(packed);
  return us;
}

// The calls that attention is made of, for one head.
void time_parts(shunt_packed_integers *m, const Tensor &q, const Tensor &k, int bits)
{
  const int64_t length = q.host.rows, d = q.host.cols;
  shunt_packed_integers_info info;
  shunt_packed_integers_describe(m, &info);
  Integers q8(8, length, d, RANDOM_VALUES, 1, 0), k8(8, length, d, RANDOM_VALUES, 2, 0);
  Buffer scores(info.places * 4 + 256), scales((size_t)length * 64), c((size_t)(length * d) * 2);
  Buffer row_scales((size_t)length * 4);
  const shunt_scaling f32 = {SHUNT_F32, 1e-4f, nullptr, nullptr, nullptr};
  const shunt_scaling f16 = {SHUNT_F16, 1e-4f, nullptr, nullptr, nullptr};
  Buffer all((size_t)(length * d * q.host.heads));
  const shunt_integers to = {all.device, 8, length, d, d, 0};
  const auto us = [&](const char *what, auto call) {
    printf("time parts %lld entries %lld bits %d %s: %.2f us\n", (long long)length,
           (long long)info.nnz, bits, what, time_graph(call));
  };
  us("quantise by rows, all heads", [&](cudaStream_t s) {
    shunt_quantise(&q.device, SHUNT_DEVICE, 1, &to, (float *)scales.device, s);
  });
  us("quantise by tensor, all heads", [&](cudaStream_t s) {
    shunt_quantise(&k.device, SHUNT_DEVICE, 0, &to, (float *)scales.device, s);
  });
  us("sddmm", [&](cudaStream_t s) {
    shunt_integer_sddmm(m, &q8.device, &k8.device, &f32, scores.device, s);
  });
  us("softmax", [&](cudaStream_t s) {
    shunt_integer_softmax(m, 1, (const float *)scores.device, 8, nullptr,
                          (float *)row_scales.device, s);
  });
  us("spmm",
     [&](cudaStream_t s) { shunt_integer_spmm(m, nullptr, &k8.device, &f16, c.device, d, s); });
}

void time_attention()
{
  for (int64_t length : {4096, 8192})
    for (double sparsity : {0.9, 0.95}) {
      const int64_t heads = 4, d = 64;
      const Pattern p = random_pattern(length, length, 1 - sparsity, 8, 17);
      Tensor q(length, d, 1, heads, SHUNT_F16, 1), k(length, d, 1, heads, SHUNT_F16, 2);
      Tensor v(length, d, 1, heads, SHUNT_F16, 3), o(length, d, 1, heads, SHUNT_F16, 4);
      Tensor *const x[4] = {&q, &k, &v, &o};
      for (const Scheme &by : kSchemes) {
        const int bits = by.weights;
        Strides csr(p, {8, 8, bits}, SHUNT_I32, 0, RANDOM_VALUES, 3, by.is_unsigned);
        if (&by == kSchemes) time_f16(p, csr.device, x);
        shunt_packed_integers *m = nullptr;
        shunt_pack_integers(&csr.device, SHUNT_DEVICE, bits, 8, nullptr, &m);
        const uint32_t longest = m->counts.longest;
        const auto workspace = [&] {
          return shunt_integer_attention_workspace(m, by.qk, by.v, &q.device, &k.device, &v.device,
                                                   &o.device);
        };
        m->counts.longest = 1 << 20;
        const size_t bytes = workspace();
        Buffer room(bytes + 256);
        void *there = (void *)(((uintptr_t)room.device + 255) & ~(uintptr_t)255);
        const auto attention = [&](cudaStream_t s) {
          shunt_integer_attention(m, by.qk, by.v, 0.125f, &q.device, &k.device, &v.device,
                                  &o.device, there, bytes, s);
        };
        const double three = time_graph(attention);
        m->counts.longest = longest;
        const size_t fused = workspace();
        const double one = time_graph(attention);
        printf("time attention %lld heads %lld sparsity %g %s: %.2f us, workspace %zu; without "
               "room for scores %.2f us, workspace %zu\n",
               (long long)length, (long long)heads, sparsity, by.name, one, fused, three, bytes);
        if (by.v == 8) time_parts(m, q, k, bits);
        shunt_packed_integers_free(m);
      }
    }
}

} // namespace

int main(int argc, char **argv)
{
  for (int bits : {16, 8, 4}) {
    for (shunt_type type : {SHUNT_F16, SHUNT_BF16, SHUNT_F32})
      for (int per_row : {0, 1})
        for (int64_t cols : {8, 64, 75, 88, 256, 1101}) test_quantise(type, bits, per_row, cols);
    for (int height : {0, 2, 4, 8}) test_products(bits, height);
  }
  for (shunt_type type : {SHUNT_F16, SHUNT_BF16, SHUNT_F32}) {
    for (const bool is_e4m3 : {false, true}) {
      test_quantise_several(type, type, 0, is_e4m3);
      test_quantise_several(type, type, 1, is_e4m3);
      test_quantise_several(type, type == SHUNT_F32 ? SHUNT_F16 : SHUNT_F32, 0, is_e4m3);
    }
  }
  for (int bits : {16, 12, 8})
    for (int64_t cols : {130, 1400, 3000})
      for (double spread : {0.0, 8.0}) {
        test_softmax(bits, cols, spread, false);
        if (bits == 8) test_softmax(bits, cols, spread, true);
      }
  for (int64_t n : {90, 1400}) {
    test_attention(kSchemes[0], SHUNT_F32, n, 24);
    test_attention(kSchemes[1], SHUNT_BF16, n, 24);
    test_attention(kSchemes[2], SHUNT_F16, n, 24);
    test_attention(kSchemes[3], SHUNT_F16, n, 24);
    test_attention(kSchemes[4], SHUNT_BF16, n, 24);
    test_attention(kSchemes[5], SHUNT_F32, n, 24);
    test_attention(kSchemes[2], SHUNT_F16, n, 25);
    test_attention(kSchemes[6], SHUNT_F16, n, 24);
    test_attention(kSchemes[6], SHUNT_BF16, n, 64);
    test_attention(kSchemes[7], SHUNT_F32, n, 24);
    test_attention(kSchemes[8], SHUNT_F16, n, 24);
  }
  test_attention_faults(true), test_attention_faults(false);
  test_pack_faults();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_attention();
  return finish();
}
