// test_native_gpu.cu: libshunt.so's functions on the device against the same calls on the host
// engine: memory of either owner, fused attention and the three kernels, batches, what is refused,
// and every CUDA call that can fail.
#include "tests/gpu/vector/attention_operands.cuh"

#include "backend/native/native.h"
#include "backend/plan/fault.h"

using namespace harness;

// A tensor of both memories; `aligned` false: rows and pointer at odd places.
struct Operand {
  Buffer at;
  shunt_tensor host, device;

  Operand(int64_t rows, int64_t cols, int64_t batches, int64_t heads, bool aligned, uint64_t seed,
          shunt_type t = SHUNT_F16)
      : at((size_t)((batches * heads * rows + 1) * (cols + 9)) * shunt_type_size(t))
  {
    Random r(seed);
    const int64_t pitch = aligned ? (cols + 7) / 8 * 8 : cols + 1,
                  n = batches * heads * rows * pitch;
    for (int64_t i = 0; i < n + !aligned; i++) store(at.host.data(), i, t, r.value());
    at.upload();
    const size_t skip = aligned ? 0 : shunt_type_size(t);
    host = {at.host.data() + skip, t, batches, heads, rows, cols, heads * pitch, pitch,
            rows * heads * pitch};
    device = host;
    device.values = (char *)at.device + skip;
  }
};

// Memory aligned to 256 bytes, on the device.
struct Room {
  Buffer at;
  explicit Room(size_t bytes) : at(bytes + 256) {}
  void *get() const { return (void *)(((uintptr_t)at.device + 255) & ~(uintptr_t)255); }
};

// A pattern packed in both places.
struct Both {
  Pattern pattern;
  Buffer offsets, columns, values;
  shunt_csr on_host, on_device;
  shunt_packed *host = nullptr, *device = nullptr;
  shunt_packed_info info;

  Both(const Pattern &p, const shunt_packing *how = nullptr)
      : pattern(p), offsets((size_t)(p.rows + 1) * 8), columns((size_t)p.nnz() * 8),
        values((size_t)p.nnz() * 2)
  {
    Random r(3);
    memcpy(offsets.host.data(), p.offsets.data(), offsets.host.size());
    memcpy(columns.host.data(), p.columns.data(), columns.host.size());
    for (int64_t i = 0; i < p.nnz(); i++) store(values.host.data(), i, SHUNT_F16, r.value());
    for (Buffer *b : {&offsets, &columns, &values}) b->upload();
    on_host = {
        p.rows,    p.cols,    p.nnz(), offsets.host.data(), columns.host.data(), values.host.data(),
        SHUNT_I64, SHUNT_F16, 0};
    on_device = on_host;
    on_device.row_offsets = offsets.device, on_device.columns = columns.device;
    on_device.values = values.device;
    if (shunt_pack(&on_host, SHUNT_HOST, nullptr, nullptr, &host) != SHUNT_OK ||
        shunt_pack(&on_device, SHUNT_DEVICE, how, nullptr, &device) != SHUNT_OK) {
      printf("not ok - the test's pattern could not be packed\n");
      exit(3);
    }
    shunt_packed_describe(device, &info);
  }
  ~Both()
  {
    shunt_packed_free(host);
    shunt_packed_free(device);
  }
};

// Do the tensors agree?  got's device memory is fetched.
static bool agree(Operand &got, const std::vector<char> &want, double relative, double absolute)
{
  CUDA_OK(cudaDeviceSynchronize());
  got.at.download();
  return different(got.at.host, want, got.host.type, relative, absolute) == 0;
}

