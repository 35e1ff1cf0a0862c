#include "agree/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>

namespace thinwire::nccl::agree {
namespace {

bool is_loopback(const Address& address) {
  if (address.family == 4) return address.host[0] == std::byte{127};
  Address loopback{6, 0, 0, {}};
  loopback.host[15] = std::byte{1};
  return address.host == loopback.host;
}

// "^" turns the list round, "=" takes whole names for beginnings; a port behind a name is another
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

Address listening_address(std::span<const Interface> all, const Address& local,
                          std::string_view names, std::string_view family) {
  if (names.size() <= 1 || is_loopback(local)) return local;
  const Names named(names);
  const Interface* chosen = nullptr;
  for (const Interface& each : all) {
    const bool is_loopback_v6 = each.address.family == 6 && is_loopback(each.address);
    if (is_loopback_v6 || !has_family(each.address, family) || !named.allow(each.name)) continue;
    const bool is_better = chosen == nullptr || (chosen->address.family != local.family &&
                                                 each.address.family == local.family);
    if (is_better) chosen = &each;
  }
  if (chosen == nullptr) return local;
  Address made = chosen->address;
  made.port = 0;
  return made;
}

}  // namespace thinwire::nccl::agree
