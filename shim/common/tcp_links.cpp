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

bool counters_of(int descriptor, TcpCounters& counters) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  // Kernels before 4.10 do not count the time.
  if (size < offsetof(tcp_info, tcpi_sndbuf_limited)) return false;
  counters.acknowledged = info.tcpi_bytes_acked;
  // Time in which the receiver does not read says nothing of the link.
  counters.busy_microseconds =
      info.tcpi_busy_time - std::min(info.tcpi_rwnd_limited, info.tcpi_busy_time);
  counters.pending =
      info.tcpi_notsent_bytes + std::uint64_t{info.tcpi_unacked} * std::uint64_t{info.tcpi_snd_mss};
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

// Connections that are new since the beginning have begun at nothing.
void TcpLinks::find(bool are_new) {
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
    TcpCounters now;
    if (!leads_to_another_machine(descriptor) || !counters_of(descriptor, now)) continue;
    found.push_back({descriptor, inode, are_new ? TcpCounters{} : now});
  }
  connections_ = std::move(found);
}

bool TcpLinks::find_if_due() {
  if (--until_found_again_ >= 0) return false;
  find(false);
  until_found_again_ = looks_between_finds_;
  looks_between_finds_ = std::min(kMostLooksBetweenFinds, 2 * looks_between_finds_ + 1);
  return true;
}

bool TcpLinks::begin() {
  was_found_ = find_if_due();
  std::erase_if(connections_, [](Connection& each) {
    return inode_of(each.descriptor) != each.inode || !counters_of(each.descriptor, each.first);
  });
  // The first message to a rank opens its connection.
  return was_found_ || !connections_.empty();
}

std::uint64_t TcpLinks::most_pending() const {
  std::uint64_t most = 0;
  for (const Connection& each : connections_) {
    TcpCounters now;
    const bool is_there = inode_of(each.descriptor) == each.inode;
    if (is_there && counters_of(each.descriptor, now)) most = std::max(most, now.pending);
  }
  return most;
}

std::span<const choose::Growth> TcpLinks::grown() {
  if (was_found_) find(true);
  grown_.clear();
  std::erase_if(connections_, [this](const Connection& each) {
    TcpCounters now;
    if (inode_of(each.descriptor) != each.inode || !counters_of(each.descriptor, now) ||
        now.acknowledged < each.first.acknowledged) {
      return true;
    }
    const auto difference = [](std::uint64_t after, std::uint64_t before) {
      return static_cast<double>(after) - static_cast<double>(before);
    };
    const double delivered = difference(now.acknowledged, each.first.acknowledged);
    const double busy = difference(now.busy_microseconds, each.first.busy_microseconds);
    const double taken = delivered + difference(now.pending, each.first.pending);
    grown_.push_back({{delivered, 1e-6 * std::max(busy, 0.0)},
                      std::max(taken, 0.0),
                      static_cast<double>(now.pending)});
    return false;
  });
  return grown_;
}

}  // namespace thinwire::shim
