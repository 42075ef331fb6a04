// test_srbcrs_attention.cu: attention of integers in one launch has the very bits of three
// launches, SDDMM with results of f16, softmax and SpMM: for every V and width of the weights, over
// ragged sizes, groups without entries, several problems, extreme integers, and scores that are no
// numbers or beyond f16; and is within a rounding of the weights of its twin.  With V of f16 and
// bf16, and of e4m3: within a rounding of its twin, also where V has Inf, NaN, and numbers whose sums overflow;
// and the same bits whether scores are kept or computed again.
//   --time   also times one launch beside three
#include "kernels/srbcrs/attention/srbcrs_attention.h"
#include "tests/gpu/srbcrs/integer_operands.cuh"

using namespace harness;

namespace
{

struct Case {
  int height, bits;
  bool is_unsigned; // the weights
  int64_t d;
  shunt_type type;
  int64_t batches = 1, heads = 1;
  Values values = RANDOM_VALUES;
  bool special = false; // some rows' scores are no numbers
  int share = 1;        // rows that have equal columns
  bool timed = false;   // only: packed on the device alone
  bool narrow_v = false;
};

struct Attention {
  static constexpr char kUntouched = 0x5c;
  const Pattern &p;
  Case c;
  Strides m;
  int64_t problems, strides, o_stride;
  Integers q, k, v;
  Buffer q_scales, k_scales, v_scales, o, scores, weights, row_scales;
  shunt_srbcrs_attention on_host, on_device;
  shunt_device device;
  bool packed;

  Attention(const Pattern &of, const Case &with, uint64_t seed)
      : p(of), c(with),
        m(p, {c.height, c.share, c.bits}, SHUNT_I32, 0, RANDOM_VALUES, seed, c.is_unsigned),
        problems(c.batches * c.heads), strides(shunt_srbcrs_strides(&m.host, &m.layout)),
        o_stride(c.heads * c.d + (int64_t)(seed % 3)),
        q(8, problems * p.rows, c.d, c.values, seed + 1, seed % 2 * 16),
        k(8, problems * p.cols, c.d, c.values, seed + 2, seed % 3 * 16),
        v(8, problems * p.cols, c.d, c.values, seed + 3, seed % 5 * 16),
        q_scales((size_t)(problems * p.rows) * 4), k_scales((size_t)(problems * p.cols) * 4),
        v_scales((size_t)problems * 4),
        o((size_t)(c.batches * p.rows * o_stride) * shunt_type_size(c.type)),
        scores((size_t)(problems * places()) * 2), weights((size_t)(problems * places()) * 2),
        row_scales((size_t)(problems * p.rows) * 4), device(this_device()),
        packed(m.pack(!c.timed) && !m.irregular())
  {
    Random r(seed + 4);
    for (Buffer *b : {&q_scales, &k_scales, &v_scales})
      for (size_t i = 0; i < b->host.size() / 4; i++)
        store(b->host.data(), (int64_t)i, SHUNT_F32, 0.005 + 0.005 * r.uniform());
    const float special[] = {NAN, INFINITY, 0.0f, 1e30f, -1e30f};
    for (int64_t i = 0; c.special && i < 2 * p.rows / 3; i++)
      store(q_scales.host.data(), i, SHUNT_F32, (double)special[i % 5]);
    if (c.special && p.cols > 5) store(k_scales.host.data(), 5, SHUNT_F32, -1e30);
    for (Buffer *b : {&q_scales, &k_scales, &v_scales}) b->upload();
    on_host = {.q = q.host,
               .k = k.host,
               .v = v.host,
               .q_scales = (const float *)q_scales.host.data(),
               .k_scales = (const float *)k_scales.host.data(),
               .v_scale = (const float *)v_scales.host.data(),
               .scale = 0.01f,
               .type = c.type,
               .o = o.host.data(),
               .row_stride = o_stride,
               .head_stride = c.d,
               .batch_stride = p.rows * o_stride,
               .problems = problems,
               .first = 0,
               .heads = c.heads};
    if (c.narrow_v) narrow();
    on_host.q.rows = p.rows, on_host.k.rows = on_host.v.rows = p.cols;
    on_device = on_host;
    on_device.q.values = q.memory.device, on_device.k.values = k.memory.device;
    on_device.v.values = v.memory.device, on_device.o = o.device;
    on_device.q_scales = (const float *)q_scales.device;
    on_device.k_scales = (const float *)k_scales.device;
    on_device.v_scale = (const float *)v_scales.device;
  }
  // V's integers become those of 4 bits.
  void narrow()
  {
    on_host.narrow_v = 1;
    for (int64_t i = 0; i < v.host.rows; i++)
      for (int64_t j = 0; j < c.d; j++) v.put(i, j, shunt_integer_at(&v.host, i, j) % 8);
    CUDA_OK(cudaMemcpy(v.memory.device, v.host.values, (size_t)(v.host.rows * v.host.row_bytes),
                       cudaMemcpyHostToDevice));
  }
  int64_t places() const { return strides * 32 * c.height; }
  int64_t longest() const { return ((const shunt_srbcrs_counts *)m.memory.host.data())->longest; }

