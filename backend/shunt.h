/* shunt.h: Shunt's own C API, libshunt.so: products, softmax and attention on a sparse matrix
   packed as 8 x 1 column vectors for the tensor cores.

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
  SHUNT_I64
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

#ifdef __cplusplus
}
#endif
#endif
