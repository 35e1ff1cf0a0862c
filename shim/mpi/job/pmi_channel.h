// Requests to the launcher, on a descriptor that the MPI uses too.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "shim/mpi/job/pmi_wire.h"

namespace thinwire::mpi::pmi {

// The descriptor over which a process speaks with its launcher. It belongs to the MPI, which
// speaks over it too, so nothing here reads more than the answer to its own request.
class Channel {
 public:
  explicit Channel(int descriptor, Protocol protocol = Protocol::kPmi1)
      : descriptor_(descriptor), protocol_(protocol) {}

  Protocol protocol() const { return protocol_; }

  // Sets how long an answer may take; after that the other side is taken not to speak the protocol,
  // and the channel is broken. With zero there is no limit, as in the MPI itself: an answer that
  // comes too late would be read by the MPI.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

  // Sends a request and returns its answer as a line, both without newline or length. Nothing if
  // bytes of another dialogue are still unread, in which case nothing was sent, or if the channel
  // is broken. Not from two threads at the same time.
  std::optional<std::string> ask(std::string_view request);

  // True after a failure: no request is sent any more.
  bool broken() const { return broken_; }

  // Whether the last request was sent and its answer may still come.
  bool is_owed() const { return is_owed_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool is_quiet();
  bool send_text(std::string_view text, Clock::time_point deadline);
  std::optional<std::string> receive_line(Clock::time_point deadline);
  std::optional<std::string> receive_sized(Clock::time_point deadline);
  bool receive_bytes(char* bytes, std::size_t count, Clock::time_point deadline);
  bool wait_for(short events, Clock::time_point deadline);

  int descriptor_;
  Protocol protocol_;
  std::chrono::milliseconds patience_{0};
  bool broken_ = false;
  bool is_owed_ = false;
};

}  // namespace thinwire::mpi::pmi