  void clear() { memset(o.host.data(), kUntouched, o.host.size()), o.upload(); }

  shunt_status one_launch(cudaStream_t s)
  {
    return shunt_srbcrs_attention_cuda(&on_device, &m.on_device, longest(), &device, s);
  }

  shunt_status three_launches(cudaStream_t s, int64_t phases, const shunt_srbcrs_shape &shape)
  {
    const shunt_srbcrs_problems all = {problems, places()};
    const shunt_srbcrs_attention &x = on_device;
    const shunt_srbcrs_sddmm sddmm = {
        x.q, x.k, {SHUNT_F16, x.scale, nullptr, x.q_scales, x.k_scales}, scores.device, all};
    const shunt_srbcrs_softmax softmax = {
        scores.device, SHUNT_F16, 1, x.narrow_v ? 4 : 8, (float *)row_scales.device, all};
    const shunt_scaling by = {c.type, 1, x.v_scale, (const float *)row_scales.device, nullptr};
    const shunt_srbcrs_integer_spmm spmm = {x.v, by,      x.o,           x.row_stride,  all,
                                            0,   x.heads, x.head_stride, x.batch_stride};
    shunt_srbcrs w = m.on_device;
    w.values = (uint8_t *)weights.device;
    shunt_status t = shunt_srbcrs_sddmm_cuda(&sddmm, &m.on_device, phases, &device, s);
    if (t == SHUNT_OK) t = shunt_srbcrs_softmax_cuda(&softmax, &w, &device, s);
    if (t == SHUNT_OK) t = shunt_srbcrs_integer_spmm_cuda(&spmm, &w, &shape, &device, s);
    return t;
  }

  // Of O, element by element; the twin's weights are off by 1 at most.
  bool near(const std::vector<char> &got, const std::vector<char> &want) const
  {
    const double most = 127 * 0.01 * 2 / 127;
    for (int64_t i = 0; i < (int64_t)(got.size() / shunt_type_size(c.type)); i++) {
      const double x = load(got.data(), i, c.type), y = load(want.data(), i, c.type);
      if (std::isnan(x) != std::isnan(y) || fabs(x - y) > most) return false;
    }
    return true;
  }

