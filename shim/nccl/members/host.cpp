#include "members/host.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "native/cuda.h"
#include "native/nccl_number.h"
#include "native/nvml.h"
#include "native/real.h"

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

constexpr int kSince = 22100;  // the NCCL that joins hosts by NVLink

// NCCL_P2P_DISABLE=1 and NCCL_P2P_LEVEL=LOC keep GPUs from each other's memory.
bool reaches_peers() {
  if (std::getenv("NCCL_P2P_DISABLE") != nullptr) return nccl_number("NCCL_P2P_DISABLE", 0) != 1;
  const char* const level = std::getenv("NCCL_P2P_LEVEL");
  return level == nullptr || (std::strcmp(level, "LOC") != 0 && std::strcmp(level, "0") != 0);
}

// As NCCL documents NCCL_MNNVL_ENABLE: 0 off, 1 on, 2 (the default) if all is there.
bool is_used_by_nccl() {
  int version = 0;
  if (real().GetVersion == nullptr || real().GetVersion(&version) != ncclSuccess) return false;
  const long long enabled = nccl_number("NCCL_MNNVL_ENABLE", 2);
  if (version < kSince || enabled == 0 || nccl_number("NCCL_CUMEM_ENABLE", -2) == 0) return false;
  return enabled == 1 || reaches_peers();
}

// Makes of the fabric that a GPU has joined what NCCL goes by: NCCL_MNNVL_UUID and
// NCCL_MNNVL_CLIQUE_ID part a domain, or join what the fabric does not tell.
std::optional<Fabric> as_named(std::optional<Fabric> fabric) {
  constexpr long long kAsTold = -1, kByRack = -2;
  const long long cluster = nccl_number("NCCL_MNNVL_UUID", kAsTold);
  const long long clique = nccl_number("NCCL_MNNVL_CLIQUE_ID", kAsTold);
  // The number of the rack is not asked for.
  if (!fabric || clique == kByRack) return std::nullopt;
  if (cluster != kAsTold) {
    std::memcpy(fabric->cluster.data(), &cluster, sizeof cluster);
    std::memcpy(fabric->cluster.data() + sizeof cluster, &cluster, sizeof cluster);
  }
  if (clique != kAsTold) fabric->clique = static_cast<std::uint32_t>(clique);
  const auto is_zero = [](unsigned char each) { return each == 0; };
  return std::ranges::all_of(fabric->cluster, is_zero) ? std::nullopt : fabric;
}

std::optional<Fabric> fabric_of(int device) {
  char bus_id[32] = {};
  int (*name_on_bus)(char* name, int bytes, int device) = nullptr;
  if (device >= 0) find_cuda(name_on_bus, nullptr, "cuDeviceGetPCIBusId");
  if (name_on_bus != nullptr && name_on_bus(bus_id, sizeof bus_id, device) == 0) {
    return as_named(fabric_of_gpu(bus_id));
  }
  // Whichever it is, if they are all in one.
  std::optional<Fabric> first;
  for (bool is_first = true; const auto& each : fabrics_of_gpus()) {
    const std::optional<Fabric> named = as_named(each);
    if (std::exchange(is_first, false)) first = named;
    if (!named || named != first) return std::nullopt;
  }
  return first;
}

}  // namespace

std::uint64_t host_of_this_process() { return hash_of(name_of_host()); }

std::uint64_t domain_of(int device) {
  if (!is_used_by_nccl()) return 0;
  const std::optional<Fabric> fabric = fabric_of(device);
  if (!fabric) return 0;
  unsigned char clique[4];
  for (int at = 0; at < 4; ++at) {
    clique[at] = static_cast<unsigned char>(fabric->clique >> 8 * at);
  }
  return std::max<std::uint64_t>(hash_of(clique, hash_of(fabric->cluster)), 1);
}

}  // namespace thinwire::nccl
