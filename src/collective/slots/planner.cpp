#include "collective/slots/planner.h"

#include "base/aligned.h"
#include "message/automatic.h"

namespace thinwire::collective {

// "auto" goes by dtype and shape, which all ranks know alike.
Status SlotPlanner::choose_coder(std::uint64_t count) {
  EngineSettings& settings = plan_.settings_;
  settings.spec = call_.spec;
  settings.dtype = call_.dtype;
  settings.mark = call_.mark;
  if (call_.spec.kind != codec::Spec::Kind::kAuto) return {};
  const codec::Chunk array{call_.dtype, Shape::line(count)};
  const message::Coder coder = message::automatic_in_stream(array);
  settings.spec.kind = codec::Spec::Kind::kCodec;
  settings.spec.codec = coder.codec;
  settings.spec.parameter = coder.parameter;
  return {};
}

SlotTask SlotPlanner::task(int number, int from, std::uint64_t count, int peer, Values values) {
  SlotTask made;
  made.rank = peer;
  made.block = static_cast<std::uint64_t>(from) +
               static_cast<std::uint64_t>(number) * static_cast<std::uint64_t>(ranks());
  made.shape = Shape::line(count);
  made.raw_bytes = bytes_of(count);
  made.values = values;
  return made;
}

SlotTask SlotPlanner::plain(int peer, std::uint64_t count, Values values) {
  SlotTask made = task(0, rank(), count, peer, values);
  made.plain = true;
  return made;
}

SlotTask SlotPlanner::message(int number, int from, std::uint64_t count, int peer, Values values) {
  SlotTask made = task(number, from, count, peer, values);
  made.plain = nodes_ != nullptr && nodes_->are_together(rank(), peer);
  return made;
}

Values SlotPlanner::keep(std::uint64_t bytes) {
  const Values kept{Area::kStays, stays_bytes_};
  stays_bytes_ += aligned(bytes);
  return kept;
}

void SlotPlanner::add_own(int number, SlotTask own, Values source, bool stays_in_place) {
  own.own = true;
  own.source = source;
  own.stays_in_place = stays_in_place;
  exchange(number).in.push_back(own);
}

// Nobody else is there: nothing is encoded.
void SlotPlanner::alone() {
  if (call_.reduces()) {
    plan_.sums_ = {{.behind = -1,
                    .scale = call_.scale,
                    .count = call_.count,
                    .stride = 0,
                    .others = {},
                    .own = {Area::kSend, 0},
                    .to = {Area::kReceive, 0},
                    .own_apart = true}};
  } else {
    plan_.copy_ = {{Area::kReceive, 0}, {Area::kSend, 0}, bytes_of(call_.count)};
  }
}

void SlotPlanner::allgather() {
  SlotExchange& all = exchange(0);
  all.kind = Kind::kGather;
  all.out.push_back(task(0, rank(), call_.count, -1, {Area::kSend, 0}));
  for (int from = 0; from < ranks(); ++from) {
    const SlotTask comes = task(0, from, call_.count, from, block_at(Area::kReceive, from));
    if (from != rank()) {
      all.in.push_back(comes);
    } else if (!is_lossless()) {
      add_own(0, comes, {Area::kSend, 0}, true);
    }
  }
  if (!is_lossless()) return;
  plan_.copy_ = {block_at(Area::kReceive, rank()), {Area::kSend, 0}, bytes_of(call_.count)};
}

void SlotPlanner::bcast() {
  SlotExchange& all = exchange(0);
  all.kind = Kind::kBroadcast;
  const SlotTask comes = task(0, call_.peer, call_.count, call_.peer, {Area::kReceive, 0});
  if (rank() != call_.peer) {
    all.in.push_back(comes);
    return;
  }
  all.out.push_back(task(0, rank(), call_.count, -1, {Area::kSend, 0}));
  if (is_lossless()) {
    plan_.copy_ = {{Area::kReceive, 0}, {Area::kSend, 0}, bytes_of(call_.count)};
  } else {
    add_own(0, comes, {Area::kSend, 0}, true);
  }
}

void SlotPlanner::send_or_receive() {
  SlotExchange& one = exchange(0);
  one.kind = Kind::kMessages;
  if (call_.operation == SlotOperation::kSend) {
    one.out.push_back(message(0, rank(), call_.count, call_.peer, {Area::kSend, 0}));
  } else {
    one.in.push_back(message(0, call_.peer, call_.count, call_.peer, {Area::kReceive, 0}));
  }
}

// Of blocks that one rank alone gets, this rank's own is the values themselves.
void SlotPlanner::alltoall() {
  SlotExchange& all = exchange(0);
  all.kind = Kind::kMessages;
  for (int peer = 0; peer < ranks(); ++peer) {
    if (peer == rank()) continue;
    SlotTask goes = message(0, rank(), call_.count, peer, block_at(Area::kSend, peer));
    goes.staged = goes.plain;
    if (goes.staged) goes.stage = keep(goes.raw_bytes);
    all.out.push_back(goes);
    all.in.push_back(message(0, peer, call_.count, peer, block_at(Area::kReceive, peer)));
  }
  plan_.copy_ = {block_at(Area::kReceive, rank()), block_at(Area::kSend, rank()),
                 bytes_of(call_.count)};
}

void SlotPlanner::gather() {
  SlotExchange& all = exchange(0);
  all.kind = Kind::kMessages;
  if (rank() != call_.peer) {
    all.out.push_back(message(0, rank(), call_.count, call_.peer, {Area::kSend, 0}));
    return;
  }
  for (int from = 0; from < ranks(); ++from) {
    if (from == rank()) continue;
    all.in.push_back(message(0, from, call_.count, from, block_at(Area::kReceive, from)));
  }
  plan_.copy_ = {block_at(Area::kReceive, rank()), {Area::kSend, 0}, bytes_of(call_.count)};
}

void SlotPlanner::scatter() {
  SlotExchange& all = exchange(0);
  all.kind = Kind::kMessages;
  if (rank() != call_.peer) {
    all.in.push_back(message(0, call_.peer, call_.count, call_.peer, {Area::kReceive, 0}));
    return;
  }
  for (int to = 0; to < ranks(); ++to) {
    if (to == rank()) continue;
    all.out.push_back(message(0, rank(), call_.count, to, block_at(Area::kSend, to)));
  }
  plan_.copy_ = {{Area::kReceive, 0}, block_at(Area::kSend, rank()), bytes_of(call_.count)};
}

// Where this rank's sums belong. Under a lossy codec an Allreduce decodes its own slot over what
// all ranks get; where that slot holds no frame the decode may have written anything, and the sums
// are taken from where they stay.
Values SlotPlanner::result_at(const Partition& blocks) {
  const bool decodes_own = call_.operation == SlotOperation::kAllreduce && !is_lossless();
  if (!call_.writes() || (decodes_own && !plan_.is_trial())) {
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

// Nobody else sums the root's own.
void SlotPlanner::reduce_gathered() {
  SlotExchange& all = exchange(0);
  all.kind = Kind::kMessages;
  if (rank() != call_.peer) {
    all.out.push_back(message(0, rank(), call_.count, call_.peer, {Area::kSend, 0}));
    return;
  }
  const std::uint64_t stride = aligned(bytes_of(call_.count));
  std::uint64_t came = 0;
  for (int from = 0; from < ranks(); ++from) {
    if (from == rank()) continue;
    all.in.push_back(message(0, from, call_.count, from, {Area::kLent, stride * came++}));
  }
  add_whole_arrays(stride, came, true);
}

// Under a lossy codec a rank adds what the others got of its values.
void SlotPlanner::allreduce_gathered() {
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

void SlotPlanner::sum_in_blocks(const Partition& blocks) {
  const bool to_root = call_.operation == SlotOperation::kReduce;
  if (has_levels()) {
    reduce_scatter_in_levels(blocks);
    to_root ? gather_results_at_root(2, blocks) : gather_in_levels(2, blocks, result_);
  } else {
    reduce_scatter(blocks);
    to_root ? gather_results_at_root(1, blocks) : gather_results(blocks);
  }
}

// Of a call that is only tried the encodes stay. The result of a Reduce, which others would encode,
// the root alone has.
void SlotPlanner::keep_trial() {
  const int tried = call_.trial == SlotTrial::kResult ? 1 : 0;
  for (SlotExchange& each : plan_.exchanges_) {
    const bool of_others = call_.operation == SlotOperation::kReduce && tried == 1;
    if (of_others) each.out = each.in;
    if (each.coded != tried) each.out.clear();
    std::erase_if(each.out, [](const SlotTask& task) { return task.plain || task.again; });
    each.in.clear();
  }
  plan_.copy_ = {};
  plan_.sums_.clear();
  scratch_bytes_ = {};
  stays_bytes_ = 0;
}

// The codec's parameter is known once the ranks have told each other of their values.
void SlotPlanner::bound_result() {
  const bool scatters = call_.operation == SlotOperation::kReduceScatter;
  const bool of_result = call_.trial == SlotTrial::kResult;
  plan_.bound_ = {.exists = true,
                  .values = {of_result ? Area::kReceive : Area::kSend, 0},
                  .count = call_.count * static_cast<std::uint64_t>(scatters ? ranks() : 1)};
  plan_.settings_.spec.parameter = plan_.settings_.spec.codec->any_open;
}

Status SlotPlanner::build() {
  if (call_.count == 0) return {};
  if (Status status = choose_coder(call_.count); !status.ok()) return status;
  plan_.way_ = way_of(call_);
  plan_.in_levels_ = has_levels();
  if (ranks() == 1) {
    if (!plan_.is_trial()) alone();
    return {};
  }
  switch (call_.operation) {
    case SlotOperation::kAllgather:
      has_levels() ? gather_in_levels(0, partition_of(call_), {Area::kSend, 0}) : allgather();
      break;
    case SlotOperation::kBcast:
      bcast();
      break;
    case SlotOperation::kSend:
    case SlotOperation::kReceive:
      send_or_receive();
      break;
    case SlotOperation::kAlltoall:
      alltoall();
      break;
    case SlotOperation::kGather:
      gather();
      break;
    case SlotOperation::kScatter:
      scatter();
      break;
    case SlotOperation::kReduceScatter:
      has_levels() ? reduce_scatter_in_levels(partition_of(call_))
                   : reduce_scatter(partition_of(call_));
      break;
    case SlotOperation::kAllreduce:
      plan_.way_ == SlotWay::kGather ? allreduce_gathered() : sum_in_blocks(partition_of(call_));
      break;
    case SlotOperation::kReduce:
      plan_.way_ == SlotWay::kGather ? reduce_gathered() : sum_in_blocks(partition_of(call_));
      break;
  }
  if (plan_.is_trial()) keep_trial();
  if (call_.reduces() && call_.spec.result_bound.exists()) bound_result();
  return measure();
}

}  // namespace thinwire::collective
