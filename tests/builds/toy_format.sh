#!/bin/sh
# toy_format.sh: "Adding a format" of backend/README.md, followed on a copy of the tree.
#
# The format `toy` is CSR, multiplied by one thread an element of C.  Each file that is written or
# changed here must be named by the list, and rows go behind those of `bsr`, as it says; what it
# leaves open (step 3, of formats that are converted) is left out.  The tests of the tree must fail
# half-way and pass at the end.  Then the new and the changed files are compiled, and the twin's
# test runs.
. "${SHUNT_SRCDIR:-.}/tests/builds/build.sh"
command -v autoreconf >/dev/null 2>&1 || skip "autoconf, automake and libtool are not installed"
tree=$work/tree
mkdir "$tree"
(cd "$top" && tar cf - --exclude=./.git --exclude=./build --exclude=./autom4te.cache .) |
  (cd "$tree" && tar xf -)
chmod -R u+w "$tree"
sed -n '/^## Adding a format/,/^## Adding an option/p' "$tree/backend/README.md" >list

# named FILE: the list names it, with <word> for the format's name.
named() { grep -q -F -e "\`$(echo "$1" | sed 's/toy/<word>/g')\`" list; }
# new FILE: from standard input.
new() {
  mkdir -p "$tree/$(dirname "$1")"
  cat >"$tree/$1"
  check "the list names $1" named "$1"
}
differs() { ! cmp -s "$1" "$2"; }
# change FILE COMMAND...: by a filter, which must change something.
change() {
  file=$1
  shift
  cp "$tree/$file" before
  "$@" <before >"$tree/$file"
  check "the list names $file, which has a place for it" named_and_changed "$file"
}
named_and_changed() { named "$1" && differs before "$tree/$1"; }
# insert FILE PATTERN: standard input, before the first line with PATTERN.
insert() {
  cat >added
  change "$1" awk -v pattern="$2" '
    !there && $0 ~ pattern { while ((getline line <"added") > 0) print line; there = 1 }
    { print }'
}
house() { (cd "$tree" && SHUNT_SRCDIR=. sh tests/house.sh); }
documents() { python3 "$tree/tests/unit/tool/check_documents.py" "$tree"; }
fails() { ! "$@"; }

# ---- 1, 2: format and kernels ------------------------------------------------------------------
new kernels/toy/toy_format.h <<'E'
/* toy_format.h: the `toy` format: CSR as it stands (kernels/common/types.h). */
#ifndef SHUNT_TOY_FORMAT_H
#define SHUNT_TOY_FORMAT_H

#include "kernels/common/types.h"

struct shunt_toy {
  struct shunt_csr a;
};

#endif
E
new kernels/toy/toy_kernels.h <<'E'
/* toy_kernels.h: C = alpha A B + beta C in f32, A with 32-bit indices; else SHUNT_E_UNSUPPORTED.
   The rules of kernels/common/device.h.  No workspace.  */
#ifndef SHUNT_TOY_KERNELS_H
#define SHUNT_TOY_KERNELS_H

#include "kernels/common/device.h"
#include "kernels/toy/toy_format.h"

#ifdef __cplusplus
extern "C" {
#endif

shunt_status shunt_toy_spmm_cuda(const struct shunt_spmm *p, const struct shunt_device *d,
                                 shunt_stream stream);
shunt_status shunt_toy_spmm_host(const struct shunt_spmm *p);

#ifdef __cplusplus
}
#endif
#endif
E
new kernels/toy/toy_spmm.cu <<'E'
// toy_spmm.cu: one thread an element of C.
#include "kernels/common/scalar.cuh"
#include "kernels/toy/toy_kernels.h"

namespace shunt
{
namespace toy
{

__global__ void spmm_kernel(const __grid_constant__ shunt_spmm p, scalar_arg<float> alpha,
                            scalar_arg<float> beta)
{
  const int64_t i = blockIdx.x, j = static_cast<int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  const int32_t *offsets = static_cast<const int32_t *>(p.a.row_offsets);
  const int32_t *columns = static_cast<const int32_t *>(p.a.columns);
  float sum = 0;
  if (j >= p.c.cols) return;
  for (int32_t q = offsets[i] - p.a.base; q < offsets[i + 1] - p.a.base; q++)
    sum += static_cast<const float *>(p.a.values)[q] *
           static_cast<const float *>(
               p.b.values)[(columns[q] - p.a.base) * p.b.row_stride + j * p.b.col_stride];
  float *c = static_cast<float *>(p.c.values) + i * p.c.row_stride + j * p.c.col_stride;
  const float scale = beta.get();
  *c = alpha.get() * sum + (scale != 0 ? scale * *c : 0);
}

} // namespace toy
} // namespace shunt

