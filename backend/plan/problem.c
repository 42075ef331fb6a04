#include "backend/plan/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/options/plain_locale.h"

static const char *const type_text[SHUNT_TYPE_COUNT] = {"f16", "bf16", "f32", "f64", "i8",  "i32",
                                                        "i64", "u64",  "i16", "c32", "c64", "u8"};
static const char *const format_text[SHUNT_FORMAT_COUNT] = {"csr", "coo", "csc", "bsr", "ell"};

const char *shunt_type_text(shunt_type t)
{
  return (unsigned)t < SHUNT_TYPE_COUNT ? type_text[t] : "?";
}

const char *shunt_format_text(enum shunt_format f)
{
  return (unsigned)f < SHUNT_FORMAT_COUNT ? format_text[f] : "?";
}

/* The three operands in the order of the mathematics: first times second into third. */
struct operands {
  shunt_type first, second, third, compute;
  int64_t m, n, k;
  const struct shunt_csr *sparse;
  const struct shunt_dense *dense[2]; /* B, C for SpMM; A, B for SDDMM */
  const struct shunt_scalar *alpha, *beta;
};

static struct operands operands_of(const struct shunt_problem *p)
{
  if (p->op == SHUNT_SPMM) {
    const struct shunt_spmm *s = &p->spmm;
    bool turned = shunt_problem_transposed(p);
    return (struct operands){s->a.value_type,
                             s->b.type,
                             s->c.type,
                             s->compute,
                             turned ? s->a.cols : s->a.rows,
                             s->c.cols,
                             turned ? s->a.rows : s->a.cols,
                             &s->a,
                             {&s->b, &s->c},
                             &s->alpha,
                             &s->beta};
  }
  const struct shunt_sddmm *s = &p->sddmm;
  return (struct operands){s->a.type, s->b.type, s->c.value_type, s->compute, s->c.rows, s->c.cols,
                           s->a.cols, &s->c,     {&s->a, &s->b},  &s->alpha,  &s->beta};
}

/* The order in which an operand is stored, before op() swapped its strides. */
static char stored_order(const struct shunt_dense *d, char op)
{
  bool row_major = d->col_stride == 1 && (d->row_stride != 1 || d->rows <= 1 || d->cols > 1);
  return row_major == (op == 'N') ? 'r' : 'c';
}

static int64_t leading_dimension(const struct shunt_dense *d)
{
  return d->col_stride == 1 && (d->row_stride != 1 || d->cols > 1) ? d->row_stride : d->col_stride;
}

enum { SCALAR_TEXT = 40 };

static void print_scalar(char text[SCALAR_TEXT], const struct shunt_scalar *s)
{
  const struct shunt_plain_locale plain = shunt_plain_locale_begin();
  if (s->device)
    memcpy(text, "*", 2);
  else if (s->imaginary != 0)
    snprintf(text, SCALAR_TEXT, "%.6g,%.6g", s->host, s->imaginary);
  else
    snprintf(text, SCALAR_TEXT, "%.6g", s->host);
  shunt_plain_locale_end(&plain);
}

/* There is room: no word is longer than 342 characters; blocks come without batches. */
static int print_blocks(const struct shunt_problem *p, char *text, int room)
{
  if (p->blocks.wide == 0) return snprintf(text, (size_t)room, ":v%" PRId64, p->blocks.size);
  return snprintf(text, (size_t)room, ":v%" PRId64 "w%" PRId64, p->blocks.size, p->blocks.wide);
}

static int print_batches(const struct shunt_problem *p, char *text, int room)
{
  const struct shunt_batch_strides *s = &p->strides;
  return snprintf(text, (size_t)room, ":x%ds%" PRId64 ".%" PRId64 ".%" PRId64 ".%" PRId64,
                  p->batches, s->offsets, s->entries, s->dense[0], s->dense[1]);
}

