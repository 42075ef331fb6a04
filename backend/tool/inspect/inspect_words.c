/* inspect_words.c: the words that `shunt inspect` uses, explained. */
#include "backend/tool/inspect/inspect.h"

static const struct {
  const char *word, *meaning;
} words[] = {
    {"density", "entries divided by rows times columns"},
    {"standard deviation / mean",
     "how uneven the rows are: 0 if all are equally long, above 1 skewed"},
    {"V x 1 vector", "a column that all of V aligned rows have (rows 0..7, 8..15, ... for V = 8)"},
    {"fill of V x 1 vectors",
     "entries divided by V times the vectors that hold them: 100 % is no waste"},
    {"shared", "a column that two or more of 8 aligned rows have: bundles load its row of B once"},
    {"alone", "an entry whose column no other of its 8 rows has"},
    {"tile", "16 rows by 32 columns; aligned, or of the columns that the 16 rows have at all"},
    {"2:4", "at most two entries in each aligned four of a row: tensor cores skip the other two"},
    {"strip", "64 adjacent columns, from top to bottom"},
    {"entropy", "how evenly entries spread over the rows of strips: 1 evenly, 0 all in few"},
    {"SSF", "skewness that tells which traversal moves fewer bytes (Fujiki et al. 2019)"},
    {"C-, B-stationary", "traversals: C stays on the chip while A and B stream past, or B does"},
    {"csr", "route: row by row, right for any matrix"},
    {"bundle", "route: 8 rows at a time, each shared column once"},
    {"sorted", "route: rows by their lengths, the longest by many blocks"},
    {"vector", "route: V x 1 vectors on tensor cores; packed where that pays"},
    {"sparse24", "route: matrices that are 2:4 throughout, on sparse tensor cores"},
    {"srbcrs", "route: int8 rows in groups with equal columns, on tensor cores"},
    {"tile", "route: tiles of the columns that 16 rows have, 2:4 where they can be"},
    {"dense", "route: the matrix written out with its zeros, times B"},
    {"bsr", "route: square blocks, where the program's matrix is BSR or Blocked-ELL; FILE is CSR"},
    {"original", "the call is left to cuSPARSE"},
    {"expected time",
     "an estimate by the table of costs that is named; a settled matrix, packed where that pays"},
    {"scaled",
     "the route was not timed on that GPU: another one's times, carried over, unchecked there"},
};

void inspect_print_words(void)
{
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    printf("%-26s %s\n", words[i].word, words[i].meaning);
}
