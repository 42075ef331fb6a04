/* workspace_limit.h: how much a workspace may take while the device's memory is short.

   Workspaces are the program's memory (promise.h).  A program that fits without Shunt must not fail
   because bufferSize asks for more.  So a route may ask for

     up to 1 MiB                               always
     more, where a 64th of the device is left  yes
     otherwise                                 no: what the route can take some calls with
                                               (least_workspace), or another route runs

   How much is free is read once in 20 ms at most, as some programs ask bufferSize before every
   product.

   Thread-safe; two threads may read at a time.  */
#ifndef SHUNT_WORKSPACE_LIMIT_H
#define SHUNT_WORKSPACE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one context; all zero at first. */
struct shunt_workspace_limit {
  _Atomic size_t available, total; /* as they were read */
  _Atomic uint64_t read_ms;        /* by a clock that only goes forward; 0: never */
};

/* May a workspace of the current device take so much? */
bool shunt_workspace_limit_allows(struct shunt_workspace_limit *r, size_t bytes);

#endif
