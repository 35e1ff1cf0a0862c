// The library's communicator over MPI_COMM_WORLD.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective/options.h"
#include "thinwire/thinwire.h"

namespace thinwire::bench {

// Throws std::runtime_error with the library's sentence if a call fails.
class Codec {
 public:
  explicit Codec(const std::string& spec);
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  ~Codec() { tw_codec_destroy(codec_); }

  const tw_codec* get() const { return codec_; }
  bool is_lossless() const;

 private:
  tw_codec* codec_ = nullptr;
};

class Communicator {
 public:
  // Collective; `nodes` are those of the ranks if they are not apart. Throws std::runtime_error.
  Communicator(const Options& options, const std::vector<std::int32_t>& nodes);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { tw_comm_destroy(comm_); }

  // Empty if the call can be run, else why not: the same on every rank, as nothing is sent.
  std::string refusal(const tw_collective& call) const;

  // Throws std::runtime_error.
  tw_collective_report run(const tw_collective& call);

 private:
  tw_comm* comm_ = nullptr;
};

// One case's call of an operation, its buffers aside.
tw_collective make_call(const Options& options, tw_operation operation, const Case& one,
                        const Codec& codec, std::int64_t count);

}  // namespace thinwire::bench