int shunt_problem_print(const struct shunt_problem *p, char text[SHUNT_PROBLEM_TEXT])
{
  struct operands o = operands_of(p);
  char op_first = p->op == SHUNT_SPMM ? p->op_b : p->op_a;
  char op_second = p->op == SHUNT_SPMM ? 'N' : p->op_b;
  char alpha[SCALAR_TEXT], beta[SCALAR_TEXT];
  print_scalar(alpha, o.alpha);
  print_scalar(beta, o.beta);
  int used =
      snprintf(text, SHUNT_PROBLEM_TEXT,
               "%s:%s:%s.%s.%s.%s:%sb%d:m%" PRId64 "n%" PRId64 "k%" PRId64 "z%" PRId64
               ":%c%c:%c%c:ld%" PRId64 ".%" PRId64 ":a%sb%s:alg%d",
               p->op == SHUNT_SPMM ? "spmm" : "sddmm", shunt_format_text(p->format),
               shunt_type_text(o.first), shunt_type_text(o.second), shunt_type_text(o.third),
               shunt_type_text(o.compute), shunt_type_text(o.sparse->index_type), o.sparse->base,
               o.m, o.n, o.k, o.sparse->nnz, p->op_a, p->op_b, stored_order(o.dense[0], op_first),
               stored_order(o.dense[1], op_second), leading_dimension(o.dense[0]),
               leading_dimension(o.dense[1]), alpha, beta, p->algorithm);
  if (shunt_problem_in_blocks(p)) used += print_blocks(p, text + used, SHUNT_PROBLEM_TEXT - used);
  return p->batches == 1 ? used : used + print_batches(p, text + used, SHUNT_PROBLEM_TEXT - used);
}

/* ---- parsing -------------------------------------------------------------- */

static bool find_word(const char *word, const char *const *table, int count, int *index)
{
  for (int i = 0; i < count; i++)
    if (strcmp(word, table[i]) == 0) {
      *index = i;
      return true;
    }
  return false;
}

/* rows x cols as op() sees it, stored in `order` with leading dimension ld. */
static struct shunt_dense make_dense(int64_t rows, int64_t cols, int64_t ld, char order, char op,
                                     shunt_type type)
{
  bool row_major = (order == 'r') == (op == 'N');
  return (struct shunt_dense){rows, cols, row_major ? ld : 1, row_major ? 1 : ld, NULL, type};
}

static bool parse_scalar(const char *text, struct shunt_scalar *s)
{
  static const double on_device = 0; /* marks it; the true address is the caller's */
  char rest;
  *s = (struct shunt_scalar){0};
  if (strcmp(text, "*") == 0) {
    s->device = &on_device;
    return true;
  }
  const struct shunt_plain_locale plain = shunt_plain_locale_begin();
  const bool good = strchr(text, ',')
                        ? sscanf(text, "%lf,%lf%c", &s->host, &s->imaginary, &rest) == 2
                        : sscanf(text, "%lf%c", &s->host, &rest) == 1;
  shunt_plain_locale_end(&plain);
  return good;
}

/* Takes the part that tells the blocks away; *text then stands behind it. */
static bool parse_blocks(const char **text, struct shunt_problem *p)
{
  int used = 0;
  if (!shunt_problem_in_blocks(p)) return true;
  if (sscanf(*text, ":v%" SCNd64 "%n", &p->blocks.size, &used) != 1 || p->blocks.size < 1)
    return false;
  *text += used;
  if (p->format == SHUNT_BSR) return true;
  if (sscanf(*text, "w%" SCNd64 "%n", &p->blocks.wide, &used) != 1 || p->blocks.wide < 1)
    return false;
  *text += used;
  return true;
}

/* What may follow the algorithm and the blocks: nothing, or the batches. */
static bool parse_batches(const char *text, struct shunt_problem *p)
{
  struct shunt_batch_strides *s = &p->strides;
  int used = 0;
  p->batches = 1;
  if (!*text) return true;
  int fields = sscanf(text, ":x%ds%" SCNd64 ".%" SCNd64 ".%" SCNd64 ".%" SCNd64 "%n", &p->batches,
                      &s->offsets, &s->entries, &s->dense[0], &s->dense[1], &used);
  return fields == 5 && !text[used] && p->batches > 1;
}

