/* suite.c: the named lists of cases that the project's figures are taken from.

   A step is one operation on several sources (words of tool_patterns.c, or names of files below
   the data folder, with wildcards) for all of its heights V, types and widths.  */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/bench.h"

struct step {
  const char *op, *types, *widths, *heights; /* as on the command line */
  const char *const *sources;                /* NULL-terminated; with ':' words, else files */
  const char *layouts;                       /* NULL: those asked for */
};

/* SC'21: the Deep Learning Matrix Collection, each entry a V x 1 vector. */
static const char *const dlmc_files[] = {"dlmc/*.smtx.gz", NULL};
/* Sizes of layers; 0.2 .. 0.02 of the vectors are there. */
static const char *const layers[] = {"random:2048x1024:0.2",
                                     "random:2048x1024:0.1",
                                     "random:2048x1024:0.05",
                                     "random:2048x1024:0.02",
                                     "random:4096x4096:0.2",
                                     "random:4096x4096:0.1",
                                     "random:4096x4096:0.05",
                                     "random:4096x4096:0.02",
                                     "random:8192x8192:0.2",
                                     "random:8192x8192:0.1",
                                     "random:8192x8192:0.05",
                                     "random:8192x8192:0.02",
                                     "random:4096x11008:0.2",
                                     "random:4096x11008:0.1",
                                     "random:4096x11008:0.05",
                                     "random:4096x11008:0.02",
                                     NULL};
static const struct step dlmc[] = {
    {"spmm", "f16", "64,128,256", "2,4,8", dlmc_files, NULL},
    {"sddmm", "f16", "64,128,256", "2,4,8", dlmc_files, NULL},
    {"spmm", "f16", "64,128,256,512,1024,2048", "2,4,8", layers, NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL}};

/* Scattered matrices of solvers and graphs. */
static const char *const mtx_files[] = {"mtx/*.mtx.gz", NULL};

/* SC'22: int8 beside f16, on the same layers; with B by columns, as cuBLASLt wants it; SDDMM in
   f16, beside which libshunt's of integers stands (test_srbcrs_sddmm --time); and scattered.  */
static const struct step integers[] = {
    {"spmm", "i8,f16", "128,256,512", "2,4,8", dlmc_files, NULL},
    {"spmm", "i8,f16", "128,256,512,1024", "2,4,8", layers, NULL},
    {"spmm", "i8", "256,1024", "8", layers, "cr"},
    {"sddmm", "f16", "128,256,512", "2,4,8", layers, NULL},
    {"spmm", "i8", "32,128", "1", mtx_files, NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL}};

/* Real ones as above, and twenty made up. */
static const char *const scattered[] = {"random:100000x100000:0.00008",
                                        "random:300000x300000:0.00003",
                                        "random:1000000x1000000:0.000004",
                                        "random:1000000x1000000:0.00002",
                                        "random:10000000x10000000:0.0000003",
                                        "rmat:131072:8",
                                        "rmat:131072:32",
                                        "rmat:1048576:4",
                                        "rmat:1048576:16",
                                        "rmat:8388608:4",
                                        "band:100000:8:0.5",
                                        "band:100000:256:0.1",
                                        "band:1000000:16:0.5",
                                        "band:1000000:1000:0.01",
                                        "band:10000000:2:1",
                                        "mesh:32x32x32:3",
                                        "mesh:64x64x64:1",
                                        "mesh:48x48x48:4",
                                        "mesh:100x100x100:1",
                                        "mesh:64x64x64:3",
                                        NULL};
static const struct step mtx[] = {{"spmm", "f32,f64", "8,16,32,64,128", "1", mtx_files, NULL},
                                  {"spmm", "f32,f64", "8,16,32,64,128", "1", scattered, NULL},
                                  {"sddmm", "f32", "32,128", "1", mtx_files, NULL},
                                  {NULL, NULL, NULL, NULL, NULL, NULL}};

