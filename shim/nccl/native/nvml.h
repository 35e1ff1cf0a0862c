// The fabric that joins a GPU with others by NVLink, as NVIDIA's management library tells it.
// Nothing is linked: without the library, or by one before it knew of fabrics, nothing is known.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace thinwire::nccl {

// GPUs of one cluster and clique reach each other by NVLink, on whichever hosts they are. A cluster
// of zeros is that of a host whose GPUs are joined with no other host's.
struct Fabric {
  std::array<unsigned char, 16> cluster{};
  std::uint32_t clique = 0;

  bool operator==(const Fabric&) const = default;
};

// The fabric that this GPU has joined; nothing: it has joined none, or none that is told. `bus_id`
// is CUDA's name for the GPU on the PCI bus.
std::optional<Fabric> fabric_of_gpu(const char* bus_id);

// The same of all GPUs that this process can see.
std::vector<std::optional<Fabric>> fabrics_of_gpus();

}  // namespace thinwire::nccl
