// The network of this machine, as the system tells it.
#pragma once

#include <filesystem>
#include <string>

namespace thinwire::costs {

struct Interface {
  std::string name;             // "" for none
  double bytes_per_second = 0;  // 0: none says its rate
};

// The fastest of the interfaces under `system` (/sys) that are up and no virtual ones: those of
// class/net that lie on a device, and active ports of class/infiniband.
Interface fastest_interface(const std::filesystem::path& system);

// The interface of this machine, read once.
const Interface& interface_of_machine();

}  // namespace thinwire::costs
