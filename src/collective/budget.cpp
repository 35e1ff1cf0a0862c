#include "collective/budget.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/float_mode.h"

namespace thinwire::collective {
namespace {

// Every rounding below is to the side on which the bound still holds.
double up(double value) { return std::nextafter(value, HUGE_VAL); }
double down(double value) { return std::nextafter(value, -HUGE_VAL); }

// Most that one addition adds to the error, as a share of the sum of its operands' magnitudes. Sums
// of 16-bit types are rounded twice.
double unit_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return 0x1p-53;
    case Dtype::kF16:
      return 0x1p-11 + 0x1p-23;
    case Dtype::kBf16:
      return 0x1p-8 + 0x1p-23;
    default:
      return 0x1p-24;
  }
}

double most_finite(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return DBL_MAX;
    case Dtype::kF16:
      return 65504;
    default:
      return 0x1.FEp127;  // the largest bf16, below the largest fp32
  }
}

// The least number that a product is rounded to; those of 16-bit types are fp32.
double least_above_zero(Dtype dtype) { return dtype == Dtype::kF64 ? 0x1p-1074 : 0x1p-149; }

bool is_multiplied(const BudgetFacts& facts) { return facts.factor != 1; }

// Most that follow one another on the way to one value. The factor and the product are rounded as
// two more additions would be.
double additions_of(const BudgetFacts& facts) {
  const double additions = facts.additions > 0 ? facts.additions : facts.ranks - 1.0;
  return additions + (is_multiplied(facts) ? 2 : 0);
}

// Loss of products that are rounded below the least normal number, as a share of the sum's error.
double underflow_of(const BudgetFacts& facts) {
  if (!is_multiplied(facts)) return 0;
  return up(up(facts.ranks * least_above_zero(facts.dtype)) / facts.factor);
}

// Most roundings that one value, or a sum of lattice points, collects on that way: of its
// additions, and before each of them and at the end that of a coding.
double roundings_of(const BudgetFacts& facts) { return 2 * (additions_of(facts) + 1); }

// Error that all roundings together add to a result, as a share of the magnitudes; infinite if
// there are too many for this mathematics.
double share_of_roundings(double roundings, double unit) {
  const double all = up(roundings * unit);
  return all < 0.125 ? up(all / down(1 - all)) : HUGE_VAL;
}

// The largest d with  codings * d + share * (magnitudes + codings * d) <= result.  Not above 0
// where there is none.
double coding_bound(double result, double codings, double share, double magnitudes) {
  const double left = down(result - up(share * magnitudes));
  return down(left / up(codings * up(1 + share)));
}

double result_bound(const BudgetFacts& facts) {
  if (facts.bound.kind == codec::ResultBound::Kind::kAbsolute) return facts.bound.value;
  // The amount by which the sum was rounded up comes off again.
  const double least = facts.ranges * (1 - (facts.ranks + 2) * 0x1p-50);
  return std::max(down(facts.bound.value * down(least)), 0.0);
}

// Whether sums of lattice points, with all their roundings, are nearer to the point that they stand
// for than to any other, by a margin that the coder's own rounding needs.
bool stays_on_lattice(const BudgetFacts& facts, std::uint64_t parameter, double roundings,
                      double largest) {
  if (facts.codec->spacing == nullptr) return false;
  const codec::Spacing spacing = facts.codec->spacing(parameter, facts.dtype);
  return up(up(roundings + 4) * up(unit_of(facts.dtype) * largest)) <= spacing.step / 4 &&
         largest <= spacing.step * (spacing.most / 2);
}

struct Try {
  double coding;
  std::uint64_t parameter;
  bool on_lattice;
};

// `share`: of the roundings on the way.
Try try_bound(const BudgetFacts& facts, double coding, double codings, double share) {
  if (!(coding > 0)) return {};
  const std::uint64_t parameter = facts.codec->with_bound(0, coding);
  const double largest = up(up(facts.magnitudes + up(codings * coding)) * up(1 + share));
  return {coding, parameter, stays_on_lattice(facts, parameter, roundings_of(facts), largest)};
}

// Every coding may add its bound: whatever the codec and the algorithm.
Try by_codings(const BudgetFacts& facts, double result) {
  const auto codings = static_cast<double>(facts.codings);
  const bool adds = facts.reduction == plan::Reduction::kSum;
  const double share = share_of_roundings(adds ? additions_of(facts) : 0, unit_of(facts.dtype));
  return try_bound(facts, coding_bound(result, codings, share, facts.magnitudes), codings, share);
}

// On a lattice what was coded once is not changed by coding it, or a sum of such values, again:
// each contribution is charged with one coding. Of minima and maxima the result is one
// contribution.
Try by_contributions(const BudgetFacts& facts, double result) {
  const bool adds = facts.reduction == plan::Reduction::kSum;
  const double contributions = adds ? facts.coded_ranks : 1;
  const double share = share_of_roundings(adds ? roundings_of(facts) : 0, unit_of(facts.dtype));
  return try_bound(facts, coding_bound(result, contributions, share, facts.magnitudes),
                   facts.coded_ranks, share);
}

}  // namespace

Budget divide(const BudgetFacts& facts) {
  const DefaultFloatMode mode;
  Budget budget{.result = result_bound(facts)};
  if (facts.reduction == plan::Reduction::kProduct) {
    budget.reason = plan::Reason::kOperation;
    return budget;
  }
  budget.reason = plan::Reason::kBoundTooSmall;
  // Sums and products of finite values must not overflow on the way.
  const double most = most_finite(facts.dtype) / 4;
  if (!(up(facts.magnitudes * std::max(1.0, facts.factor)) < most) || facts.codings == 0)
    return budget;
  const double underflow = underflow_of(facts);
  const double result =
      std::min(underflow > 0 ? down(budget.result - underflow) : budget.result, most);
  Try chosen = by_codings(facts, result);
  const Try on_lattice = facts.leaves_lattice ? Try() : by_contributions(facts, result);
  const bool quantises_own = facts.may_quantise_own && on_lattice.on_lattice;
  if (quantises_own || (on_lattice.on_lattice && on_lattice.coding > chosen.coding)) {
    chosen = on_lattice;
  }
  if (!(chosen.coding > 0)) return budget;
  if (facts.codec->spacing != nullptr &&
      !(facts.codec->spacing(chosen.parameter, facts.dtype).step > 0)) {
    return budget;  // so small that everything would be stored as it is
  }
  budget.reason = plan::Reason::kCompress;
  budget.coding = chosen.coding;
  budget.parameter = chosen.parameter;
  budget.on_lattice = chosen.on_lattice;
  budget.quantises_own = quantises_own;
  return budget;
}

}  // namespace thinwire::collective
