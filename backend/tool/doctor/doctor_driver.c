/* doctor_driver.c: driver, GPUs, toolkits.

   A driver has three parts, and a container may lack any of them:

     kernel module   /proc/driver/nvidia/version
     device nodes    /dev/nvidiactl, /dev/nvidia0, ...; /dev/dxg under WSL
     libcuda.so.1    opened here only on this machine, never from another root  */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/doctor/doctor.h"

/* Without a GPU the host engine serves GraphBLAS, and nothing serves cuSPARSE. */
static enum doctor_level without_gpu(const struct doctor *d)
{
  return d->wants[DOCTOR_CUSPARSE] ? DOCTOR_PROBLEM : DOCTOR_NOTE;
}

/* ---- the three parts ------------------------------------------------------------------------ */

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue ...": the number. */
static bool read_module(const struct doctor *d, char out[64])
{
  char path[PATH_MAX], line[256], *rest;
  if (!doctor_resolve(d->root, "/proc/driver/nvidia/version", path)) return false;
  FILE *f = fopen(path, "r");
  if (!f) return false;
  out[0] = 0;
  if (fgets(line, sizeof line, f))
    for (char *w = strtok_r(line, " \t\n", &rest); w && !out[0]; w = strtok_r(NULL, " \t\n", &rest))
      if (strspn(w, "0123456789.") == strlen(w) && strchr(w, '.')) snprintf(out, 64, "%s", w);
  fclose(f);
  return true;
}

/* How many nodes of GPUs there are; -1: WSL, whose one node stands for all. */
static int count_nodes(const struct doctor *d)
{
  char path[PATH_MAX];
  struct dirent *e;
  int n = 0;
  if (doctor_resolve(d->root, "/dev/dxg", path)) return -1;
  if (!doctor_resolve(d->root, "/dev/nvidiactl", path) || !doctor_resolve(d->root, "/dev", path))
    return 0;
  DIR *dir = opendir(path);
  while (dir && (e = readdir(dir)))
    n += strncmp(e->d_name, "nvidia", 6) == 0 && e->d_name[6] >= '0' && e->d_name[6] <= '9';
  if (dir) closedir(dir);
  return n;
}

static bool root_has_libcuda(const struct doctor *d)
{
  static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu",
                                        "/usr/lib/aarch64-linux-gnu",
                                        "/usr/lib64",
                                        "/usr/lib",
                                        "/usr/lib/wsl/lib",
                                        "/usr/local/nvidia/lib64",
                                        "/usr/local/cuda/compat",
                                        NULL};
  char path[PATH_MAX], found[PATH_MAX];
  for (int i = 0; folders[i]; i++) {
    snprintf(path, sizeof path, "%s/libcuda.so.1", folders[i]);
    if (doctor_resolve(d->root, path, found)) return true;
  }
  return false;
}

/* ---- what libcuda says ---------------------------------------------------------------------- */

enum { MULTIPROCESSORS = 16, MAJOR = 75, MINOR = 76, NO_DEVICE = 100 }; /* CUdevice_attribute */

struct libcuda {
  int (*init)(unsigned), (*version)(int *), (*count)(int *), (*get)(int *, int);
  int (*name)(char *, int, int), (*attribute)(int *, int, int), (*memory)(size_t *, int);
  int (*error)(int, const char **);
};

static bool bind(void *handle, struct libcuda *c)
{
  *(void **)&c->init = dlsym(handle, "cuInit");
  *(void **)&c->version = dlsym(handle, "cuDriverGetVersion");
  *(void **)&c->count = dlsym(handle, "cuDeviceGetCount");
  *(void **)&c->get = dlsym(handle, "cuDeviceGet");
  *(void **)&c->name = dlsym(handle, "cuDeviceGetName");
  *(void **)&c->attribute = dlsym(handle, "cuDeviceGetAttribute");
  *(void **)&c->memory = dlsym(handle, "cuDeviceTotalMem_v2");
  *(void **)&c->error = dlsym(handle, "cuGetErrorString");
  return c->init && c->version && c->count && c->get && c->name && c->attribute && c->memory;
}

static void describe_gpu(struct doctor *d, const struct libcuda *c, int i)
{
  char name[128] = "?";
  int device = 0, major = 0, minor = 0, processors = 0;
  size_t bytes = 0;
  if (c->get(&device, i) != 0 || c->name(name, sizeof name, device) != 0 ||
      c->attribute(&major, MAJOR, device) != 0 || c->attribute(&minor, MINOR, device) != 0) {
    doctor_find(&d->findings, DOCTOR_WARNING, "gpu", NULL, "GPU %d does not answer", i);
    return;
  }
  c->attribute(&processors, MULTIPROCESSORS, device);
  c->memory(&bytes, device);
  const int architecture = 10 * major + minor;
  if (!d->architecture || architecture < d->architecture) d->architecture = architecture;
  if (!d->multiprocessors) {
    d->multiprocessors = processors;
    d->h200 = strstr(name, "H200") != NULL;
  }
  doctor_find(&d->findings, DOCTOR_OK, "gpu", NULL,
              "%d: %s, compute capability %d.%d, %d multiprocessors, %.0f GiB", i, name, major,
              minor, processors, (double)bytes / (1 << 30));
}

