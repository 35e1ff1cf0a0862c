// What the program asked of NCCL, by communicator and operation.
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

#include "abi/nccl_abi.h"
#include "agree/agree.h"
#include "process/free_memory.h"
#include "process/own_sums.h"
#include "process/reason.h"
#include "process/verdicts.h"

namespace thinwire::nccl {

enum Operation {
  kAllReduce,
  kReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kSend,
  kRecv,
  kAlltoAll,
  kGather,
  kScatter,
  kOperations
};
const char* operation_name(int operation);

// Of one operation on one communicator.
struct Counters {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> bytes{0};  // that this rank gives the others, itself among them
  std::array<std::atomic<std::uint64_t>, kReasons> raw{};  // calls, by why they went raw
  std::atomic<std::uint64_t> compressed{0};                // calls
  std::atomic<std::uint64_t> wire_bytes{0};  // of `bytes`, as they travel beside what is spilled
  // Of compressed calls alone:
  std::atomic<std::uint64_t> compressed_bytes{0}, compressed_wire_bytes{0};
  std::atomic<std::uint64_t> frames{0};  // blocks of this rank that fitted their slots
  std::atomic<std::uint64_t> spilled_blocks{0}, spilled_blocks_received{0};
  // Of results, that were coded as differences from earlier ones; all ranks' blocks.
  std::atomic<std::uint64_t> difference_bytes{0};
  std::atomic<std::uint64_t> trials{0};  // encodes beside a raw call
};

struct Communicator;

// One call as it is counted.
struct Count {
  Communicator* communicator = nullptr;
  Operation operation = kAllReduce;
  int peer = -1;       // of a message
  unsigned codec = 0;  // of Settings::codecs
  int reason = 0;      // 0: compressed
  std::uint64_t bytes = 0;
  std::uint64_t wire_bytes = 0;
  int rule = -1;  // of the policy
};
void count(const Count& call);

// A part of a communicator that NCCL may not have made yet.
struct SplitOff {
  agree::CommunicatorRef parent;
  std::uint64_t number = 0;  // of the split, among those of the parent
  int color = 0;
  bool blocks = true;  // the parent
  int meets = 0;       // the parent's rank in whose process they find each other
  std::string name{};  // of the part
  bool grown = false;  // ranks come to it that are new
  // Of a shrink, by which its numbers are counted: which ranks are lost.
  std::optional<std::uint64_t> lost{};
  bool is_all = false;  // it is what is left of all the job's ranks, or more than these
};

class Coder;
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
  Verdicts verdicts;
  FreeMemories free_memory;
  OwnSums own_sums;
  bool blocks = true;                      // its calls do
  bool has_siblings = false;               // see process/job.h
  bool prepared = false;                   // what its calls launch has been loaded
  std::atomic<bool> revoked{false};        // what has failed since is no error
  std::atomic<bool> suspended{false};      // NCCL is to refuse its calls
  std::atomic<bool> out_of_step{false};    // the number of a call is missing here
  std::uint64_t grows = 0;                 // of itself
  std::shared_ptr<Unfinished> unfinished;  // see calls/unfinished.h
  std::atomic<bool> is_unfinished{false};  // whether there is one
  std::atomic<Coder*> coder{nullptr};      // once a call could be coded; destroyed with this
  std::atomic<bool> is_let_go{false};      // the call that ended it is over
  std::size_t together = 0;                // figures of so many that have ended
};

// What is counted for a communicator: made when it is first seen, whoever made the communicator.
Communicator& counted(ncclComm_t comm);

// NCCL has made it, or is about to. What was known by this handle is another one's.
void begin(ncclComm_t comm, int ranks, int rank, agree::CommunicatorRef agreed, bool blocks,
           bool has_siblings, const std::string& name);
void begin_split_off(ncclComm_t comm, SplitOff from);
// Calls `then` with it, alone; with null where nobody began it.
void with_begun(ncclComm_t comm, const std::function<void(Communicator*)>& then);

// What it has agreed on, while another thread may learn of its ranks.
agree::CommunicatorRef agreed_of(const Communicator& communicator);

// It; null where nobody began it.
Communicator* begun(ncclComm_t comm);

// That communicator ends, or null: a later one may have its handle, or has it already. Its figures
// stay for the report. What it had agreed is for the caller to end.
void forget(ncclComm_t comm, const Communicator* ended);

// Whether any has not been forgotten.
bool is_any_living();

// The program's last call on it is over: once nobody needs more of it, and it is none of the latest
// that have ended, it is destroyed.
void let_go(Communicator& ended);

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
