#include "shim/common/tcp_links.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace thinwire::shim {
namespace {

// MPIs connect when a peer is first written to, so new connections come while a program runs, most
// of them soon: the first looks find them.
constexpr int kMostLooksBetweenFinds = 32;
constexpr std::size_t kMostConnections = 256;

struct Counters {
  std::uint64_t acknowledged = 0, busy_microseconds = 0;
};

bool counters_of(int descriptor, Counters& counters) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  // Kernels before 4.10 do not count the time.
  if (size < offsetof(tcp_info, tcpi_sndbuf_limited)) return false;
  counters.acknowledged = info.tcpi_bytes_acked;
  // Where the receiver does not read, the time says nothing of the link.
  counters.busy_microseconds =
      info.tcpi_busy_time - std::min(info.tcpi_rwnd_limited, info.tcpi_busy_time);
  return true;
}

// The addresses of two ends of one machine are alike, loopback or not.
bool leads_to_another_machine(int descriptor) {
  int protocol = 0;
  socklen_t size = sizeof protocol;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0 ||
      protocol != IPPROTO_TCP) {
    return false;
  }
  sockaddr_storage own{}, other{};
  socklen_t own_size = sizeof own, other_size = sizeof other;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      getpeername(descriptor, reinterpret_cast<sockaddr*>(&other), &other_size) != 0 ||
      own.ss_family != other.ss_family) {
    return false;
  }
  if (own.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(own).sin_addr.s_addr !=
           reinterpret_cast<const sockaddr_in&>(other).sin_addr.s_addr;
  }
  return own.ss_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6&>(own).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(other).sin6_addr,
                     sizeof(in6_addr)) != 0;
}

// The inode of a socket; 0 for what is none.
ino_t inode_of(int descriptor) {
  struct stat facts{};
  return fstat(descriptor, &facts) == 0 && S_ISSOCK(facts.st_mode) ? facts.st_ino : 0;
}

}  // namespace

void TcpLinks::find() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) return;
  std::vector<Connection> found;
  while (const dirent* each = readdir(folder.get())) {
    if (each->d_name[0] == '.' || found.size() == kMostConnections) continue;
    const int descriptor = std::atoi(each->d_name);
    const ino_t inode = inode_of(descriptor);
    if (inode == 0) continue;
    const auto known = std::find_if(connections_.begin(), connections_.end(), [&](auto& one) {
      return one.descriptor == descriptor && one.inode == inode;
    });
    if (known != connections_.end()) {
      found.push_back(*known);
      continue;
    }
    Counters now;
    if (!leads_to_another_machine(descriptor) || !counters_of(descriptor, now)) continue;
    found.push_back({descriptor, inode, now.acknowledged, now.busy_microseconds});
  }
  connections_ = std::move(found);
}

bool TcpLinks::read(Connection& connection, plan::Delivered& delivered) const {
  Counters now;
  if (inode_of(connection.descriptor) != connection.inode ||
      !counters_of(connection.descriptor, now) || now.acknowledged < connection.acknowledged) {
    return false;
  }
  const auto grown = [](std::uint64_t after, std::uint64_t before) {
    return after > before ? static_cast<double>(after - before) : 0;
  };
  delivered.bytes += grown(now.acknowledged, connection.acknowledged);
  delivered.busy_seconds += 1e-6 * grown(now.busy_microseconds, connection.busy_microseconds);
  connection.acknowledged = now.acknowledged;
  connection.busy_microseconds = now.busy_microseconds;
  return true;
}

plan::Delivered TcpLinks::look(double seconds_since_last) {
  if (--until_found_again_ < 0) {
    find();
    until_found_again_ = looks_between_finds_;
    looks_between_finds_ = std::min(kMostLooksBetweenFinds, 2 * looks_between_finds_ + 1);
  }
  plan::Delivered delivered;
  const auto gone = std::remove_if(connections_.begin(), connections_.end(),
                                   [&](auto& one) { return !read(one, delivered); });
  connections_.erase(gone, connections_.end());
  delivered.busy_seconds = std::min(delivered.busy_seconds, seconds_since_last);
  return delivered;
}

}  // namespace thinwire::shim
