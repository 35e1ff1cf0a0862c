// The address at which a helper listens: IPv4 or IPv6, and a port.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agree/fields.h"

namespace thinwire::nccl::agree {

struct Address {
  std::uint8_t family = 0;  // 4 or 6; 0: none
  std::uint16_t port = 0;
  std::uint32_t scope = 0;
  std::array<std::byte, 16> host{};
  auto operator<=>(const Address&) const = default;
};
constexpr std::size_t kAddressBytes = 24;

void put_address(FieldWriter& to, const Address& address);
Address take_address(FieldReader& from);

// Reads an AF_INET or AF_INET6 at the beginning of `bytes`; nothing for another family.
std::optional<Address> address_of(ByteView bytes);

// Writes the address to `made`; returns its length.
socklen_t to_sockaddr(const Address& address, sockaddr_storage& made);

// Whether it names a host on one link alone: of IPv6, fe80::/10. `scope` is the interface on that
// link, by a number that means it on this machine and nothing on others.
bool is_of_link(const Address& address);

// Writes an address as people do, "[::1]:4000" or "[fe80::1%2]:4000".
std::string address_text(const Address& address);

// The interface on which ranks listen, chosen as NCCL chooses its own.

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
