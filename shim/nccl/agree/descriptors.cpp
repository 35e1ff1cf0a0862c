#include "agree/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

#include "agree/limits.h"

namespace thinwire::nccl::agree {
namespace {

constexpr std::size_t kShareOfHelper = 4;  // of all that the process may have, a helper
constexpr std::size_t kShareOfStrangers = 16;
constexpr std::size_t kFewStrangers = 16;
constexpr std::size_t kReserveOfFiles = 8;  // of all, what is left to the program
constexpr std::size_t kLastFiles = 32;      // the same at least

// Asked each time: a program may raise it.
std::size_t most_files() {
  rlimit of_files{};
  if (getrlimit(RLIMIT_NOFILE, &of_files) != 0 || of_files.rlim_cur == RLIM_INFINITY) {
    return SIZE_MAX;
  }
  return of_files.rlim_cur;
}

bool leaves(int fd, std::size_t share) {
  const std::size_t all = most_files();
  return static_cast<std::size_t>(fd) < all - all / share;
}

}  // namespace

std::size_t most_connections() { return most_files() / kShareOfHelper; }

std::size_t most_strangers() {
  return std::clamp(most_files() / kShareOfStrangers, kFewStrangers, kMostStrangers);
}

bool leaves_room(int fd) { return leaves(fd, kReserveOfFiles); }

bool leaves_some(int fd) { return leaves(fd, kLastFiles); }

}  // namespace thinwire::nccl::agree