extern "C" shunt_status shunt_toy_spmm_cuda(const struct shunt_spmm *p, const struct shunt_device *,
                                            shunt_stream stream)
{
  if (p->a.value_type != SHUNT_F32 || p->b.type != SHUNT_F32 || p->c.type != SHUNT_F32 ||
      p->compute != SHUNT_F32 || p->a.index_type != SHUNT_I32 || p->only_if)
    return SHUNT_E_UNSUPPORTED;
  if (p->c.rows == 0 || p->c.cols == 0) return SHUNT_OK;
  const dim3 grid(static_cast<unsigned>(p->c.rows), static_cast<unsigned>((p->c.cols + 127) / 128));
  shunt::toy::spmm_kernel<<<grid, 128, 0, stream>>>(*p, shunt::make_scalar_arg<float>(p->alpha),
                                                    shunt::make_scalar_arg<float>(p->beta));
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
E
new kernels/toy/host_toy_spmm.c <<'E'
/* host_toy_spmm.c: the twin of toy_spmm.cu. */
#include "kernels/common/host_element.h"
#include "kernels/toy/toy_kernels.h"

shunt_status shunt_toy_spmm_host(const struct shunt_spmm *p)
{
  const double beta = shunt_scalar_value(&p->beta, SHUNT_F32);

  if (p->a.value_type != SHUNT_F32 || p->compute != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  for (int64_t i = 0; i < p->c.rows; i++)
    for (int64_t j = 0; j < p->c.cols; j++) {
      const int64_t at = i * p->c.row_stride + j * p->c.col_stride;
      const int64_t end = shunt_index_at(p->a.row_offsets, i + 1, p->a.index_type) - p->a.base;
      double sum = 0;
      int64_t q = shunt_index_at(p->a.row_offsets, i, p->a.index_type) - p->a.base;
      for (; q < end; q++) {
        const int64_t k = shunt_index_at(p->a.columns, q, p->a.index_type) - p->a.base;
        sum += shunt_load(p->a.values, q, SHUNT_F32) *
               shunt_load(p->b.values, k * p->b.row_stride + j * p->b.col_stride, SHUNT_F32);
      }
      sum *= shunt_scalar_value(&p->alpha, SHUNT_F32);
      if (beta != 0) sum += beta * shunt_load(p->c.values, at, SHUNT_F32);
      shunt_store(p->c.values, at, SHUNT_F32, sum);
    }
  return SHUNT_OK;
}
E
new kernels/toy/local.mk <<'E'
# kernels/toy: CSR, one thread an element of C.
TOY_CUDA = %D%/toy_spmm.cu
TOY_HOST = %D%/host_toy_spmm.c
E
change kernels/local.mk sed 's,^include %D%/bsr/local.mk$,&\ninclude %D%/toy/local.mk,'
change conv/local.mk sed 's/\$(BSR_HOST)/& $(TOY_HOST)/; s/\$(BSR_CUDA)/& $(TOY_CUDA)/'

# ---- 4, 5: route and cost -----------------------------------------------------------------------
new backend/routes/toy.c <<'E'
/* toy: any CSR matrix in f32 (kernels/toy/toy_kernels.h). */
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/routes.h"
#include "kernels/toy/toy_kernels.h"

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  SHUNT_DECLINE_IF(p->op != SHUNT_SPMM || p->spmm.compute != SHUNT_F32, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(p->spmm.a.index_type != SHUNT_I32, SHUNT_R_TYPES);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)p;
  (void)context;
  return 0;
}

static struct shunt_outcome expect(const struct shunt_call *c, double *us)
{
  *us = shunt_cost_toy(&c->problem->spmm, &c->context->machine);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static shunt_status run(const struct shunt_call *c)
{
  return SHUNT_LAUNCH(shunt_toy_spmm_cuda(&c->problem->spmm, &c->context->device, c->stream));
}

const struct shunt_route shunt_route_toy = {
    .name = "toy", .fits = fits, .workspace = workspace, .expect = expect, .run = run};
E
change backend/routes/routes.h sed 's/ shunt_route_bsr;/ shunt_route_bsr,\n    shunt_route_toy;/'
change backend/routes/table.c sed 's/&shunt_route_bsr,/&\n    \&shunt_route_toy,/'
change backend/routes/local.mk sed 's,%D%/bsr\.c,%D%/toy.c \\\n  &,'
change backend/routes/cost/local.mk sed 's,%D%/bsr_cost\.c,%D%/toy_cost.c \\\n  &,'
check "house.sh misses folders and a column" fails house
check "check_documents.py misses the word" fails documents
new backend/routes/cost/toy_cost.c <<'E'
/* toy_cost.c: what the kernel of `toy` is expected to take. */
#include "backend/routes/cost/cost_forms.h"

double shunt_cost_toy(const struct shunt_spmm *p, const struct shunt_machine *m)
{
  const struct shunt_toy_costs *c = &m->costs->ours.toy;
  return c->start + c->product * (double)p->a.nnz * (double)p->c.cols;
}
E
insert backend/routes/cost/costs.h '^/[*] ---- the original' <<'E'
/* ---- toy ---------------------------------------------------------------------------------- */

double shunt_cost_toy(const struct shunt_spmm *p, const struct shunt_machine *m);

E
insert backend/costs/cost_table.h '^/[*] cuSPARSE[.]' <<'E'
struct shunt_toy_costs {
  double start;   /* us */
  double product; /* us of an entry of A times a column of B */
};

E
change backend/costs/cost_table.h \
  sed 's/^  struct shunt_bsr_costs bsr;$/&\n  struct shunt_toy_costs toy;/'
insert backend/costs/names.h '^/[*] ---- the lines of a table: of Shunt' <<'E'
#define SHUNT_TOY_FIELDS(F, line, at) \
  F(line, at, start, .start, FIXED) \
  F(line, at, product, .product, NEAR)

E
change backend/costs/names.h \
  sed 's/^#define SHUNT_KERNEL_LINES(F) \\$/&\n  SHUNT_TOY_FIELDS(F, "toy", ours.toy) \\/'
change backend/costs/tables/h200.costs \
  sed '$a\\n# toy: made up.\ntoy                     start 5  product 1e-6'
insert tests/unit/plan/test_cost.c '^int main' <<'E'
static void test_toy(void)
{
  const struct shunt_spmm p = {.a.nnz = 1000000, .c.cols = 10};
  check(shunt_cost_toy(&p, &h200) == 15, "toy takes what was made up");
}

E
change tests/unit/plan/test_cost.c sed 's/^  test_costs();$/&\n  test_toy();/'

# ---- 6: the word --------------------------------------------------------------------------------
change backend/tool/run.c sed 's/dense,bsr (/dense,bsr,toy (/; s/  "bsr", /&"toy", /'
new backend/tool/bench/gpu_toy.c <<'E'
/* gpu_toy.c: the kernel of route `toy`. */
#include "backend/tool/bench/gpu.h"
#include "kernels/toy/toy_kernels.h"

bool gpu_prepare_toy(struct gpu_case *g, struct bench_way *w)
{
  (void)w;
  return g->p.op == SHUNT_SPMM && g->p.spmm.compute == SHUNT_F32;
}

shunt_status gpu_toy(struct gpu_case *g, cudaStream_t stream)
{
  return shunt_toy_spmm_cuda(&g->p.spmm, &g->gpu->device, stream);
}
E
insert backend/tool/bench/gpu.h '^/[*] ---- gpu_clusters' <<'E'
/* ---- gpu_toy.c --------------------------------------------------------- */

bool gpu_prepare_toy(struct gpu_case *g, struct bench_way *w);
shunt_status gpu_toy(struct gpu_case *g, cudaStream_t stream);

E
change backend/tool/local.mk sed 's,%D%/bench/gpu_bsr\.c,%D%/bench/gpu_toy.c \\\n  &,'
change backend/tool/bench/gpu.c \
  sed 's/^\( *\){"bsr", gpu_prepare_bsr, gpu_bsr},$/&\n\1{"toy", gpu_prepare_toy, gpu_toy},/'
change backend/tool/bench/report.c sed 's/^    {"bsr", "bsr"},$/&\n    {"toy", "toy"},/'
change backend/tool/bench/summary.c sed 's/  "bsr", /&"toy", /'
change backend/tool/man/shunt-cusparse.7 \
  sed 's/^Square blocks, BSR or Blocked-ELL, read where they stand\.$/&\n.TP\n.B toy\nRow by row./'
change backend/tool/man/shunt.1 \
  sed '0,/^\.B bsr$/s//.BR bsr ,\n.B toy/
    s/^Multiply a matrix that was converted before\.$/&\n.B toy\nreads it where it stands./'
change backend/tool/man/shunt-env.7 sed '0,/^\.BR bsr ,$/s//&\n.BR toy ,/'

# ---- 7, 8: tests and figures --------------------------------------------------------------------
new tests/unit/toy/test_toy.c <<'E'
/* test_toy.c: the twin, by hand. */
#include "kernels/toy/toy_kernels.h"
#include "tests/unit/check.h"

int main(void)
{
  int32_t offsets[] = {0, 2, 3}, columns[] = {0, 1, 1};
  float values[] = {1, 2, 3}, b[] = {10, 20, 30, 40}, c[] = {1, 1, 1, 1};
  const struct shunt_spmm p = {
      .a = {2, 2, 3, offsets, columns, values, SHUNT_I32, SHUNT_F32, 0},
      .b = {2, 2, 2, 1, b, SHUNT_F32},
      .c = {2, 2, 2, 1, c, SHUNT_F32},
      .alpha.host = 1,
      .beta.host = 1,
      .compute = SHUNT_F32};
  check(shunt_toy_spmm_host(&p) == SHUNT_OK && c[0] == 71 && c[1] == 101 && c[2] == 91 &&
            c[3] == 121,
        "a product of 2 x 2 by 2 x 2");
  return check_finish();
}
E
change tests/unit/local.mk sed 's,%D%/vector/test_vector_host_format,& %D%/toy/test_toy,'
new tests/gpu/toy/test_toy_spmm.cu <<'E'
// test_toy_spmm.cu: the kernel against its twin.
#include "kernels/toy/toy_kernels.h"
#include "tests/gpu/common/harness.cuh"

using namespace harness;

int main()
{
  const Pattern p = random_pattern(40, 30, 0.2, 1, 3);
  const int64_t n = 17;
  Buffer offsets(41 * 4), columns((size_t)p.nnz() * 4 + 4), values((size_t)p.nnz() * 4 + 4);
  Buffer b(30 * n * 4), c(40 * n * 4);
  Random r(1);
  for (int64_t i = 0; i <= 40; i++) store(offsets.host.data(), i, SHUNT_I32, (double)p.offsets[i]);
  for (int64_t q = 0; q < p.nnz(); q++) {
    store(columns.host.data(), q, SHUNT_I32, (double)p.columns[q]);
    store(values.host.data(), q, SHUNT_F32, (double)r.below(9) - 4);
  }
  for (int64_t i = 0; i < 30 * n; i++) store(b.host.data(), i, SHUNT_F32, (double)r.below(9) - 4);
  for (Buffer *x : {&offsets, &columns, &values, &b}) x->upload();
  shunt_spmm host = {};
  host.a = {40,
            30,
            p.nnz(),
            offsets.host.data(),
            columns.host.data(),
            values.host.data(),
            SHUNT_I32,
            SHUNT_F32,
            0};
  host.b = {30, n, n, 1, b.host.data(), SHUNT_F32};
  host.c = {40, n, n, 1, c.host.data(), SHUNT_F32};
  host.alpha.host = 1;
  host.compute = SHUNT_F32;
  shunt_spmm device = host;
  device.a.row_offsets = offsets.device, device.a.columns = columns.device;
  device.a.values = values.device, device.b.values = b.device, device.c.values = c.device;
  const shunt_device d = this_device();
  const bool ran = shunt_toy_spmm_host(&host) == SHUNT_OK &&
                   shunt_toy_spmm_cuda(&device, &d, nullptr) == SHUNT_OK;
  const std::vector<char> want = c.host;
  CUDA_OK(cudaDeviceSynchronize());
  c.download();
  check(ran && want == c.host, "kernel and twin agree bit by bit");
  return finish();
}
E
change tests/gpu/check_gpu.sh sed 's/^every_route=.*,bsr$/&,toy/'
new tests/bench/toy.md <<'E'
# toy

Nothing was measured.
E

# ---- the tree again, and compiled ----------------------------------------------------------------
check "house.sh finds all in its place" house
check "check_documents.py finds every word" documents
cuda=${CUDA_INCLUDE:-/usr/local/cuda/include}
if [ ! -x "$cuda/../bin/nvcc" ]; then
  echo "skip - nothing is compiled: nvcc is not installed"
  finish 1
fi
export CCACHE_BASEDIR="$work" CCACHE_NOHASHDIR=1
(cd "$tree" && autoreconf -fi) >log 2>&1
check "configure" "$tree/configure" --with-cuda-arch=90 --enable-fast-compile CC="${cache}gcc" \
  CXX="${cache}g++" NVCC="${cache}nvcc"
check "what is new, and what has a row for it, is compiled" make -j"$jobs" kernels/toy/toy_spmm.lo \
  kernels/toy/host_toy_spmm.lo backend/routes/toy.lo \
  backend/routes/cost/toy_cost.lo backend/routes/table.lo backend/tool/run.o \
  backend/tool/bench/gpu_toy.o backend/tool/bench/gpu.o backend/tool/bench/report.o \
  backend/tool/bench/summary.o
check "so is its test for the GPU" "$cuda/../bin/nvcc" -std=c++17 -arch=sm_90 -I"$tree" -c \
  -o test_toy_spmm.o "$tree/tests/gpu/toy/test_toy_spmm.cu"
check "so is the case of the estimate" ${cache}gcc -std=gnu11 -I"$tree" -I. -isystem "$cuda" -c \
  -o test_cost.o "$tree/tests/unit/plan/test_cost.c"
check "the twin's test is built from the twin alone" ${cache}gcc -std=gnu11 -I"$tree" \
  -o test_toy "$tree/tests/unit/toy/test_toy.c" "$tree/kernels/toy/host_toy_spmm.c"
check "the twin's test" ./test_toy
finish
