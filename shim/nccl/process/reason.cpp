#include "process/reason.h"

namespace thinwire::nccl {
namespace {

bool takes(const Settings& settings, ncclDataType_t type) {
  switch (type) {
    case ncclFloat32:
      return (settings.codec_dtypes >> TW_F32 & 1U) != 0;
    case ncclFloat64:
      return (settings.codec_dtypes >> TW_F64 & 1U) != 0;
    case ncclFloat16:
      return (settings.codec_dtypes >> TW_F16 & 1U) != 0;
    case ncclBfloat16:
      return (settings.codec_dtypes >> TW_BF16 & 1U) != 0;
    default:
      return false;
  }
}

bool is_auto(const Settings& settings) { return tw_codec_id(settings.codec) < 0; }

}  // namespace

const char* reason_text(int reason) {
  if (reason == kNotBuilt) return "this version compresses no calls of NCCL";
  return tw_reason_text(static_cast<tw_reason>(reason));
}

std::uint64_t element_bytes(ncclDataType_t type) {
  constexpr std::uint8_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  const auto index = static_cast<unsigned>(type);
  return index < sizeof kBytes ? kBytes[index] : 0;
}

int reason_for(const Settings& settings, ncclDataType_t type, std::uint64_t bytes) {
  if (settings.codec_dtypes == 0) return TW_RAW_OFF;
  if (bytes < settings.threshold) return TW_RAW_BELOW_THRESHOLD;
  if (is_auto(settings) && !settings.link_is_stated) return TW_RAW_NO_LINK;
  return takes(settings, type) ? kNotBuilt : static_cast<int>(TW_RAW_DTYPE);
}

int reason_for_sum(const Settings& settings, ncclDataType_t type, ncclRedOp_t op,
                   std::uint64_t bytes) {
  const int reason = reason_for(settings, type, bytes);
  const bool adds = op != ncclProd && op != ncclMax && op != ncclMin;
  if (reason != kNotBuilt) return reason;
  if (is_auto(settings)) return TW_RAW_REDUCTION_OF_AUTO;
  return adds ? kNotBuilt : static_cast<int>(TW_RAW_OPERATION);
}

}  // namespace thinwire::nccl
