/* timings.c: a file of timings, read and written (calibrate.h has its form).

   It may come from anywhere: every number is looked at, and nothing of a file counts where one is
   none.  */
#define _GNU_SOURCE /* strtok_r */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/options/user_file.h"
#include "backend/tool/calibrate/calibrate.h"

#define HEAD "# shunt timings 1 "
#define BLANKS " \t\r\n"
enum { LINE = 1024, COLUMNS = 32 };
static const int64_t most_columns = 1 << 24, most_size = (int64_t)1 << 40;
static const double most_us = 1e9;

/* ---- columns -------------------------------------------------------------------------------- */

enum column {
  MATRIX,
  TYPE,
  N,
  ROWS,
  COLS,
  NNZ,
  LONGEST,
  IDLE,
  SQUARES,
  LENGTHS,
  VECTORS,
  GROUP,
  FIRST_WAY, /* as in enum calibrate_way */
  COLUMN_COUNT = FIRST_WAY + CALIBRATE_WAYS,
  UNKNOWN = COLUMN_COUNT
};

static const char *word_of(int column)
{
  static const char *const words[] = {"matrix",  "type", "n",       "rows",    "cols",    "nnz",
                                      "longest", "idle", "squares", "lengths", "vectors", "group"};
  return column < FIRST_WAY ? words[column] : calibrate_way_words[column - FIRST_WAY];
}

struct reading {
  const char *path;
  FILE *f;
  int line;
  int column[COLUMNS], columns;
};

/* Says where; false. */
static bool wrong(const struct reading *r, const char *what)
{
  tool_say("%s: line %d: %s", r->path, r->line, what);
  return false;
}

/* What files of earlier versions do not have. */
static bool may_be_missing(int column)
{
  return column == IDLE || column == SQUARES || column == LENGTHS ||
         column == FIRST_WAY + CALIBRATE_SORTED;
}

static bool read_columns(struct reading *r, char *line)
{
  char *rest;
  bool seen[COLUMN_COUNT] = {false};
  for (char *word = strtok_r(line, BLANKS, &rest); word; word = strtok_r(NULL, BLANKS, &rest)) {
    int i = 0;
    while (i < UNKNOWN && strcmp(word, word_of(i)) != 0) i++;
    if (r->columns == COLUMNS) return wrong(r, "there are too many columns");
    if (i < UNKNOWN && seen[i]) return wrong(r, "a column stands there twice");
    if (i < UNKNOWN) seen[i] = true;
    r->column[r->columns++] = i;
  }
  for (int i = 0; i < COLUMN_COUNT; i++)
    if (!seen[i] && !may_be_missing(i)) {
      tool_say("%s: line %d: there is no column '%s'", r->path, r->line, word_of(i));
      return false;
    }
  return true;
}

/* ---- a case --------------------------------------------------------------------------------- */

static bool whole_number(const char *text, int64_t *out)
{
  char *end;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  *out = strtoll(text, &end, 10);
  return *end == 0 && errno == 0;
}

static bool time_in_us(const char *text, double *out)
{
  char *end;
  if (*text < '0' || *text > '9') return false;
  *out = strtod(text, &end);
  return *end == 0 && isfinite(*out) && *out > 0 && *out <= most_us;
}

/* "9,4,2": the counts that are not there are 0. */
static bool counts_of(const char *text, struct shunt_sorted_counts *out)
{
  *out = (struct shunt_sorted_counts){{0}};
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++) {
    char *end;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    const unsigned long long count = strtoull(text, &end, 10);
    if (errno || count > UINT32_MAX) return false;
    out->at_least[i] = (uint32_t)count;
    if (*end == 0) return true;
    if (*end != ',') return false;
    text = end + 1;
  }
  return false;
}

static bool set(struct calibrate_case *c, enum column column, const char *text)
{
  int64_t *const number[] = {[N] = &c->n,         [ROWS] = &c->rows,       [COLS] = &c->cols,
                             [NNZ] = &c->nnz,     [LONGEST] = &c->longest, [VECTORS] = &c->vectors,
                             [GROUP] = &c->group, [IDLE] = &c->idle,       [SQUARES] = &c->squares,
                             [FIRST_WAY] = NULL};
  const bool none = strcmp(text, "-") == 0;
  if (column >= FIRST_WAY) return none || time_in_us(text, &c->us[column - FIRST_WAY]);
  if (column == LENGTHS) return none || counts_of(text, &c->lengths);
  if (column != TYPE) return (none && column >= IDLE) || whole_number(text, number[column]);
  static const shunt_type types[] = {SHUNT_F16, SHUNT_F32, SHUNT_F64};
  for (int i = 0; i < 3; i++)
    if (strcmp(text, shunt_type_text(types[i])) == 0) return c->type = types[i], true;
  return false;
}

