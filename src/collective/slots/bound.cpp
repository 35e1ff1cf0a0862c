#include "collective/slots/bound.h"

#include <cmath>

#include "base/float_mode.h"
#include "collective/budget.h"

namespace thinwire::collective {
namespace {

double up(double value) { return std::nextafter(value, HUGE_VAL); }

bool is_scaled(const SlotCall& call) { return call.scale != 1; }

bool codes_sums(const SlotCall& call) {
  return call.sums_whole_arrays() && way_of(call) == SlotWay::kDirect;
}

// How often what is added was coded (docs/concepts/error-bounds.md): arrays once each; if one
// rank alone sums it adds its own as it is, and codes the sum, if that goes on. What a coding
// does to a sum that was multiplied counts as so much more before that.
std::uint64_t codings_of(const SlotCall& call) {
  const auto ranks = static_cast<std::uint64_t>(call.ranks);
  if (call.operation == SlotOperation::kAllreduce && !codes_sums(call)) return ranks;
  const double of_sum = call.scale < 1 ? std::ceil(up(1 / call.scale)) : 1;
  return ranks - 1 + (codes_sums(call) ? static_cast<std::uint64_t>(of_sum) : 0);
}

struct Sums {
  double magnitudes = 0, ranges = 0;

  void add(const Statistics& of_rank) {
    magnitudes = up(magnitudes + of_rank.largest);
    ranges = up(ranges + of_rank.range());
  }
};

bool is_told(const SlotWords& words, std::uint64_t call, std::uint64_t rank) {
  return words.word[0] == kRangeMark && words.word[1] == call && words.word[2] == rank &&
         words.word[kSlotWords - 1] == slot_checksum(words);
}

KeyRange range_of(const SlotWords& words) {
  return {static_cast<std::int64_t>(words.word[3]), static_cast<std::int64_t>(words.word[4]),
          static_cast<std::int64_t>(words.word[5])};
}

bool add_up(BoundRecord& record, Sums& sums) {
  const SlotCall& call = record.plan->call();
  for (int at = 0; at < call.ranks; ++at) {
    const bool own_alone = record.plan->is_sample();
    const SlotWords& words = record.told()[own_alone ? 0 : at];
    if (!is_told(words, record.call, static_cast<std::uint64_t>(own_alone ? call.rank : at))) {
      return false;
    }
    sums.add(statistics(call.dtype, range_of(words)));
    // The sum itself is tried.
    if (call.sample == SampleEncode::kResult) break;
  }
  return true;
}

std::uint64_t parameter_of(const SlotCall& call, const Sums& sums) {
  const bool scaled = is_scaled(call);
  codec::ResultBound bound = call.spec.result_bound;
  // The bound is of what is left after the sum was multiplied.
  if (scaled && bound.kind == codec::ResultBound::Kind::kAbsolute) {
    bound.value = std::nextafter(bound.value / call.scale, 0.0);
  }
  const Budget budget = divide({.bound = bound,
                                .codec = call.spec.codec,
                                .dtype = call.dtype,
                                .codings = codings_of(call),
                                .ranks = call.ranks,
                                .coded_ranks = call.ranks,
                                .leaves_lattice = scaled && codes_sums(call),
                                .factor = call.scale,
                                .magnitudes = sums.magnitudes,
                                .ranges = sums.ranges});
  return budget.reason == plan::Reason::kCompress ? budget.parameter : 0;
}

}  // namespace

int told_ranks(const SlotPlan& plan) { return plan.is_sample() ? 1 : plan.call().ranks; }

std::uint64_t bound_record_bytes(const SlotPlan& plan) {
  if (!plan.bound().exists) return 0;
  return sizeof(BoundRecord) + static_cast<std::uint64_t>(told_ranks(plan)) * sizeof(SlotWords);
}

void resolve_bound(void* at) {
  const DefaultFloatMode mode;
  auto& record = *static_cast<BoundRecord*>(at);
  Sums sums;
  const bool told = add_up(record, sums);
  record.parameter = told ? parameter_of(record.plan->call(), sums) : 0;
}

}  // namespace thinwire::collective
