#include "comm/call.h"

namespace thinwire::comm {
namespace {

Status refused(const char* what) { return {StatusCode::kInvalidArgument, what}; }

}  // namespace

Status check(const Call& call, int size) {
  if (static_cast<int>(call.operation) >= plan::kOperationCount) {
    return refused("no such operation");
  }
  if (static_cast<int>(call.dtype) >= kDtypeCount) return refused("no such dtype");
  if (static_cast<int>(call.reduction) >= plan::kReductionCount) {
    return refused("no such reduction");
  }
  if (call.root < 0 || call.root >= size) return refused("the root is no rank");
  if (plan::reduces(call.operation) && !is_added(call.dtype)) {
    return {StatusCode::kUnsupported, std::string(dtype_name(call.dtype)) + " cannot be reduced"};
  }
  if ((call.send_counts == nullptr) != (call.send_displacements == nullptr)) {
    return refused("send counts and displacements come together");
  }
  const bool only_counts = call.operation == plan::Operation::kReduceScatter;
  if ((call.receive_counts == nullptr) != (call.receive_displacements == nullptr) &&
      !(only_counts && call.receive_displacements == nullptr)) {
    return refused("receive counts and displacements come together");
  }
  return {};
}

}  // namespace thinwire::comm
