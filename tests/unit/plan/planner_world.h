/* planner_world.h: the planner with everything around it replaced, for test_planner.c and
   test_lazy_init.c.  Two routes are in the table: `direct`, and `library`, which needs another
   library and takes transposed matrices.  */
#ifndef PLANNER_WORLD_H
#define PLANNER_WORLD_H

#include <string.h>

#include "backend/log/log_upkeep.h"
#include "backend/options/options.h"
#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/plan/planner.h"
#include "backend/plan/tune/tune.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/route.h"
#include "conv/coo/coo_conv.h"

/* ---- what is around ------------------------------------------------------------------- */

static struct {
  int runs, fail_from;     /* runs of any route; the first that fails (-1: none) */
  const void *c[32];       /* C of the first runs, */
  const void *columns[32]; /* A's columns, */
  char name[2048];         /* and the route's first letter */
  int converted;           /* COO to CSR */
  int seen, released, profiles;
  bool only_library;              /* `direct` does not fit, */
  bool slow;                      /* or is expected to be slow */
  bool wise, profiled, contested; /* the cache: pack; there is a profile; `library` packs, too */
  size_t pack_bytes;              /* what `direct` would pack */
  size_t asked_to_pack;           /* bytes that the cache was asked for */
  bool may_study, study_fails, has_study, library_packed; /* the cache: what it has of the matrix */
  size_t study_bytes;                                     /* what `direct` wants to study with */
  int made;                                               /* copies */
  bool has_copy;                                          /* the last run had one */
  int studies, dropped_copies, dropped_studies, held;
  double spent_us, best_us; /* as the study is told */
  uint64_t copy_epoch;      /* what the copy says of itself */
  bool has_memory, capturing, stood;
  bool trusted, was_trusted, counted_unproved, told_frozen;
  shunt_status how;                                               /* what a failing run returns */
  double direct_us, packed_us, library_us, original_us, saves_us; /* packed_us 0: as direct */
  double margin;                                                  /* of the original */
  bool settled, saw_profile;
  int seen_settled;
  size_t room;                  /* what a workspace may take */
  uint32_t initialized;         /* (backend/cublas/lazy_init.h), */
  bool no_library;              /* which is not to be had */
  enum shunt_copy_use copy_use; /* what a route says of it; what was counted: */
  int uses, touches, built;
  bool pack_fails;
} world;

/* What the cache hands out; nobody looks inside. */
static char things[2];
#define COPY ((struct shunt_cache_packed *)(void *)&things[0])
#define STUDY ((struct shunt_cache_packed *)(void *)&things[1])

static struct shunt_context context = {.machine.costs = &shunt_costs_h200};
static struct shunt_options options = {.routes = ~(uint32_t)0};

const struct shunt_options *shunt_options(void)
{
  return &options;
}
int shunt_tune_find(const struct shunt_problem *p)
{
  return (void)p, SHUNT_TUNE_UNKNOWN;
}
struct shunt_context *shunt_context_find(void)
{
  return &context;
}
struct shunt_context *shunt_context_make(void)
{
  return &context;
}
void shunt_context_know_library(struct shunt_context *context, const char *library_path)
{
  (void)context, (void)library_path;
}
void shunt_context_initialize(struct shunt_context *context, uint32_t set)
{
  for (int i = 0; i < SHUNT_LAZY_PARTS; i++) {
    if (!shunt_lazy_pending(&context->lazy, set & shunt_lazy_bit(i))) continue;
    world.initialized |= shunt_lazy_bit(i);
    if (i != SHUNT_LAZY_COPIES && !world.no_library)
      context->gemm = (struct shunt_cublaslt *)things;
    shunt_lazy_done(&context->lazy, i);
  }
}

cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}

bool shunt_workspace_limit_allows(struct shunt_workspace_limit *r, size_t bytes)
{
  return (void)r, bytes <= world.room;
}

struct shunt_capture shunt_capture_of(cudaStream_t stream)
{
  (void)stream;
  return (struct shunt_capture){.active = world.capturing};
}

void shunt_log_conversion(double us, size_t bytes)
{
  (void)us, (void)bytes;
}
void shunt_log_proof(double us)
{
  (void)us;
}
double shunt_cost_original(const struct shunt_problem *p, const struct shunt_profile *f,
                           const struct shunt_machine *m)
{
  (void)p, (void)f, (void)m;
  return world.original_us;
}
double shunt_cost_original_margin(const struct shunt_problem *p)
{
  return (void)p, world.margin;
}
double shunt_cost_original_host(const struct shunt_problem *p, const struct shunt_machine *m)
{
  return (void)p, (void)m, 0;
}
double shunt_cost_original_off(const struct shunt_problem *p, const struct shunt_machine *m)
{
  return (void)p, (void)m, 1;
}

