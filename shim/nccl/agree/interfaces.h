// The interface on which ranks listen, chosen as NCCL chooses its own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agree/address.h"

namespace thinwire::nccl::agree {

struct Interface {
  std::string name;
  Address address;
};

// Those that are up, in the system's order.
std::vector<Interface> interfaces_of_host();

// Where a rank listens that reaches the registrar from `local`. `names` and `family` are as
// NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY have them: the first interface that they allow counts,
// of the registrar's family where there is one; `local` where nothing is named or nothing fits, and
// within a host.
Address listening_address(std::span<const Interface> all, const Address& local,
                          std::string_view names, std::string_view family);

}  // namespace thinwire::nccl::agree
