// Messages between the ranks of a communicator, sent and received side by side until all are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "segment.h"

namespace fake_nccl {

// The calls' kinds.
enum : std::uint32_t {
  kAllReduce,
  kReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kMessage,
  kAlltoAll,
  kGather,
  kScatter
};

// The call that a rank believes it makes together with the other. Ranks that differ have called
// NCCL in different orders.
struct Call {
  std::uint32_t kind;
  std::uint32_t type;
  std::int32_t op;
  std::int32_t root;
  std::uint64_t count;

  bool operator==(const Call&) const = default;
};

struct Message {
  int peer;
  Call call;
  std::byte* data;  // not written by a send
  std::size_t bytes;
};

enum class Outcome { kDone, kMismatch, kStopped };

class Exchange {
 public:
  Exchange(Segment& segment, int rank, int ranks)
      : segment_(segment), rank_(rank), ranks_(ranks), peers_(ranks) {}

  void send(int peer, const Call& call, const void* data, std::size_t bytes);
  void receive(int peer, const Call& call, void* data, std::size_t bytes);

  // Bytes to be sent to other ranks.
  std::size_t bytes_out() const { return bytes_out_; }

  // Carries the exchange out; that of each pair of ranks goes in the order in which it was named.
  // Ends early if a rank of the communicator has failed.
  Outcome run();

 private:
  struct Part {
    Call call;
    std::byte* data;
    std::size_t bytes;
    std::size_t done = 0;  // of the call and the data after it
    Call got{};            // a receive's
  };

  // In order; those before `next` are done.
  struct Queue {
    std::vector<Part> parts;
    std::size_t next = 0;
    bool is_empty() const { return next == parts.size(); }
  };
  struct Peer {
    Queue sends, receives;
  };

  Peer& peer_of(int peer);
  bool advance_send(int peer);
  bool advance_receive(int peer);

  Segment& segment_;
  int rank_;
  int ranks_;
  std::vector<Peer> peers_;
  std::vector<int> busy_;  // with whom something is left to do
  bool mismatch_ = false;
  std::size_t bytes_out_ = 0;
};

// Positions in buffers.
inline std::byte* at(void* buffer, std::size_t offset) {
  return static_cast<std::byte*>(buffer) + offset;
}

inline const std::byte* at(const void* buffer, std::size_t offset) {
  return static_cast<const std::byte*>(buffer) + offset;
}

}  // namespace fake_nccl
