/* quiet_preload.c: counts what happens inside the CUDA driver between two marks.

   Shunt carries its own CUDA runtime, so interposing the program's runtime would
   not see its calls.  CUPTI's callbacks sit inside the driver and see every call,
   whoever makes it.  This object is preloaded with Shunt; tests/gpu/blackbox/quiet.c finds
   the three functions below by dlsym.

   Counted as loud: calls that allocate or free device or pinned memory at once, that
   wait, or that copy or clear without a stream.  Counted as default: launches, copies,
   clears, event records and waits on stream 0 or the legacy stream.  */
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct quiet_counts {
  long loud, on_default, on_caller, on_other;
  char first[96]; /* the first loud or default call */
};

static struct {
  CUpti_SubscriberHandle subscriber;
  int open;
  volatile int counting;
  void *caller;
  struct quiet_counts counts;
} quiet;

static int begins(const char *name, const char *with)
{
  return strncmp(name, with, strlen(with)) == 0;
}

static int is_loud(const char *name)
{
  static const char *const words[] = {"cuMemAlloc",
                                      "cuMemHostAlloc",
                                      "cuMemHostRegister",
                                      "cuMemFree",
                                      "cuMemcpy",
                                      "cuMemset",
                                      "cuCtxSynchronize",
                                      "cuStreamSynchronize",
                                      "cuEventSynchronize",
                                      "cuModuleLoad",
                                      "cuLibraryLoad",
                                      "cuMemCreate",
                                      "cuMemAddressReserve",
                                      "cuMemMap"};
  /* These names begin like loud ones and are ordered by a stream. */
  if (strstr(name, "Async") || begins(name, "cuMemAllocFromPool")) return 0;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins(name, words[i])) return 1;
  return 0;
}

/* The stream argument of a call that puts work on one; 0 when it is no such call. */
static int stream_of(CUpti_CallbackId id, const void *p, void **stream)
{
#define STREAM_CASE(call, member)                                                                  \
  case CUPTI_DRIVER_TRACE_CBID_##call:                                                             \
    *stream = (void *)((const call##_params *)p)->member;                                          \
    return 1
  switch (id) {
    STREAM_CASE(cuLaunchKernel, hStream);
    STREAM_CASE(cuLaunchKernel_ptsz, hStream);
    STREAM_CASE(cuLaunchKernelEx, config->hStream);
    STREAM_CASE(cuLaunchKernelEx_ptsz, config->hStream);
    STREAM_CASE(cuLaunchCooperativeKernel, hStream);
    STREAM_CASE(cuMemsetD8Async, hStream);
    STREAM_CASE(cuMemsetD32Async, hStream);
    STREAM_CASE(cuMemcpyAsync, hStream);
    STREAM_CASE(cuMemcpyHtoDAsync_v2, hStream);
    STREAM_CASE(cuMemcpyDtoHAsync_v2, hStream);
    STREAM_CASE(cuMemcpyDtoDAsync_v2, hStream);
    STREAM_CASE(cuEventRecord, hStream);
    STREAM_CASE(cuStreamWaitEvent, hStream);
    STREAM_CASE(cuLaunchHostFunc, hStream);
  default: return 0;
  }
#undef STREAM_CASE
}

static void note(const char *name)
{
  if (!quiet.counts.first[0]) snprintf(quiet.counts.first, sizeof quiet.counts.first, "%s", name);
}

static void CUPTIAPI seen(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *data)
{
  const CUpti_CallbackData *call = data;
  void *stream;
  (void)user;
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || !quiet.counting) return;
  if (call->callbackSite != CUPTI_API_ENTER) return;
  if (stream_of(id, call->functionParams, &stream)) {
    if (stream == NULL || stream == (void *)0x1 || stream == (void *)0x2) {
      quiet.counts.on_default++;
      note(call->functionName);
    } else if (stream == quiet.caller) {
      quiet.counts.on_caller++;
    } else {
      quiet.counts.on_other++;
    }
  } else if (is_loud(call->functionName)) {
    quiet.counts.loud++;
    note(call->functionName);
  }
}

static void *open_cupti(void)
{
  static const char *const names[] = {"libcupti.so.13", "libcupti.so",
                                      "/usr/local/cuda/lib64/libcupti.so.13",
                                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
                                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  return NULL;
}

/* 0 when counting works from here on. */
int quiet_open(void)
{
  void *library = open_cupti();
  if (!library) return 1;
  CUptiResult (*subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
  CUptiResult (*enable)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain);
  *(void **)&subscribe = dlsym(library, "cuptiSubscribe");
  *(void **)&enable = dlsym(library, "cuptiEnableDomain");
  if (!subscribe || !enable) return 2;
  if (subscribe(&quiet.subscriber, seen, NULL) != CUPTI_SUCCESS) return 3;
  if (enable(1, quiet.subscriber, CUPTI_CB_DOMAIN_DRIVER_API) != CUPTI_SUCCESS) return 4;
  quiet.open = 1;
  return 0;
}

void quiet_begin(void *caller_stream)
{
  memset(&quiet.counts, 0, sizeof quiet.counts);
  quiet.caller = caller_stream;
  quiet.counting = 1;
}

void quiet_end(struct quiet_counts *counts)
{
  quiet.counting = 0;
  *counts = quiet.counts;
}
