#include "base/status.h"

namespace thinwire {

const char* status_text(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kNotAFrame:
      return "not a frame";
    case StatusCode::kVersion:
      return "another format version";
    case StatusCode::kDamaged:
      return "damaged frame";
    case StatusCode::kTooSmall:
      return "destination too small";
    case StatusCode::kDeclined:
      return "declined";
    case StatusCode::kInternal:
      return "internal error";
    case StatusCode::kDevice:
      return "GPU or driver failure";
    case StatusCode::kHoldsIntegers:
      return "holds integers";
  }
  return "unknown status";
}

}  // namespace thinwire
