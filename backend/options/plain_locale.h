/* plain_locale.h: numbers with a point, whatever locale the program has set.

   Files and words of Shunt's hold numbers, and strtod and printf follow the program's locale, in
   many of which a comma stands for the point.  Between begin and end, this thread has the locale
   "C", which needs no memory in the C library; other threads keep theirs.  */
#ifndef SHUNT_PLAIN_LOCALE_H
#define SHUNT_PLAIN_LOCALE_H

#include <locale.h>

struct shunt_plain_locale {
  locale_t plain, before;
};

static inline struct shunt_plain_locale shunt_plain_locale_begin(void)
{
  struct shunt_plain_locale l = {newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0};
  if (l.plain) l.before = uselocale(l.plain);
  return l;
}

static inline void shunt_plain_locale_end(const struct shunt_plain_locale *l)
{
  if (!l->plain) return;
  uselocale(l->before);
  freelocale(l->plain);
}

#endif
