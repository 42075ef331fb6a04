/* shunt.h: Shunt's own C API, libshunt.so: products, softmax and attention on a sparse matrix
   packed as 8 x 1 column vectors for the tensor cores; and the same of integers of 16, 8 and 4 bits
   (the last part).

     struct shunt_csr a = { rows, cols, nnz, offsets, columns, values, SHUNT_I32, SHUNT_F16, 0 };
     struct shunt_packed *p;
     shunt_status s = shunt_pack(&a, SHUNT_HOST, NULL, NULL, &p);
     if (s == SHUNT_OK)
       s = shunt_attention(p, 0.125f, &q, &k, &v, &o, NULL, 0, NULL);
     shunt_packed_free(p);

   link with -lshunt.  (tests/clients/attention.c is a whole program.)

   Where it runs.  A packed matrix lives in host memory or on a CUDA device, for good.  Functions
   run there: all operands of a call are host memory, or memory of that device.  A library
   built without CUDA has the host only.

   Host calls return when the result is there and ignore the stream; they use as many threads as
   OpenMP gives them.  Device calls enqueue on the caller's stream and return at once, allocate
   nothing, and are legal inside stream capture; only shunt_pack and shunt_packed_free
   wait for the stream.  The device must be the calling thread's current one.

   Errors.  Every function that can fail returns a shunt_status.  What is not SHUNT_OK has written
   nothing and enqueued nothing that would, but for SHUNT_E_WRITTEN.  Nothing is printed and
   no function exits.

   Threads and streams.  Nothing is shared between packed matrices.  A packed matrix may be used by
   any number of threads and streams at once as long as none of them writes its values; who
   uses one stream's results on another orders the two, as always.

   Numbers.  f16 and bf16 elements; sums in f32 on the device and in float or double on the host;
   each result is rounded to its type once (attention rounds the weights of the softmax, too).  The
   same call gives the same bits.  Entries that are not stored never meet a NaN or Inf of a dense
   operand.  */
#ifndef SHUNT_H
#define SHUNT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHUNT_API __attribute__((visibility("default")))

/* Shunt's own sources have these from kernels/common/types.h; tests/unit/native/test_native.c
   compares. */
#ifndef SHUNT_TYPES_H
typedef enum shunt_status {
  SHUNT_OK = 0,
  SHUNT_E_UNSUPPORTED, /* not built for these types, sizes, layout or device */
  SHUNT_E_WORKSPACE,   /* workspace missing, too small or misaligned */
  SHUNT_E_MEMORY,      /* host or device memory could not be had */
  SHUNT_E_CUDA,        /* a CUDA call failed */
  SHUNT_E_ARGUMENT,    /* the caller broke the function's contract */
  SHUNT_E_INPUT,       /* a matrix that is not what its description says */
  SHUNT_E_WRITTEN      /* part of the work that writes the result was enqueued, the rest failed */
} shunt_status;

typedef enum shunt_type {
  SHUNT_F16 = 0, /* IEEE binary16 */
  SHUNT_BF16,    /* bfloat16 */
  SHUNT_F32,
  SHUNT_F64,
  SHUNT_I8,
  SHUNT_I32,
  SHUNT_I64,
  SHUNT_I16 = 8,
  SHUNT_U8 = 11
} shunt_type;

/* A sparse matrix in CSR: row i has the entries row_offsets[i] - base <= p < row_offsets[i + 1]
   - base, entry p stands in column columns[p] - base. */
struct shunt_csr {
  int64_t rows, cols, nnz;
  const void *row_offsets; /* [rows + 1] */
  const void *columns;     /* [nnz] */
  void *values;            /* [nnz] */
  shunt_type index_type;   /* of both index arrays: SHUNT_I32 or SHUNT_I64 */
  shunt_type value_type;
  int base; /* 0 or 1 */
};
#endif

/* A cudaStream_t; NULL: the default stream. */
typedef struct CUstream_st *shunt_stream;

/* What a status means, in words: a constant string. */
SHUNT_API const char *shunt_status_text(shunt_status s);

