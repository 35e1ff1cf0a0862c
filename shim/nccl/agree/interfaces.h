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

// The interfaces that are up, in the system's order.
std::vector<Interface> interfaces_of_host();

// Returns the address at which a rank listens if it reaches the registrar from `local`. `names` and
// `family` are the values of NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY: the first interface that
// they allow is taken, preferably one of the registrar's family. `local` is returned if nothing is
// named, if nothing fits, and within a host. An address that is valid on one link only is taken if
// its interface has no other.
Address listening_address(std::span<const Interface> all, const Address& local,
                          std::string_view names, std::string_view family);

// Returns the form of another machine's address to which this one can connect. An address that is
// valid on one link only gets the number of the interface here that is on that link: the one that
// has the address itself, or the only one with such addresses, or the one whose number the address
// already has. Nothing if there is none, or several of which the number names none.
std::optional<Address> seen_from_here(const Address& address, std::span<const Interface> all);

}  // namespace thinwire::nccl::agree
