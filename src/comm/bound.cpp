// How far from the exact result a call may end, and what each of its codings may do for that.
#include <algorithm>
#include <cmath>
#include <vector>

#include "collective/budget.h"
#include "collective/quantise.h"
#include "collective/reduce.h"
#include "comm/communicator.h"
#include "comm/exchange.h"
#include "comm/regions.h"
#include "device/copy.h"

namespace thinwire::comm {
namespace {

// Values in GPU memory come to the host in parts of so many bytes.
constexpr std::uint64_t kPartBytes = 4 << 20;

void join(collective::Statistics& all, const collective::Statistics& part) {
  if (part.least > part.most) return;
  const bool is_first = all.least > all.most;
  all.least = is_first ? part.least : std::min(all.least, part.least);
  all.most = is_first ? part.most : std::max(all.most, part.most);
  all.largest = std::max(all.largest, part.largest);
}

Result<collective::Statistics> statistics_of(Dtype dtype, std::uint64_t count,
                                             const std::byte* values, bool on_device) {
  if (!on_device) return collective::statistics(dtype, count, values);
  const std::uint64_t part = kPartBytes / dtype_size(dtype);
  std::vector<std::byte> copied(std::min(count, part) * dtype_size(dtype));
  collective::Statistics all{.least = 1, .most = 0};
  for (std::uint64_t at = 0; at < count; at += part) {
    const std::uint64_t values_here = std::min(part, count - at);
    Status status = device::copy(copied.data(), values + at * dtype_size(dtype),
                                 values_here * dtype_size(dtype));
    if (!status.ok()) return status;
    join(all, collective::statistics(dtype, values_here, copied.data()));
  }
  return all;
}

}  // namespace

std::uint64_t Communicator::codings_of(const collective::Row& row) const {
  return row.codings(row.coding == plan::Coding::kTwoLevel ? nodes_ : size());
}

// What a reduction may do to its result is shared out among its codings: by what all ranks
// contribute, which each learns in one small exchange.
Status Communicator::share_bound(const Call& call, const collective::Row& row, Report& report) {
  const std::byte* input = shares_blocks(call, rank()) ? call.receive : call.send;
  std::uint64_t count = call.count;
  if (call.operation == plan::Operation::kReduceScatter) {
    count = regions_of(call, rank(), size()).send;
  }
  const auto own = statistics_of(call.dtype, count, input, device_ >= 0);
  // Who cannot tell lets nothing be coded.
  double sums[2] = {HUGE_VAL, HUGE_VAL};
  if (own.ok()) sums[0] = own->largest, sums[1] = own->range();
  if (Status status = sum_upwards(*transport_, sums); !status.ok()) return broken(status);
  const bool by_nodes = row.coding == plan::Coding::kTwoLevel;
  // The owner of a part of Reduce-scatter codes nothing of its own.
  const bool may_quantise_own = row.algorithm == plan::Algorithm::kDirect &&
                                row.coding == plan::Coding::kOnce &&
                                call.operation != plan::Operation::kReduceScatter;
  const collective::Budget budget = collective::divide({.bound = call.spec.result_bound,
                                                        .codec = call.spec.codec,
                                                        .dtype = call.dtype,
                                                        .reduction = call.reduction,
                                                        .codings = codings_of(row),
                                                        .ranks = size(),
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
  if (settings_.spec.codec->bound_of != nullptr) {
    const double each = settings_.spec.codec->bound_of(settings_.spec.parameter);
    report.bound = each * static_cast<double>(codings_of(row));
  }
  return {};
}

}  // namespace thinwire::comm
