/* profile.c: the profile of a pattern, written at once or when the test says so.  In the trace:
   p.  */
#include <stdlib.h>

#include "conv/profile/density.h"
#include "conv/profile/profile.h"
#include "tests/unit/way/launchers/launchers.h"

struct profile {
  struct shunt_csr a;
  uint64_t serial;
  struct shunt_profile *out;
};
struct found {
  struct shunt_profile profile, *out;
};
static void write_profile(void *what)
{
  struct found *f = what;
  *f->out = f->profile;
  free(f);
}
static void profile(const void *arguments)
{
  const struct profile *p = arguments;
  struct found *f = calloc(1, sizeof *f);
  if (!f) abort();
  f->out = p->out;
  shunt_profile_csr_host(&p->a, &f->profile);
  f->profile.serial = p->serial;
  if (device.profiles_late)
    device_hold_profile(write_profile, f);
  else
    write_profile(f);
}
shunt_status shunt_profile_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                    struct shunt_profile *out, void *scratch,
                                    const struct shunt_device *d, shunt_stream s)
{
  (void)scratch, (void)d;
  return KERNEL('p', s, profile, *a, serial, out);
}

/* At once, whatever the stream is at. */
shunt_status shunt_density_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                    struct shunt_density *out, void *scratch,
                                    const struct shunt_device *d, shunt_stream s)
{
  (void)scratch, (void)d, (void)s;
  const shunt_status status = shunt_density_csr_host(a, out);
  out->serial = serial;
  return status;
}