static void test_attention(int64_t d, bool aligned)
{
  Both m(make_pattern(HOLES, 29, 90, 0.4, 1));
  Operand q(29, d, 2, 3, aligned, 1), k(90, d, 2, 3, aligned, 2), v(90, d, 2, 3, aligned, 3);
  Operand o(29, d, 2, 3, aligned, 4);
  const size_t bytes =
      shunt_attention_workspace(m.device, &q.device, &k.device, &v.device, &o.device);
  const bool fused = aligned && (d == 16 || d == 64);
  Room room(bytes);
  check((bytes == 0) == fused, "d %lld, aligned %d: %zu bytes of workspace", (long long)d, aligned,
        bytes);
  const auto call = [&](void *workspace, size_t size) {
    return shunt_attention(m.device, 0.3f, &q.device, &k.device, &v.device, &o.device, workspace,
                           size, nullptr);
  };
  if (bytes) {
    check(call(nullptr, bytes) == SHUNT_E_WORKSPACE, "no workspace");
    check(call(room.get(), bytes - 1) == SHUNT_E_WORKSPACE, "a small one");
    check(call((char *)room.get() + 8, bytes) == SHUNT_E_WORKSPACE, "a misaligned one");
  }
  const shunt_status s = call(bytes ? room.get() : nullptr, bytes);
  const shunt_status t =
      shunt_attention(m.host, 0.3f, &q.host, &k.host, &v.host, &o.host, nullptr, 0, nullptr);
  const std::vector<char> want = o.at.host;
  check(s == SHUNT_OK && t == SHUNT_OK && agree(o, want, 2.1, fused ? 1.1 : 6),
        "attention of 2 x 3 problems, d %lld, aligned %d", (long long)d, aligned);
}

static void test_parts(const shunt_packing *how, const char *name)
{
  Both m(make_pattern(EIGHTS, 40, 120, 0.3, 2), how);
  Operand q(40, 20, 1, 2, true, 1), k(120, 20, 1, 2, true, 2), b(120, 12, 1, 2, false, 3);
  Operand c(40, 12, 1, 2, true, 4, SHUNT_F32);
  std::vector<char> there;
  shunt_packed_info host_info;
  shunt_packed_describe(m.host, &host_info);
  std::vector<uint64_t> host_values(2 * host_info.value_bytes / 8);
  Buffer device_values(2 * m.info.value_bytes);
  const shunt_values h = {host_values.data(), host_info.value_bytes};
  const shunt_values d = {device_values.device, m.info.value_bytes};
  Room room(shunt_spmm_workspace(m.device, &b.device, &c.device));
  const size_t bytes = shunt_spmm_workspace(m.device, &b.device, &c.device);
  check(bytes > 0 && shunt_spmm(m.device, &d, 1, &b.device, 0, &c.device, nullptr, 0, nullptr) ==
                         SHUNT_E_WORKSPACE,
        "%s: a B of odd rows wants a workspace", name);
  const bool host_good =
      shunt_sddmm(m.host, 0.5f, &q.host, &k.host, &h, nullptr) == SHUNT_OK &&
      shunt_softmax(m.host, 2, 2, &h, &h, nullptr) == SHUNT_OK &&
      shunt_spmm(m.host, &h, 2, &b.host, -1, &c.host, nullptr, 0, nullptr) == SHUNT_OK;
  const bool device_good =
      shunt_sddmm(m.device, 0.5f, &q.device, &k.device, &d, nullptr) == SHUNT_OK &&
      shunt_softmax(m.device, 2, 2, &d, &d, nullptr) == SHUNT_OK &&
      shunt_spmm(m.device, &d, 2, &b.device, -1, &c.device, room.get(), bytes, nullptr) == SHUNT_OK;
  const std::vector<char> want = c.at.host;
  CUDA_OK(cudaDeviceSynchronize());
  c.at.download();
  double worst = 0;
  for (size_t i = 0; i < want.size() / 4; i++)
    worst = fmax(worst, fabs(load(want.data(), (int64_t)i, SHUNT_F32) -
                             load(c.at.host.data(), (int64_t)i, SHUNT_F32)));
  check(host_good && device_good && worst < 0x1p-8, "%s: sddmm, softmax, spmm, error %g", name,
        worst);
}

