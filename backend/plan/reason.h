/* reason.h: why a call was, or was not, taken.

   A route that does not fit is not an error: its outcome is a reason with the
   place that gave it, and the next route or the original library runs.  */
#ifndef SHUNT_REASON_H
#define SHUNT_REASON_H

#ifdef __cplusplus
extern "C" {
#endif

enum shunt_reason {
  SHUNT_FITS = 0,   /* nothing stands against it */
  SHUNT_R_ORDERED,  /* taken, with the rows of A in another order: no route declines by it */
  SHUNT_R_EXTENDED, /* taken, though the original refuses it: no route declines by it */
  SHUNT_R_DISABLED, /* switched off by SHUNT_ROUTES */
  SHUNT_R_EMPTY,    /* a size is zero, or an array pointer is null */
  /* alpha is 0, Inf or NaN, or may be: what becomes of 0 x NaN is for the original to say */
  SHUNT_R_ALPHA,
  SHUNT_R_FORMAT,      /* sparse format that no route reads */
  SHUNT_R_TRANSPOSED,  /* op(A) is the transpose of what is stored by rows */
  SHUNT_R_BATCHED,     /* too many strided batches, or another number of them in each operand */
  SHUNT_R_TYPES,       /* combination of value types */
  SHUNT_R_INDEX,       /* index types differ between the two arrays, or 16-bit */
  SHUNT_R_ALGORITHM,   /* algorithm number that does not belong to the format */
  SHUNT_R_SHAPE,       /* sizes, leading dimensions or orders do not match: the original says how */
  SHUNT_R_LARGE,       /* beyond what the kernels index */
  SHUNT_R_SPARSE,      /* too few nonzeros for this route */
  SHUNT_R_UNPROFILED,  /* the pattern is not known yet */
  SHUNT_R_UNCONVERTED, /* what the route keeps of the matrix is not there yet */
  SHUNT_R_PATTERN,     /* the pattern lacks this route's structure */
  SHUNT_R_COPY,        /* copies of the matrix did not stand for it: repeated columns, NaN, Inf */
  SHUNT_R_SLOWER,      /* another way is estimated to be faster */
  SHUNT_R_WORKSPACE,   /* no buffer of the size that bufferSize asked for */
  SHUNT_R_DEVICE,  /* GPU without the needed instructions, or a context that nothing was made for */
  SHUNT_R_WGMMA,   /* a GPU, or a build, without wgmma and its sparse kin: compute capability 9.0 */
  SHUNT_R_LIBRARY, /* cuBLAS missing or too old */
  SHUNT_R_CAPTURE, /* stream capture is in a state that cannot be joined */
  SHUNT_R_FAILED,  /* a call of Shunt's own failed */
  SHUNT_R_UNREADABLE, /* the descriptor could not be read back */
  SHUNT_R_SEMIRING,   /* unknown semiring, or one that a user defined */
  SHUNT_R_MASK,       /* a mask that the original makes better use of */
  SHUNT_R_ISO,        /* the result is one value, which GraphBLAS stores once */
  SHUNT_R_SMALL,      /* too little work for the way round */
  SHUNT_R_BSR,        /* BSR: no getter, and made unseen, so its arrays are not known */
  SHUNT_R_STRIDES,    /* batch strides of the sparse matrix: no getter, and set unseen */
  SHUNT_R_COUNT
};

/* What a question came to: SHUNT_FITS, or a reason, and the line of source that gave it. */
struct shunt_outcome {
  enum shunt_reason reason;
  const char *file;
  int line;
};

/* A static string, one word of lower case with hyphens. */
const char *shunt_reason_text(enum shunt_reason reason);
/* A static sentence for people. */
const char *shunt_reason_sentence(enum shunt_reason reason);

#define SHUNT_OUTCOME(r) ((struct shunt_outcome){(r), __FILE__, __LINE__})
/* Inside a function that returns a struct shunt_outcome. */
#define SHUNT_DECLINE_IF(condition, r)                                                             \
  do {                                                                                             \
    if (condition) return SHUNT_OUTCOME(r);                                                        \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
