// layers.cu: a pass over many layers costs as much for each layer as a pass over few.
//
//   layers [PASSES [SIDE]]
//
// 1,000 matrices of fp16, SIDE x SIDE (2,048), 70 to 90 % of them zero, are multiplied in turn by a
// dense matrix of 64 columns, as the layers of a pruned network are: the first 56 of them, then
// 112, 224 and all, by turns, PASSES (8) times each after as many to settle.
//
// The bar: device time of a pass for each layer, the least of all passes, grows by no more than
// 1.15 x from 56 layers to any larger number.  Results are compared with float64.  Packed, all
// layers together take some 8 GB of the device's memory, their CSR arrays 5 GB; on smaller devices
// SIDE shrinks.
#include "tests/gpu/torture/torture_matrix.cuh"

using namespace blackbox;

enum { LAYERS = 1000, WIDTH = 64, COUNTS = 4 };
static const int counts[COUNTS] = {56, 112, 224, LAYERS};
static const double MOST_GROWTH = 1.15;

struct Network {
  Lane lane;
  std::vector<Matrix> layers;
  Dense b, c;
};

static void pass(Network &n, int layers)
{
  for (int i = 0; i < layers; i++) call(n.lane, product_of(n.layers[(size_t)i].a, n.b, n.c));
}

// Of every eighth layer.
static int64_t wrong_elements(Network &n, int layers)
{
  int64_t wrong = 0;
  for (int i = 0; i < layers; i += 8) {
    const Problem p = product_of(n.layers[(size_t)i].a, n.b, n.c);
    CUDA_OK(cudaMemsetAsync(n.c.values, 0xff, (size_t)n.c.stored() * 2, n.lane.stream));
    call(n.lane, p);
    wrong += count_wrong(n.lane, p);
  }
  return wrong;
}

// Least device time of a pass, per layer, for each count.  Counts take turns, so that a moment in
// which the host is slow meets all of them.
static void time_in_turns(Network &n, int passes, double us[])
{
  for (int i = 0; i < COUNTS; i++) us[i] = 1e30;
  for (int turn = 0; turn < 2 * passes; turn++)
    for (int i = 0; i < COUNTS; i++) {
      const double whole = device_us(n.lane, [&] { pass(n, counts[i]); });
      if (turn >= passes) us[i] = std::min(us[i], whole / counts[i]);
    }
}

static Network make_network(int64_t side)
{
  static const int percent[] = {30, 20, 15, 10};
  Network n;
  n.lane = make_lane();
  n.b = make_dense(side, WIDTH, false, CUDA_R_16F);
  n.c = make_dense(side, WIDTH, false, CUDA_R_16F);
  fill(n.b.values, n.b.stored(), CUDA_R_16F, 5, FILL_RANDOM, n.lane.stream);
  for (int i = 0; i < LAYERS; i++)
    n.layers.push_back(make_matrix({side, side, side * percent[i % 4] / 100, 1, CUDA_R_16F},
                                   100 + (uint64_t)i, n.lane.stream));
  CUDA_OK(cudaStreamSynchronize(n.lane.stream));
  return n;
}

int main(int argc, char **argv)
{
  const int passes = argc > 1 ? atoi(argv[1]) : 8;
  int64_t side = argc > 2 ? atoll(argv[2]) : 2048;
  size_t available, total;
  double us[COUNTS];
  CUDA_OK(cudaMemGetInfo(&available, &total));
  // All copies must fit into a quarter of the device, and more than half of it be left.
  while (side > 256 && LAYERS * side * side * 4 > (int64_t)available / 4) side /= 2;
  Network n = make_network(side);
  time_in_turns(n, std::max(passes, 3), us);
  for (int i = 0; i < COUNTS; i++) {
    printf("time us_a_layer=%.2f layers=%d side=%lld\n", us[i], counts[i], (long long)side);
    check(us[i] <= MOST_GROWTH * us[0], "%d layers: %.2f us each, %.3f of that of 56 (%.2f may be)",
          counts[i], us[i], us[i] / us[0], MOST_GROWTH);
  }
  const int64_t wrong = wrong_elements(n, LAYERS);
  check(wrong == 0, "%d layers: %lld wrong elements", LAYERS, (long long)wrong);
  for (Matrix &m : n.layers) destroy_matrix(m);
  destroy_lane(n.lane);
  return finish();
}
