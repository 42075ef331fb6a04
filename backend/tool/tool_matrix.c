/* tool_matrix.c: files, made-up patterns and problems into host CSR. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/tool.h"

enum { MOST = INT32_MAX - 1024 }; /* rows, columns: what the kernels index */

/* Every entry becomes a v x 1 vector: row i of the file is rows i v .. i v + v - 1. */
static bool expand_vectors(struct shunt_matrix *m, int v)
{
  if (v == 1) return true;
  struct shunt_matrix wide = {.rows = m->rows * v, .cols = m->cols, .pattern = 1};
  if (wide.rows > MOST || m->nnz > MOST / v) {
    tool_say("%d x 1 vectors make the matrix too large", v);
    shunt_matrix_free(m);
    return false;
  }
  wide.row_offsets = malloc((size_t)(wide.rows + 1) * sizeof *wide.row_offsets);
  wide.columns = malloc((size_t)(m->nnz * v + 1) * sizeof *wide.columns);
  if (!wide.row_offsets || !wide.columns) {
    shunt_matrix_free(m);
    return tool_out_of_memory(&wide);
  }
  wide.row_offsets[0] = 0;
  for (int64_t i = 0; i < wide.rows; i++) {
    int64_t begin = m->row_offsets[i / v], length = m->row_offsets[i / v + 1] - begin;
    memcpy(wide.columns + wide.nnz, m->columns + begin, (size_t)length * sizeof *wide.columns);
    wide.nnz += length;
    wide.row_offsets[i + 1] = wide.nnz;
  }
  shunt_matrix_free(m);
  *m = wide;
  return true;
}

/* ---- sources -------------------------------------------------------------- */

/* Every entry becomes a row of `size` entries: column j of the file is columns j size .. */
static bool expand_columns(struct shunt_matrix *m, int64_t size)
{
  int64_t *columns = malloc((size_t)(m->nnz * size + 1) * sizeof *columns);
  if (!columns) return tool_out_of_memory(m);
  for (int64_t p = 0; p < m->nnz * size; p++) columns[p] = m->columns[p / size] * size + p % size;
  for (int64_t i = 0; i <= m->rows; i++) m->row_offsets[i] *= size;
  free(m->columns);
  m->columns = columns;
  m->cols *= size, m->nnz *= size;
  return true;
}

/* As many blocks as the problem has, at random places, and every entry of them. */
static bool random_blocks(const struct tool_source *s, uint64_t seed, struct shunt_matrix *out)
{
  const struct shunt_csr *a = &s->problem.spmm.a;
  const int64_t size = s->problem.blocks.size;
  if (size > TOOL_MAX_V || a->rows % size || a->cols % size || a->nnz % (size * size)) {
    tool_say("'%s': rows, columns and nonzeros are those of whole blocks, of up to %d rows",
             s->text, (int)TOOL_MAX_V);
    return false;
  }
  return tool_random_pattern(a->rows / size, a->cols / size, a->nnz / (size * size), 1, seed,
                             out) &&
         expand_columns(out, size) && expand_vectors(out, (int)size);
}

static bool load_problem(struct tool_source *s, int v, uint64_t seed, struct shunt_matrix *out)
{
  const struct shunt_problem *p = &s->problem;
  const struct shunt_csr *a = shunt_problem_sparse(p);
  if (p->format == SHUNT_BLOCKED_ELL || (p->format == SHUNT_BSR && p->op_a != 'N')) {
    tool_say(
        "'%s': bench reruns problems in csr, coo and csc, and in bsr where the sparse matrix is "
        "not transposed",
        s->text);
    return false;
  }
  if (p->batches != 1) {
    tool_say("'%s': bench reruns one product, not batches: leave away the part ':x%d...'", s->text,
             p->batches);
    return false;
  }
  if (a->rows < 1 || a->cols < 1 || a->rows > MOST || a->cols > MOST || a->nnz > MOST ||
      (double)a->nnz > (double)a->rows * (double)a->cols) {
    tool_say("'%s': sizes go from 1 to %d, and the nonzeros must fit the matrix", s->text, MOST);
    return false;
  }
  return p->format == SHUNT_BSR ? random_blocks(s, seed, out)
                                : tool_random_pattern(a->rows, a->cols, a->nnz, v, seed, out);
}

/* A word that was meant as a problem, not as a file. */
static bool looks_like_problem(const char *text)
{
  return strncmp(text, "spmm:", 5) == 0 || strncmp(text, "sddmm:", 6) == 0;
}

struct reading {
  struct tool_progress progress;
  const char *file;
};

static void show_reading(void *context, double share)
{
  struct reading *r = context;
  char what[96];
  snprintf(what, sizeof what, "reading %.80s", r->file);
  tool_progress_at(&r->progress, share, what);
}

bool tool_load(const char *text, int v, uint64_t seed, struct tool_source *source,
               struct shunt_matrix *out)
{
  *source = (struct tool_source){.text = text};
  *out = (struct shunt_matrix){0};
  enum tool_made made = tool_make_pattern(text, v, seed, out);
  if (made != TOOL_NO_PATTERN)
    return made == TOOL_MADE_VECTORS || (made == TOOL_MADE && expand_vectors(out, v));
  if (looks_like_problem(text)) {
    if (shunt_problem_parse(text, &source->problem) != SHUNT_OK) {
      tool_say("'%s': not a problem; expected the last column of a SHUNT_LOG=dispatch line, as in "
               "spmm:csr:f16.f16.f16.f32:i64b0:m4096n1024k4096z1677721:NN:rr:ld1024.1024:a1b0:alg0",
               text);
      return false;
    }
    source->from_problem = true;
    return load_problem(source, v, seed, out);
  }
  struct reading reading = {tool_progress_begin(), text};
  const struct shunt_read_watch watch = {show_reading, &reading};
  struct shunt_message why = {""};
  const shunt_status status = shunt_read_matrix_watched(text, out, &why, &watch);
  tool_progress_clear(&reading.progress);
  if (status != SHUNT_OK) {
    tool_say("%s", why.text[0] ? why.text : "the matrix could not be read");
    return false;
  }
  return expand_vectors(out, v);
}

struct shunt_csr tool_view(const struct shunt_matrix *m)
{
  return (struct shunt_csr){m->rows,   m->cols,   m->nnz, m->row_offsets, m->columns, m->values,
                            SHUNT_I64, SHUNT_F64, 0};
}

bool tool_write_csrbin(const char *path, const struct shunt_matrix *m)
{
  int64_t sizes[3] = {m->rows, m->cols, m->nnz};
  FILE *to = fopen(path, "wb");
  bool good =
      to && fwrite(sizes, sizeof sizes, 1, to) == 1 &&
      fwrite(m->row_offsets, sizeof(int64_t), (size_t)m->rows + 1, to) == (size_t)m->rows + 1;
  for (int64_t p = 0; good && p < m->nnz; p++) {
    int32_t column = (int32_t)m->columns[p];
    good = fwrite(&column, sizeof column, 1, to) == 1;
  }
  if (to && fclose(to) != 0) good = false;
  if (!good) tool_say("%s: %s", path, strerror(errno));
  return good;
}
