// many_streams.cu: a stream of its own for every product, as some programs make one an iteration.
//
//   many_streams [STREAMS]
//
// The ids of streams never repeat, so nothing may be kept for each.  STREAMS (100,000) products of
// one matrix, each on a stream that is made for it and destroyed after it:
//
//   memory   of the process and the device the same at the end as after the first tenth
//   time     of a product in the last tenth as in the second
//   copies   go with the matrix: once it is freed the device has as much memory as before it
//
// Made dense the matrix takes 75 MB, so a copy that is held for good shows.
#include "tests/gpu/torture/torture_matrix.cuh"

using namespace blackbox;

static const MatrixShape SHAPE = {6144, 6144, 6144 * 2 / 5, 1, CUDA_R_16F};
static const int64_t HOST_SLACK = 16 << 20, DEVICE_SLACK = 24 << 20;

struct Scene {
  Lane lane;
  Matrix matrix;
  Problem p;
};

static Scene make_scene(uint64_t seed)
{
  Scene s;
  s.lane = make_lane();
  s.matrix = make_matrix(SHAPE, seed, s.lane.stream);
  s.p = product_of(s.matrix.a, make_dense(SHAPE.cols, 64, false, SHAPE.type),
                   make_dense(SHAPE.rows, 64, false, SHAPE.type));
  fill(s.p.b.values, s.p.b.stored(), SHAPE.type, 7, FILL_RANDOM, s.lane.stream);
  for (int i = 0; i < 20; i++) {
    call(s.lane, s.p);
    CUDA_OK(cudaStreamSynchronize(s.lane.stream));
  }
  return s;
}

static void destroy_scene(Scene &s)
{
  destroy_matrix(s.matrix);
  CUDA_OK(cudaFree(s.p.b.values));
  CUDA_OK(cudaFree(s.p.c.values));
  destroy_lane(s.lane);
}

// us for each of `count` streams
static double run(Scene &s, int count)
{
  const double begin = clock_us();
  for (int i = 0; i < count; i++) {
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    SPARSE_OK(cusparseSetStream(s.lane.handle, stream));
    call(s.lane, s.p);
    CUDA_OK(cudaStreamSynchronize(stream));
    SPARSE_OK(cusparseSetStream(s.lane.handle, s.lane.stream));
    CUDA_OK(cudaStreamDestroy(stream));
  }
  return (clock_us() - begin) / count;
}

int main(int argc, char **argv)
{
  const int streams = std::max(argc > 1 ? atoi(argv[1]) : 100000, 1000), tenth = streams / 10;
  Scene first = make_scene(1); // loads all kernels that the other one needs
  destroy_scene(first);
  const int64_t before = device_bytes_used();
  Scene s = make_scene(2);
  run(s, tenth);
  const int64_t host = host_bytes(), device = device_bytes_used();
  const double early = run(s, tenth);
  run(s, streams - 3 * tenth);
  const double late = run(s, tenth);
  const int64_t host_more = host_bytes() - host, device_more = device_bytes_used() - device;
  check(host_more <= HOST_SLACK, "%d streams: %.1f MB more of the host's memory than after %d",
        streams, megabytes(host_more), tenth);
  check(device_more <= DEVICE_SLACK, "%d streams: %.1f MB more of the device's than after %d",
        streams, megabytes(device_more), tenth);
  check(late <= 1.25 * early, "%d streams: %.1f us a product, %.1f in the second tenth", streams,
        late, early);
  const unsigned wrong = count_wrong(s.lane, s.p);
  check(wrong == 0, "%u wrong elements", wrong);
  destroy_scene(s);
  const int64_t left = device_bytes_used() - before;
  check(left <= DEVICE_SLACK, "the matrix is freed: %.1f MB of the device are still in use",
        megabytes(left));
  return finish();
}
