// How many messages a program keeps in flight: what a message of a step takes, the program waits
// for some steps later. One that waits for the oldest of eight messages before it sends the next
// does so seven steps later, and so does each of eight threads that send and wait.
//
// One message at a time is watched, from its start until the program has seen that it is complete,
// and begins the next step.
#pragma once

#include <cstdint>

namespace thinwire::choose {

class Lag {
 public:
  // False before a first message was complete.
  bool is_known() const { return is_known_; }
  // The lag in steps: a power of two of at least that, or 0; so that ranks that saw nearly as many
  // agree.
  std::uint64_t steps() const;

  // Whether a message of step `position` should be watched, and that it is.
  bool wants_watch(std::uint64_t position) const { return !is_watched_ && position >= next_; }
  void watch(std::uint64_t position);
  bool is_watched() const { return is_watched_; }

  // Notes that the watched message is complete; step `position` was the last to begin.
  void complete(std::uint64_t position);
  bool is_complete() const { return is_complete_; }
  // The next message is about to leave, and so many of those before it are on their way still, as
  // the system has them in its buffers.
  void end(double under_way, std::uint64_t position);
  // Nobody will learn when it is complete; or step `position` begins.
  void lose(std::uint64_t position);
  void pass(std::uint64_t position);
  // Another message is watched in its place.
  void drop() { is_watched_ = is_complete_ = false; }

 private:
  void note(std::uint64_t steps, std::uint64_t position);

  bool is_known_ = false, is_watched_ = false, is_complete_ = false;
  std::uint64_t began_ = 0, seen_ = 0, next_ = 0, steps_ = 0;
};

}  // namespace thinwire::choose
