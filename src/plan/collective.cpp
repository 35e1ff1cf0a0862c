#include "plan/collective.h"

#include <algorithm>
#include <limits>

#include "base/float_mode.h"

namespace thinwire::plan {
namespace {

using Kind = codec::Spec::Kind;

constexpr std::uint32_t kWindow = 8;

// Chooses between algorithms if no link is stated: 10 Gbit/s.
constexpr double kUsualLink = 1.25e9;

bool is_bounded(const codec::Spec& spec, const CollectiveFacts& facts) {
  return reduces(facts.operation) && spec.result_bound.exists();
}

Reason eligible(const codec::Spec& spec, const CollectiveSettings& settings,
                const CollectiveFacts& facts) {
  const bool is_auto = spec.kind == Kind::kAuto;
  if (spec.kind == Kind::kOff) return Reason::kOff;
  const bool takes_reductions =
      !is_auto || spec.orders_reductions() || spec.reductions == codec::Spec::Reductions::kCoded;
  if (!takes_reductions && reduces(facts.operation)) return Reason::kReductionOfAuto;
  if (spec.needs_link() && settings.link_bytes_per_second <= 0 && !settings.force) {
    return Reason::kNoLink;
  }
  if (spec.reductions_alone && !reduces(facts.operation)) return Reason::kReductionsAlone;
  // Sums of fill values are no fill values.
  if (spec.fill.exists() && reduces(facts.operation)) return Reason::kOperation;
  // No bound of the factors bounds a product.
  if (is_bounded(spec, facts) && facts.reduction == Reduction::kProduct) return Reason::kOperation;
  if (facts.bytes < settings.threshold || facts.bytes == 0) return Reason::kBelowThreshold;
  if (reduces(facts.operation) && !is_added(facts.dtype)) return Reason::kDtype;
  if (is_auto ? facts.dtype == Dtype::kBytes : !spec.codec->takes(facts.dtype, spec.parameter)) {
    return Reason::kDtype;
  }
  if (facts.spread.ranks < 2) return Reason::kSameNode;
  if (facts.spread.nodes < 2 && !settings.same_node) return Reason::kSameNode;
  return Reason::kCompress;
}

Speeds speeds_of(const CollectiveSettings& settings, bool is_coded) {
  constexpr double kNoTime = std::numeric_limits<double>::infinity();
  const bool has_link = settings.link_bytes_per_second > 0;
  return {.link_bytes_per_second = has_link ? settings.link_bytes_per_second : kUsualLink,
          .codec = has_link && is_coded ? settings.cost : CodecCost{kNoTime, kNoTime, 1}};
}

// Whether a way may be chosen for what was asked.
class Filter {
 public:
  explicit Filter(const CollectiveFacts& facts) : facts_(facts) {
    const Spread& spread = facts.spread;
    if (spread.nodes < 2 || spread.nodes >= spread.ranks || facts.coding != Coding::kPlanned) {
      return;
    }
    prefers_levels_ = std::any_of(facts.ways.begin(), facts.ways.end(), [&](const Way& way) {
      return way.coding == Coding::kTwoLevel && fits(way);
    });
  }

  bool admits(const Way& way) const {
    const Coding coding = facts_.coding != Coding::kPlanned ? facts_.coding
                          : prefers_levels_                 ? Coding::kTwoLevel
                                                            : Coding::kOnce;
    return fits(way) && way.coding == coding;
  }

 private:
  bool fits(const Way& way) const {
    if (way.operation != facts_.operation) return false;
    if (facts_.algorithm != Algorithm::kPlanned) return way.algorithm == facts_.algorithm;
    // These hold more than any other.
    return way.algorithm != Algorithm::kRankOrder && way.algorithm != Algorithm::kExact;
  }