/* ---- packed matrices --------------------------------------------------------------------- */

struct shunt_packed;

enum shunt_place { SHUNT_HOST, SHUNT_DEVICE };

/* How to pack.  All zeros, or NULL in its place: the usual.

   height  16, 8, 4, 2 or 1: aligned sets of so many rows are expected to have the same columns, by
           which the memory for a pattern is measured (about nnz / height vectors of 8 elements,
           or nnz / 8); 16 also has SpMM gather rows of B for two groups at once.
           0: the largest that does, found by trying.
   windowed  nonzero: the order of vectors that the device's fastest kernels for SpMM with many
           columns of B want; takes up to half as much again, and a pattern whose columns
           crowd in few residues modulo 8 does not fit.  0: ascending columns, for attention.
   memory  NULL: Shunt allocates, and frees with the matrix.  Else memory in the place where the
           matrix is to live, aligned to 256 bytes, memory_bytes long, the caller's, in use until
           shunt_packed_free.  */
struct shunt_packing {
  int height, windowed;
  void *memory;
  size_t memory_bytes;
};

/* Bytes that a packed `a` takes, of which sizes and types are read, no arrays; with height 0
   those of height 1.  0: cannot be packed (values not f16 or bf16, a size 0, too large).  */
SHUNT_API size_t shunt_packed_bytes(const struct shunt_csr *a, const struct shunt_packing *how);

/* Makes a packed copy of `a`; a's arrays are in the same place and not needed afterwards.
   Columns ascend strictly within a row.  a->values may be NULL: the pattern only, values
   undefined until shunt_sddmm writes them.  *out is NULL unless the result is SHUNT_OK.

   SHUNT_E_INPUT: a's arrays are no such matrix, or it has more vectors than `height` allows.
   SHUNT_E_WORKSPACE: memory given that is too small or misaligned.  SHUNT_E_UNSUPPORTED: types,
   sizes, or SHUNT_DEVICE in a library without CUDA or on a device before 8.0.
   SHUNT_E_MEMORY, SHUNT_E_CUDA.

   On a device: works on `stream` and waits for it; not legal inside stream capture.  */
SHUNT_API shunt_status shunt_pack(const struct shunt_csr *a, enum shunt_place where,
                                  const struct shunt_packing *how, shunt_stream stream,
                                  struct shunt_packed **out);

/* Frees what Shunt allocated; waits for all work of the device where that is device memory, so not
   for a thread whose stream is being captured.  NULL is fine. */
SHUNT_API void shunt_packed_free(struct shunt_packed *p);

struct shunt_packed_info {
  int64_t rows, cols, nnz;
  shunt_type type;
  enum shunt_place where;
  int height, windowed;
  int64_t vectors;    /* of 8 elements */
  double fill;        /* entries / (8 vectors): the share of them that are entries */
  size_t bytes;       /* of memory in all */
  size_t value_bytes; /* of one set of values */
};
SHUNT_API void shunt_packed_describe(const struct shunt_packed *p, struct shunt_packed_info *out);

/* Values for many matrices of one pattern: those of problem (batch, head) stand at byte
   (batch * heads + head) * stride of `values`, in an order of Shunt's own.  values is
   aligned to 8 bytes; stride is a multiple of 8, at least value_bytes.  Functions take NULL for
   the values in the packed matrix itself, for one problem.  */
struct shunt_values {
  void *values;
  size_t stride;
};

/* ---- operations ---------------------------------------------------------------------------- */

/* A dense row-major matrix for each (batch, head): element (i, j) of (b, h) is
   values[b * batch_stride + h * head_stride + i * row_stride + j].

     one matrix             batches = heads = 1, the two strides are not read
     [batch][head][row][d]  row_stride d, head_stride rows d, batch_stride heads rows d
     [batch][row][head][d]  row_stride heads d, head_stride d, batch_stride rows heads d

   Strides count elements; row_stride >= cols.  A stride of 0 between heads or batches lets
   inputs be shared, never results.  values is aligned to its type; on a device, rows that
   start at multiples of 16 bytes take the fast ways.  batches x heads is at most 65535.  */
