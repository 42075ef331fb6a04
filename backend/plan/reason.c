#include "backend/plan/reason.h"

static const struct {
  const char *word, *sentence;
} text[SHUNT_R_COUNT] = {
    [SHUNT_FITS] = {"fits", "taken"},
    [SHUNT_R_ORDERED] = {"ordered", "taken, with the rows in another order"},
    [SHUNT_R_EXTENDED] = {"extended", "taken by SHUNT_EXTEND: the original refuses such types"},
    [SHUNT_R_DISABLED] = {"disabled", "switched off by SHUNT_ROUTES"},
    [SHUNT_R_EMPTY] = {"empty", "a size is zero or an array is null"},
    [SHUNT_R_ALPHA] = {"alpha", "alpha is zero or not finite, or may be"},
    [SHUNT_R_FORMAT] = {"format", "no route reads this sparse format"},
    [SHUNT_R_TRANSPOSED] = {"transposed", "op(A) transposes the sparse matrix"},
    [SHUNT_R_BATCHED] = {"batched", "many strided batches, or not as many in each operand"},
    [SHUNT_R_TYPES] = {"types", "no route has this combination of types"},
    [SHUNT_R_INDEX] = {"index", "unsupported index types"},
    [SHUNT_R_ALGORITHM] = {"algorithm", "the algorithm does not belong to the format"},
    [SHUNT_R_SHAPE] = {"shape", "sizes do not match; the original reports it"},
    [SHUNT_R_LARGE] = {"large", "too large for the kernels"},
    [SHUNT_R_SPARSE] = {"sparse", "too few nonzeros for this route"},
    [SHUNT_R_UNPROFILED] = {"unprofiled", "the pattern has not been profiled yet"},
    [SHUNT_R_UNCONVERTED] = {"unconverted", "what the route keeps of the matrix is not there yet"},
    [SHUNT_R_PATTERN] = {"pattern", "the pattern lacks the structure this route uses"},
    [SHUNT_R_COPY] = {"copy", "repeated columns, NaN or Inf: a dense copy does not stand for A"},
    [SHUNT_R_SLOWER] = {"slower", "estimated slower than another way"},
    [SHUNT_R_WORKSPACE] = {"workspace", "no buffer of the size that bufferSize asked for"},
    [SHUNT_R_DEVICE] = {"device", "Shunt does not run on this GPU, or in this context"},
    [SHUNT_R_WGMMA] = {"wgmma", "needs wgmma, which compute capability 9.0 alone has"},
    [SHUNT_R_LIBRARY] = {"library", "cuBLAS could not be opened"},
    [SHUNT_R_CAPTURE] = {"capture", "stream capture in a state that cannot be joined"},
    [SHUNT_R_FAILED] = {"failed", "a call of Shunt's own failed"},
    [SHUNT_R_UNREADABLE] = {"unreadable", "the descriptor could not be read back"},
    [SHUNT_R_SEMIRING] = {"semiring", "no kernel for this semiring"},
    [SHUNT_R_MASK] = {"mask", "left to GraphBLAS because of the mask"},
    [SHUNT_R_ISO] = {"iso", "the result is one value for all entries"},
    [SHUNT_R_SMALL] = {"small", "too little work to gain anything"},
    [SHUNT_R_BSR] = {"bsr", "BSR that was not seen being made: no getter tells its arrays"},
    [SHUNT_R_STRIDES] = {"strides", "the sparse matrix's batch strides were not seen being set"},
};

const char *shunt_reason_text(enum shunt_reason reason)
{
  return (unsigned)reason < SHUNT_R_COUNT ? text[reason].word : "unknown";
}

const char *shunt_reason_sentence(enum shunt_reason reason)
{
  return (unsigned)reason < SHUNT_R_COUNT ? text[reason].sentence : "unknown";
}
