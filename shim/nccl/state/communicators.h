// The program's communicators, and what it asked of NCCL on each.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agree/agree.h"
#include "native/nccl_abi.h"
#include "state/counters.h"
#include "state/own_sums.h"
#include "state/timings.h"
#include "state/windows.h"

namespace thinwire::nccl {

// A part of a communicator that NCCL may not have made yet.
struct SplitOff {
  agree::CommunicatorRef parent;
  std::uint64_t number = 0;  // of the split, among those of the parent
  int color = 0;
  bool blocks = true;  // the parent
  int meets = 0;       // the parent's rank in whose process they find each other
  std::string name{};  // of the part
  bool grown = false;  // ranks come to it that are new
  // The ranks that a shrink has lost, by which its numbers are counted.
  std::optional<std::uint64_t> lost{};
  bool is_all = false;  // it is what is left of all the job's ranks, or more than these
};

class Compressor;
struct Unfinished;

struct Communicator {
  int ranks = 0;  // 0: NCCL did not say
  int rank = 0;
  std::string name;                   // as its configuration has it; "": none
  std::uint64_t rules = 0;            // of the policy, that may take its calls
  agree::CommunicatorRef agreed;      // none: nothing could be compressed, or it is not ready
  std::optional<SplitOff> split_off;  // its ranks are not known yet
  std::uint64_t splits = 0;           // of itself
  std::map<std::uint64_t, std::uint64_t> shrinks;  // likewise, by the ranks that it lost
  std::atomic<bool> finalized{false};              // it takes no more calls
  std::array<Counters, kOperations> of{};
  Timings timings;
  FreeMemories free_memory;
  OwnSums own_sums;
  Windows windows;
  std::atomic<bool> zero_ctas{false};            // its configuration has that policy
  bool blocks = true;                            // its calls do
  bool has_siblings = false;                     // see state/job.h
  bool prepared = false;                         // what its calls launch has been loaded
  std::atomic<bool> revoked{false};              // what has failed since is no error
  std::atomic<bool> suspended{false};            // NCCL is to refuse its calls
  std::atomic<bool> out_of_step{false};          // the number of a call is missing here
  std::uint64_t grows = 0;                       // of itself
  std::shared_ptr<Unfinished> unfinished;        // see entry/unfinished.h
  std::atomic<bool> is_unfinished{false};        // whether there is one
  std::atomic<Compressor*> compressor{nullptr};  // after a call could be coded; destroyed with this
  std::atomic<bool> is_let_go{false};            // the call that ended it is over
  std::size_t together = 0;                      // figures of so many that have ended
};

// The communicator of a handle; made when it is first seen, whoever made the handle. Calls
// `complete`, with nobody else at it, on one that NCCL has made and whose ranks are not known yet.
using Complete = void (*)(ncclComm_t, Communicator&);
Communicator& find_or_begin(ncclComm_t comm, Complete complete);

// NCCL has made it, or is about to. What was known by this handle is another one's.
void begin(ncclComm_t comm, int ranks, int rank, agree::CommunicatorRef agreed, bool blocks,
           bool has_siblings, const std::string& name);
void begin_split_off(ncclComm_t comm, SplitOff from);
// Calls `then` with it, alone; with null if nobody began it.
void with_begun(ncclComm_t comm, const std::function<void(Communicator*)>& then);

// The communicator's agreement, while another thread may learn of its ranks.
agree::CommunicatorRef agreed_of(const Communicator& communicator);

// The communicator of a handle; null if nobody began it.
Communicator* begun(ncclComm_t comm);

// Forgets a communicator that ends, or null: a later one may have its handle, or has it already.
// Its figures stay for the report. What it had agreed is for the caller to end.
void forget(ncclComm_t comm, const Communicator* ended);

// Whether any has not been forgotten.
bool is_any_living();

// The program's last call on it is over. Returns communicators that ended earlier, of which nothing
// but their figures is needed any more, for the caller to destroy; `is_free` says whether nobody
// refers to one.
std::vector<Communicator*> note_let_go(Communicator& ended, bool (*is_free)(const Communicator&));

// Whether there were any.
bool had_communicators();
// While one lives no communicator is destroyed.
class Reading {
 public:
  Reading();
  ~Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  // All there were until now, in the order in which they were seen; others count meanwhile.
  std::vector<Communicator*> all;
};

}  // namespace thinwire::nccl