void shunt_cache_look_up(struct shunt_cache *c, const struct shunt_key *key,
                         struct shunt_lookup *out)
{
  (void)c, (void)key;
  *out = (struct shunt_lookup){.calls = 1,
                               .profile_wanted = true,
                               .pack_wise = world.wise,
                               .has_profile = world.profiled,
                               .profile = {.longest_row = 7},
                               .study_wise = world.may_study};
  if (world.library_packed) out->packed[1].copy = COPY, out->packed[1].by = shunt_route_at(1);
  if (world.has_study) out->study = STUDY, out->has_study = true;
  world.held += world.library_packed + (out->study != NULL);
  world.seen++;
}

shunt_status shunt_cache_profile(struct shunt_cache *c, const struct shunt_lookup *s,
                                 const struct shunt_csr *a, const struct shunt_device *d,
                                 cudaStream_t stream)
{
  (void)c, (void)s, (void)a, (void)d, (void)stream;
  world.profiles++;
  return SHUNT_OK;
}

bool shunt_cache_wants_relief(struct shunt_cache *c)
{
  return (void)c, false;
}
void shunt_cache_relieve(struct shunt_cache *c)
{
  (void)c;
}

void shunt_cache_look_up_behind(struct shunt_cache *c, cudaStream_t stream, struct shunt_lookup *l)
{
  (void)c, (void)stream, (void)l; /* what awaits a copy goes on without */
}
void shunt_cache_look_up_settled(struct shunt_cache *c, const struct shunt_key *key, uint64_t epoch,
                                 struct shunt_lookup *out)
{
  (void)c, (void)key, (void)epoch;
  *out = (struct shunt_lookup){
      .calls = 1, .has_profile = world.settled, .profile = {.longest_row = 9}};
  world.seen_settled++;
}
shunt_status shunt_cache_settle(struct shunt_cache *c, const struct shunt_lookup *l, uint64_t epoch,
                                const struct shunt_csr *a, const struct shunt_device *d,
                                cudaStream_t stream)
{
  (void)c, (void)l, (void)epoch, (void)a, (void)d, (void)stream;
  world.settled = true;
  return SHUNT_OK;
}
void shunt_cache_reserve(struct shunt_cache *c)
{
  (void)c;
}

/* Nothing is packed here, unless there is memory. */
shunt_status shunt_cache_packed_make(struct shunt_cache *c, const struct shunt_lookup *l,
                                     const struct shunt_packed_request *r, cudaStream_t stream,
                                     struct shunt_cache_packed **out)
{
  (void)c, (void)l, (void)stream;
  if (!r->by) {
    *out = STUDY;
    world.held++;
    return SHUNT_OK;
  }
  world.asked_to_pack = r->payload_bytes;
  world.saves_us = r->saves_us;
  if (!world.has_memory) return SHUNT_E_MEMORY;
  *out = COPY;
  world.held++;
  world.made++;
  return SHUNT_OK;
}
struct shunt_packed_view shunt_cache_packed_view(struct shunt_cache_packed *k)
{
  (void)k;
  return (struct shunt_packed_view){.pattern_epoch = &world.copy_epoch};
}
shunt_status shunt_cache_packed_built(struct shunt_cache *c, struct shunt_cache_packed *k,
                                      cudaStream_t s)
{
  world.built++;
  return (void)c, (void)k, (void)s, SHUNT_OK;
}
shunt_status shunt_cache_packed_used(struct shunt_cache *c, struct shunt_cache_packed *k,
                                     const struct shunt_packed_use *use, cudaStream_t s)
{
  world.counted_unproved = use->unproved;
  world.uses++;
  return (void)c, (void)k, (void)s, SHUNT_OK;
}
shunt_status shunt_cache_packed_touched(struct shunt_cache *c, struct shunt_cache_packed *k,
                                        bool capturing, cudaStream_t s)
{
  world.touches++;
  return (void)c, (void)k, (void)capturing, (void)s, SHUNT_OK;
}
bool shunt_cache_packed_trusted(struct shunt_cache_packed *k)
{
  return (void)k, world.trusted;
}
void shunt_cache_packed_release(struct shunt_cache *c, struct shunt_cache_packed *k, bool discard)
{
  (void)c;
  world.held--;
  world.dropped_copies += discard && k == COPY;
  world.dropped_studies += discard && k == STUDY;
  world.released++;
}

shunt_status shunt_coo_to_csr_cuda(int64_t rows, int64_t nnz, const void *row_indices,
                                   shunt_type type, int base, void *offsets, uint32_t *irregular,
                                   const struct shunt_device *d, shunt_stream stream)
{
  (void)rows, (void)nnz, (void)row_indices, (void)type, (void)base, (void)offsets;
  (void)irregular, (void)d, (void)stream;
  world.converted++;
  return SHUNT_OK;
}

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)p, (void)context;
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  return (size_t)p->spmm.c.cols; /* tells who asked about how many columns */
}