shunt_status shunt_problem_parse(const char *text, struct shunt_problem *p)
{
  char op[8], format[8], type[4][8], index[8], op_a, op_b, order[2];
  char alpha[SCALAR_TEXT], beta[SCALAR_TEXT];
  int base, algorithm, used = 0, t[4], i, f;
  int64_t m, n, k, nnz, ld[2];
  int fields =
      sscanf(text,
             "%7[a-z]:%7[a-z]:%7[a-z0-9].%7[a-z0-9].%7[a-z0-9].%7[a-z0-9]:%7[i0-9]b%d:m%" SCNd64
             "n%" SCNd64 "k%" SCNd64 "z%" SCNd64 ":%c%c:%c%c:ld%" SCNd64 ".%" SCNd64
             ":a%39[-+0-9.,e*inf]b%39[-+0-9.,e*inf]:alg%d%n",
             op, format, type[0], type[1], type[2], type[3], index, &base, &m, &n, &k, &nnz, &op_a,
             &op_b, &order[0], &order[1], &ld[0], &ld[1], alpha, beta, &algorithm, &used);
  if (fields != 21) return SHUNT_E_INPUT;
  for (int j = 0; j < 4; j++)
    if (!find_word(type[j], type_text, SHUNT_TYPE_COUNT, &t[j])) return SHUNT_E_INPUT;
  if (!find_word(index, type_text, SHUNT_TYPE_COUNT, &i)) return SHUNT_E_INPUT;
  if (!find_word(format, format_text, SHUNT_FORMAT_COUNT, &f)) return SHUNT_E_INPUT;
  if (m < 0 || n < 0 || k < 0 || nnz < 0 || ld[0] < 0 || ld[1] < 0) return SHUNT_E_INPUT;
  if (base < 0 || base > 1 || !strchr("NTH", op_a) || !strchr("NTH", op_b)) return SHUNT_E_INPUT;
  if (!strchr("rc", order[0]) || !strchr("rc", order[1])) return SHUNT_E_INPUT;

  memset(p, 0, sizeof *p);
  p->format = (enum shunt_format)f;
  p->op_a = op_a;
  p->op_b = op_b;
  p->algorithm = algorithm;
  struct shunt_scalar a, b;
  if (!parse_scalar(alpha, &a) || !parse_scalar(beta, &b)) return SHUNT_E_INPUT;
  const char *rest = text + used;
  if (!parse_blocks(&rest, p) || !parse_batches(rest, p)) return SHUNT_E_INPUT;
  if (strcmp(op, "spmm") == 0) {
    p->op = SHUNT_SPMM;
    bool turned = shunt_problem_transposed(p);
    p->spmm = (struct shunt_spmm){.a = {turned ? k : m, turned ? m : k, nnz, NULL, NULL, NULL,
                                        (shunt_type)i, (shunt_type)t[0], base},
                                  .b = make_dense(k, n, ld[0], order[0], op_b, (shunt_type)t[1]),
                                  .c = make_dense(m, n, ld[1], order[1], 'N', (shunt_type)t[2]),
                                  .alpha = a,
                                  .beta = b,
                                  .compute = (shunt_type)t[3]};
  } else if (strcmp(op, "sddmm") == 0) {
    p->op = SHUNT_SDDMM;
    p->sddmm = (struct shunt_sddmm){
        .a = make_dense(m, k, ld[0], order[0], op_a, (shunt_type)t[0]),
        .b = make_dense(k, n, ld[1], order[1], op_b, (shunt_type)t[1]),
        .c = {m, n, nnz, NULL, NULL, NULL, (shunt_type)i, (shunt_type)t[2], base},
        .alpha = a,
        .beta = b,
        .compute = (shunt_type)t[3]};
  } else {
    return SHUNT_E_INPUT;
  }
  return SHUNT_OK;
}