struct shunt_tensor {
  void *values;
  shunt_type type;
  int64_t batches, heads, rows, cols;
  int64_t row_stride, head_stride, batch_stride;
};

/* In all four: P is a packed matrix of m rows and n columns; its (batch, head) problems are
   those of the dense operands, which agree in number.  Dense operands have P's type but where
   said.  Results overlap no operand, but where said.  SHUNT_E_ARGUMENT: a pointer is
   NULL, shapes do not agree, a stride or alignment is not as above, or the current device is
   another than P's.  SHUNT_E_UNSUPPORTED: types or sizes.  */

/* Bytes of workspace (aligned to 256 bytes, in P's place, private to the call until its stream
   has passed it) for the same sizes, types, strides and alignment of pointers; 0: none needed, or
   arguments that the call itself will refuse (NULL pointers among them). */
SHUNT_API size_t shunt_spmm_workspace(const struct shunt_packed *p, const struct shunt_tensor *b,
                                      const struct shunt_tensor *c);
/* C = alpha P B + beta C.  B: n x columns, C: m x columns, C of P's type or f32.  With beta 0 C is
   not read.  */
SHUNT_API shunt_status shunt_spmm(const struct shunt_packed *p, const struct shunt_values *values,
                                  float alpha, const struct shunt_tensor *b, float beta,
                                  const struct shunt_tensor *c, void *workspace,
                                  size_t workspace_bytes, shunt_stream stream);

/* values = alpha Q K^T at P's entries.  Q: m x d, K: n x d. */
SHUNT_API shunt_status shunt_sddmm(const struct shunt_packed *p, float alpha,
                                   const struct shunt_tensor *q, const struct shunt_tensor *k,
                                   const struct shunt_values *values, shunt_stream stream);

/* out(i, j) = exp(scale in(i, j) - m(i)) / sum over row i of the same, m(i) the row's
   largest scale in(i, j); over P's entries.  A row without entries stays so; a row with a NaN or
   +Inf, or of -Inf only, becomes NaN.  For `problems` (batches x heads) sets of values; out may
   be in, with the same stride.  NULL: P's own values.  */
SHUNT_API shunt_status shunt_softmax(const struct shunt_packed *p, int64_t problems, float scale,
                                     const struct shunt_values *in, const struct shunt_values *out,
                                     shunt_stream stream);

/* O = softmax(scale Q K^T at P's entries) V.  Q and O: m x d, K and V: n x d.  P's values
   are not read.  Rows of P without entries give zeros.

   On a device, d = 16, 32, 64 or 128 with all rows (pointers and strides) at multiples of 16 bytes
   takes one launch, stores no scores and needs no workspace.  Anything else takes the three
   functions above and a workspace for the scores, scaled and rounded to P's type: it is as exact
   as these are.  */
SHUNT_API size_t shunt_attention_workspace(const struct shunt_packed *p,
                                           const struct shunt_tensor *q,
                                           const struct shunt_tensor *k,
                                           const struct shunt_tensor *v,
                                           const struct shunt_tensor *o);
SHUNT_API shunt_status shunt_attention(const struct shunt_packed *p, float scale,
                                       const struct shunt_tensor *q, const struct shunt_tensor *k,
                                       const struct shunt_tensor *v, const struct shunt_tensor *o,
                                       void *workspace, size_t workspace_bytes,
                                       shunt_stream stream);

/* ---- integers ------------------------------------------------------------------------------ */

