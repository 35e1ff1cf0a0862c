// The address at which a helper listens: IPv4 or IPv6, and a port.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace thinwire::nccl::agree
