// Why a call of NCCL went raw.
#pragma once

#include <cstdint>

#include "native/nccl_abi.h"
#include "state/settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {

// Beside the core's tw_reason:
enum : int {
  kNotBuilt = TW_REASON_COUNT,  // it could be compressed, and there is no GPU or no CUDA in here
  kAlone,                       // one rank, or a message to itself
  kNotKnownYet,                 // who of the communicator's ranks has the library
  kNotAgreed,                   // the ranks have not agreed on calls of this kind
  kNotSmaller,                  // they agree that these do not get smaller
  kNotWhole,                    // a message is no whole number of the type that slots hold
  kCaptured,                    // into a graph
  kBeingTimed,                  // the ranks are finding out whether compressing them pays
  kNotFaster,                   // they agree that these are faster raw
  kManyConnections,             // NCCL would connect with more ranks than settings allow
  kUnusual,                     // arguments that NCCL is to judge
  kPairUnreachable,             // the helpers of a message's two ranks have no connection
  kNoThread,                    // a rank's system refuses the thread that serves compressed calls
  kConfigured,                  // the program asks something of NCCL's own algorithms
  kSiblingsUnknown,             // and it is not known which communicators decide together
  kInWindow,                    // on some rank: of symmetric memory, which NCCL has kernels for
  kNoCtas,                      // the program wants none used on the communicator
  kManySteps,                   // and peers, for what is predicted to be saved
  kNotInOrder,                  // a reduction that nobody here makes in the order of the ranks
  kReasons
};
const char* reason_text(int reason);

// Bytes of an element; 0 for a type that is not known here.
std::uint64_t element_bytes(ncclDataType_t type);

// tw_dtype; TW_BYTES for those that no codec takes.
std::uint32_t dtype_of(ncclDataType_t type);

// For a call of `bytes` of that tw_dtype under a codec, and for one that reduces: `sums` if it
// adds.
int reason_for(const CodecUse& use, std::uint32_t dtype, std::uint64_t bytes);
int reason_for_sum(const CodecUse& use, std::uint32_t dtype, bool sums, std::uint64_t bytes);

}  // namespace thinwire::nccl
