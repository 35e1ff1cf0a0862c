#include "comm/communicator.h"

namespace thinwire::comm {
namespace {

using plan::Algorithm;
using plan::Operation;

Algorithm usual(Operation operation) {
  switch (operation) {
    case Operation::kBcast:
      return Algorithm::kChain;
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kReduce:
      return Algorithm::kBinomial;
    case Operation::kAlltoall:
      return Algorithm::kPairwise;
    default:
      return Algorithm::kRing;
  }
}

}  // namespace

Result<Choice> Communicator::choose(const Call& call) const {
  Choice choice;
  choice.algorithm = call.algorithm == Algorithm::kPlanned ? usual(call.operation) : call.algorithm;
  choice.coding = call.coding == plan::Coding::kPlanned ? plan::Coding::kOnce : call.coding;
  choice.piece_bytes = options_.piece_bytes == 0 ? 512 * 1024 : options_.piece_bytes;
  choice.window = 8;
  if (call.spec.kind == codec::Spec::Kind::kOff) choice.reason = plan::Reason::kOff;
  if (call.spec.kind == codec::Spec::Kind::kCodec && !call.spec.codec->takes(call.dtype)) {
    choice.reason = plan::Reason::kDtype;
  }
  if (call.spec.kind == codec::Spec::Kind::kAuto && call.dtype == Dtype::kBytes) {
    choice.reason = plan::Reason::kDtype;
  }
  return choice;
}

}  // namespace thinwire::comm
