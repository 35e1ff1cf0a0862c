// Outcomes of attempts to encode for one peer, by what is sent.
#pragma once

#include <array>
#include <cstddef>

#include "choose/backoff.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

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

}  // namespace thinwire::mpi