/* Products of integers, by the tensor cores too: the rules above hold, but for "Numbers".  A sparse
   matrix of 16-, 12-, 8- or 4-bit integers is packed as V x 1 column vectors (V = 8, 4 or 2).  Sums
   are int32 and wrap: what comes out is the true sum modulo 2^32, the same bits in either place.  A
   sum of k products (of an SpMM the entries of a row, of an SDDMM the columns of its operands)
   cannot leave int32 while k is at most

     bits    16 x 16   16 x 8   16 x 4    8 x 8     8 x 4      4 x 4
     k             1      511     8191   131071   2097151   33554431     (2^31 - 1) / 2^(bits - 2)
     bits             12 x 8   12 x 4
     k                  8191   131071

   with both signed; half of it with one unsigned (1 of 16 x 16 bits, 65793 of 8 x 8), a quarter
   with both (none of 16 x 16); and beyond it while k times the largest products stays below 2^31.

   Functions return SHUNT_E_ARGUMENT and SHUNT_E_UNSUPPORTED as those above.  */

#ifndef SHUNT_SRBCRS_INTEGERS_H
/* A dense matrix of integers by rows, of 16, 8 or 4 bits each, signed or not.  Row i begins
   row_bytes i bytes behind `values`; both are multiples of 16 bytes, and so much memory a row has.
   What stands behind a row's last element is read, and does not matter.  Of 4 bits, two a byte, the
   even one in the low nibble.  */
struct shunt_integers {
  const void *values;
  int bits;
  int64_t rows, cols, row_bytes;
  int is_unsigned; /* 0: signed */
};

/* What becomes of an int32 sum at (i, j), i a row of the sparse matrix:

     SHUNT_I32                        the sum; the scales are not read
     SHUNT_F32, SHUNT_F16,            (float)sum *
     SHUNT_BF16, SHUNT_I8               (scale * tensor_scale[0] * row_scales[i] * col_scales[j])

   in f32 from the left to the right, rounded to the type once; to SHUNT_I8 to the nearest integer,
   ties to even, bounded by -128 and 127, 0 for a NaN.  NULL: 1; what is not stands where the
   operands do.  */
struct shunt_scaling {
  shunt_type type;
  float scale;
  const float *tensor_scale, *row_scales, *col_scales;
};
#endif

/* Integers of real numbers, symmetric: scale = m / L, L = 2^(bits - 1) - 1, m the largest finite
   |x| of the matrix or, per_row, of its row; q = x / scale, rounded to the nearest, ties to even,
   bounded by -L and L; 0 for a NaN.

   from: f16, bf16 or f32.  to: signed, of the first (batch, head), of from's rows and columns, its
   values written; those of the others stand behind it, rows x row_bytes each.  scales: for each
   (batch, head) a float or, per_row, one for each row: what shunt_scaling takes.  */
SHUNT_API shunt_status shunt_quantise(const struct shunt_tensor *from, enum shunt_place where,
                                      int per_row, const struct shunt_integers *to, float *scales,
                                      shunt_stream stream);

struct shunt_packed_integers;

/* As shunt_pack.  bits: 16 or 12 of a matrix of SHUNT_I16; 8 of SHUNT_I8 or SHUNT_U8; 4 of
   SHUNT_I8.  Values of 12 bits are -2048 .. 2047, of 4 bits -8 .. 7 (SHUNT_E_INPUT if not).
   height: V, 8, 4 or 2; 0: the largest at which three of four places of the vectors are entries,
   else 2.  The others cost memory, and zeros to multiply.  a->values may be NULL: zeros.  Freed by
   shunt_packed_integers_free.  */
SHUNT_API shunt_status shunt_pack_integers(const struct shunt_csr *a, enum shunt_place where,
                                           int bits, int height, shunt_stream stream,
                                           struct shunt_packed_integers **out);
SHUNT_API void shunt_packed_integers_free(struct shunt_packed_integers *p);

struct shunt_packed_integers_info {
  int64_t rows, cols, nnz;
  int bits, height;
  enum shunt_place where;
  int64_t vectors; /* of `height` elements */
  size_t places;   /* elements in an array of results or values for its pattern */
  size_t bytes;    /* of memory in all */
};
SHUNT_API void shunt_packed_integers_describe(const struct shunt_packed_integers *p,
                                              struct shunt_packed_integers_info *out);

