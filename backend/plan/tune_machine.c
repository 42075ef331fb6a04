#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "backend/plan/tune_machine.h"

#include <stdio.h>

#include "backend/plan/cuda_call.h"
#include "backend/plan/tune.h"

void shunt_tune_machine(int device)
{
  struct cudaDeviceProp properties;
  char text[512];
  int driver;
  if (!shunt_tune_wanted()) return;
  if (SHUNT_CUDA(cudaGetDeviceProperties(&properties, device)) != SHUNT_OK ||
      SHUNT_CUDA(cudaDriverGetVersion(&driver)) != SHUNT_OK)
    return;
  snprintf(text, sizeof text, "build=%s gpu=%s driver=%d", PACKAGE_VERSION, properties.name,
           driver);
  shunt_tune_sign(text);
}
