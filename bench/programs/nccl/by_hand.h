// Messages that a program codes itself, as the first integrations of codecs did: the baselines that
// published gains are measured against.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nccl/device.h"
#include "nccl/library.h"
#include "nccl/options.h"
#include "nccl/per_hop.h"
#include "thinwire/thinwire.h"

namespace thinwire::bench::nccl {

// Seconds of this rank, since the start.
struct Phases {
  double allocate = 0;  // GPU memory, asked for and given back, and the query of the GPU
  double encode = 0, decode = 0;
  double copy = 0;      // between GPU and host
  double transfer = 0;  // sizes and frames, with the wait for the other rank

  Phases since(const Phases& earlier) const {
    return {allocate - earlier.allocate, encode - earlier.encode, decode - earlier.decode,
            copy - earlier.copy, transfer - earlier.transfer};
  }
};

// `naive`: for each message it asks for the GPU's properties, allocates a frame and a workspace,
// encodes, copies the frame's size to the host, sends it and then the frame, and gives all back.
// `host`: arrays are copied to pinned host memory, coded there by one thread, and frames copied
// back for NCCL. Values travel as the library's own frames in both.
class ByHand : public Messages {
 public:
  // `most` elements are the longest message. Throws std::runtime_error, as the rest.
  ByHand(const Calls& calls, Device& device, ncclComm_t comm, tw_dtype dtype,
         const std::string& codec, bool on_host, std::int64_t most);
  ~ByHand() override;

  void exchange(const Sent& sent, const Received& received) override;

  Counts counts() const { return counts_; }
  const Phases& phases() const { return phases_; }

 private:
  struct Frame;

  void naive(const Sent& sent, const Received& received);
  void by_host(const Sent& sent, const Received& received);
  tw_shape shape_of(std::int64_t count) const;
  std::uint64_t bound_of(std::int64_t count) const;
  std::uint64_t encode_naively(const Sent& sent, char* frame, std::uint64_t capacity);
  void decode_naively(const char* frame, std::uint64_t bytes, const Received& received);
  // Gives that of the frame that comes.
  std::uint64_t swap_sizes(std::uint64_t own, int to, int from);
  void transfer(const char* send, std::uint64_t sent, int to, char* receive, std::uint64_t received,
                int from);
  void count(std::int64_t elements, std::uint64_t frame);

  const Calls& calls_;
  Device& device_;
  ncclComm_t comm_;
  tw_dtype dtype_;
  bool on_host_;
  tw_codec* codec_ = nullptr;
  Buffer sizes_;                                // of the frame sent, and of the one that comes
  std::unique_ptr<Buffer> frames_[2];           // `host`: sent, and come
  std::unique_ptr<HostBuffer> array_, packed_;  // `host`
  Counts counts_;
  Phases phases_;
};

}  // namespace thinwire::bench::nccl
