// How far from the exact result a call may end, and what each of its codings may do for that.
#include <cmath>

#include "base/float_mode.h"
#include "collective/adapt.h"
#include "collective/budget.h"
#include "collective/gpu/values.h"
#include "comm/communicator.h"
#include "comm/exchange.h"
#include "comm/workspace.h"

namespace thinwire::comm {

std::uint64_t Communicator::codings_of(const collective::Row& row) const {
  return row.codings(row.coding == plan::Coding::kTwoLevel ? nodes_ : size());
}

int Communicator::additions_of(const collective::Row& row) const {
  return row.additions == nullptr ? 0 : static_cast<int>(row.additions(size()));
}

// Shares the error that a reduction may make out among its codings, by what all ranks contribute,
// which each learns in one small exchange.
Status Communicator::share_bound(const Call& call, const collective::Row& row, Report& report) {
  const std::byte* input = shares_blocks(call, rank()) ? call.receive : call.send;
  std::uint64_t count = call.count;
  if (call.operation == plan::Operation::kReduceScatter) {
    count = regions_of(call, rank(), size()).send;
  }
  // Who cannot tell lets nothing be coded.
  double sums[2] = {HUGE_VAL, HUGE_VAL};
  if (!call.unable) {
    const auto own = collective::statistics_anywhere(call.dtype, count, input);
    if (own.ok()) sums[0] = own->largest, sums[1] = own->range();
  }
  if (Status status = sum_upwards(*transport_, sums); !status.ok()) return broken(status);
  const bool by_nodes = row.coding == plan::Coding::kTwoLevel;
  // The owner of a part of Reduce-scatter codes nothing of its own.
  const bool codes_each_by_itself = row.algorithm == plan::Algorithm::kDirect ||
                                    row.algorithm == plan::Algorithm::kRecursiveDoubling;
  const bool may_quantise_own = codes_each_by_itself && row.coding == plan::Coding::kOnce &&
                                call.operation != plan::Operation::kReduceScatter;
  const collective::Budget budget = collective::divide({.bound = call.spec.result_bound,
                                                        .codec = call.spec.codec,
                                                        .dtype = call.dtype,
                                                        .reduction = call.reduction,
                                                        .codings = codings_of(row),
                                                        .ranks = size(),
                                                        .additions = additions_of(row),
                                                        .coded_ranks = by_nodes ? nodes_ : size(),
                                                        .may_quantise_own = may_quantise_own,
                                                        .magnitudes = sums[0],
                                                        .ranges = sums[1]});
  if (budget.reason != plan::Reason::kCompress) {
    report.choice.reason = budget.reason;
    settings_.spec = {};
    return {};
  }
  settings_.spec.parameter = budget.parameter;
  report.bound = budget.result;
  if (budget.quantises_own) collective::quantise_own(schedule_);
  return {};
}

Status Communicator::set_bound(const Call& call, const collective::Row& row, Report& report) {
  if (report.choice.reason != plan::Reason::kCompress || settings_.spec.codec == nullptr) return {};
  if (plan::reduces(call.operation) && call.spec.result_bound.exists()) {
    return share_bound(call, row, report);
  }
  // An error of one factor is multiplied by the others.
  const bool multiplies =
      plan::reduces(call.operation) && call.reduction == plan::Reduction::kProduct;
  if (settings_.spec.codec->bound_of != nullptr && !multiplies) {
    const DefaultFloatMode mode;
    const double each = settings_.spec.codec->bound_of(settings_.spec.parameter);
    report.bound = each * static_cast<double>(codings_of(row));
  }
  return {};
}

}  // namespace thinwire::comm
