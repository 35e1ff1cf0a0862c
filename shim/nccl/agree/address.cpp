#include "agree/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
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

namespace {

bool is_loopback(const Address& address) {
  if (address.family == 4) return address.host[0] == std::byte{127};
  Address loopback{6, 0, 0, {}};
  loopback.host[15] = std::byte{1};
  return address.host == loopback.host;
}

// "^" turns the list round, "=" takes whole names for beginnings; a port after a name is another
// setting's.
class Names {
 public:
  explicit Names(std::string_view text) : text_(text) {
    is_turned_ = take('^');
    is_exact_ = take('=');
  }

  bool allow(std::string_view name) const {
    bool listed = false;
    for (std::string_view rest = text_; !rest.empty() && !listed;) {
      const std::string_view entry = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
      const std::string_view wanted = entry.substr(0, entry.find(':'));
      listed = !wanted.empty() && (is_exact_ ? name == wanted : name.starts_with(wanted));
    }
    return listed != is_turned_;
  }

 private:
  bool take(char mark) {
    const bool has = text_.starts_with(mark);
    if (has) text_.remove_prefix(1);
    return has;
  }

  std::string_view text_;
  bool is_turned_ = false, is_exact_ = false;
};

bool has_family(const Address& address, std::string_view family) {
  if (family == "AF_INET") return address.family == 4;
  return family != "AF_INET6" || address.family == 6;
}

// Another address of the same interface, which reaches further.
const Interface* wider(std::span<const Interface> all, const Address& than,
                       std::string_view family) {
  const auto own = std::ranges::find_if(all, [&](const Interface& each) {
    return is_of_link(each.address) && each.address.host == than.host &&
           each.address.scope == than.scope;
  });
  if (own == all.end()) return nullptr;
  const Interface* found = nullptr;
  for (const Interface& each : all) {
    const bool fits =
        each.name == own->name && !is_of_link(each.address) && has_family(each.address, family);
    if (fits && (found == nullptr || found->address.family == 4)) found = &each;
  }
  return found;
}

}  // namespace

std::vector<Interface> interfaces_of_host() {
  std::vector<Interface> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    const bool is_up = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_RUNNING) != 0;
    if (each->ifa_addr == nullptr || !is_up) continue;
    const std::size_t bytes = each->ifa_addr->sa_family == AF_INET    ? sizeof(sockaddr_in)
                              : each->ifa_addr->sa_family == AF_INET6 ? sizeof(sockaddr_in6)
                                                                      : 0;
    const auto address = address_of({reinterpret_cast<const std::byte*>(each->ifa_addr), bytes});
    if (address) found.push_back({each->ifa_name, *address});
  }
  freeifaddrs(all);
  return found;
}

namespace {

// Nothing is named, or nothing fits: null.
const Interface* named(std::span<const Interface> all, const Address& local, std::string_view names,
                       std::string_view family) {
  if (names.size() <= 1) return nullptr;
  const Names allowed(names);
  const auto rank = [&](const Interface& each) {
    return 2 * (is_of_link(each.address) ? 0 : 1) + (each.address.family == local.family ? 1 : 0);
  };
  const Interface* chosen = nullptr;
  for (const Interface& each : all) {
    const bool is_loopback_v6 = each.address.family == 6 && is_loopback(each.address);
    if (is_loopback_v6 || !has_family(each.address, family) || !allowed.allow(each.name)) continue;
    if (chosen == nullptr || rank(each) > rank(*chosen)) chosen = &each;
  }
  return chosen;
}

}  // namespace

Address listening_address(std::span<const Interface> all, const Address& local,
                          std::string_view names, std::string_view family) {
  if (is_loopback(local)) return local;
  const Interface* chosen = named(all, local, names, family);
  Address made = chosen == nullptr ? local : chosen->address;
  const Interface* const further = is_of_link(made) ? wider(all, made, family) : nullptr;
  if (further != nullptr) made = further->address;
  made.port = 0;
  return made;
}

std::optional<Address> seen_from_here(const Address& address, std::span<const Interface> all) {
  if (!is_of_link(address)) return address;
  Address made = address;
  std::vector<std::uint32_t> scopes;
  for (const Interface& each : all) {
    if (!is_of_link(each.address)) continue;
    made.scope = each.address.scope;
    if (each.address.host == address.host) return made;
    scopes.push_back(each.address.scope);
  }
  if (scopes.size() == 1) return made;
  if (std::ranges::find(scopes, address.scope) == scopes.end()) return std::nullopt;
  return address;
}

}  // namespace thinwire::nccl::agree
