/* words.h: names that routes had in earlier releases.

   SHUNT_ROUTES and `shunt run --routes` still understand them; the log says once which word has
   taken the place of which.  */
#ifndef SHUNT_ROUTE_WORDS_H
#define SHUNT_ROUTE_WORDS_H

#include <string.h>

/* Today's name of the route that was once called `word`; `word` itself where that is no old name.
   */
static inline const char *shunt_route_word(const char *word)
{
  static const char *const old[][2] = {
      {"rows", "csr"},    {"groups", "bundle"}, {"tile24", "sparse24"},
      {"merged", "tile"}, {"blocks", "bsr"},
  };
  for (size_t i = 0; i < sizeof old / sizeof *old; i++)
    if (strcmp(word, old[i][0]) == 0) return old[i][1];
  return word;
}

#endif
