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

// The address at which a rank listens that reaches the registrar from `local`. `names` and `family`
// are as NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY have them: the first interface that they allow
// counts, of the registrar's family where there is one; `local` where nothing is named or nothing
// fits, and within a host. An address of one link alone counts where the interface has no other.
Address listening_address(std::span<const Interface> all, const Address& local,
                          std::string_view names, std::string_view family);

// An address that another machine has said, as it is to be connected to from here. One of a link
// gets the interface here that is on it: whose own address it is, whose number the other machine
// said, if there is one, or the only one. Nothing: there are several others, or none.
std::optional<Address> seen_from_here(const Address& address, std::span<const Interface> all);

}  // namespace thinwire::nccl::agree