/* Can so many rows be so long? */
static bool lengths_can_be(const struct calibrate_case *c)
{
  const uint32_t *at_least = c->lengths.at_least;
  if (at_least[0] == 0) return true;
  const int last = shunt_sorted_count_of(c->longest);
  double entries = 0;
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++) {
    const uint32_t more = i + 1 < SHUNT_SORTED_COUNTS ? at_least[i + 1] : 0;
    if (more > at_least[i] || (i <= last) != (at_least[i] > 0)) return false;
    entries += (double)(at_least[i] - more) * (double)shunt_sorted_least(i);
  }
  return at_least[0] <= c->rows && entries <= (double)c->nnz;
}

/* NULL, or what cannot be of a matrix. */
static const char *objection(const struct calibrate_case *c)
{
  if (c->n < 1 || c->n > most_columns) return "there cannot be so many columns of B";
  if (c->rows < 1 || c->rows > most_size || c->cols < 1 || c->cols > most_size || c->nnz < 1 ||
      c->nnz > most_size || (double)c->nnz > (double)c->rows * (double)c->cols)
    return "no matrix has such sizes";
  if (c->longest < 1 || c->longest > c->nnz ||
      (double)c->longest * (double)c->rows < (double)c->nnz)
    return "no row can be the longest one";
  if ((double)c->idle > 3 * (double)c->nnz ||
      (double)c->squares > (double)c->longest * (double)c->nnz)
    return "rows cannot differ so";
  if (!lengths_can_be(c)) return "rows cannot be so long";
  if (c->vectors > c->nnz || (c->vectors < 0) != (c->group < 0) || c->group > c->vectors)
    return "there cannot be such vectors";
  if (c->vectors < 0 && c->us[CALIBRATE_BUNDLE] > 0) return "bundle was measured without vectors";
  return NULL;
}

static bool read_case(struct reading *r, char *line, struct calibrate_timings *t)
{
  struct calibrate_case c = {.vectors = -1, .group = -1};
  char *rest, *name = NULL;
  int i = 0;
  for (char *word = strtok_r(line, BLANKS, &rest); word; word = strtok_r(NULL, BLANKS, &rest)) {
    if (i == r->columns) return wrong(r, "there are more words than columns");
    const int column = r->column[i++];
    if (column == MATRIX) name = word;
    if (column == MATRIX || column == UNKNOWN || set(&c, column, word)) continue;
    tool_say("%s: line %d: '%.40s' is no %s", r->path, r->line, word, word_of(column));
    return false;
  }
  if (i < r->columns) return wrong(r, "there are fewer words than columns");
  const char *why = objection(&c);
  if (why) return wrong(r, why);
  struct calibrate_case *to = calibrate_add(t, name);
  if (!to) return wrong(r, "there are more cases or matrices than are taken");
  c.matrix = to->matrix;
  *to = c;
  return true;
}

/* ---- the machine ---------------------------------------------------------------------------- */

/* "build=0.1.0 gpu=NVIDIA H200 driver=13000", of printable characters. */
static bool read_signature(const char *text, struct calibrate_timings *t)
{
  const char *gpu = strstr(text, " gpu="), *driver = gpu ? strstr(gpu, " driver=") : NULL;
  const size_t length = driver ? (size_t)(driver - gpu) - 5 : 0;
  int64_t number;
  for (const char *c = text; *c; c++)
    if (*c < ' ' || *c > '~') return false;
  if (strncmp(text, "build=", 6) != 0 || length < 1 || length >= sizeof t->gpu ||
      !whole_number(driver + 8, &number) || strlen(text) >= sizeof t->signature)
    return false;
  snprintf(t->signature, sizeof t->signature, "%.383s", text);
  snprintf(t->gpu, sizeof t->gpu, "%.*s", (int)length, gpu + 5);
  return true;
}

static bool read_machine(const char *text, struct calibrate_timings *t)
{
  int multiprocessors, major, minor, used = 0;
  int64_t l2;
  if (sscanf(text, "# multiprocessors=%5d l2=%15" SCNd64 " cusparse=%3d.%1d%n", &multiprocessors,
             &l2, &major, &minor, &used) != 4 ||
      text[used])
    return false;
  t->device = (struct shunt_device){.multiprocessors = multiprocessors, .l2_bytes = l2};
  t->cusparse = 10 * major + minor;
  return multiprocessors > 0 && l2 > 0 && major > 0 && minor >= 0;
}

/* ---- a file --------------------------------------------------------------------------------- */

/* A line without its end; false: there is none, or it has no end, or is too long. */
static bool next_line(struct reading *r, char line[LINE])
{
  r->line++;
  if (!fgets(line, LINE, r->f)) return false;
  char *end = strchr(line, '\n');
  if (!end) return wrong(r, "it is too long, or ends too early");
  *end = 0;
  return true;
}

