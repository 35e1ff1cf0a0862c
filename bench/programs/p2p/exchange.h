// The timed exchanges of p2p between ranks 0 and 1.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "p2p/buffers.h"

namespace thinwire::bench {

// Data that p2p sends, and what it makes of what arrives.

// `count` values: those of the file at `path` over and over, or, if that is empty, a pattern.
// The same on every rank. Empty if the file cannot be read or holds no value.
std::vector<float> make_data(const std::string& path, const std::string& pattern,
                             std::size_t count);

// Judges all arrivals of one message against what was sent.
class Arrivals {
 public:
  Arrivals(std::span<const float> sent, Memory memory)
      : sent_(sent), buffer_(make_buffer(memory, sent.size())), received_(sent.size()) {}

  // Returns where to receive. Every value is NaN before, so that one which nobody wrote shows.
  float* prepare();

  // The part of a receive that MPI leaves to the program.
  void finish() { buffer_->after_receive(); }

  // Looks at the message that arrived since, where it was to arrive.
  void check();

  // The largest difference of a value; NaN and infinity count as `broken`.
  double max_error() const { return max_error_; }
  // Whether each arrival had the bits that were sent.
  bool identical() const { return identical_; }
  // Whether a value was not finite though it was sent so, or two arrivals differed.
  bool broken() const { return broken_; }

 private:
  void compare_values();

  std::span<const float> sent_;
  std::unique_ptr<Buffer> buffer_;
  std::vector<float> received_;
  std::vector<float> first_;
  double max_error_ = 0;
  bool identical_ = true;
  bool broken_ = false;
};

inline constexpr int kWindow = 8;

// The two ranks, as one of them sees them, and the untimed messages between them.
class Pair {
 public:
  Pair(int rank, std::int64_t filler)
      : rank_(rank), other_(1 - rank), filler_(static_cast<std::size_t>(filler)) {}

  bool is_first() const { return rank_ == 0; }

  // Empties what a pause has filled up on the way from `rank`. Both call it; when it returns on
  // the sender, nothing is under way and the receiver is ready.
  void fill(int rank);

  void answer();
  void wait_for_answer();

 private:
  int rank_;
  int other_;
  std::vector<char> filler_;
};

// Messages that a rank sends, one or several at once. Staged messages need room of their own each,
// for a message under way must not be written to; others are sent from one place.
class Departures {
 public:
  Departures(std::span<const float> values, Memory memory, int at_once);

  int count() const { return count_; }
  Buffer& at(int index) { return *buffers_[index % buffers_.size()]; }

 private:
  int count_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

// Seconds of half a round trip, on rank 0.
double time_latency(Pair& pair, Departures& departures, Arrivals& arrivals);

// Seconds a message of a window from rank 0 to rank 1, on rank 0. Rank 0 passes no arrivals.
double time_window(Pair& pair, Departures& departures, std::vector<Arrivals>& window);

}  // namespace thinwire::bench
