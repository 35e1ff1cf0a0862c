// The descriptor on which a process speaks PMI-1. It belongs to the MPI, which speaks on it too, so
// nothing here takes a byte that was not asked for.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace thinwire::mpi::pmi {

class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}

  // Without an answer for so long, the other side is not what it seemed. Zero: waits for ever, as
  // the MPI itself does; an answer that nobody waits for any more would be read by the MPI.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

  // One request, one line of answer, both without the newline. Nothing: the request was not sent,
  // because something lies there unread, or the channel is broken. Not from two threads at once.
  std::optional<std::string> ask(std::string_view request);

  // Nothing is sent any more.
  bool broken() const { return broken_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool is_quiet();
  bool send_line(std::string line, Clock::time_point deadline);
  std::optional<std::string> receive_line(Clock::time_point deadline);
  bool wait_for(short events, Clock::time_point deadline);

  int descriptor_;
  std::chrono::milliseconds patience_{0};
  bool broken_ = false;
};

}  // namespace thinwire::mpi::pmi
