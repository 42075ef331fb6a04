/* launchers.h: what stands in for the launchers of kernels/ and conv/: a file a format.

   A stand-in adds a letter to the device's trace, which the head of its file names, and enqueues
   the kernel's twin in plain C.  A workspace that a kernel may want is always wanted, so that
   tests see it asked for.  Choices of shapes give one shape; what no test here needs is
   SHUNT_E_UNSUPPORTED.  */
#ifndef WAY_LAUNCHERS_H
#define WAY_LAUNCHERS_H

#include "kernels/guard/guard.h"
#include "tests/unit/way/device.h"

enum { ROOM = 4096 }; /* bytes of workspace */

/* KERNEL(letter, stream, work, fields): enqueues the function work on a struct work of the fields,
   and is SHUNT_OK. */
#define KERNEL(letter, stream, work, ...)                                                          \
  (device_traced(letter),                                                                          \
   device_enqueue(stream, work, &(struct work){__VA_ARGS__}, sizeof(struct work)), SHUNT_OK)

/* PACKED(name, format, product_of): the work `name`, a product of what was packed in a format. */
#define PACKED(name, format, product_of)                                                           \
  struct name {                                                                                    \
    struct shunt_spmm p;                                                                           \
    struct format v;                                                                               \
  };                                                                                               \
  static void name(const void *arguments)                                                          \
  {                                                                                                \
    const struct name *x = arguments;                                                              \
    if (!device.no_sums) product_of(&x->p, &x->v);                                                 \
  }

/* Products on the caller's arrays, row by row: csr.c. */
shunt_status launch_spmm(char letter, const struct shunt_spmm *p, shunt_stream s);
shunt_status launch_sddmm(char letter, const struct shunt_sddmm *p, shunt_stream s);
/* The repair of C, where A is no longer what r expects; actual: A's fingerprint, or NULL where the
   repair takes it: guard.c. */
shunt_status launch_repair(const struct shunt_spmm *p, const struct shunt_guard *r,
                           const struct shunt_fingerprint *actual, bool transposed, shunt_stream s);

#endif
