// One call of the program's that moves data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "native/cuda.h"
#include "native/nccl_abi.h"
#include "state/communicators.h"
#include "state/operation.h"
#include "state/own_sums.h"
#include "state/policy.h"

namespace thinwire::nccl {

// Wishes of a program for one collective, by the configuration that NCCL's twins of the collectives
// take. NCCL wants the same on every rank.

// Whether it can be read; NCCL refuses others.
bool may_be_sound(const ncclCollConfig_t& config);

// Whether a call in slots does all that it asks: it leaves all to NCCL. A tag for profilers may
// differ by rank and changes nothing of what travels. What later versions add is unknown here.
bool asks_nothing(const ncclCollConfig_t& config);

// A copy for a call that is made later, with the name of the algorithm: the program's may end as
// its call returns. What extensions point to stays the program's.
class KeptConfig {
 public:
  explicit KeptConfig(const ncclCollConfig_t& of);
  KeptConfig(const KeptConfig&) = delete;
  KeptConfig& operator=(const KeptConfig&) = delete;

  const ncclCollConfig_t* get() const {
    return reinterpret_cast<const ncclCollConfig_t*>(words_.data());
  }

 private:
  std::vector<std::uint64_t> words_;
  std::string selection_;
};

struct Call {
  Operation operation = kAllReduce;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t elements = 0;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  int peer = 0;  // the root, or the other rank of a message
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  const ncclCollConfig_t* config = nullptr;  // the program's, while the call lasts
  std::optional<Factor> factor{};  // of a reduction of the program's own: copied, as that may end
  Choice choice{};                 // of the policy, or what holds without one
  std::uint64_t rules = 0;         // of the policy, that may take calls of its communicator
  // The reason why a message goes raw as the type that this rank calls it by, if another could be
  // coded. The other end may know it by that one.
  int raw_as_called = 0;
  // The reason why NCCL is to have it as it is, by what this rank knows; 0: none. Other ranks may
  // know none.
  int left_to_nccl = 0;
  // A sum of floats that is added in the order of the ranks, compressed or raw; and the reason by
  // its arguments for which it is raw.
  bool is_ordered = false;
  int raw_in_order = 0;
  Capture capture{};                         // of the stream, when the call is made
  std::uint64_t place = 0;                   // in the program's group
  std::shared_ptr<const KeptConfig> kept{};  // likewise: what `config` is, if the call has one

  bool is_captured() const { return capture.state == Capture::State::kActive; }
  bool is_message() const { return operation == kSend || operation == kRecv; }
  bool does(unsigned traits) const { return (kOperationRows[operation].traits & traits) != 0; }
  bool is_exchange() const { return does(kOfMessages); }
  // Whether every rank gives to every other.
  bool is_of_all_pairs() const { return is_exchange() && !does(kOfRoot | kAtRoot); }
  // Whether NCCL makes messages of it: after a group's collectives, in the program's order.
  bool is_of_messages() const { return is_message() || is_exchange(); }
  bool has_peer() const { return is_message() || does(kOfRoot | kAtRoot); }
  bool reduces() const { return does(kReduces); }
  bool sums() const { return op == ncclSum || op == ncclAvg || factor; }
  // Whether this rank's data goes to others: `send` is read.
  bool reads(int rank) const { return operation != kRecv && (!does(kOfRoot) || peer == rank); }
  bool writes(int rank) const { return operation != kSend && (!does(kAtRoot) || peer == rank); }
  // How many blocks of `elements` a rank gives that reads.
  int blocks(int ranks) const { return does(kBlockEach) ? ranks : 1; }
};

// NCCL's own function for it.
ncclResult_t pass(const Call& call);

}  // namespace thinwire::nccl
