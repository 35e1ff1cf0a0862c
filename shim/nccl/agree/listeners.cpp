#include "agree/listeners.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdio>
#include <memory>
#include <optional>

namespace thinwire::nccl::agree {
namespace {

bool is_of_this_machine(const Address& at) {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(found, ::freeifaddrs);
  for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const bool is_4 = each->ifa_addr->sa_family == AF_INET;
    if (!is_4 && each->ifa_addr->sa_family != AF_INET6) continue;
    const std::size_t length = is_4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    const auto* const bytes = reinterpret_cast<const std::byte*>(each->ifa_addr);
    const auto own = address_of(ByteView(bytes, length));
    if (own && own->family == at.family && own->host == at.host) return true;
  }
  return false;
}

// Looks for the port in the kernel's list of TCP sockets, on whichever address; nothing: the list
// cannot be read.
std::optional<bool> has_listener(const char* path, unsigned port) {
  constexpr unsigned kListen = 10;  // TCP_LISTEN
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> list(std::fopen(path, "re"), std::fclose);
  if (!list) return std::nullopt;
  char line[512];
  bool has_title = false, has = false;
  while (std::fgets(line, sizeof line, list.get()) != nullptr) {
    unsigned at = 0, state = 0;
    // "0: 0100007F:B759 00000000:0000 0A": number, local and other address with port, state.
    if (std::sscanf(line, " %*u: %*32[0-9A-Fa-f]:%x %*32[0-9A-Fa-f]:%*x %x", &at, &state) != 2) {
      if (has_title) return std::nullopt;
      has_title = true;
    }
    has = has || (state == kListen && at == port);
  }
  if (std::ferror(list.get()) != 0 || !has_title) return std::nullopt;
  return has;
}

}  // namespace

Listens listens(const Address& at) {
  if (!is_of_this_machine(at)) return Listens::kUnknown;
  const auto by_4 = has_listener("/proc/thread-self/net/tcp", at.port);
  const auto by_6 = has_listener("/proc/thread-self/net/tcp6", at.port);
  if (by_4.value_or(false) || by_6.value_or(false)) return Listens::kYes;
  return (at.family == 4 ? by_4 : by_6) ? Listens::kNo : Listens::kUnknown;
}

}  // namespace thinwire::nccl::agree