/* ---- identity ------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
  h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdu;
  return h ^ (h >> 32);
}

uint64_t shunt_problem_hash(const struct shunt_problem *p)
{
  struct operands o = operands_of(p);
  uint64_t h = mix((uint64_t)p->op * 64 + (uint64_t)p->format, (uint64_t)p->algorithm);
  h = mix(h, ((uint64_t)o.first << 24) | ((uint64_t)o.second << 16) | ((uint64_t)o.third << 8) |
                 (uint64_t)o.compute);
  h = mix(h, ((uint64_t)o.sparse->index_type << 8) | (uint64_t)o.sparse->base);
  h = mix(h, (uint64_t)o.m);
  h = mix(h, (uint64_t)o.n);
  h = mix(h, (uint64_t)o.k);
  h = mix(h, (uint64_t)o.sparse->nnz);
  h = mix(h, ((uint64_t)p->op_a << 16) | ((uint64_t)p->op_b << 8) | (uint64_t)p->batches);
  if (shunt_problem_in_blocks(p))
    h = mix(mix(h, (uint64_t)p->blocks.size), (uint64_t)p->blocks.wide);
  for (int i = 0; i < 2; i++) {
    h = mix(h, (uint64_t)o.dense[i]->row_stride);
    h = mix(h, (uint64_t)o.dense[i]->col_stride);
  }
  if (p->batches != 1) {
    h = mix(h, (uint64_t)p->strides.offsets);
    h = mix(h, (uint64_t)p->strides.entries);
    for (int i = 0; i < 2; i++) h = mix(h, (uint64_t)p->strides.dense[i]);
  }
  h = mix(h, (p->extended * 4u) | ((o.alpha->device != NULL) * 2u) | (o.beta->device != NULL));
  return h ? h : 1;
}

/* ---- checks that hold for every route ------------------------------------- */

static bool types_known(const struct operands *o)
{
  if (o->first != o->second) return false;
  switch (o->first) {
  case SHUNT_F16:
  case SHUNT_BF16:
    return (o->third == o->first || o->third == SHUNT_F32) && o->compute == SHUNT_F32;
  case SHUNT_F32:
  case SHUNT_F64:
  case SHUNT_C32:
  case SHUNT_C64: return o->third == o->first && o->compute == o->first;
  case SHUNT_I8:
    return (o->third == SHUNT_I32 && o->compute == SHUNT_I32) ||
           (o->third == SHUNT_F32 && o->compute == SHUNT_F32);
  default: return false;
  }
}

/* Is an operand to be conjugated that no route conjugates?  Values of a sparse matrix that is
   transposed are gathered anew, and conjugated on the way.  */
static bool conjugates(const struct shunt_problem *p)
{
  return ((p->op_a == 'H' && !shunt_problem_transposed(p)) || p->op_b == 'H') &&
         shunt_type_is_complex(shunt_problem_sparse(p)->value_type);
}

static bool is_half(shunt_type t)
{
  return t == SHUNT_F16 || t == SHUNT_BF16;
}

/* Types that cuSPARSE takes: of SDDMM not all that it takes of SpMM. */
static bool types_of_original(const struct shunt_problem *p, const struct operands *o)
{
  return types_known(o) &&
         (p->op == SHUNT_SPMM || (o->first != SHUNT_BF16 && o->first != SHUNT_I8));
}

bool shunt_problem_extends(const struct shunt_problem *p)
{
  const struct operands o = operands_of(p);
  if (shunt_problem_in_blocks(p) || shunt_problem_transposed(p)) return false;
  if (types_of_original(p, &o)) return is_half(o.first);
  if (p->op == SHUNT_SDDMM)
    return types_known(&o) && (o.first == SHUNT_BF16 || o.first == SHUNT_I8);
  const bool mixed =
      (o.first == SHUNT_F32 && is_half(o.second)) || (is_half(o.first) && o.second == SHUNT_F32);
  return mixed && o.compute == SHUNT_F32 && (o.third == o.second || o.third == SHUNT_F32);
}

/* Each element of d has an address of its own. */
static bool well_laid(const struct shunt_dense *d)
{
  if (d->col_stride == 1) return d->row_stride >= d->cols;
  return d->row_stride == 1 && d->col_stride >= d->rows;
}

static bool shapes_match(const struct shunt_problem *p, const struct operands *o)
{
  if (p->op == SHUNT_SPMM) {
    const struct shunt_spmm *s = &p->spmm;
    return o->k == s->b.rows && s->b.cols == s->c.cols && o->m == s->c.rows && well_laid(&s->b) &&
           well_laid(&s->c);
  }
  const struct shunt_sddmm *s = &p->sddmm;
  return s->a.cols == s->b.rows && s->a.rows == s->c.rows && s->b.cols == s->c.cols &&
         well_laid(&s->a) && well_laid(&s->b);
}

/* Do the copies of d, `stride` elements apart, share no element?  They may stand one
   behind the other, or side by side within one leading dimension.  */
