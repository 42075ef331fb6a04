/* model.c: shunt model FILE: what decides between the traversals of a sparse by dense product:
   bytes moved, skewness, footprints, and what the conversion into strips costs, in software
   (measured here) and in the paper's engine (modelled).  Needs no GPU.  */
#include "backend/tool/model.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/common/host_element.h"

static const char help[] =
    "Usage: shunt model [OPTION]... FILE...\n"
    "Print what decides between the traversals of matrix FILE times a dense matrix\n"
    "(Matrix Market or .smtx, also gzipped; or a made-up pattern, as for shunt\n"
    "bench): bytes moved, skewness, footprints of dcsr, and what making strips\n"
    "costs.  Needs no GPU.\n"
    "\n"
    "  -n, --columns LIST  columns of B and C (default 32,128)\n"
    "  -t, --type TYPE     f16, bf16, f32 or f64 (default f32)\n"
    "  -w, --width W       columns of a strip, 1 to 1024 (default 64)\n"
    "      --json          print JSON, one object per FILE and line\n"
    "  -h, --help          print this text and exit\n"
    "\n"
    "Exit status: 0 success; 1 malformed input; 2 usage.\n";

enum { OPT_JSON = 256, MOST_COLUMNS = 1 << 20, MOST_WIDTH = 1024 };
static const struct option options[] = {
    {"columns", required_argument, NULL, 'n'}, {"type", required_argument, NULL, 't'},
    {"width", required_argument, NULL, 'w'},   {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};

static const char *const type_names[] = {"f16", "bf16", "f32", "f64", NULL};
static const shunt_type types[] = {SHUNT_F16, SHUNT_BF16, SHUNT_F32, SHUNT_F64};

/* ---- the matrix as CSC ------------------------------------------------------------------------
 */

/* A CSC matrix that owns its arrays, of the model's types. */
struct csc {
  struct shunt_dcsr_source a;
  void *offsets, *rows, *values;
};

static void put_index(void *array, shunt_type type, int64_t i, int64_t value)
{
  if (type == SHUNT_I32)
    ((int32_t *)array)[i] = (int32_t)value;
  else
    ((int64_t *)array)[i] = value;
}

static void csc_free(struct csc *c)
{
  free(c->offsets);
  free(c->rows);
  free(c->values);
}

/* Entries by column; `next` has room for cols + 1 and is scratch. */
static void csc_fill(const struct shunt_matrix *from, struct csc *c, int64_t *next)
{
  memset(next, 0, ((size_t)from->cols + 1) * sizeof *next);
  for (int64_t p = 0; p < from->nnz; p++) next[from->columns[p] + 1]++;
  for (int64_t j = 0; j < from->cols; j++) next[j + 1] += next[j];
  for (int64_t j = 0; j <= from->cols; j++) put_index(c->offsets, c->a.index_type, j, next[j]);
  for (int64_t i = 0; i < from->rows; i++)
    for (int64_t p = from->row_offsets[i]; p < from->row_offsets[i + 1]; p++) {
      int64_t q = next[from->columns[p]]++;
      put_index(c->rows, c->a.index_type, q, i);
      shunt_store(c->values, q, c->a.value_type, from->values[p]);
    }
}

static bool csc_new(const struct shunt_matrix *from, const struct model *m, struct csc *c)
{
  size_t index = shunt_type_size(m->index), n = (size_t)from->nnz;
  int64_t *next = malloc(((size_t)from->cols + 1) * sizeof *next);
  c->offsets = malloc(((size_t)from->cols + 1) * index);
  c->rows = malloc(n * index + 1);
  c->values = malloc(n * shunt_type_size(m->value) + 1);
  bool good = next && c->offsets && c->rows && c->values;
  c->a = (struct shunt_dcsr_source){.from = SHUNT_DCSR_FROM_CSC,
                                    .rows = from->rows,
                                    .cols = from->cols,
                                    .nnz = from->nnz,
                                    .offsets = c->offsets,
                                    .row_indices = c->rows,
                                    .values = c->values,
                                    .index_type = m->index,
                                    .value_type = m->value};
  if (good) csc_fill(from, c, next);
  free(next);
  return good;
}

/* ---- conversions ---------------------------------------------------------------------------- */

static double now_us(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* The software's strips, timed: the least of up to 9 runs or half a second. */
static shunt_status convert(const struct shunt_dcsr_source *a,
                            const struct shunt_dcsr_layout *layout, void *scratch,
                            const struct shunt_dcsr *out, double *us)
{
  double begin = now_us();
  *us = 0;
  for (int run = 0; run < 9 && (run == 0 || now_us() - begin < 5e5); run++) {
    double start = now_us();
    shunt_status status = shunt_source_to_dcsr_host(a, layout, scratch, out, NULL);
    if (status != SHUNT_OK) return status;
    double took = now_us() - start;
    if (run == 0 || took < *us) *us = took;
  }
  return SHUNT_OK;
}

static bool same_strips(const struct shunt_dcsr *x, const struct shunt_dcsr *y)
{
  size_t index = shunt_type_size(x->index_type), segments = (size_t)x->counts->segments;
  size_t n = (size_t)x->nnz;
  return segments == (size_t)y->counts->segments &&
         memcmp(x->strip_begin, y->strip_begin, ((size_t)x->strips + 1) * index) == 0 &&
         memcmp(x->row_ids, y->row_ids, segments * index) == 0 &&
         memcmp(x->offsets, y->offsets, (segments + 1) * index) == 0 &&
         memcmp(x->columns, y->columns, n * index) == 0 &&
         memcmp(x->values, y->values, n * shunt_type_size(x->value_type)) == 0;
}

/* Both conversions into memory of their own, and that they agree. */
static shunt_status run_conversions(const struct csc *c, struct model *m)
{
  struct shunt_dcsr_layout layout = {m->tiles.width, m->index};
  int64_t segments = (int64_t)m->counted.segments;
  size_t bytes = shunt_dcsr_bytes(&c->a, &layout, segments);
  struct shunt_dcsr stored, emitted;
  void *memory[2] = {malloc(bytes), malloc(bytes)};
  void *scratch = malloc(shunt_dcsr_scratch_bytes(&c->a, &layout));
  void *lanes = malloc(shunt_dcsr_unit_scratch_bytes(&c->a, &layout));
  shunt_status status = SHUNT_E_MEMORY;
  if (memory[0] && memory[1] && scratch && lanes) {
    shunt_dcsr_lay_out(&c->a, &layout, segments, memory[0], &stored);
    shunt_dcsr_lay_out(&c->a, &layout, segments, memory[1], &emitted);
    status = convert(&c->a, &layout, scratch, &stored, &m->host_us);
    if (status == SHUNT_OK)
      status = shunt_dcsr_unit_run_host(&c->a, &layout, lanes, &emitted, &m->unit, NULL);
    if (status == SHUNT_OK && !same_strips(&stored, &emitted)) status = SHUNT_E_INPUT;
  }
  free(memory[0]);
  free(memory[1]);
  free(scratch);
  free(lanes);
  return status;
}

/* ---- one file -----------------------------------------------------------------------------------
 */

static bool give_values(struct shunt_matrix *from)
{
  if (from->values) return true;
  from->values = malloc((size_t)from->nnz * sizeof *from->values + 1);
  if (from->values) shunt_fill_values(from->values, from->nnz, 1);
  return from->values != NULL;
}

static shunt_status compute(struct shunt_matrix *from, struct model *m)
{
  struct shunt_csr view = tool_view(from);
  struct csc c = {.offsets = NULL};
  int64_t largest = from->rows > from->cols ? from->rows : from->cols;
  m->made_up = from->pattern;
  m->index = largest <= INT32_MAX && from->nnz <= INT32_MAX ? SHUNT_I32 : SHUNT_I64;
  shunt_status status =
      shunt_traffic_count_host(&view, &m->tiles, &m->counted, &m->entropy, &m->ssf);
  if (status != SHUNT_OK) return status;
  shunt_traffic_expect(from->rows, from->cols, from->nnz, &m->tiles, &m->expected);
  m->csr_bytes = shunt_csr_footprint(from->rows, from->nnz, m->index, m->value);
  m->dcsr_bytes = shunt_dcsr_footprint(from->cols > 0, (int64_t)m->counted.filled_rows, from->nnz,
                                       m->index, m->value);
  m->strips_bytes = shunt_dcsr_footprint((int64_t)m->counted.strips, (int64_t)m->counted.segments,
                                         from->nnz, m->index, m->value);
  status = give_values(from) && csc_new(from, m, &c) ? run_conversions(&c, m) : SHUNT_E_MEMORY;
  if (status == SHUNT_OK) m->estimate = shunt_dcsr_unit_estimate(&m->unit, m->index, m->value);
  csc_free(&c);
  return status;
}

static bool model_one(const char *file, struct model m, bool json)
{
  struct tool_source source;
  struct shunt_matrix from;
  m.file = file;
  if (!tool_load(file, 1, 1, &source, &from)) return false;
  shunt_status status = compute(&from, &m);
  if (status == SHUNT_OK)
    (json ? model_print_json : model_print_table)(&m);
  else
    tool_say("%s: %s", file,
             status == SHUNT_E_MEMORY  ? "out of memory"
             : status == SHUNT_E_INPUT ? "the engine's strips are not the stored ones"
                                       : "the model failed (internal error)");
  shunt_matrix_free(&from);
  return status == SHUNT_OK;
}

static bool set_type(const char *text, struct model *m)
{
  int word[TOOL_LIST], count = tool_parse_words("--type", text, type_names, word);
  if (count > 1) tool_say("--type takes one type; got '%s'", text);
  if (count != 1) return false;
  m->value = types[word[0]];
  m->value_name = type_names[word[0]];
  return true;
}

static bool set_width(const char *text, struct model *m)
{
  int64_t width[TOOL_LIST];
  int count = tool_parse_sizes("--width", text, MOST_WIDTH, width);
  if (count > 1) tool_say("--width takes one number; got '%s'", text);
  if (count != 1) return false;
  m->tiles.width = width[0];
  return true;
}

static int model(int argc, char **argv)
{
  struct model m = {.value = SHUNT_F32,
                    .value_name = "f32",
                    .n = {32, 128},
                    .count = 2,
                    .tiles = shunt_traffic_tiles_default()};
  bool json = false;
  int c, status = EXIT_OK;
  optind = 1;
  opterr = 0;
  while ((c = getopt_long(argc, argv, ":n:t:w:h", options, NULL)) != -1) {
    switch (c) {
    case 'n':
      m.count = tool_parse_sizes("--columns", optarg, MOST_COLUMNS, m.n);
      if (m.count == 0) return EXIT_USAGE;
      break;
    case 't':
      if (!set_type(optarg, &m)) return EXIT_USAGE;
      break;
    case 'w':
      if (!set_width(optarg, &m)) return EXIT_USAGE;
      break;
    case OPT_JSON: json = true; break;
    case 'h': fputs(help, stdout); return EXIT_OK;
    default: return tool_bad_option("model", c, argv, options);
    }
  }
  if (optind == argc) return tool_bad_usage("model", "no file given");
  for (; optind < argc; optind++)
    if (!model_one(argv[optind], m, json)) status = EXIT_BAD;
  if (fflush(stdout) != 0) status = EXIT_BAD;
  return status;
}

const struct tool_command tool_model = {"model", help, model};
