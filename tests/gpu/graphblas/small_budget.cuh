// small_budget.cuh: one test with a small SHUNT_CACHE_MB at a time on a device.
//
// The budget is that of all processes of a user on the device.  CUDA's pool takes 32 MB at once, so
// a test with a budget of 1 MB keeps more than that, and another such test beside it gets nothing.
// Processes with the usual budget do not mind, nor do tests beside them, nor tests on another device:
// those would wait for minutes for one under a sanitizer.
#pragma once
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <unistd.h>

namespace harness
{

// Waits for the others; a process that ends lets go.
class SmallBudget
{
  int fd;

public:
  SmallBudget()
  {
    const char *devices = getenv("CUDA_VISIBLE_DEVICES");
    std::string name = "/shunt-test-small-budget-" + std::to_string(geteuid());
    for (const char *c = devices ? devices : ""; *c; c++)
      if (isalnum(*c)) name += *c;
    fd = open(("/dev/shm" + name).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR) continue;
  }
  ~SmallBudget()
  {
    if (fd >= 0) close(fd);
  }
  SmallBudget(const SmallBudget &) = delete;
  SmallBudget &operator=(const SmallBudget &) = delete;
};

} // namespace harness
