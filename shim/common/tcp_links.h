// What this process' TCP connections to other machines deliver, as the kernel counts it: whoever
// opened them, an MPI or NCCL. Reads their counters (TCP_INFO) and changes nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "plan/link.h"

namespace thinwire::shim {

// One thread at a time.
class TcpLinks {
 public:
  // What was delivered since the last call; nothing at the first, and where nothing was. Of
  // connections that were busy at once, no more than the time in between counts as busy.
  plan::Delivered look(double seconds_since_last);

  bool has_connections() const { return !connections_.empty(); }

 private:
  struct Connection {
    int descriptor = -1;
    ino_t inode = 0;  // a number may be closed and used for another file
    std::uint64_t acknowledged = 0, busy_microseconds = 0;
  };

  void find();
  bool read(Connection& connection, plan::Delivered& delivered) const;

  std::vector<Connection> connections_;
  int until_found_again_ = 0, looks_between_finds_ = 0;
};

}  // namespace thinwire::shim
