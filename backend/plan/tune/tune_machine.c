#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "backend/plan/tune/tune_machine.h"

#include <stdio.h>

#include "backend/plan/cuda_call.h"
#include "backend/plan/memory/device_memory.h"
#include "backend/plan/tune/tune.h"

bool shunt_machine_signature(int device, char text[SHUNT_SIGNATURE])
{
  char gpu[256];
  int driver;
  if (!shunt_device_name(device, gpu, sizeof gpu) ||
      SHUNT_CUDA(cudaDriverGetVersion(&driver)) != SHUNT_OK)
    return false;
  snprintf(text, SHUNT_SIGNATURE, "build=%s gpu=%s driver=%d", PACKAGE_VERSION, gpu, driver);
  return true;
}

void shunt_tune_machine(int device)
{
  char text[SHUNT_SIGNATURE];
  if (shunt_tune_wanted() && shunt_machine_signature(device, text)) shunt_tune_sign(text);
}
