// Decisions about calls: a number, a plan, and why a call goes raw if it does.
#pragma once

#include <cstdint>
#include <optional>

#include "run/call.h"
#include "run/kinds.h"
#include "run/plans.h"

namespace thinwire::nccl {

class Compressor;

// A call's place among those that are numbered together.
struct CallNumber {
  Compressor* compressor = nullptr;
  Track* track = nullptr;
  std::uint64_t number = 0;
  Kind* of = nullptr;     // none if it cannot be coded
  bool has_turn = false;  // of its kind
  cudaStream_t stream = nullptr;
  bool is_captured = false;
};

// The decision about one call.
struct Decision {
  ncclResult_t failure = ncclSuccess;  // else the call fails, and nothing is enqueued
  int reason = 0;                      // why it goes raw; 0: coded
  std::uint64_t number = 0;            // as slots have it
  Plan* plan =
      nullptr;  // of a coded call, or of a sample encode; given back when the stream is past it
  Plan* result_sample = nullptr;  // of the second exchange, after the raw call
  CallNumber call_number;
  Kind* of[2] = {};
  std::optional<Turn> turn{};  // where its blocks would fit
  bool again = false;          // a sample encode of what was raw
  std::uint32_t dtype = 0;     // of what is encoded, tw_dtype
  unsigned codec = 0;          // of Settings::codecs
  int rule = -1;               // of the policy, that took it
  bool is_raw = false;         // as the ranks have agreed, or have not agreed yet
  // A raw sum whose values go without slots, and which is added in the order of the ranks; `plan`,
  // if there is one, is a sample encode's all the same.
  bool in_order = false;
  bool coded() const { return failure == ncclSuccess && reason == 0; }
  bool is_timed() const { return turn && turn->timing_round != 0; }
};

// A call of a group that could be coded.
struct Grouped {
  Kind* of;
  cudaStream_t stream;
};

enum class Part { kCall, kSample, kResultSample };

}  // namespace thinwire::nccl
