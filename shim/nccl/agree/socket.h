// Descriptors that a forked child does not keep, and the few calls on sockets that helpers need.
// Nothing here blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include "agree/address.h"

namespace thinwire::nccl::agree {

// How many of the process's file descriptors a helper may take for what it could do without.

// Connections of pairs of one process, at most: the program's own limit (RLIMIT_NOFILE) divided.
std::size_t most_connections();

// Connections whose other side has not said who it is, at most.
std::size_t most_strangers();

// Whether the program still has enough after this one: the system gives the lowest number that is
// free.
bool leaves_room(int fd);
// The same for what all ranks need, at last.
bool leaves_some(int fd);

// Whether somebody listens where a rank of this machine did, by the word of its kernel: a refused
// connection may be a firewall's word.

// kUnknown: of another machine, or the kernel does not say.
enum class Listens { kNo, kYes, kUnknown };

Listens listens(const Address& at);

// Closed in a forked child at once: as long as a child holds a socket, nobody learns that the
// parent has died.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd);
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), generation_(other.generation_) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(generation_, other.generation_);
    return *this;
  }

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
  int generation_ = 0;  // in a later one the number is another descriptor's
};

// How often this process has been forked off: what was made under another number has no thread.
int fork_generation();

// Listens on the host of `at`, at any port; `at` gets it. None if that fails.
Socket listen_on(Address& at);
Socket accept_one(const Socket& listening);
// A connection on its way, or none.
Socket start_connecting(const Address& to);
Address local_address(const Socket& socket);
// The result of a connection that was on its way: 0 or an errno.
int connect_error(const Socket& socket);
// A connection that has just been made: no delay, and a machine that vanishes is found out.
void tune(const Socket& socket);

}  // namespace thinwire::nccl::agree
