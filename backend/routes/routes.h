/* routes.h: the rows that table.c lists; each is defined in the file of its name. */
#ifndef SHUNT_ROUTES_H
#define SHUNT_ROUTES_H

#include "backend/routes/route.h"

extern const struct shunt_route shunt_route_rows, shunt_route_vector, shunt_route_dense;

#endif
