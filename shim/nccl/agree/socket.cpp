#include "agree/socket.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "agree/address.h"
#include "agree/limits.h"

namespace thinwire::nccl::agree {
namespace {

constexpr std::size_t kShareOfHelper = 4;  // of all that the process may have, a helper
constexpr std::size_t kShareOfStrangers = 16;
constexpr std::size_t kFewStrangers = 16;
constexpr std::size_t kReserveOfFiles = 8;  // of all, what is left to the program
constexpr std::size_t kLastFiles = 32;      // the same at least

// Asked each time: a program may raise it.
std::size_t most_files() {
  rlimit of_files{};
  if (getrlimit(RLIMIT_NOFILE, &of_files) != 0 || of_files.rlim_cur == RLIM_INFINITY) {
    return SIZE_MAX;
  }
  return of_files.rlim_cur;
}

bool leaves(int fd, std::size_t share) {
  const std::size_t all = most_files();
  return static_cast<std::size_t>(fd) < all - all / share;
}

}  // namespace

std::size_t most_connections() { return most_files() / kShareOfHelper; }

std::size_t most_strangers() {
  return std::clamp(most_files() / kShareOfStrangers, kFewStrangers, kMostStrangers);
}

bool leaves_room(int fd) { return leaves(fd, kReserveOfFiles); }

bool leaves_some(int fd) { return leaves(fd, kLastFiles); }

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

namespace {

// A bit for each descriptor of a helper; those beyond are left to the child.
constexpr int kWords = 1024;
constinit std::array<std::atomic<std::uint64_t>, kWords> g_open{};
constinit std::atomic<int> g_generation{0};

void close_all_in_child() {
  g_generation.fetch_add(1);
  for (int word = 0; word < kWords; ++word) {
    for (std::uint64_t bits = g_open[word].exchange(0); bits != 0; bits &= bits - 1) {
      ::close(word * 64 + __builtin_ctzll(bits));
    }
  }
}

void note(int fd, bool open) {
  if (fd < 0 || fd >= kWords * 64) return;
  const std::uint64_t bit = std::uint64_t{1} << (fd % 64);
  if (open) {
    g_open[fd / 64].fetch_or(bit);
  } else {
    g_open[fd / 64].fetch_and(~bit);
  }
}

void set(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof value);
}

constexpr int kKind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

int family_of(const Address& address) { return address.family == 4 ? AF_INET : AF_INET6; }

}  // namespace

Socket::Socket(int fd) : fd_(fd), generation_(fork_generation()) {
  static const bool watched = [] {
    pthread_atfork(nullptr, nullptr, close_all_in_child);
    return true;
  }();
  static_cast<void>(watched);
  note(fd, true);
}

void Socket::close() {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0 || generation_ != fork_generation()) return;
  note(fd, false);
  ::close(fd);
}

int fork_generation() { return g_generation.load(std::memory_order_relaxed); }

Socket listen_on(Address& at) {
  Socket made(::socket(family_of(at), kKind, 0));
  if (!made) return made;
  sockaddr_storage where{};
  at.port = 0;
  const socklen_t length = to_sockaddr(at, where);
  const bool listens = ::bind(made.fd(), reinterpret_cast<const sockaddr*>(&where), length) == 0 &&
                       ::listen(made.fd(), SOMAXCONN) == 0;
  if (!listens) return {};
  at.port = local_address(made).port;
  return made;
}

Socket accept_one(const Socket& listening) {
  return Socket(::accept4(listening.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

namespace {

std::optional<Address> from_here(const Address& to) {
  return is_of_link(to) ? seen_from_here(to, interfaces_of_host()) : to;
}

}  // namespace

Socket start_connecting(const Address& to) {
  const auto seen = from_here(to);
  Socket made(seen ? ::socket(family_of(to), kKind, 0) : -1);
  if (!made) return made;
  sockaddr_storage where{};
  const socklen_t length = to_sockaddr(*seen, where);
  const int result = ::connect(made.fd(), reinterpret_cast<const sockaddr*>(&where), length);
  if (result != 0 && errno != EINPROGRESS) return {};
  return made;
}

Address local_address(const Socket& socket) {
  sockaddr_storage where{};
  socklen_t length = sizeof where;
  if (::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&where), &length) != 0) return {};
  return address_of(std::as_bytes(std::span(&where, 1))).value_or(Address{});
}

int connect_error(const Socket& socket) {
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

void tune(const Socket& socket) {
  const int fd = socket.fd();
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdleSeconds);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepIntervalSeconds);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, kKeepProbes);
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
      1000 * (kKeepIdleSeconds + kKeepIntervalSeconds * kKeepProbes));
}

}  // namespace thinwire::nccl::agree
