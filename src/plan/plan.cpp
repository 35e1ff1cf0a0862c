#include "plan/plan.h"

#include "base/float_mode.h"

namespace thinwire::plan {
namespace {

Reason eligible(const codec::Spec& spec, const Settings& settings, const Facts& facts) {
  if (spec.kind == codec::Spec::Kind::kOff) return Reason::kOff;
  const bool is_auto = spec.kind == codec::Spec::Kind::kAuto;
  if (spec.needs_link() && settings.link_bytes_per_second <= 0 && !settings.force) {
    return Reason::kNoLink;
  }
  if (spec.reductions_alone) return Reason::kReductionsAlone;
  if (facts.bytes < settings.threshold) return Reason::kBelowThreshold;
  if (is_auto ? facts.dtype == Dtype::kBytes : !spec.codec->takes(facts.dtype, spec.parameter)) {
    return Reason::kDtype;
  }
  if (facts.peer == Peer::kSelf || facts.peer == Peer::kSameNode) {
    if (!settings.same_node) return Reason::kSameNode;
  }
  if (facts.peer == Peer::kUnknown || !facts.peer_ready) return Reason::kPeerNotReady;
  return Reason::kCompress;
}

}  // namespace

const char* reason_text(Reason reason) {
  switch (reason) {
    case Reason::kCompress:
      return "compressed";
    case Reason::kOff:
      return "codec off";
    case Reason::kNoLink:
      return "the link's rate is not known";
    case Reason::kBelowThreshold:
      return "below the threshold";
    case Reason::kDtype:
      return "datatype not taken by the codec";
    case Reason::kSameNode:
      return "peer on the same node";
    case Reason::kPeerNotReady:
      return "peer without this Thinwire";
    case Reason::kLinkFaster:
      return "would not gain";
    case Reason::kMode:
      return "synchronous or buffered send";
    case Reason::kDeclined:
      return "data declined by the codec";
    case Reason::kNoMemory:
      return "out of memory";
    case Reason::kShape:
      return "shape does not fit the count";
    case Reason::kReductionsAlone:
      return "bounded for reductions alone";
    case Reason::kReductionOfAuto:
      return "reductions left as they are";
    case Reason::kBoundTooSmall:
      return "bound too small for these values and ranks";
    case Reason::kOperation:
      return "operation not done compressed";
    case Reason::kDeclinedLately:
      return "not tried: data declined lately";
    case Reason::kHoldsIntegers:
      return "holds integers in the bits of doubles";
    case Reason::kCostUnknown:
      return "the codec's cost is not agreed yet";
    case Reason::kSchedule:
      return "left raw by the schedule";
    case Reason::kPassedOn:
      return "came raw from another rank";
  }
  return "unknown reason";
}

Choice plan_message(const codec::Spec& spec, const Settings& settings, const Facts& facts) {
  const DefaultFloatMode mode;
  Choice choice;
  choice.reason = eligible(spec, settings, facts);
  if (choice.reason != Reason::kCompress || settings.link_bytes_per_second <= 0) return choice;

  // The cost model of ARCHITECTURE.md, "Plan", terms in series: one message is one MPI message.
  const double bytes = static_cast<double>(facts.bytes);
  const CodecCost& cost = settings.cost;
  const double codec_seconds =
      bytes / cost.encode_bytes_per_second + bytes / cost.decode_bytes_per_second;
  const bool is_auto = spec.kind == codec::Spec::Kind::kAuto;
  choice.raw_seconds = bytes / settings.link_bytes_per_second;
  choice.least_ratio =
      codec_seconds < choice.raw_seconds ? 1 / (1 - codec_seconds / choice.raw_seconds) : 0;
  // Nobody knows yet what auto will make of the data; it asks for least_ratio after it does.
  const double ratio = is_auto ? kHopedRatio : cost.ratio;
  choice.compressed_seconds = codec_seconds + choice.raw_seconds / ratio;
  if (settings.force) {
    choice.least_ratio = 0;
    return choice;
  }
  // A cost that was never measured is 0 or NaN and must not count as a win.
  if (!(choice.compressed_seconds < choice.raw_seconds)) choice.reason = Reason::kLinkFaster;
  return choice;
}

}  // namespace thinwire::plan
