/* library.h: the copy of a library that some code would have reached by name without us.

   A process may hold several copies of one library, in scopes that our own look-ups do not see.
   The first answer wins:

     1. the copy that the code's other references are bound to
     2. RTLD_NEXT            the global scope after ourselves
     3. the code's own scope what it is linked to, though loaded RTLD_LOCAL
     4. all loaded objects   in load order

   Thread-safe; nothing is loaded.  */
#ifndef SHUNT_LOADER_LIBRARY_H
#define SHUNT_LOADER_LIBRARY_H

#include "backend/loader/loaded.h"

/* What a library is known by. */
struct library_mark {
  const char *defines; /* a function that every copy defines, and that nobody wraps */
  const char *prefix;  /* of its functions' names */
  bool (*exported)(const char *name); /* by us: references to such names are bound to us */
};

/* Opens the copy that the code at `caller` would have reached; false: there is none.  The caller
   closes it.  */
bool loaded_library_for(const void *caller, const struct library_mark *mark, struct loaded *out);

/* `name` as the code would have reached it: by a wrapper that is preloaded behind us, or in the
   copy itself.  NULL: neither has it.  */
void *loaded_function_of(const struct loaded *copy, const struct library_mark *mark,
                         const char *name);

#endif