/* C = P B.  values: NULL, or other integers for P's pattern, as shunt_integer_softmax writes them.
   b: P's columns x n, of no more bits than P has.  c: P's rows x n by rows, c_row_stride elements
   apart, aligned to its type.  */
SHUNT_API shunt_status shunt_integer_spmm(const struct shunt_packed_integers *p, const void *values,
                                          const struct shunt_integers *b,
                                          const struct shunt_scaling *scaling, void *c,
                                          int64_t c_row_stride, shunt_stream stream);

/* results = A B^T at P's entries.  a: P's rows x k, b: P's columns x k, both of the same bits.
   results: `places` elements of scaling's type, aligned to 16 bytes, in an order of Shunt's own. */
SHUNT_API shunt_status shunt_integer_sddmm(const struct shunt_packed_integers *p,
                                           const struct shunt_integers *a,
                                           const struct shunt_integers *b,
                                           const struct shunt_scaling *scaling, void *results,
                                           shunt_stream stream);

/* Softmax of each row of scale x scores, as integers and a scale for each row: a weight is about
   row_scales[i] times its integer.  The largest of a row is L, the greatest integer of P's bits and
   type, however many entries the row has, or less where sums over the row, times integers of bits_b
   bits (16, 8 or 4: of the B that comes next), could leave int32 otherwise; they cannot in rows of
   up to 2^(31 - bits_b) entries.  scores: results of f32; aligned to 16 bytes.  values: `places`
   integers of P's bits (not 4), aligned to 256 bytes; NULL: P's own.  row_scales: a float for
   each of P's rows, which shunt_scaling takes: 0 for a row without entries; NaN, beside integers of
   0, for a row with a NaN or +Inf, or of -Inf alone.  */
SHUNT_API shunt_status shunt_integer_softmax(const struct shunt_packed_integers *p, float scale,
                                             const float *scores, int bits_b, void *values,
                                             float *row_scales, shunt_stream stream);

/* O = softmax(scale Q K^T at P's entries) V, with Q and K quantised to bits_qk bits by rows, each V
   by itself to bits_v (8 or 4, both), and the weights of the softmax to P's bits and type: they are
   never negative, so that SHUNT_U8 has a bit more for them than SHUNT_I8.  Q and O: m x d, K and V:
   n x d, each of any of f16, bf16 and f32.  P's values are not read.  workspace: of the same sizes
   and bits, aligned to 256 bytes: Q, K and V as integers.  That is all on a device whose shared
   memory holds the scores of P's longest rows (on an H100 up to 1792 vectors), with heads of up to
   128 columns: one launch computes the rest, integers of 4 bits in bytes.  Elsewhere, with the same
   bits, there come scores of f16 and weights of as many (batch, head) as have 16 MiB of scores,
   which share launches, or of one.  A row with a scaled score beyond f16's range becomes NaN.

   bits_v = SHUNT_REAL_V, with bits_qk = 8: V stays as it is, f16 or bf16, and the weights are
   rounded to its type in place of integers; sums are f32.  One launch, for heads of up to 128
   columns, a multiple of 8, and rows of V at multiples of 16 bytes (else SHUNT_E_UNSUPPORTED).  The
   workspace holds Q and K.  SHUNT_E4M3_V: each V becomes numbers of e4m3 times a scale, its largest
   |x| over 448, and the weights are f16; for such heads, and rows of V anywhere.  */
enum { SHUNT_REAL_V = 16, SHUNT_E4M3_V = -8 };
SHUNT_API size_t shunt_integer_attention_workspace(
    const struct shunt_packed_integers *p, int bits_qk, int bits_v, const struct shunt_tensor *q,
    const struct shunt_tensor *k, const struct shunt_tensor *v, const struct shunt_tensor *o);
SHUNT_API shunt_status shunt_integer_attention(
    const struct shunt_packed_integers *p, int bits_qk, int bits_v, float scale,
    const struct shunt_tensor *q, const struct shunt_tensor *k, const struct shunt_tensor *v,
    const struct shunt_tensor *o, void *workspace, size_t workspace_bytes, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
