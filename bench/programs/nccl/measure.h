// The timed turns of one operation at one size: every way by turns, verified.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collective/data.h"
#include "nccl/by_hand.h"
#include "nccl/device.h"
#include "nccl/library.h"
#include "nccl/meeting.h"
#include "nccl/options.h"
#include "nccl/per_hop.h"

namespace thinwire::bench::nccl {

// The means of a rank of the job.
struct Job {
  const Options& options;
  const Place& place;
  Meeting& meeting;
  const Library& library;
  Device& device;
  const Data& data;
};

// Seconds of this rank, a call.
struct Taken {
  double whole = 0;  // until the result is there
  double host = 0;   // until the calls have returned
};

// One operation at one size on a communicator of its own: its buffers, each way to do it, and
// whether the result is right.
class Turns {
 public:
  // Collective, as the rest. Throws std::runtime_error, here and where a call fails; the process
  // ends with it.
  Turns(const Job& job, Operation operation, std::int64_t bytes);
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  ~Turns();

  // Options::calls of them, after a filler on every link in both directions, from a barrier on.
  Taken run(Way way);
  // Judges what the last run left; the same bits as before are not looked at twice.
  Judgement judge(Way way);
  // Whether this rank is one of those that must end with the same values.
  bool gets_shared() const;

  // A call of this way alone, done on return.
  void warm_up(Way way);
  // Small calls that count with those of this way where the library numbers calls.
  void count_on(Way way);

  // Counts of this way's calls by the preload library.
  Counts counts(Way way) const;
  // Seconds of this way's messages, where the program codes them.
  Phases phases(Way way) const;

  std::int64_t count() const { return count_; }

 private:
  void make_hops(Way way);
  void enqueue(Way way);
  void enqueue(const Calls& calls);
  End end() const { return {group_, comm_, job_.device.stream()}; }
  Tolerance tolerance(Way way) const;
  std::size_t width() const { return static_cast<std::size_t>(size_of(job_.options.dtype)); }

  const Job& job_;
  Operation operation_;
  std::int64_t count_;  // of the array, or of one rank's block
  Group group_;
  ncclComm_t comm_;
  std::vector<char> sent_;
  std::unique_ptr<Check> check_;
  std::unique_ptr<Buffer> send_, receive_, filler_[2], small_[2];
  std::unique_ptr<PerHop> hops_[kWays];  // by way, those that need it
  const ByHand* by_hand_[kWays] = {};    // the messages of these, where a program codes them
  double range_ = 0;  // of what ranks contribute to a sum: all of theirs together
  std::vector<char> received_;
  std::optional<Judgement> judged_[kWays];  // the last of each way
};

// Results of the turns of one way, of all ranks together and the same on each of them.
struct Outcome {
  Way way;
  std::vector<double> seconds, host_seconds;  // of the slowest rank, sorted, a call
  std::int64_t wrong = 0;                     // elements, of all turns and ranks
  double max_error = 0, relative_error = 0;   // the second over the array, by squares
  bool identical = true;  // where all ranks get the same, they had the same bits
  // Counts of the timed turns, by the preload library or the messages: sums over the ranks.
  Counts counts;
  Phases phases;  // of the timed turns, on this rank
  int warm_up_calls = 0;
  std::string why_raw;  // why calls are not coded after all warm-up; empty if they are
};

struct Measurement {
  Operation operation;
  std::int64_t bytes, count;
  std::string presence;
  std::vector<Outcome> ways;
};

// Throws std::runtime_error if a run fails.
Measurement measure(const Job& job, Operation operation, std::int64_t bytes);

}  // namespace thinwire::bench::nccl