  bool right()
  {
    clear();
    bool good = packed && one_launch(0) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    o.download();
    const std::vector<char> fused = o.host;
    clear();
    good = good && three_launches(0, 2, {64, 1}) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    o.download();
    const bool same = o.host == fused;
    memset(o.host.data(), kUntouched, o.host.size());
    good = good && shunt_srbcrs_attention_host(&on_host, &m.on_host) == SHUNT_OK;
    good = good && same && near(fused, o.host);
    if (!good)
      printf("# V = %d, %d bits, unsigned %d, %lld x %lld x %lld, type %d, %lld x %lld problems: "
             "same %d\n",
             c.height, c.bits, c.is_unsigned, (long long)p.rows, (long long)p.cols, (long long)c.d,
             c.type, (long long)c.batches, (long long)c.heads, same);
    return good;
  }
};

void test_sizes(int height, int bits)
{
  static const int64_t sizes[][2] = {{1, 1}, {3, 40}, {19, 33}, {41, 600}};
  static const shunt_type types[] = {SHUNT_F32, SHUNT_F16, SHUNT_BF16};
  Random r(100 + (uint64_t)(height * bits));
  bool good = true;
  for (auto &size : sizes)
    for (int64_t d : {1, 24, 64, 75, 128})
      for (double density : {0.0, 0.1, 0.6}) {
        if (left_out()) continue;
        const Pattern p =
            random_pattern(size[0], size[1], density, r.below(2) ? height : 1, r.next());
        Case c = {height, bits, bits == 8 && r.below(2), d, types[r.below(3)]};
        if (r.below(2)) c.batches = 2, c.heads = 3;
        c.special = r.below(3) == 0;
        good &= Attention(p, c, r.next() % 1000).right();
      }
  check(good, "V = %d, weights of %d bits: ragged sizes have the bits of three launches", height,
        bits);
}

void test_values(int height, int bits)
{
  const Pattern p = random_pattern(17, 200, 0.4, 1, 9);
  bool good = true;
  for (int kind = 0; kind < VALUES; kind++)
    for (int64_t d : {64, 128})
      good &= Attention(p, {height, bits, bits == 8, d, SHUNT_F32, 1, 2, (Values)kind}, 10).right();
  check(good, "V = %d, weights of %d bits: least, greatest and alternating integers", height, bits);
}

// The first group has all columns, and so the most strides; the second none.
void test_uneven()
{
  Pattern p;
  p.rows = 24, p.cols = 700;
  for (int64_t i = 0; i < p.rows; i++) {
    for (int64_t j = 0; j < p.cols; j++)
      if (i < 8 || (i >= 16 && j % 100 == i)) p.columns.push_back(j);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  Attention x(p, {8, 8, true, 64, SHUNT_F16, 1, 2}, 21);
  check(x.longest() == 22 && x.right(), "groups of 22 strides, of none and of one");
  // 700 weights about equal have room for less of 16 bits, but not times 4.
  Case narrow = {8, 16, false, 64, SHUNT_F32, 1, 2};
  narrow.narrow_v = true;
  check(Attention(p, narrow, 22).right(), "weights of 16 bits, integers of 4 in bytes");
}

void test_declined()
{
  const Pattern p = random_pattern(16, 64, 0.3, 4, 15);
  Attention x(p, {4, 8, true, 40, SHUNT_F16}, 16);
  const shunt_srbcrs_attention was = x.on_device;
  const shunt_device there = x.device;
  bool refused = x.one_launch(0) == SHUNT_OK;
  const auto refuses = [&](shunt_status s) {
    const bool good = x.one_launch(0) == s;
    x.on_device = was, x.device = there;
    return good;
  };
  x.on_device.q.bits = 4, refused &= refuses(SHUNT_E_UNSUPPORTED);
  x.on_device.q.rows++, refused &= refuses(SHUNT_E_ARGUMENT);
  x.on_device.v.cols--, refused &= refuses(SHUNT_E_ARGUMENT);
  x.on_device.k.row_bytes += 8, refused &= refuses(SHUNT_E_ARGUMENT);
  x.on_device.type = SHUNT_I32, refused &= refuses(SHUNT_E_UNSUPPORTED);
  x.on_device.row_stride = 39, refused &= refuses(SHUNT_E_ARGUMENT);
  x.on_device.problems = 0, refused &= refuses(SHUNT_E_ARGUMENT);
  x.on_device.k_scales = nullptr, refused &= refuses(SHUNT_E_ARGUMENT);
  x.device.compute_capability = 75, refused &= refuses(SHUNT_E_UNSUPPORTED);
  x.device.shared_per_block = 100, refused &= refuses(SHUNT_E_UNSUPPORTED);
  CUDA_OK(cudaDeviceSynchronize());
  check(refused, "other widths, sizes, types, alignments and devices are declined");
}

// ---- V of real numbers --------------------------------------------------------------------------

// V stands [batch][row][head][d], with rows of some more elements.
struct RealV {
  Attention &x;
  shunt_type type;
  int64_t stride;
  Buffer v;
  double greatest; // of its numbers

  // All bits of e4m3, as the integers of V have them; greatest: of them, scaled.
  explicit RealV(Attention &of) : x(of), type(SHUNT_U8), stride(0), v(1), greatest(480 * 0.01)
  {
    x.on_host.v_e4m3 = x.on_device.v_e4m3 = 1;
  }
  RealV(Attention &of, shunt_type t, double most, uint64_t seed)
      : x(of), type(t), stride(of.c.heads * of.c.d + 8 * (int64_t)(seed % 2)),
        v((size_t)(of.c.batches * of.p.cols * stride) * 2), greatest(most)
  {
    Random r(seed);
    for (int64_t i = 0; i < of.c.batches * of.p.cols * stride; i++)
      store(v.host.data(), i, t, most * r.uniform());
    x.on_host.real_v = {v.host.data(), t, stride, of.c.d, of.p.cols * stride};
    x.on_host.v_scale = x.on_device.v_scale = nullptr;
    x.on_device.real_v = x.on_host.real_v;
    x.on_device.real_v.values = v.device;
    upload();
  }
  void upload() { v.upload(); }
  void set_row(int64_t row, double value)
  {
    for (int64_t i = 0; i < stride; i++) store(v.host.data(), row * stride + i, type, value);
    upload();
  }

  bool near(const std::vector<char> &got, const std::vector<char> &want) const
  {
    const bool coarse = type == SHUNT_BF16 || x.c.type == SHUNT_BF16;
    const double most = greatest * (coarse ? 0.008 : 0.001);
    bool good = true;
    for (int64_t i = 0; i < (int64_t)(got.size() / shunt_type_size(x.c.type)); i++) {
      const double a = load(got.data(), i, x.c.type), b = load(want.data(), i, x.c.type);
      good &= std::isnan(a) == std::isnan(b) && (std::isnan(a) || a == b || fabs(a - b) <= most);
    }
    return good;
  }

  std::vector<char> launched(int64_t longest, bool *good)
  {
    x.clear();
    *good &= shunt_srbcrs_attention_cuda(&x.on_device, &x.m.on_device, longest, &x.device, 0) ==
             SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    x.o.download();
    return x.o.host;
  }

  bool right()
  {
    bool good = x.packed;
    const std::vector<char> kept = launched(x.longest(), &good), again = launched(1 << 20, &good);
    memset(x.o.host.data(), Attention::kUntouched, x.o.host.size());
    good &= shunt_srbcrs_attention_host(&x.on_host, &x.m.on_host) == SHUNT_OK;
    const bool same = kept == again, close = near(kept, x.o.host);
    if (!good || !same || !close)
      printf("# V = %d of type %d, %lld x %lld x %lld, O of type %d: same %d, near %d\n",
             x.c.height, type, (long long)x.p.rows, (long long)x.p.cols, (long long)x.c.d, x.c.type,
             same, close);
    return good && same && close;
  }
};

void test_real(int height, shunt_type type)
{
  static const int64_t sizes[][2] = {{1, 1}, {3, 40}, {19, 33}, {41, 600}};
  static const shunt_type types[] = {SHUNT_F32, SHUNT_F16, SHUNT_BF16};
  Random r(300 + (uint64_t)(height * 20 + type));
  bool good = true;
  for (auto &size : sizes)
    for (int64_t d : {8, 24, 64, 72, 128})
      for (double density : {0.0, 0.1, 0.6}) {
        if (left_out()) continue;
        const Pattern p =
            random_pattern(size[0], size[1], density, r.below(2) ? height : 1, r.next());
        Case c = {height, 8, true, d, types[r.below(3)]};
        if (r.below(2)) c.batches = 2, c.heads = 3;
        c.special = r.below(3) == 0;
        Attention x(p, c, r.next() % 1000);
        good &= type == SHUNT_U8 ? RealV(x).right() : RealV(x, type, 1, r.next()).right();
      }
  check(good, "V = %d, values of type %d: ragged sizes", height, type);
}

// What some rows must not see: V's rows at columns that only others of their group have.
void test_real_values(shunt_type type)
{
  const Pattern p = random_pattern(21, 90, 0.3, 1, 31);
  Attention x(p, {8, 8, true, 64, SHUNT_F32, 1, 2}, 32);
  RealV v(x, type, 1, 33);
  v.set_row(7, INFINITY), v.set_row(8, -INFINITY), v.set_row(50, NAN);
  check(v.right(), "values of type %d: Inf and NaN where only others of a group look", type);
  bool some = false, all = true;
  for (int64_t i = 0; i < p.rows * x.o_stride; i += x.o_stride) {
    const bool number = std::isfinite(load(x.o.host.data(), i, SHUNT_F32));
    some |= number, all &= number;
  }
  check(some && !all, "some rows see them, others do not");
  Attention y(p, {8, 8, true, 64, SHUNT_F32}, 34);
  const double most = type == SHUNT_BF16 ? 3e38 : 65504;
  RealV w(y, type, most, 35);
  for (int64_t row = 0; row < p.cols; row++) w.set_row(row, most);
  check(w.right(), "values of type %d: the greatest numbers", type);
}

void test_real_declined()
{
  const Pattern p = random_pattern(16, 64, 0.3, 4, 15);
  Attention x(p, {4, 8, true, 40, SHUNT_F16}, 16);
  RealV v(x, SHUNT_F16, 1, 17);
  const shunt_srbcrs_attention was = x.on_device;
  bool refused = x.one_launch(0) == SHUNT_OK;
  const auto refuses = [&](shunt_status s) {
    const bool good = x.one_launch(0) == s;
    x.on_device = was;
    return good;
  };
  x.on_device.real_v.type = SHUNT_F32, refused &= refuses(SHUNT_E_UNSUPPORTED);
  x.on_device.real_v.row_stride += 4, refused &= refuses(SHUNT_E_ARGUMENT);
  x.on_device.real_v.row_stride = 32, refused &= refuses(SHUNT_E_ARGUMENT);
  x.on_device.real_v.values = (const char *)was.real_v.values + 8;
  refused &= refuses(SHUNT_E_ARGUMENT);
  CUDA_OK(cudaDeviceSynchronize());
  check(refused, "V of other types and alignments is declined");
}

// ---- times --------------------------------------------------------------------------------------

void time_attention()
{
  for (int64_t length : {4096, 8192})
    for (double sparsity : {0.8, 0.9, 0.95, 0.98})
      for (int bits : {8, 16}) {
        const Pattern p = random_pattern(length, length, 1 - sparsity, 8, 17);
        const Case c = {8, bits, bits == 8, 64, SHUNT_F16, 1, 4, RANDOM_VALUES, false, 8, true};
        Attention x(p, c, 18);
        const double one = time_graph([&](cudaStream_t s) { x.one_launch(s); });
        const double three = time_graph([&](cudaStream_t s) { x.three_launches(s, 6, {64, 1}); });
        printf("time attention %lld, 4 heads, sparsity %g, weights of %d bits, at most %lld "
               "strides: one launch %.2f us, three %.2f us\n",
               (long long)length, sparsity, bits, (long long)x.longest(), one, three);
        if (bits > 8) continue;
        const auto one_launch = [&](cudaStream_t s) { x.one_launch(s); };
        RealV bytes(x);
        const double of_e4m3 = time_graph(one_launch);
        RealV halves(x, SHUNT_F16, 1, 19);
        printf(
            "time attention %lld, 4 heads, sparsity %g: values of e4m3 %.2f us, of f16 %.2f us\n",
            (long long)length, sparsity, of_e4m3, time_graph(one_launch));
      }
}

} // namespace

int main(int argc, char **argv)
{
  setvbuf(stdout, nullptr, _IOLBF, 0);
  for (int height : {2, 4, 8})
    for (int bits : {16, 12, 8}) {
      test_sizes(height, bits);
      test_values(height, bits);
    }
  test_uneven();
  test_declined();
  for (int height : {2, 4, 8})
    for (const shunt_type type : {SHUNT_F16, SHUNT_BF16, SHUNT_U8 /* e4m3 */})
      test_real(height, type);
  test_real_values(SHUNT_F16), test_real_values(SHUNT_BF16);
  test_real_declined();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_attention();
  return finish();
}
