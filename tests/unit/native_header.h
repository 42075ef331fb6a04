/* native_header.h: see native_header.c. */
#ifndef NATIVE_HEADER_H
#define NATIVE_HEADER_H

#include <stddef.h>

enum { NATIVE_HEADER_FACTS = 27 };
extern const size_t native_header_facts[NATIVE_HEADER_FACTS];

#endif
