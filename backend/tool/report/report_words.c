/* report_words.c: a problem in words, and what can be done about each reason. */
#include <string.h>

#include "backend/tool/report/run_report.h"

/* ---- reasons --------------------------------------------------------------------- */

/* shunt-troubleshooting(7) has the same sentences; check_documents.py compares them. */
static const char *const advice[SHUNT_R_COUNT] = {
    [SHUNT_FITS] = "",
    [SHUNT_R_ORDERED] = "",
    [SHUNT_R_EXTENDED] = "",
    [SHUNT_R_DISABLED] = "Unset SHUNT_ROUTES, or name in it the route that you want; shunt "
                         "options says where it is set.",
    [SHUNT_R_EMPTY] = "Nothing: there is nothing to multiply.",
    [SHUNT_R_ALPHA] = "Nothing: with such an alpha the original decides what becomes of NaN.",
    [SHUNT_R_FORMAT] = "Make the matrix as CSR, COO, CSC, BSR or Blocked-ELL; for SDDMM as "
                       "CSR.",
    [SHUNT_R_TRANSPOSED] = "Store the transpose as CSR once, and multiply by that without op(A). "
                           "A conjugated B, and a conjugated A that is not transposed, are left "
                           "to the original.",
    [SHUNT_R_BATCHED] = "Give each operand as many batches as the others, at most 16; more are "
                        "taken where they share A and adjoin in memory. Or multiply the batches "
                        "one by one.",
    [SHUNT_R_TYPES] = "Use f16, bf16, f32, f64, int8 or complex of f32 or f64, mostly one "
                      "type for all operands; shunt-support(7) has every combination that is "
                      "taken.",
    [SHUNT_R_INDEX] = "Use 32-bit or 64-bit indices, the same for offsets and columns.",
    [SHUNT_R_ALGORITHM] = "Ask for the default algorithm, or one of the matrix's own format.",
    [SHUNT_R_SHAPE] = "Look at the status that the call returned: mostly the original refuses "
                      "it, too. Blocks are to be stored by rows.",
    [SHUNT_R_LARGE] = "Split the sparse matrix by rows, or the dense operand by columns: "
                      "fewer than 2^31 rows, columns and entries are taken, and more entries "
                      "in CSR with 64-bit indices.",
    [SHUNT_R_SPARSE] = "Nothing: with so few entries the original is as fast.",
    [SHUNT_R_UNPROFILED] = "Nothing: the pattern is looked at during the first calls, and later "
                           "ones are taken. cusparseSpMM_preprocess does it before the first.",
    [SHUNT_R_UNCONVERTED] =
        "Nothing: the copy is made during the first calls. If it stays so, give "
        "SHUNT_CACHE_MB more memory.",
    [SHUNT_R_PATTERN] = "shunt inspect FILE shows what structure the matrix has, and which "
                        "route would take it; reordering its rows may help.",
    [SHUNT_R_COPY] = "Sum up repeated columns, and look where NaN or Inf come from.",
    [SHUNT_R_SLOWER] = "Nothing: the original is expected to be faster here. SHUNT_TUNE=1 "
                       "measures instead of expecting.",
    [SHUNT_R_WORKSPACE] = "Ask cusparseSpMM_bufferSize for this very product, after Shunt was "
                          "loaded, and pass a buffer of that size.",
    [SHUNT_R_DEVICE] = "Run shunt doctor: it says which GPUs this build can serve, of compute "
                       "capability 8.0 or later.",
    [SHUNT_R_WGMMA] =
        "Nothing on other GPUs; on one of 9.0 build Shunt with 90 in --with-cuda-arch.",
    [SHUNT_R_LIBRARY] = "Install cuBLAS where the loader finds it, or set LD_LIBRARY_PATH.",
    [SHUNT_R_CAPTURE] = "Look for a capture that failed: its streams can take no work.",
    [SHUNT_R_FAILED] = "Free some device memory, or lower SHUNT_CACHE_MB. If it stays, please "
                       "report it with the output of shunt doctor.",
    [SHUNT_R_UNREADABLE] = "Run shunt doctor: the library may be of a version that is not known.",
    [SHUNT_R_SEMIRING] = "Use a semiring that shunt-graphblas(7) names, of built-in operators: "
                         "those of your own cannot be looked into.",
    [SHUNT_R_MASK] = "Two sparse or two full matrices want a sparse mask that is not "
                     "complemented; steps of many searches take any structural one. With "
                     "other masks the original skips most of the work.",
    [SHUNT_R_ISO] = "Nothing: the original stores such a result as one value.",
    [SHUNT_R_SMALL] = "Nothing: the original needs less time than the way round.",
    [SHUNT_R_BSR] = "Make BSR matrices after Shunt was loaded, by a call of "
                    "cusparseCreateBsr, not through a pointer from dlsym.",
    [SHUNT_R_STRIDES] = "Set the batch strides after Shunt was loaded, by a call, not through a "
                        "pointer from dlsym.",
};

