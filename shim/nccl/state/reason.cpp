#include "state/reason.h"

#include "base/dtype.h"

namespace thinwire::nccl {
namespace {

bool takes(const CodecUse& use, std::uint32_t dtype) {
  return dtype != TW_BYTES && (use.dtypes >> dtype & 1U) != 0;
}

int reason_for_any(const CodecUse& use, std::uint32_t dtype, std::uint64_t bytes) {
  if (use.dtypes == 0) return TW_RAW_OFF;
  if (bytes < settings().threshold || bytes == 0) return TW_RAW_BELOW_THRESHOLD;
  if (use.lacks_link) return TW_RAW_NO_LINK;
  return takes(use, dtype) ? kNotBuilt : static_cast<int>(TW_RAW_DTYPE);
}

}  // namespace

const char* reason_text(int reason) {
  switch (reason) {
    case kNotBuilt:
      return "no GPU that this build could use";
    case kAlone:
      return "to itself, or of one rank";
    case kNotKnownYet:
      return "not known yet who has the library";
    case kNotAgreed:
      return "not agreed yet for calls of this kind";
    case kNotSmaller:
      return "calls of this kind did not get smaller";
    case kNotWhole:
      return "no whole number of the type that messages of this size are sent as";
    case kCaptured:
      return "captured into a graph";
    case kBeingTimed:
      return "being timed, raw and compressed";
    case kNotFaster:
      return "faster raw, as timed";
    case kManyConnections:
      return "NCCL would have to connect with too many ranks";
    case kSiblingsUnknown:
      return "siblings not known";
    case kInWindow:
      return "in a registered window of symmetric memory";
    case kNoCtas:
      return "zero-CTA policy of the communicator";
    case kManySteps:
      return "too many steps or peers for what it could save";
    case kNotInOrder:
      return "cannot be added in the order of the ranks";
    case kUnusual:
      return "arguments for NCCL to judge";
    case kPairUnreachable:
      return "no connection between the two ranks' helpers";
    case kNoThread:
      return "a rank has no thread to serve compressed calls";
    case kConfigured:
      return "configured by the program for NCCL";
    default:
      break;
  }
  return tw_reason_text(static_cast<tw_reason>(reason));
}

std::uint64_t element_bytes(ncclDataType_t type) {
  constexpr std::uint8_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  const auto index = static_cast<unsigned>(type);
  return index < sizeof kBytes ? kBytes[index] : 0;
}

std::uint32_t dtype_of(ncclDataType_t type) {
  switch (type) {
    case ncclFloat32:
      return TW_F32;
    case ncclFloat64:
      return TW_F64;
    case ncclFloat16:
      return TW_F16;
    case ncclBfloat16:
      return TW_BF16;
    case ncclFloat8e4m3:
      return TW_F8_E4M3;
    case ncclFloat8e5m2:
      return TW_F8_E5M2;
    default:
      return TW_BYTES;
  }
}

int reason_for(const CodecUse& use, std::uint32_t dtype, std::uint64_t bytes) {
  const int reason = reason_for_any(use, dtype, bytes);
  return reason == kNotBuilt && use.sums_alone ? int{TW_RAW_REDUCTIONS_ALONE} : reason;
}

int reason_for_sum(const CodecUse& use, std::uint32_t dtype, bool sums, std::uint64_t bytes) {
  const int reason = reason_for_any(use, dtype, bytes);
  if (reason != kNotBuilt) return reason;
  if (!is_added(static_cast<Dtype>(dtype))) return TW_RAW_DTYPE;
  if (!use.sums) return TW_RAW_REDUCTION_OF_AUTO;
  return sums ? kNotBuilt : static_cast<int>(TW_RAW_OPERATION);
}

}  // namespace thinwire::nccl
