#include "members/host.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace thinwire::nccl {
namespace {

std::string name_of_host() {
  if (const char* const named = std::getenv("NCCL_HOSTID")) return named;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return host + boot;
}

}  // namespace

std::uint64_t host_of_this_process() {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char each : name_of_host()) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001B3U;
  }
  return hash;
}

}  // namespace thinwire::nccl