  const CollectiveFacts& facts_;
  bool prefers_levels_ = false;
};

struct Candidate {
  Way way{};
  Work work;
  std::uint64_t piece = 0;
  double seconds = std::numeric_limits<double>::infinity();
  bool exists = false;
};

// Arrays of other shapes than a line are taken to have boxes enough.
int parts_of(const codec::Spec& spec, const CollectiveFacts& facts) {
  if (facts.operation != Operation::kAllreduce || spec.shape.rank > 0) return 0;
  constexpr std::uint64_t kValuesOfAnyChunk = 4096;  // as the cutter has it
  const std::uint64_t width = dtype_size(facts.dtype);
  std::uint64_t box = kValuesOfAnyChunk;
  if (spec.kind == Kind::kCodec && spec.codec->takes(facts.dtype, spec.parameter) &&
      facts.bytes >= width) {
    const Shape line = Shape::line(facts.bytes / width);
    box = spec.codec->chunk_shape(line, facts.dtype, spec.parameter).extent[0];
  }
  const std::uint64_t boxes = ceil_div(facts.bytes, std::max<std::uint64_t>(box, 1) * width);
  const auto ranks = static_cast<std::uint64_t>(std::max(facts.spread.ranks, 1));
  return static_cast<int>(std::clamp<std::uint64_t>(boxes, 1, ranks));
}

Candidate make_candidate(const Way& way, const CollectiveSettings& settings,
                         const CollectiveFacts& facts, const Speeds& speeds) {
  const auto bytes = static_cast<double>(facts.bytes);
  Candidate candidate{.way = way, .work = work_of(way, facts.spread), .exists = true};
  candidate.piece = settings.piece_bytes > 0 ? settings.piece_bytes
                                             : piece_bytes_of(candidate.work, bytes, speeds);
  candidate.seconds =
      seconds_of(candidate.work, bytes, static_cast<double>(candidate.piece), speeds);
  return candidate;
}

// The fastest; of equal ones the direct one if sums of coded values are wanted in one place.
Candidate fastest(const CollectiveSettings& settings, const CollectiveFacts& facts,
                  const Speeds& speeds, const Filter& filter, bool prefers_direct) {
  Candidate best;
  for (const Way& way : facts.ways) {
    if (!filter.admits(way)) continue;
    const Candidate candidate = make_candidate(way, settings, facts, speeds);
    const bool wins_tie =
        prefers_direct && way.algorithm == Algorithm::kDirect && candidate.seconds == best.seconds;
    if (!best.exists || candidate.seconds < best.seconds || wins_tie) best = candidate;
  }
  return best;
}

// The ratio from which on `candidate` beats `raw_seconds`; infinity if none does.
double least_ratio_of(const Candidate& candidate, const CollectiveFacts& facts, Speeds speeds,
                      double raw_seconds) {
  const auto wins = [&](double ratio) {
    speeds.codec.ratio = ratio;
    return seconds_of(candidate.work, static_cast<double>(facts.bytes),
                      static_cast<double>(candidate.piece), speeds) < raw_seconds;
  };
  double low = 1, high = 1024;
  if (!wins(high)) return std::numeric_limits<double>::infinity();
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (wins(middle) ? high : low) = middle;
  }
  return high;
}

void use(CollectivePlan& plan, const Candidate& candidate) {
  plan.algorithm = candidate.way.algorithm;
  plan.coding = candidate.way.coding;
  plan.piece_bytes = candidate.piece;
  plan.window = kWindow;
}

}  // namespace

CollectivePlan plan_collective(const codec::Spec& spec, const CollectiveSettings& settings,
                               const CollectiveFacts& given) {
  const DefaultFloatMode mode;
  CollectivePlan plan{.reason = eligible(spec, settings, given)};
  CollectiveFacts facts = given;
  if (spec.orders_reductions() && reduces(facts.operation)) {
    const bool is_exact = spec.adds_exactly() && facts.reduction == Reduction::kSum;
    facts.algorithm = is_exact ? Algorithm::kExact : Algorithm::kRankOrder;
    facts.coding = Coding::kPlanned;
  }
  facts.spread.parts = parts_of(spec, facts);
  const Filter filter(facts);
  const Candidate raw = fastest(settings, facts, speeds_of(settings, false), filter, false);
  if (!raw.exists) {
    if (plan.reason == Reason::kCompress) plan.reason = Reason::kOperation;
    return plan;
  }
  use(plan, raw);
  if (plan.reason != Reason::kCompress) return plan;

  Speeds speeds = speeds_of(settings, true);
  if (spec.kind == Kind::kAuto) speeds.codec.ratio = kHopedRatio;
  const Candidate coded = fastest(settings, facts, speeds, filter, is_bounded(spec, facts));
  if (settings.link_bytes_per_second <= 0) {
    use(plan, coded);
    return plan;
  }
  plan.raw_seconds = raw.seconds;
  plan.seconds = coded.seconds;
  if (settings.force) {
    use(plan, coded);
    return plan;
  }
  plan.least_ratio = least_ratio_of(coded, facts, speeds, raw.seconds);
  // A cost that was never measured is 0 or NaN and must not count as a win.
  if (coded.seconds < raw.seconds) {
    use(plan, coded);
  } else {
    plan.reason = Reason::kLinkFaster;
  }
  return plan;
}

namespace {

// Less is within what a sample may be wrong by.
constexpr double kLeastShare = 1.0 / 64;

}  // namespace

std::uint32_t reference_gain(const ReferenceFacts& facts) {
  const DefaultFloatMode mode;
  const double plain = std::min(facts.ordinary_share, 1.0);
  const double saved = plain - facts.difference_share;
  // A result that is not a number must not count as a win.
  if (!(saved >= kLeastShare)) return 0;
  const double link = facts.link_bytes_per_second;
  if (link > 0 && !(saved / link > facts.seconds_per_byte)) return 0;
  return std::clamp<std::uint32_t>(static_cast<std::uint32_t>(saved * kMostGain), 1, kMostGain);
}

}  // namespace thinwire::plan