enum shunt_reason run_report_reason(const char *word)
{
  int i = 0;
  while (i < SHUNT_R_COUNT && strcmp(shunt_reason_text((enum shunt_reason)i), word) != 0) i++;
  return (enum shunt_reason)i;
}

const char *run_report_sentence(const char *word)
{
  const enum shunt_reason reason = run_report_reason(word);
  return reason < SHUNT_R_COUNT ? shunt_reason_sentence(reason) : word;
}

const char *run_report_advice(const char *word)
{
  const enum shunt_reason reason = run_report_reason(word);
  return reason < SHUNT_R_COUNT && advice[reason] ? advice[reason] : "";
}

/* ---- problems ---------------------------------------------------------------------- */

#define BY " \xc3\x97 " /* a multiplication sign */

static void of_cusparse(const struct shunt_problem *p, char out[SHUNT_PROBLEM_TEXT])
{
  const struct shunt_csr *a = shunt_problem_sparse(p);
  const bool spmm = p->op == SHUNT_SPMM;
  const bool transposed = shunt_problem_transposed(p);
  const int64_t columns = spmm ? p->spmm.c.cols : p->sddmm.a.cols;
  const double density = a->rows && a->cols ? 100.0 * a->nnz / a->rows / a->cols : 0;
  char rows[32], cols[32], nnz[32], wide[32], batches[48] = "";
  tool_grouped(transposed ? a->cols : a->rows, rows);
  tool_grouped(transposed ? a->rows : a->cols, cols);
  tool_grouped(a->nnz, nnz);
  tool_grouped(columns, wide);
  if (p->batches > 1) snprintf(batches, sizeof batches, ", %d batches", p->batches);
  snprintf(out, SHUNT_PROBLEM_TEXT, "%s" BY "%s %s, %s%s, %s entries (%.3g %%), %s%s%s%s", rows,
           cols, shunt_format_text(p->format), shunt_type_text(a->value_type),
           transposed ? " transposed" : "", nnz, density,
           spmm ? "times a dense matrix of " : "sampled from a product of inner size ", wide,
           spmm ? " columns" : "", batches);
}

/* mxm:plus_times:fp32:m20000n64k20000w25612544:... */
static void of_graphblas(const char *problem, char out[SHUNT_PROBLEM_TEXT])
{
  char function[8], semiring[40], type[16], rows[32], cols[32], inner[32], text[32];
  long long m, n, k, work;
  int read = 0;
  if (sscanf(problem, "%7[a-z]:%39[a-z_0-9]:%15[a-z0-9]:m%lldn%lldk%lldw%lld:%n", function,
             semiring, type, &m, &n, &k, &work, &read) != 7 ||
      read == 0 || m < 0 || n < 0 || k < 0 || work < 0)
    return;
  snprintf(out, SHUNT_PROBLEM_TEXT, "%s" BY "%s times %s" BY "%s, %s, %s", tool_grouped(m, rows),
           tool_grouped(k, inner), inner, tool_grouped(n, cols), semiring, type);
  const size_t used = strlen(out);
  if (work > 0)
    snprintf(out + used, SHUNT_PROBLEM_TEXT - used, ", %s multiplications",
             tool_grouped(work, text));
}

void run_report_words(const char *problem, char out[SHUNT_PROBLEM_TEXT])
{
  struct shunt_problem p;
  *out = 0;
  if (shunt_problem_parse(problem, &p) == SHUNT_OK)
    of_cusparse(&p, out);
  else
    of_graphblas(problem, out);
}
