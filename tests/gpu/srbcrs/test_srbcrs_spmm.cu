// test_srbcrs_spmm.cu: SpMM over strides gives the very bits that sums of 64 bits give, for every
// V, shape of the kernel and layout of B and C, over random and extreme values and ragged sizes.
//   --time   also times a layer of 4096 x 4096
#include "tests/gpu/srbcrs/srbcrs_product.cuh"

namespace
{

void test_sizes(int height)
{
  static const int64_t sizes[][3] = {{1, 1, 1},     {3, 40, 16},   {8, 64, 32},
                                     {19, 33, 130}, {70, 300, 72}, {64, 200, 128}};
  Random r(100 + (uint64_t)height);
  bool good = true;
  for (auto &size : sizes)
    for (double density : {0.0, 0.1, 0.5})
      for (int share : {1, height}) {
        if (left_out()) continue;
        const Pattern p = random_pattern(size[0], size[1], density, share, r.next());
        Options o;
        o.out = r.below(2) ? SHUNT_I32 : SHUNT_F32;
        o.b_layout = (int)r.below(DENSE_LAYOUTS), o.c_layout = (int)r.below(DENSE_LAYOUTS);
        if (r.below(3) == 0) o.alpha = -3;
        if (r.below(3) == 0) o.beta = 2;
        o.spread = (int)r.below(2);
        good &= Product(p, height, share, size[2], o, r.next()).right();
      }
  check(good, "V = %d: ragged sizes are bit-equal to sums of 64 bits", height);
}

void test_layouts(int height)
{
  const Pattern p = random_pattern(21, 150, 0.3, 1, 7);
  bool good = true;
  for (int b = 0; b < DENSE_LAYOUTS; b++)
    for (int c = 0; c < DENSE_LAYOUTS; c++) {
      if (left_out()) continue;
      Options o;
      o.b_layout = b, o.c_layout = c;
      for (int64_t n : {48, 261}) // the second in sectors of C, the last of them cut off
        good &= Product(p, height, 1, n, o, (uint64_t)(b * 7 + c)).right();
    }
  check(good, "V = %d: B and C in every layout", height);
}

void test_values(int height)
{
  const Pattern p = random_pattern(16, sized(4000, 500), 0.9, height, 9);
  for (int kind = 0; kind < VALUES; kind++) {
    bool good = true;
    for (shunt_type out : {SHUNT_I32, SHUNT_F32}) {
      Options o;
      o.values = (Values)kind, o.out = out;
      good &= Product(p, height, height, 40, o, 10).right();
    }
    check(good, "V = %d: values %s", height, values_name[kind]);
  }
}

// Rows of B that go round the ring of strips, of strides that it holds, and of strides whose rows
// are too far apart for it; several blocks, the last with fewer groups.
void test_strips(int height)
{
  bool good = true;
  for (double density : {0.004, 0.02, 0.1}) {
    if (left_out()) continue;
    const Pattern p = random_pattern(sized(300, 35) * height, 5000, density, height, 19);
    Options o;
    for (o.spread = 0; o.spread < 2; o.spread++) {
      Product q(p, height, height, sized(136, 72), o, 20);
      good &= q.right_in_strips(q.wanted());
    }
  }
  check(good, "V = %d: strips of B come round, and strides wider than they are held", height);
}

// More than 2^17 entries of -128 x -128: the sum leaves int32.
void test_wraps()
{
  const Pattern p = random_pattern(2, sized(140000, 132000), 1, 2, 11);
  Options o;
  o.values = ALL_LEAST;
  Product q(p, 2, 2, 1, o, 12);
  check(q.packed && q.right({32, 1, 0}, q.wanted()) && q.right({32, 4, 0}, q.wanted()) &&
            q.right_in_strips(q.wanted()),
        "a sum of %lld products wraps", (long long)p.cols);
  q.spmm.compute = q.spmm.c.type = SHUNT_F32;
  check(q.launch({32, 1, 0}) == SHUNT_E_UNSUPPORTED, "into f32, which would not, that is declined");
}

// The shape that is thought to gather best is one of those.
void test_default()
{
  const Pattern p = random_pattern(100, 200, 0.2, 8, 13);
  bool good = true;
  for (int multiprocessors : {1, 4, 132})
    for (int64_t n : {1, 40, 300}) {
      Options o;
      Product q(p, 8, 8, n, o, 14);
      q.device.multiprocessors = multiprocessors;
      const shunt_srbcrs_shape s = shunt_srbcrs_spmm_shape(&q.spmm, 8, &q.device);
      good &= q.right(s, q.wanted()) && (n > 64 || s.columns < 128);
    }
  check(good, "the shape that gathers best");
}

void test_declined()
{
  const Pattern p = random_pattern(16, 64, 0.3, 4, 15);
  Options o;
  Product q(p, 4, 4, 24, o, 16);
  const shunt_srbcrs_shape good = {32, 1, 0};
  auto refuses = [&](const shunt_spmm &s, shunt_srbcrs_shape shape, size_t bytes, shunt_status e) {
    return shunt_srbcrs_spmm_shaped_cuda(&s, &q.a.on_device, &shape, &q.device, q.workspace.device,
                                         bytes, 0) == e;
  };
  const size_t all = q.workspace.host.size();
  shunt_spmm s = q.spmm;
  bool refused = q.launch(good) == SHUNT_OK;
  refused &= shunt_srbcrs_spmm_workspace(&s) > 0 && refuses(s, good, 8, SHUNT_E_WORKSPACE);
  refused &= refuses(s, {48, 1, 0}, all, SHUNT_E_UNSUPPORTED);
  refused &= refuses(s, {32, 2, 0}, all, SHUNT_E_UNSUPPORTED);
  refused &= refuses(s, {128, 1, 16}, all, SHUNT_E_UNSUPPORTED);
  refused &= refuses(s, {64, 4, 32}, all, SHUNT_E_UNSUPPORTED);
  s.b.type = SHUNT_F16, refused &= refuses(s, good, all, SHUNT_E_UNSUPPORTED);
  s = q.spmm, s.compute = SHUNT_F32, refused &= refuses(s, good, all, SHUNT_E_UNSUPPORTED);
  s = q.spmm, s.b.cols = 25, refused &= refuses(s, good, all, SHUNT_E_ARGUMENT);
  s = q.spmm, s.a.rows = s.c.rows = 17, refused &= refuses(s, good, all, SHUNT_E_ARGUMENT);
  s = q.spmm, s.only_if = (uint32_t *)q.workspace.device;
  refused &= refuses(s, good, all, SHUNT_E_UNSUPPORTED);
  q.device.compute_capability = 80;
  refused &= refuses(q.spmm, {64, 1, 32}, all, SHUNT_E_UNSUPPORTED);
  q.device.compute_capability = 75, refused &= refuses(q.spmm, good, all, SHUNT_E_UNSUPPORTED);
  check(refused, "other types, sizes, shapes and devices, and a short workspace, are declined");
}

void time_shape(Product &q, const char *name, const shunt_srbcrs_shape &s)
{
  if (s.groups && !shunt_srbcrs_spmm_strips_fit(&s, &q.device) &&
      !shunt_srbcrs_spmm_whole_fits(&q.spmm, &s, &q.device))
    return;
  const double us = time_graph([&](cudaStream_t stream) {
    shunt_srbcrs_spmm_shaped_cuda(&q.spmm, &q.a.on_device, &s, &q.device, q.workspace.device,
                                  q.workspace.host.size(), stream);
  });
  printf("%s columns %d split %d groups %d: %.2f us\n", name, s.columns, s.split, s.groups, us);
}

void time_layer()
{
  for (int height : {2, 4, 8})
    for (double sparsity : {0.8, 0.9, 0.95, 0.98})
      for (int64_t n : {256, 1024}) {
        const Pattern p = random_pattern(4096, 4096, 1 - sparsity, height, 17);
        Options o;
        o.b_layout = 1, o.c_layout = 1, o.spread = 1;
        Product q(p, height, height, n, o, 18);
        char name[80];
        snprintf(name, sizeof name, "time 4096 x 4096 V %d sparsity %g N %lld", height, sparsity,
                 (long long)n);
        for (int columns : {32, 64, 128})
          for (int split : {1, 4}) time_shape(q, name, {columns, split, 0});
        for (const shunt_srbcrs_shape &s : strips_of_srbcrs) time_shape(q, name, s);
        time_shape(q, name, {SHUNT_SRBCRS_WHOLE_COLUMNS, 1, SHUNT_SRBCRS_STRIP_GROUPS});
      }
}

} // namespace

int main(int argc, char **argv)
{
  for (int height : {2, 4, 8}) {
    test_sizes(height);
    test_layouts(height);
    test_values(height);
    test_strips(height);
  }
  test_wraps();
  test_default();
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_layer();
  return finish();
}
