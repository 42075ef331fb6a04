#include <string.h>

#include "backend/routes/routes.h"

/* One row per route.  The first is the most general: its reason is the one told
   when nothing fits.  */
static const struct shunt_route *const table[] = {
    &shunt_route_csr,    &shunt_route_bundle,   &shunt_route_sorted,
    &shunt_route_vector, &shunt_route_sparse24, &shunt_route_srbcrs,
    &shunt_route_tile,   &shunt_route_dense,    &shunt_route_bsr,
};

int shunt_route_count(void)
{
  return (int)(sizeof table / sizeof table[0]);
}

const struct shunt_route *shunt_route_at(int i)
{
  return table[i];
}

int shunt_route_index(const char *name)
{
  for (int i = 0; i < shunt_route_count(); i++)
    if (strcmp(table[i]->name, name) == 0) return i;
  return -1;
}