static bool read_head(struct reading *r, struct calibrate_timings *t)
{
  char line[LINE];
  if (!next_line(r, line) || strncmp(line, HEAD, strlen(HEAD)) != 0 ||
      !read_signature(line + strlen(HEAD), t))
    return wrong(r, "this is no file of timings, which says where they were measured");
  if (!next_line(r, line) || !read_machine(line, t))
    return wrong(r, "the machine is not understood");
  return next_line(r, line) ? read_columns(r, line) : wrong(r, "there are no columns");
}

static bool read_all(struct reading *r, struct calibrate_timings *t)
{
  char line[LINE];
  if (!read_head(r, t)) return false;
  while (next_line(r, line))
    if (!read_case(r, line, t)) return false;
  if (!feof(r->f) || ferror(r->f)) return false;
  return t->count > 0 || wrong(r, "there are no cases");
}

bool calibrate_read(const char *path, struct calibrate_timings *t)
{
  struct reading r = {.path = path, .f = fopen(path, "r")};
  *t = (struct calibrate_timings){.count = 0};
  if (!r.f) {
    tool_say("%s: %s", path, strerror(errno));
    return false;
  }
  const bool good = read_all(&r, t);
  fclose(r.f);
  if (!good) calibrate_free(t);
  return good;
}

static void print_lengths(FILE *to, const struct shunt_sorted_counts *lengths)
{
  if (lengths->at_least[0] == 0) fputs(" -", to);
  for (int i = 0; i < SHUNT_SORTED_COUNTS && lengths->at_least[i]; i++)
    fprintf(to, "%c%" PRIu32, i ? ',' : ' ', lengths->at_least[i]);
}

static void print_file(FILE *to, void *of)
{
  const struct calibrate_timings *t = of;
  fprintf(to, HEAD "%s\n# multiprocessors=%d l2=%" PRId64 " cusparse=%d.%d\n", t->signature,
          t->device.multiprocessors, (int64_t)t->device.l2_bytes, t->cusparse / 10,
          t->cusparse % 10);
  for (int i = 0; i < COLUMN_COUNT; i++)
    fprintf(to, "%s%c", word_of(i), i + 1 < COLUMN_COUNT ? ' ' : '\n');
  for (int i = 0; i < t->count; i++) {
    const struct calibrate_case *c = &t->of[i];
    fprintf(to,
            "%s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
            " %" PRId64,
            t->name[c->matrix], shunt_type_text(c->type), c->n, c->rows, c->cols, c->nnz,
            c->longest, c->idle, c->squares);
    print_lengths(to, &c->lengths);
    if (c->vectors >= 0)
      fprintf(to, " %" PRId64 " %" PRId64, c->vectors, c->group);
    else
      fputs(" - -", to);
    for (int w = 0; w < CALIBRATE_WAYS; w++)
      c->us[w] > 0 ? fprintf(to, " %.6g", c->us[w]) : fputs(" -", to);
    fputc('\n', to);
  }
}

bool calibrate_save(const char *path, const struct calibrate_timings *t)
{
  if (shunt_user_file_write(path, print_file, (void *)t)) return true;
  tool_say("%s: the timings could not be written", path);
  return false;
}

/* ---- growing -------------------------------------------------------------------------------- */

/* Room for one more where `count` are taken: twice as much at each power of two. */
static bool grow(void **of, size_t size, int count)
{
  if (count & (count - 1)) return true;
  void *more = realloc(*of, (count ? 2 * (size_t)count : 1) * size);
  if (more) *of = more;
  return more;
}

/* From the last one back, as cases of a matrix stand together. */
static int find_matrix(struct calibrate_timings *t, const char *name)
{
  for (int i = t->matrices - 1; i >= 0; i--)
    if (strcmp(t->name[i], name) == 0) return i;
  if (t->matrices == CALIBRATE_MOST_MATRICES || strlen(name) >= CALIBRATE_NAME ||
      !grow((void **)&t->name, sizeof *t->name, t->matrices))
    return -1;
  snprintf(t->name[t->matrices], CALIBRATE_NAME, "%s", name);
  return t->matrices++;
}

struct calibrate_case *calibrate_add(struct calibrate_timings *t, const char *name)
{
  if (t->count == CALIBRATE_MOST_CASES || !grow((void **)&t->of, sizeof *t->of, t->count))
    return NULL;
  const int matrix = find_matrix(t, name);
  if (matrix < 0) return NULL;
  struct calibrate_case *c = &t->of[t->count++];
  *c = (struct calibrate_case){.matrix = matrix, .vectors = -1, .group = -1};
  return c;
}

void calibrate_free(struct calibrate_timings *t)
{
  free(t->name);
  free(t->of);
  *t = (struct calibrate_timings){.count = 0};
}