static bool apart(const struct shunt_dense *d, int64_t stride, int batches)
{
  bool by_row = d->col_stride == 1;
  int64_t across = by_row ? d->cols : d->rows, along = by_row ? d->rows : d->cols;
  int64_t ld = by_row ? d->row_stride : d->col_stride;
  if (stride < across) return false;
  return (stride - across) / ld >= along - 1 || batches - 1 <= (ld - across) / stride;
}

/* Strides go forward, and no two batches write the same element. */
static bool strides_sound(const struct shunt_problem *p)
{
  const struct shunt_batch_strides *s = &p->strides;
  const int64_t most = INT64_MAX >> 24; /* times 65,536 batches of 8 bytes and more */
  const int64_t all[] = {s->offsets, s->entries, s->dense[0], s->dense[1]};
  for (int i = 0; i < 4; i++)
    if (all[i] < 0 || all[i] > most) return false;
  if (p->op == SHUNT_SDDMM) return s->entries >= p->sddmm.c.nnz;
  return apart(&p->spmm.c, s->dense[1], p->batches);
}

static bool format_known(const struct shunt_problem *p)
{
  return p->format == SHUNT_CSR ||
         (p->op == SHUNT_SPMM && (unsigned)p->format < SHUNT_FORMAT_COUNT);
}

/* Where each row starts: told by an array, or by the blocks of Blocked-ELL. */
static bool rows_start(const struct shunt_problem *p)
{
  switch (p->format) {
  case SHUNT_COO: return p->row_indices;
  case SHUNT_BLOCKED_ELL: return p->blocks.wide > 0;
  default: return shunt_problem_sparse(p)->row_offsets;
  }
}

/* One matrix, whose rows and columns are whole blocks. */
static struct shunt_outcome check_blocks(const struct shunt_problem *p)
{
  const struct shunt_csr *a = &p->spmm.a;
  SHUNT_DECLINE_IF(p->batches != 1, SHUNT_R_BATCHED);
  SHUNT_DECLINE_IF(p->blocks.size < 1 || a->rows % p->blocks.size || a->cols % p->blocks.size,
                   SHUNT_R_SHAPE);
  /* The original refuses these. */
  SHUNT_DECLINE_IF(p->format == SHUNT_BLOCKED_ELL && a->index_type != SHUNT_I32, SHUNT_R_INDEX);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* May A have more entries than 32 bits count?  Its offsets must be able to tell. */
static bool may_be_long(const struct shunt_problem *p)
{
  return p->op == SHUNT_SPMM && (p->format == SHUNT_CSR || p->format == SHUNT_CSC) &&
         !shunt_problem_transposed(p) && p->batches == 1 && p->spmm.a.index_type == SHUNT_I64;
}

struct shunt_outcome shunt_problem_check(const struct shunt_problem *p)
{
  struct operands o = operands_of(p);
  const int64_t most = SHUNT_MOST_COUNTED;
  SHUNT_DECLINE_IF(!format_known(p), SHUNT_R_FORMAT);
  SHUNT_DECLINE_IF(p->batches < 1 || p->batches > SHUNT_MOST_BATCHES, SHUNT_R_BATCHED);
  SHUNT_DECLINE_IF(o.m <= 0 || o.n <= 0 || o.k <= 0 || o.sparse->nnz <= 0, SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(!o.sparse->columns || !o.sparse->values || !o.dense[0]->values ||
                       !o.dense[1]->values,
                   SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(!rows_start(p), SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(p->extended ? !shunt_problem_extends(p) : !types_of_original(p, &o),
                   SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(conjugates(p), SHUNT_R_TRANSPOSED);
  SHUNT_DECLINE_IF(shunt_problem_in_blocks(p) && shunt_type_is_complex(o.first), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(o.sparse->index_type != SHUNT_I32 && o.sparse->index_type != SHUNT_I64,
                   SHUNT_R_INDEX);
  SHUNT_DECLINE_IF(!shapes_match(p, &o), SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF(o.m > most || o.n > most || o.k > most, SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(shunt_problem_is_long(p) && !may_be_long(p), SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(p->batches > 1 && !strides_sound(p), SHUNT_R_SHAPE);
  return shunt_problem_in_blocks(p) ? check_blocks(p) : SHUNT_OUTCOME(SHUNT_FITS);
}
