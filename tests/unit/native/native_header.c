/* native_header.c: what backend/shunt.h says by itself, for test_native.c to compare with
   kernels/common/types.h.  Includes nothing else of Shunt: a program's view. */
#include "backend/shunt.h"

#include "tests/unit/native/native_header.h"

const size_t native_header_facts[NATIVE_HEADER_FACTS] = {NATIVE_HEADER_LIST};
