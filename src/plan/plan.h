// Whether one point-to-point message is compressed. Pure: no clock, no environment, no MPI.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "codec/spec.h"
#include "plan/cost.h"

namespace thinwire::plan {

// Values are part of the C ABI (tw_peer, tw_reason); never renumber.
enum class Peer : std::uint32_t { kSelf = 0, kSameNode = 1, kOtherNode = 2, kUnknown = 3 };

enum class Reason : std::uint32_t {
  kCompress = 0,
  kOff = 1,
  kNoLink = 2,
  kBelowThreshold = 3,
  kDtype = 4,
  kSameNode = 5,
  kPeerNotReady = 6,
  kLinkFaster = 7,
  kMode = 8,
  kDeclined = 9,
  kNoMemory = 10,
  kShape = 11,
  kReductionsAlone = 12,
  kReductionOfAuto = 13,
  kBoundTooSmall = 14,
  kOperation = 15,
  kDeclinedLately = 16,
  kHoldsIntegers = 17,
  kCostUnknown = 18,
  kSchedule = 19,
  kPassedOn = 20,
};
inline constexpr int kReasonCount = 21;

// One short phrase, as in "below the threshold".
const char* reason_text(Reason reason);

struct Settings {
  std::uint64_t threshold = 0;
  bool same_node = false;
  double link_bytes_per_second = 0;  // 0: not stated
  CodecCost cost;                    // read only if a link is stated
  bool force = false;                // compress whatever it costs
};

struct Facts {
  std::uint64_t bytes = 0;
  Dtype dtype = Dtype::kBytes;
  Peer peer = Peer::kUnknown;
  bool peer_ready = false;
};

struct Choice {
  Reason reason = Reason::kCompress;
  double raw_seconds = 0;  // predicted; 0 if no link is stated
  double compressed_seconds = 0;
  double least_ratio = 0;  // below this one raw is faster
};

Choice plan_message(const codec::Spec& spec, const Settings& settings, const Facts& facts);

}  // namespace thinwire::plan
