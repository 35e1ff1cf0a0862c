// Findings of the ranks about each kind of a communicator's calls: whether compressing them pays,
// as timed. For the report and for the log's level "plan".
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "agree/agree.h"

namespace thinwire::nccl {

struct Communicator;

struct Timing {
  int operation = 0;
  std::uint32_t dtype = 0;        // tw_dtype
  std::uint64_t least_bytes = 0;  // of the kind: below twice as many
  unsigned codec = 0;             // of Settings::codecs
  int peer = -1;  // of a message the other rank, of a Broadcast or Scatter the root; -1: neither
  std::uint32_t timing_round = 0;  // how many there have been
  choose::RoundTimes times{};      // of the rank that took longest
  bool codes = false;

  bool is_of(const Timing& other) const {
    return operation == other.operation && dtype == other.dtype && codec == other.codec &&
           least_bytes == other.least_bytes && peer == other.peer;
  }
};

// The last one of each kind.
class Timings {
 public:
  void put(const Timing& made);
  std::vector<Timing> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Timing> of_kinds_;
};

// A call has come to a new one. Logged by one rank.
void note_timing(Communicator& communicator, const Timing& made);

// Writes them as a list of JSON objects, and as lines of a report in words.
std::string timings_as_json(const Communicator& communicator);
std::string timings_as_text(const Communicator& communicator);

}  // namespace thinwire::nccl
