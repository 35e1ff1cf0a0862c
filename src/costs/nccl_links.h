// The network interfaces that NCCL would use on this machine, as its settings and the system tell.
#pragma once

#include <filesystem>
#include <string>

namespace thinwire::costs {

// NCCL's settings, as its documentation has them; "" for one that is not set.
struct NcclNetwork {
  std::string net{};         // NCCL_NET
  std::string hca{};         // NCCL_IB_HCA
  std::string interfaces{};  // NCCL_SOCKET_IFNAME
  bool has_ports = true;     // unless NCCL_IB_DISABLE=1
};
NcclNetwork nccl_network_of_environment();

// Rates in bytes per second; 0: not known, as one of them does not tell its own.
struct NcclLinks {
  double fastest = 0;   // of one interface
  double together = 0;  // of all
  int gpus = 0;         // of NVIDIA's driver; 0: not known
};

// Active ports of class/infiniband under `system` (/sys) that NCCL_IB_HCA admits; without any the
// interfaces of class/net that are up, no virtual ones, and that NCCL_SOCKET_IFNAME admits. Nothing
// if NCCL_NET names a plugin, which may use others.
NcclLinks nccl_links(const std::filesystem::path& system, const NcclNetwork& network);

// The most that a node sends of a communicator that has so many ranks on it: NCCL gives a GPU the
// nearest interface, or its part of all if there are more of them than GPUs. A node of more ranks
// than this machine has GPUs is several machines of one NVLink domain.
double most_of_node(const NcclLinks& links, int ranks);

// The links of this machine under its environment, read once.
const NcclLinks& nccl_links_of_machine();

}  // namespace thinwire::costs