/* The thesis on 2:4 tiles: XdYs, X % of the tiles dense and Y % 2:4; its finite-element matrices;
   and magnitude-pruned layers. */
static const char *const tile_patterns[] = {
    "tiles:2048x2048:0:0.1",   "tiles:2048x2048:0:0.2",     "tiles:4096x4096:0:0.1",
    "tiles:4096x4096:0:0.2",   "tiles:4096x4096:0.1:0.1",   "tiles:4096x4096:0.1:0.2",
    "tiles:4096x4096:0.2:0",   "tiles:8192x8192:0:0.1",     "tiles:8192x8192:0:0.2",
    "tiles:8192x8192:0.1:0.1", "tiles:8192x8192:0.1:0",     "tiles:16384x16384:0:0.1",
    "tiles:16384x16384:0:0.2", "tiles:4096x4096:0.05:0.05", NULL};
static const char *const pruned[] = {"tiles:4096x4096:0:1", "tiles:8192x8192:0:1", NULL};
static const char *const elements[] = {
    "mtx/opt1.mtx.gz",    "mtx/pkustk06.mtx.gz", "mtx/bcsstk32.mtx.gz",
    "mtx/cfd1.mtx.gz",    "mtx/kim1.mtx.gz",     "mtx/ex11.mtx.gz",
    "mtx/rajat16.mtx.gz", "mtx/gupta2.mtx.gz",   NULL};
static const char *const sparse_layers[] = {"dlmc/*_0.9.smtx.gz", "dlmc/*_0.95.smtx.gz",
                                            "dlmc/*_0.98.smtx.gz", NULL};
static const struct step tiles[] = {
    {"spmm", "f16", "8,16,32,64,128,256", "1", tile_patterns, NULL},
    {"spmm", "f16", "8,32,64,128,256,512,1024,2048", "1", pruned, NULL},
    {"spmm", "f16", "64,128", "1", elements, NULL},
    {"spmm", "f16", "256", "1", sparse_layers, NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL}};

/* What shunt calibrate fits to, made up: layers, and scattered matrices of all kinds, the first of
   each kind first, as time may run out.  */
static const char *const made_up[] = {"mesh:16x16x16:3",
                                      "random:20000x20000:0.0005",
                                      "rmat:16384:16",
                                      "band:30000:8:0.5",
                                      "mesh:40x40x40:1",
                                      "random:4096x4096:0.01",
                                      "rmat:65536:8",
                                      "band:20000:256:0.1",
                                      "mesh:14x14x14:6",
                                      "random:100000x100000:0.00003",
                                      "rmat:8192:32",
                                      "band:4000:24:0.8",
                                      "mesh:40x40x1:4",
                                      "random:30000x3000:0.002",
                                      "rmat:131072:4",
                                      "band:60000:2:1",
                                      "mesh:200x200x1:2",
                                      "random:3000x60000:0.001",
                                      "band:100000:64:0.3",
                                      "rmat:4096:8",
                                      "mesh:24x24x24:3",
                                      "random:50000x50000:0.0004",
                                      "rmat:131072:24",
                                      "random:8192x8192:0.004",
                                      NULL};
static const char *const made_up_layers[] = {
    "random:2048x1024:0.1", "random:4096x4096:0.03", "random:1024x4096:0.4",
    "random:512x2048:0.2",  "random:8192x2048:0.05", "random:4096x1024:0.02",
    "random:1024x1024:0.5", "random:4096x4096:0.15", NULL};
static const struct step calibrate[] = {
    {"spmm", "f32,f64,f16", "32,128,256", "1", made_up_layers, NULL},
    {"spmm", "f32,f16", "8,16", "1", made_up_layers, NULL},
    {"spmm", "f32,f64,f16", "8,16,32,64,128,256", "1", made_up, NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL}};

static const struct suite {
  const char *name;
  const struct step *steps;
} suites[] = {{"calibrate", calibrate},
              {"dlmc", dlmc},
              {"integers", integers},
              {"mtx", mtx},
              {"tiles", tiles}};
