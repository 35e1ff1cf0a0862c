// The process of a rank of a communicator: where it runs and whether it speaks this format.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "choose/backoff.h"
#include "shim/mpi/native/mpi_abi.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Outcomes of attempts to encode for one peer, by what is sent.

// The channels to one peer: one for each dtype and, under a policy, each codec, as a codec that
// declines says little of another. Codecs beyond the first few share their channels.
class Channels {
 public:
  choose::SharedBackoff& of(tw_dtype dtype, unsigned codec) {
    return channels_[dtype + kDtypes * (codec % kCodecs)];
  }
  void doubt() {
    for (choose::SharedBackoff& channel : channels_) channel.doubt();
  }

 private:
  static constexpr std::size_t kDtypes = TW_F8_E5M2 + 1, kCodecs = 4;
  std::array<choose::SharedBackoff, kDtypes * kCodecs> channels_;
};

struct Peer {
  bool known = true;  // false: its capabilities could not be asked for now; ask again
  tw_peer place = TW_PEER_UNKNOWN;
  int world_rank = -1;                  // in MPI_COMM_WORLD; -1: of another job
  bool ready = false;                   // it decodes what this process encodes
  bool may_send_compressed = false;     // to this process
  std::uint64_t inspect_threshold = 0;  // no wire message to it may be shorter
  Channels* channels = nullptr;  // to it; there after it is known, as long as the communicator
};

struct KnownPeer {
  Peer peer;
  Channels channels;  // changed without the lock
};

class ErrorTarget;
class EarlyMessage;

// How many early messages (message/early_messages.h) all communicators keep.
extern std::atomic<std::uint64_t> early_message_count;

// How reductions of a communicator may be added (collective/sum_order.h).
struct SumFacts {
  bool is_ours = false;  // all ranks run this library with these settings
  bool is_within_node = false;
};

// Rules of the policy that may take a communicator's collectives, by the name that it had as its
// ranks compared them, once.
struct ComparedRules {
  bool are_known = false;  // the ranks have compared them
  bool are_alike = false;  // else the ranks call it differently
  std::uint64_t rules = 0;
};

// Facts that the shim keeps with a communicator, as an attribute of it. Grows with the peers that
// this process talks to, not with the communicator.
struct CommFacts {
  std::mutex mutex;  // guards all below; nothing that raises errors is called under it
  std::unordered_map<int, KnownPeer> peers;
  std::deque<std::shared_ptr<EarlyMessage>> early_messages;  // per source in order of arrival
  std::shared_ptr<ErrorTarget> errors;                       // after a receive was pending
  std::optional<SumFacts> sums;  // after a reduction that may be added in the order of the ranks
  ComparedRules compared_rules;
  ~CommFacts();
};

CommFacts& comm_facts(MPI_Comm comm);

// Makes `facts` the communicator's.
void keep_facts(MPI_Comm comm, CommFacts* facts);

// nullptr if nothing is kept with it.
CommFacts* known_facts(MPI_Comm comm);

// `rank` as in a send on `comm`; MPI_PROC_NULL and ranks out of range are unknown peers.
Peer peer_of(MPI_Comm comm, int rank);

// Whether any rank of the job may.
bool anybody_compresses();

// Whether another thread's probe may take a receive's message out of the MPI at any moment.
bool may_be_pulled();

// Whether a receive from `source` (or MPI_ANY_SOURCE) can meet a compressed message.
bool may_receive_compressed(MPI_Comm comm, int source);

void release_peers();

}  // namespace thinwire::mpi