static struct shunt_outcome expect_direct(const struct shunt_call *c, double *us)
{
  *us = world.packed_us > 0 && (c->packed || c->will_pack) ? world.packed_us : world.direct_us;
  SHUNT_DECLINE_IF(world.only_library, SHUNT_R_WORKSPACE);
  SHUNT_DECLINE_IF(world.slow, SHUNT_R_PATTERN);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static struct shunt_outcome expect_library(const struct shunt_call *c, double *us)
{
  *us = world.library_us;
  SHUNT_DECLINE_IF(!c->library, SHUNT_R_LIBRARY);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static shunt_status note(const struct shunt_call *c, char name)
{
  int i = world.runs++;
  world.stood = c->packed && c->packed->pattern_stands;
  world.was_trusted = c->packed && c->packed->trusted;
  world.told_frozen = c->frozen;
  world.saw_profile = c->profile;
  world.has_copy = c->packed;
  shunt_copy_note(c, world.copy_use);
  if (world.fail_from >= 0 && i >= world.fail_from) return world.how;
  world.name[i % 2048] = name;
  if (i >= 32) return SHUNT_OK;
  world.c[i] = c->problem->spmm.c.values;
  world.columns[i] = c->problem->spmm.a.columns;
  return SHUNT_OK;
}
static shunt_status run_direct(const struct shunt_call *c)
{
  return note(c, 'd');
}
static shunt_status run_library(const struct shunt_call *c)
{
  return note(c, 'l');
}

/* As much more as the profile says. */
static size_t pack_bytes_direct(const struct shunt_call *c)
{
  return world.pack_bytes ? world.pack_bytes + (c->profile ? c->profile->longest_row : 0) : 0;
}
static size_t pack_bytes_library(const struct shunt_call *c)
{
  return (void)c, world.contested;
}
static shunt_status pack(const struct shunt_call *c, const struct shunt_packed_view *into)
{
  return (void)c, (void)into, world.pack_fails ? SHUNT_E_CUDA : SHUNT_OK;
}

static size_t study_bytes(const struct shunt_call *c)
{
  world.spent_us = c->spent_us;
  world.best_us = c->best_us;
  return world.study_bytes;
}
static shunt_status study(const struct shunt_call *c, const struct shunt_packed_view *into)
{
  (void)c, (void)into;
  world.studies++;
  return world.study_fails ? SHUNT_E_CUDA : SHUNT_OK;
}

static struct shunt_route direct = {.name = "direct",
                                    .fits = fits,
                                    .takes_sddmm = true,
                                    .workspace = workspace,
                                    .expect = expect_direct,
                                    .run = run_direct,
                                    .pack_bytes = pack_bytes_direct,
                                    .pack = pack};
static const struct shunt_route library = {.name = "library",
                                           .fits = fits,
                                           .takes_sddmm = true,
                                           .workspace = workspace,
                                           .expect = expect_library,
                                           .run = run_library,
                                           .pack_bytes = pack_bytes_library,
                                           .pack = pack,
                                           .wants_gemm = true,
                                           .takes_transposed = true};
int shunt_route_count(void)
{
  return 2;
}
const struct shunt_route *shunt_route_at(int i)
{
  return i ? &library : &direct;
}

/* ---- cases ---------------------------------------------------------------------------- */

static char arrays[5][4096];
static char buffer[65536];

static struct shunt_problem bound(const char *word)
{
  struct shunt_problem p;
  memset(&world, 0, sizeof world);
  world.fail_from = -1;
  world.how = SHUNT_E_CUDA;
  world.direct_us = 10;
  world.library_us = 20;
  world.original_us = 1000;
  world.margin = 1;
  world.room = sizeof arrays;
  world.copy_use = SHUNT_COPY_USED;
  shunt_lazy_start(&context.lazy, true);
  shunt_context_initialize(&context, ~(uint32_t)0);
  world.initialized = 0;
  check(shunt_problem_parse(word, &p) == SHUNT_OK, "parses %s", word);
  if (p.op == SHUNT_SDDMM) {
    p.sddmm.c.row_offsets = arrays[0];
    p.sddmm.c.columns = arrays[1];
    p.sddmm.c.values = arrays[2];
    p.sddmm.a.values = arrays[3];
    p.sddmm.b.values = arrays[4];
    return p;
  }
  if (p.format == SHUNT_COO)
    p.row_indices = arrays[0];
  else
    p.spmm.a.row_offsets = arrays[0];
  p.spmm.a.columns = arrays[1];
  p.spmm.a.values = arrays[2];
  p.spmm.b.values = arrays[3];
  p.spmm.c.values = arrays[4];
  return p;
}

static struct shunt_answer run(const struct shunt_problem *p)
{
  return shunt_plan_run(p, buffer, sizeof buffer, NULL);
}

#endif