enum { SUITES = sizeof suites / sizeof *suites };

/* ---- a growing list ----------------------------------------------------------- */

static bool add_source(struct bench_step *s, const char *text)
{
  char **longer = realloc(s->sources, ((size_t)s->count + 1) * sizeof *longer);
  if (longer) s->sources = longer;
  char *copy = longer ? strdup(text) : NULL;
  if (!copy) {
    tool_say("out of memory");
    return false;
  }
  s->sources[s->count++] = copy;
  return true;
}

static bool add_files(struct bench_step *s, const char *data, const char *names)
{
  char pattern[4096];
  glob_t found;
  if (snprintf(pattern, sizeof pattern, "%s/%s", data, names) >= (int)sizeof pattern) {
    tool_say("%s: the name is too long", data);
    return false;
  }
  int status = glob(pattern, 0, NULL, &found);
  if (status != 0) {
    tool_say("%s: %s (--data says where the matrices are)", pattern,
             status == GLOB_NOMATCH ? "no such files" : "the folder cannot be read");
    return false;
  }
  bool good = true;
  for (size_t i = 0; good && i < found.gl_pathc; i++) good = add_source(s, found.gl_pathv[i]);
  globfree(&found);
  return good;
}

static bool fill_step(struct bench_step *to, const struct step *from, int v, const char *data,
                      const struct bench_options *o)
{
  *to = (struct bench_step){.o = *o};
  to->o.op = strcmp(from->op, "sddmm") == 0 ? SHUNT_SDDMM : SHUNT_SPMM;
  to->o.v = v;
  to->o.type_count = tool_parse_words("types", from->types, bench_type_words, to->o.types);
  to->o.n_count = tool_parse_sizes("widths", from->widths, 1 << 24, to->o.n);
  if (from->layouts)
    to->o.layout_count =
        tool_parse_words("layouts", from->layouts, bench_layout_words, to->o.layouts);
  bool good = to->o.type_count > 0 && to->o.n_count > 0 && to->o.layout_count > 0;
  for (int i = 0; good && from->sources[i]; i++)
    good = strchr(from->sources[i], ':') ? add_source(to, from->sources[i])
                                         : add_files(to, data, from->sources[i]);
  return good;
}

static const struct suite *find_suite(const char *name)
{
  for (int i = 0; i < SUITES; i++)
    if (strcmp(name, suites[i].name) == 0) return &suites[i];
  tool_say("unknown suite '%s'; the suites are calibrate, dlmc, integers, mtx, "
           "tiles",
           name);
  return NULL;
}

static bool has_files(const struct suite *suite)
{
  for (const struct step *s = suite->steps; s->op; s++)
    for (int i = 0; s->sources[i]; i++)
      if (!strchr(s->sources[i], ':')) return true;
  return false;
}

void bench_suite_free(struct bench_step *steps, int count)
{
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < steps[i].count; j++) free(steps[i].sources[j]);
    free(steps[i].sources);
  }
}

int bench_suite(const char *name, const char *data, const struct bench_options *o,
                struct bench_step steps[BENCH_STEPS])
{
  const struct suite *suite = find_suite(name);
  int count = 0;
  if (!suite) return -1;
  if (!data && has_files(suite)) {
    tool_say("SHUNT_DATA or --data says where the suite's matrices are (folders mtx and dlmc)");
    return 0;
  }
  for (const struct step *s = suite->steps; s->op; s++) {
    int64_t heights[TOOL_LIST];
    int n = tool_parse_sizes("heights", s->heights, TOOL_MAX_V, heights);
    for (int i = 0; i < n; i++) {
      bool good = count < BENCH_STEPS && fill_step(&steps[count], s, (int)heights[i], data, o);
      count += count < BENCH_STEPS;
      if (good) continue;
      bench_suite_free(steps, count);
      return 0;
    }
  }
  return count;
}
