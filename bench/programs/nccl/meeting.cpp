#include "nccl/meeting.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

namespace thinwire::bench::nccl {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 30s;
constexpr timeval kPatienceOfOne{600, 0};  // for what another rank has to do first

struct Freed {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::unique_ptr<addrinfo, Freed> look_up(const Place& place) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(place.address.c_str(), place.port.c_str(), &hints, &list);
  if (error != 0) throw std::runtime_error(place.address + ": " + gai_strerror(error));
  return std::unique_ptr<addrinfo, Freed>(list);
}

void set_up(int connection) {
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatienceOfOne, sizeof kPatienceOfOne);
}

void send_all(int connection, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t sent = send(connection, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail("another rank has gone");
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

void receive_all(int connection, void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t came = recv(connection, at, bytes, 0);
    if (came < 0 && errno == EINTR) continue;
    if (came == 0) throw std::runtime_error("another rank has gone");
    if (came < 0) fail("another rank does not answer");
    at += came;
    bytes -= static_cast<std::size_t>(came);
  }
}

std::vector<int> accept_all(const Place& place) {
  const auto address = look_up(place);
  const int listener = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const timeval patience{std::chrono::seconds(kPatience).count(), 0};
  setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (bind(listener, address->ai_addr, address->ai_addrlen) != 0 || listen(listener, 64) != 0) {
    fail("cannot listen on " + place.address + " port " + place.port);
  }
  std::vector<int> peers(static_cast<std::size_t>(place.ranks - 1), -1);
  while (std::ranges::count(peers, -1) > 0) {
    const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) fail("not all ranks have come");
    set_up(connection);
    int rank = 0;
    receive_all(connection, &rank, sizeof rank);
    if (rank < 1 || rank >= place.ranks || peers[static_cast<std::size_t>(rank - 1)] != -1) {
      throw std::runtime_error("two ranks have one number, or somebody else has come");
    }
    peers[static_cast<std::size_t>(rank - 1)] = connection;
  }
  close(listener);
  return peers;
}

int connect_to_first(const Place& place) {
  const auto address = look_up(place);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    const int connection = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection, address->ai_addr, address->ai_addrlen) == 0) {
      set_up(connection);
      send_all(connection, &place.rank, sizeof place.rank);
      return connection;
    }
    close(connection);
    if (std::chrono::steady_clock::now() > end) fail("rank 0 does not answer");
    std::this_thread::sleep_for(20ms);
  }
}

}  // namespace

Meeting::Meeting(const Place& place) : rank_(place.rank), ranks_(place.ranks) {
  peers_ = rank_ == 0 ? accept_all(place) : std::vector<int>{connect_to_first(place)};
}

Meeting::~Meeting() {
  for (const int peer : peers_) close(peer);
}

std::string Meeting::exchange(const void* own, std::size_t bytes) {
  std::string all(bytes * static_cast<std::size_t>(ranks_), '\0');
  if (rank_ == 0) {
    std::memcpy(all.data(), own, bytes);
    for (std::size_t at = 0; at < peers_.size(); ++at) {
      receive_all(peers_[at], all.data() + (at + 1) * bytes, bytes);
    }
    for (const int peer : peers_) send_all(peer, all.data(), all.size());
  } else {
    send_all(peers_[0], own, bytes);
    receive_all(peers_[0], all.data(), all.size());
  }
  return all;
}

std::vector<std::string> Meeting::texts(const std::string& own) {
  const std::vector<std::size_t> lengths = all(own.size());
  const std::size_t longest = std::ranges::max(lengths);
  std::string padded = own;
  padded.resize(longest);
  const std::string together = exchange(padded.data(), longest);
  std::vector<std::string> each;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    each.push_back(together.substr(rank * longest, lengths[rank]));
  }
  return each;
}

}  // namespace thinwire::bench::nccl
