#include "agree/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

namespace thinwire::nccl::agree {
namespace {

Address from_v4(const sockaddr_in& from) {
  Address made{4, ntohs(from.sin_port), 0, {}};
  std::memcpy(made.host.data(), &from.sin_addr, sizeof from.sin_addr);
  return made;
}

Address from_v6(const sockaddr_in6& from) {
  Address made{6, ntohs(from.sin6_port), from.sin6_scope_id, {}};
  std::memcpy(made.host.data(), &from.sin6_addr, sizeof from.sin6_addr);
  return made;
}

}  // namespace

void put_address(FieldWriter& to, const Address& address) {
  to.put(address.family).put(std::uint8_t{0}).put(address.port).put(address.scope);
  to.put(ByteView(address.host));
}

Address take_address(FieldReader& from) {
  Address made;
  made.family = from.take<std::uint8_t>();
  from.take<std::uint8_t>();
  made.port = from.take<std::uint16_t>();
  made.scope = from.take<std::uint32_t>();
  made.host = from.take_array<16>();
  return made;
}

std::optional<Address> address_of(ByteView bytes) {
  sa_family_t family{};
  if (bytes.size() < sizeof family) return std::nullopt;
  std::memcpy(&family, bytes.data(), sizeof family);
  if (family == AF_INET && bytes.size() >= sizeof(sockaddr_in)) {
    sockaddr_in from{};
    std::memcpy(&from, bytes.data(), sizeof from);
    return from_v4(from);
  }
  if (family == AF_INET6 && bytes.size() >= sizeof(sockaddr_in6)) {
    sockaddr_in6 from{};
    std::memcpy(&from, bytes.data(), sizeof from);
    return from_v6(from);
  }
  return std::nullopt;
}

socklen_t to_sockaddr(const Address& address, sockaddr_storage& made) {
  std::memset(&made, 0, sizeof made);
  if (address.family == 4) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(address.port);
    std::memcpy(&to.sin_addr, address.host.data(), sizeof to.sin_addr);
    std::memcpy(&made, &to, sizeof to);
    return sizeof to;
  }
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(address.port);
  to.sin6_scope_id = address.scope;
  std::memcpy(&to.sin6_addr, address.host.data(), sizeof to.sin6_addr);
  std::memcpy(&made, &to, sizeof to);
  return sizeof to;
}

bool is_of_link(const Address& address) {
  return address.family == 6 && address.host[0] == std::byte{0xFE} &&
         (address.host[1] & std::byte{0xC0}) == std::byte{0x80};
}

std::string address_text(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  const int family = address.family == 4 ? AF_INET : AF_INET6;
  inet_ntop(family, address.host.data(), text, sizeof text);
  const std::string port = ":" + std::to_string(address.port);
  const std::string scope = is_of_link(address) ? "%" + std::to_string(address.scope) : "";
  return family == AF_INET ? text + port : "[" + (text + scope) + "]" + port;
}

}  // namespace thinwire::nccl::agree