static void test_packing()
{
  const Pattern p = make_pattern(EIGHTS, 32, 64, 0.3, 4);
  Both m(p);
  shunt_packing how = {8, 0, nullptr, 0};
  shunt_packed *x = nullptr;
  const size_t bytes = shunt_packed_bytes(&m.on_device, &how);
  Room room(bytes);
  check(m.info.where == SHUNT_DEVICE && m.info.height == 8 && m.info.fill == 1, "is described");
  how.memory = room.get(), how.memory_bytes = bytes - 1;
  check(shunt_pack(&m.on_device, SHUNT_DEVICE, &how, nullptr, &x) == SHUNT_E_WORKSPACE && !x,
        "memory that is too small");
  how.memory_bytes = bytes;
  check(shunt_pack(&m.on_device, SHUNT_DEVICE, &how, nullptr, &x) == SHUNT_OK && x,
        "the caller's memory");
  shunt_packed_free(x);
  shunt_csr a = m.on_device;
  a.values = nullptr;
  check(shunt_pack(&a, SHUNT_DEVICE, nullptr, nullptr, &x) == SHUNT_OK, "without values");
  shunt_packed_free(x);
  Pattern broken = p;
  broken.columns[1] = broken.columns[0];
  memcpy(m.columns.host.data(), broken.columns.data(), m.columns.host.size());
  m.columns.upload();
  check(shunt_pack(&m.on_device, SHUNT_DEVICE, nullptr, nullptr, &x) == SHUNT_E_INPUT && !x,
        "a repeated column");
}

// Nothing is made while a stream is captured, and the capture goes on.
static void test_capture()
{
  Both m(make_pattern(EIGHTS, 16, 64, 0.3, 5));
  Operand q(16, 32, 1, 1, true, 1), k(64, 32, 1, 1, true, 2), v(64, 32, 1, 1, true, 3);
  Operand o(16, 32, 1, 1, true, 4);
  shunt_packed *x = nullptr;
  cudaStream_t s, other;
  cudaGraph_t g;
  cudaGraphExec_t e;
  CUDA_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  const shunt_status outside = shunt_pack(&m.on_device, SHUNT_DEVICE, nullptr, other, &x);
  shunt_packed_free(x);
  x = nullptr;
  const shunt_status packed = shunt_pack(&m.on_device, SHUNT_DEVICE, nullptr, s, &x);
  const shunt_status called =
      shunt_attention(m.device, 1, &q.device, &k.device, &v.device, &o.device, nullptr, 0, s);
  CUDA_OK(cudaStreamEndCapture(s, &g));
  CUDA_OK(cudaGraphInstantiate(&e, g, 0));
  CUDA_OK(cudaGraphLaunch(e, s));
  CUDA_OK(cudaStreamSynchronize(s));
  const bool host = shunt_attention(m.host, 1, &q.host, &k.host, &v.host, &o.host, nullptr, 0,
                                    nullptr) == SHUNT_OK;
  const std::vector<char> want = o.at.host;
  check(packed == SHUNT_E_ARGUMENT && !x, "no packing inside stream capture");
  check(outside == SHUNT_OK, "packing on another stream during a capture: status %d", (int)outside);
  check(called == SHUNT_OK && host && agree(o, want, 2.1, 1.1), "attention by graph replay");
  cudaGraphExecDestroy(e);
  cudaGraphDestroy(g);
  cudaStreamDestroy(s);
  cudaStreamDestroy(other);
}

// Each CUDA call of packing fails once; how many there are, or 0: a status did not say it.
static long fail_each_call(const shunt_csr &a)
{
  bool good = true, failed = true;
  long n = 0;
  while (failed) {
    shunt_packed *x = nullptr;
    shunt_fault_arm(++n);
    const shunt_status s = shunt_pack(&a, SHUNT_DEVICE, nullptr, nullptr, &x);
    failed = shunt_faults_seen() >= n;
    good = good && (failed ? (s == SHUNT_E_CUDA || s == SHUNT_E_MEMORY) && !x : s == SHUNT_OK);
    shunt_packed_free(x);
  }
  shunt_fault_arm(0);
  return good ? n - 1 : 0;
}

// The status says it, and the memory is given back: once the device has as much free memory as
// before, which other programs' allocations may hide.
static void test_packing_faults()
{
  Both m(make_pattern(EIGHTS, 16, 64, 0.3, 6));
  shunt_csr a = m.on_device;
  a.values = nullptr;
  long calls = 1;
  bool back = false;
  for (int i = 0; i < 20 && calls > 0 && !back; i++) {
    size_t before = 0, after = 0, total;
    CUDA_OK(cudaMemGetInfo(&before, &total));
    calls = fail_each_call(a);
    CUDA_OK(cudaMemGetInfo(&after, &total));
    back = before == after;
  }
  check(calls >= 10 && back, "each of %ld calls of packing fails, nothing leaks", calls);
}