static void ask_libcuda(struct doctor *d, const struct libcuda *c, const char *module)
{
  const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *text = NULL;
  int version = 0, count = 0, status = c->init(0);
  if (status == 0) status = c->count(&count);
  if (status != 0 && status != NO_DEVICE) {
    if (!c->error || c->error(status, &text) != 0 || !text) text = "no text for it";
    doctor_find(&d->findings, without_gpu(d), "driver",
                "try nvidia-smi; a driver that was updated needs its module loaded again (reboot)",
                "the driver does not start: error %d, %s", status, text);
    return;
  }
  c->version(&version);
  d->driver_cuda = version;
  doctor_find(&d->findings, DOCTOR_OK, "driver", NULL, "NVIDIA driver %s, CUDA up to %d.%d",
              module[0] ? module : "(number not known)", version / 1000, version % 1000 / 10);
  if (count == 0)
    doctor_find(&d->findings, without_gpu(d), "gpu",
                visible ? "set CUDA_VISIBLE_DEVICES to the GPUs that programs may use"
                        : "see whether nvidia-smi lists a GPU",
                "no GPU can be used%s%s", visible ? "; CUDA_VISIBLE_DEVICES=" : "",
                visible ? visible : "");
  for (int i = 0; i < count; i++) describe_gpu(d, c, i);
}

/* ---- together ------------------------------------------------------------------------------- */

static void report_missing(struct doctor *d, bool module, int nodes, bool libcuda)
{
  if (!module && !nodes && !libcuda)
    doctor_find(&d->findings, without_gpu(d), "driver",
                "install NVIDIA's driver; GraphBLAS programs are served without one",
                "there is no NVIDIA driver");
  else if (!nodes)
    doctor_find(&d->findings, without_gpu(d), "driver",
                "start the container with its GPUs: docker run --gpus all, apptainer --nv",
                "there is a driver, but no device nodes (/dev/nvidiactl, /dev/nvidia0)");
  else if (!libcuda)
    doctor_find(
        &d->findings, without_gpu(d), "driver",
        "install the driver's libraries; in a container: NVIDIA_DRIVER_CAPABILITIES=compute",
        "libcuda.so.1 is not found");
}

/* There is one cost table, the built-in one (backend/routes/cost_table.h); rates of memory are
   scaled by shunt_cost_scale.  */
static void describe_costs(struct doctor *d)
{
  static const char table[] =
      "built-in cost table, measured on an H200 (132 multiprocessors, CUDA 13.0, cuSPARSE 12.6.3)";
  if (!d->wants[DOCTOR_CUSPARSE]) return;
  if (d->h200)
    doctor_find(&d->findings, DOCTOR_OK, "cost", NULL, "%s", table);
  else if (d->multiprocessors)
    doctor_find(&d->findings, DOCTOR_NOTE, "cost", NULL,
                "%s; for this GPU, which was not measured, scaled by 132/%d multiprocessors", table,
                d->multiprocessors);
  else
    doctor_find(&d->findings, DOCTOR_NOTE, "cost", NULL,
                "%s; scaled to another GPU by its multiprocessors", table);
}

void doctor_ask_driver(struct doctor *d)
{
  char number[64] = "";
  struct libcuda c = {0};
  const bool here = !d->root[0], module = read_module(d, number);
  d->findings.about = DOCTOR_CUSPARSE; /* GraphBLAS is served without a GPU, too */
  const int nodes = count_nodes(d);
  void *handle = here ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
  const bool libcuda = here ? handle && bind(handle, &c) : root_has_libcuda(d);
  /* Where libcuda can be asked, it knows better than the nodes: not every sandbox shows them. */
  if (here && libcuda && (nodes || c.init(0) == 0))
    ask_libcuda(d, &c, number);
  else if (!nodes || !libcuda)
    report_missing(d, module, nodes, libcuda);
  else
    doctor_find(&d->findings, DOCTOR_OK, "driver", NULL, "NVIDIA driver %s, %d device node%s",
                number[0] ? number : "(number not known)", nodes < 0 ? 1 : nodes,
                nodes == 1 || nodes < 0 ? "" : "s");
  if (handle) dlclose(handle);
  describe_costs(d);
  d->findings.about = DOCTOR_KINDS;
}

/* ---- toolkits ------------------------------------------------------------------------------- */

static void describe_toolkit(struct doctor *d, const char *folder)
{
  char path[PATH_MAX], found[PATH_MAX];
  snprintf(path, sizeof path, "%.4000s/bin/nvcc", folder);
  const bool nvcc = doctor_resolve(d->root, path, found);
  doctor_find(&d->findings, DOCTOR_NOTE, "toolkit", NULL, "%s%s", folder,
              nvcc ? "" : " (no nvcc: libraries only)");
}

void doctor_ask_toolkits(struct doctor *d)
{
  char parent[PATH_MAX], folder[PATH_MAX], found[PATH_MAX];
  const char *named = getenv("CUDA_HOME");
  struct dirent *e;
  char other[PATH_MAX] = "";
  if (named && *named && doctor_resolve(d->root, named, other)) describe_toolkit(d, named);
  DIR *dir = doctor_resolve(d->root, "/usr/local", parent) ? opendir(parent) : NULL;
  while (dir && (e = readdir(dir))) {
    if (strncmp(e->d_name, "cuda-", 5) != 0 || !strchr(e->d_name, '.')) continue;
    snprintf(folder, sizeof folder, "/usr/local/%s", e->d_name);
    if (doctor_resolve(d->root, folder, found) && strcmp(found, other) != 0)
      describe_toolkit(d, folder);
  }
  if (dir) closedir(dir);
}
