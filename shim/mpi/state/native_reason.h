// Why a collective stays the MPI's own.
#pragma once

#include <cstdint>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// The reasons of messages, and some that only collectives have.
enum class NativeReason : std::uint32_t {
  kCompressed = TW_COMPRESS,  // it does not
  kOff = TW_RAW_OFF,
  kNoLink = TW_RAW_NO_LINK,
  kBelowThreshold = TW_RAW_BELOW_THRESHOLD,
  kDtype = TW_RAW_DTYPE,
  kSameNode = TW_RAW_SAME_NODE,
  kPeerNotReady = TW_RAW_PEER_NOT_READY,
  kWouldNotGain = TW_RAW_LINK_FASTER,
  kCostUnknown = TW_RAW_COST_UNKNOWN,  // non-blocking, before a blocking one
  kOfMessages = TW_REASON_COUNT - 1,
  kNotNamed,            // THINWIRE_COLLECTIVES leaves it out
  kReduction,           // an operation of the program's, or one that has no compressed form
  kReductionUnderAuto,  // only a codec that is named changes the order of a sum
  kCommunicator,        // between two groups, or of one process
  kSettingsDiffer,      // between the ranks
  kNoCommunicator,      // the private one could not be made
  kNotYet,              // non-blocking, before the first blocking one on the communicator
  kNoThreads,           // non-blocking, and a rank has no MPI_THREAD_MULTIPLE
  kArguments,           // for the MPI to judge
  kNoSchedule,
  kNotKnown,    // the launcher does not say what a rank runs: the call fails
  kBeingTimed,  // the ranks find out whether compressing calls of its class pays
  kNotFaster,   // they agree that those are faster raw
  kNoThread,    // to run what is started: some rank's system has refused it
  kNotNow,      // the program makes communicators, so the library cannot
  kCount,
};
constexpr int kNativeReasons = static_cast<int>(NativeReason::kCount);

inline const char* native_reason_text(NativeReason reason) {
  switch (reason) {
    case NativeReason::kNotNamed:
      return "not named in THINWIRE_COLLECTIVES";
    case NativeReason::kReduction:
      return "an operation without a compressed form";
    case NativeReason::kReductionUnderAuto:
      return "a reduction, which the codec leaves native";
    case NativeReason::kCommunicator:
      return "between groups or of one process";
    case NativeReason::kSettingsDiffer:
      return "the settings of the ranks differ";
    case NativeReason::kNoCommunicator:
      return "no private communicator";
    case NativeReason::kNotYet:
      return "non-blocking before the first blocking one";
    case NativeReason::kNoThreads:
      return "non-blocking without MPI_THREAD_MULTIPLE";
    case NativeReason::kArguments:
      return "arguments for the MPI to judge";
    case NativeReason::kNoSchedule:
      return "no schedule";
    case NativeReason::kNotKnown:
      return "not known what a rank runs";
    case NativeReason::kBeingTimed:
      return "being timed, raw and compressed";
    case NativeReason::kNotFaster:
      return "faster raw, as timed";
    case NativeReason::kNoThread:
      return "a rank has no thread to serve compressed calls";
    case NativeReason::kNotNow:
      return "the program is making communicators";
    default:
      return tw_reason_text(static_cast<tw_reason>(reason));
  }
}

}  // namespace thinwire::mpi
