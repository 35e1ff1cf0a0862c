// Plans of sums, where each rank is taken for a node of its own.
#include <numeric>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "collective/slots/planner.h"
#include "collective/slots/sum.h"

namespace thinwire::collective {

// The place of this rank's sums. Under a lossy codec an Allreduce decodes its own slot over what
// all ranks get; if that slot holds no frame the decode may have written anything, and the sums are
// taken from where they stay.
Values SlotPlanner::result_at(const Partition& blocks) {
  if (raw_results_.has_value()) {
    const std::uint64_t before = bytes_of(blocks.first(rank()));
    return {raw_results_->area, raw_results_->offset + before};
  }
  const bool decodes_own = call_.operation == SlotOperation::kAllreduce && !is_lossless();
  if (!call_.writes() || (decodes_own && !plan_.is_sample())) {
    return keep(bytes_of(blocks.count(rank())));
  }
  return {Area::kReceive, call_.sums_whole_arrays() ? bytes_of(blocks.first(rank())) : 0};
}

// Its own block a rank adds as it is: nobody else sums it.
void SlotPlanner::reduce_scatter(const Partition& blocks) {
  SlotExchange& all = exchange(0);
  all.kind = Kind::kMessages;
  const std::uint64_t own = blocks.count(rank());
  const std::uint64_t stride = aligned(bytes_of(own));
  std::uint64_t came = 0;
  for (int peer = 0; peer < ranks(); ++peer) {
    if (peer == rank()) continue;
    if (blocks.count(peer) > 0) {
      all.out.push_back(message(0, rank(), blocks.count(peer), peer,
                                {Area::kSend, bytes_of(blocks.first(peer))}));
    }
    if (own > 0) all.in.push_back(message(0, peer, own, peer, {Area::kLent, stride * came++}));
  }
  send_factors_of_raw(all);
  if (own == 0) return;
  scratch_bytes_[0] = stride * came;
  result_ = result_at(blocks);
  plan_.sums_ = {{.arrays = ranks(),
                  .place = rank(),
                  .scale = call_.scale,
                  .count = own,
                  .stride = stride,
                  .others = {Area::kLent, 0},
                  .own = {Area::kSend, bytes_of(blocks.first(rank()))},
                  .to = result_,
                  .own_apart = true}};
}

// With raw values goes a message with this rank's factor, which slots have in their headers.
// `among`: who exchanges values, in their order.
void SlotPlanner::send_factors(SlotExchange& exchange, const std::vector<int>& among) {
  if (!call_.premultiplied) return;
  constexpr std::uint64_t kOne = kFactorBytes;
  SlotFactors& factors = plan_.factors_;
  factors = {.exist = true, .own = keep(kOne), .others = keep(kOne * among.size())};
  const auto message = [&](int rank, Values values) {
    SlotTask made = raw_task(rank, 0, values);
    made.raw_bytes = kOne;
    return made;
  };
  std::set<int> to, from;
  for (const SlotTask& task : exchange.out) to.insert(task.rank);
  for (const SlotTask& task : exchange.in) from.insert(task.rank);
  std::uint64_t came = 0;
  for (const int each : among) {
    if (to.contains(each)) exchange.out.push_back(message(each, factors.own));
    if (!from.contains(each)) continue;
    exchange.in.push_back(message(each, {Area::kStays, factors.others.offset + kOne * came++}));
  }
}

// The same where all values of a sum are raw.
void SlotPlanner::send_factors_of_raw(SlotExchange& exchange) {
  if (!call_.is_raw()) return;
  std::vector<int> all(static_cast<std::size_t>(ranks()));
  std::iota(all.begin(), all.end(), 0);
  send_factors(exchange, all);
}

// Nobody else sums the root's own.
void SlotPlanner::reduce_gathered() {
  SlotExchange& all = exchange(0);
  all.kind = Kind::kMessages;
  if (rank() != call_.peer) {
    all.out.push_back(message(0, rank(), call_.count, call_.peer, {Area::kSend, 0}));
    return send_factors_of_raw(all);
  }
  const std::uint64_t stride = aligned(bytes_of(call_.count));
  std::uint64_t came = 0;
  for (int from = 0; from < ranks(); ++from) {
    if (from == rank()) continue;
    all.in.push_back(message(0, from, call_.count, from, {Area::kLent, stride * came++}));
  }
  send_factors_of_raw(all);
  add_whole_arrays(stride, came, true);
}

Values SlotPlanner::gather_raw(int number, std::uint64_t bytes, bool in_receive) {
  SlotExchange& all = exchange(number);
  all.kind = Kind::kGather;
  all.coded = number;
  all.inside = true;
  all.slot_bytes = bytes;
  all.in_receive = in_receive;
  all.stays = !in_receive;
  if (in_receive) return {Area::kReceive, 0};
  const Values kept = keep(bytes * static_cast<std::uint64_t>(ranks()));
  all.slots = kept.offset;
  return kept;
}

// All ranks get all arrays, and add them where they lie.
void SlotPlanner::allreduce_gathered_raw() {
  const std::uint64_t bytes = bytes_of(call_.count);
  const std::uint64_t stride = ceil_div(bytes, kSlotUnit) * kSlotUnit;
  const Values arrays = gather_raw(0, stride, false);
  const std::uint64_t before = stride * static_cast<std::uint64_t>(rank());
  plan_.packs_.push_back({.exchange = 0,
                          .to = {Area::kStays, arrays.offset + before},
                          .from = {Area::kSend, 0},
                          .rows = 1,
                          .row_bytes = bytes});
  add_whole_arrays(stride, 0, false);
  plan_.sums_.front().others = arrays;
}

// Under a lossy codec a rank adds what the others got of its values.
void SlotPlanner::allreduce_gathered() {
  if (call_.is_raw()) return allreduce_gathered_raw();
  SlotExchange& all = exchange(0);
  all.kind = Kind::kGather;
  const std::uint64_t stride = aligned(bytes_of(call_.count));
  std::uint64_t came = 0;
  all.out.push_back(task(0, rank(), call_.count, -1, {Area::kSend, 0}));
  for (int from = 0; from < ranks(); ++from) {
    if (from == rank() && is_lossless()) continue;
    const SlotTask comes = task(0, from, call_.count, from, {Area::kLent, stride * came++});
    if (from == rank()) {
      add_own(0, comes, {Area::kSend, 0}, false);
    } else {
      all.in.push_back(comes);
    }
  }
  add_whole_arrays(stride, came, is_lossless());
}

// `came` arrays lie in scratch, this rank's own among them unless it is apart.
void SlotPlanner::add_whole_arrays(std::uint64_t stride, std::uint64_t came, bool own_apart) {
  scratch_bytes_[0] = stride * came;
  plan_.sums_ = {{.arrays = ranks(),
                  .place = rank(),
                  .scale = call_.scale,
                  .count = call_.count,
                  .stride = stride,
                  .others = {Area::kLent, 0},
                  .own = {Area::kSend, 0},
                  .to = {Area::kReceive, 0},
                  .own_apart = own_apart}};
}

// Sums are gathered where they are added up: where the result goes, if that has room for blocks
// that are all as long.
void SlotPlanner::gather_raw_results(const Partition& blocks) {
  const bool are_alike = blocks.step * static_cast<std::uint64_t>(ranks()) == call_.count;
  raw_results_ = gather_raw(1, bytes_of(blocks.step), are_alike);
  if (!are_alike) plan_.copy_ = {{Area::kReceive, 0}, *raw_results_, bytes_of(call_.count)};
}

void SlotPlanner::gather_results(const Partition& blocks) {
  SlotExchange& all = exchange(1);
  all.kind = Kind::kGather;
  all.coded = 1;
  for (int from = 0; from < ranks(); ++from) {
    if (blocks.count(from) == 0) continue;
    const Values place{Area::kReceive, bytes_of(blocks.first(from))};
    const SlotTask comes = task(1, from, blocks.count(from), from, place);
    if (from != rank()) {
      all.in.push_back(comes);
      continue;
    }
    SlotTask goes = comes;
    goes.rank = -1;
    goes.values = result_;
    all.out.push_back(goes);
    if (!is_lossless()) add_own(1, comes, result_, false);
  }
}

void SlotPlanner::gather_results_at_root(int number, const Partition& blocks) {
  SlotExchange& results = exchange(number);
  results.kind = Kind::kMessages;
  results.coded = 1;
  longest_result_ = bytes_of(blocks.count(0));
  const std::uint64_t own = blocks.count(rank());
  if (rank() != call_.peer) {
    if (own > 0) results.out.push_back(message(1, rank(), own, call_.peer, result_));
    return;
  }
  for (int from = 0; from < ranks(); ++from) {
    if (from == rank() || blocks.count(from) == 0) continue;
    const Values place{Area::kReceive, bytes_of(blocks.first(from))};
    results.in.push_back(message(1, from, blocks.count(from), from, place));
  }
}

void SlotPlanner::sum_in_blocks() {
  const bool to_root = call_.operation == SlotOperation::kReduce;
  const Partition blocks = has_levels() ? partition_by_columns(call_) : partition_of(call_);
  if (has_levels()) {
    coded_count_ = blocks.count(nodes_->members(0).front());
    reduce_scatter_in_levels(blocks);
    to_root ? gather_results_at_root(2, blocks) : gather_in_levels(2, blocks, result_, result_);
  } else if (call_.is_raw() && !to_root) {
    gather_raw_results(blocks);
    reduce_scatter(blocks);
  } else {
    reduce_scatter(blocks);
    to_root ? gather_results_at_root(1, blocks) : gather_results(blocks);
  }
}

// The codec's parameter is known after the ranks have told each other of their values.
void SlotPlanner::bound_result() {
  const bool scatters = call_.operation == SlotOperation::kReduceScatter;
  const bool of_result = call_.sample == SampleEncode::kResult;
  plan_.bound_ = {.exists = true,
                  .values = {of_result ? Area::kReceive : Area::kSend, 0},
                  .count = call_.count * static_cast<std::uint64_t>(scatters ? ranks() : 1)};
  plan_.settings_.spec.parameter = plan_.settings_.spec.codec->any_open;
}

}  // namespace thinwire::collective