// Scores that f16 holds only once they are scaled: by way of the three kernels no result is lost.
static void test_large_scores()
{
  Both m(make_pattern(HOLES, 29, 90, 0.4, 1));
  Operand q(29, 24, 1, 1, true, 1), k(90, 24, 1, 1, true, 2), v(90, 24, 1, 1, true, 3);
  Operand o(29, 24, 1, 1, true, 4);
  for (Operand *x : {&q, &k}) {
    for (size_t i = 0; i < x->at.host.size() / 2; i++)
      store(x->at.host.data(), (int64_t)i, SHUNT_F16, i % 24 < 23 ? 64 : (double)(i / 24 % 7));
    x->at.upload();
  }
  const size_t bytes =
      shunt_attention_workspace(m.device, &q.device, &k.device, &v.device, &o.device);
  Room room(bytes);
  const shunt_status s = shunt_attention(m.device, 1e-3f, &q.device, &k.device, &v.device,
                                         &o.device, room.get(), bytes, nullptr);
  const shunt_status t =
      shunt_attention(m.host, 1e-3f, &q.host, &k.host, &v.host, &o.host, nullptr, 0, nullptr);
  const std::vector<char> want = o.at.host;
  check(bytes && s == SHUNT_OK && t == SHUNT_OK && agree(o, want, 2.1, 40),
        "scores beyond f16 that are within it when scaled");
}

// A failure of the program's own, or an earlier one of ours, is not the next launch's.
static void test_old_failure()
{
  Both m(make_pattern(HOLES, 29, 90, 0.4, 1));
  Operand q(29, 24, 1, 1, false, 1), k(90, 24, 1, 1, false, 2), v(90, 24, 1, 1, false, 3);
  Operand o(29, 24, 1, 1, false, 4);
  const size_t bytes =
      shunt_attention_workspace(m.device, &q.device, &k.device, &v.device, &o.device);
  Room room(bytes);
  void *none = nullptr;
  const bool refused = cudaMalloc(&none, (size_t)1 << 60) != cudaSuccess;
  const shunt_status s = shunt_attention(m.device, 1, &q.device, &k.device, &v.device, &o.device,
                                         room.get(), bytes, nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  check(refused && s == SHUNT_OK, "an old failure is not taken for a launch's: status %d", (int)s);
}

// Each CUDA call of attention fails once, by way of the three kernels for two problems; O is as it
// was unless the status says that part of it was written.
static void test_attention_faults()
{
  Both m(make_pattern(EIGHTS, 16, 64, 0.3, 7));
  Operand q(16, 24, 1, 2, true, 1), k(64, 24, 1, 2, true, 2), v(64, 24, 1, 2, true, 3);
  Operand o(16, 24, 1, 2, true, 4);
  const size_t bytes =
      shunt_attention_workspace(m.device, &q.device, &k.device, &v.device, &o.device);
  Room room(bytes);
  const std::vector<char> before = o.at.host;
  bool good = true, failed = true;
  int written = 0;
  long n = 0;
  while (failed) {
    shunt_fault_arm(++n);
    const shunt_status s = shunt_attention(m.device, 1, &q.device, &k.device, &v.device, &o.device,
                                           room.get(), bytes, nullptr);
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
  check(good && n == 6 && written == 1, "each of %ld calls of attention fails", n - 1);
  m.device->at.ordinal++;
  check(shunt_attention(m.device, 1, &q.device, &k.device, &v.device, &o.device, room.get(), bytes,
                        nullptr) == SHUNT_E_ARGUMENT,
        "another device than the matrix's");
}

int main()
{
  test_attention(16, true);
  test_attention(64, true);
  test_attention(24, true);
  test_attention(64, false);
  test_large_scores();
  test_old_failure();
  test_parts(nullptr, "ascending");
  const shunt_packing windowed = {4, 1, nullptr, 0};
  test_parts(&windowed, "windowed");
  test_packing();
  test_capture();
  test_packing_faults();
  test_attention_faults();
  return finish();
}
