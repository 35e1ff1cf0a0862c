// Bytes that this process' TCP connections to other machines deliver, as the kernel counts them:
// whoever opened them, an MPI or NCCL. Reads their counters (TCP_INFO) and changes nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "choose/large_interval.h"

namespace thinwire::shim {

struct TcpCounters {
  std::uint64_t acknowledged = 0, busy_microseconds = 0;
  std::uint64_t pending = 0;  // bytes that the kernel has and the other side has not acknowledged
};

// One thread at a time.
class TcpLinks {
 public:
  // Begins to count what connections deliver. False if there is none, nor may one be new.
  bool begin();

  // Growth of each connection since; for connections that were opened since, all that they did.
  std::span<const choose::Growth> grown();

  // The most that one connection has on its way: the kernel has it, and the other side has not
  // acknowledged it.
  std::uint64_t most_pending() const;

  bool has_connections() const { return !connections_.empty(); }

 private:
  struct Connection {
    int descriptor = -1;
    ino_t inode = 0;      // a number may be closed and used for another file
    TcpCounters first{};  // when it was begun
  };

  void find(bool are_new);
  bool find_if_due();

  std::vector<choose::Growth> grown_;
  std::vector<Connection> connections_;
  int until_found_again_ = 0, looks_between_finds_ = 0;
  bool was_found_ = false;  // at the beginning
};

}  // namespace thinwire::shim
