// Plans of operations that move values.
#include "collective/slots/planner.h"

namespace thinwire::collective {

void SlotPlanner::allgather() {
  SlotExchange& all = exchange(0);
  all.kind = Kind::kGather;
  all.out.push_back(task(0, rank(), call_.count, -1, differences({Area::kSend, 0})));
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
  const Values shown = differences({Area::kSend, 0});
  if (rank() != call_.peer) {
    all.in.push_back(comes);
    return;
  }
  all.out.push_back(task(0, rank(), call_.count, -1, shown));
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

// Plans blocks that one rank alone gets; this rank's own is the values themselves.
void SlotPlanner::alltoall() {
  SlotExchange& all = exchange(0);
  all.kind = Kind::kMessages;
  for (int peer = 0; peer < ranks(); ++peer) {
    if (peer == rank()) continue;
    SlotTask goes = message(0, rank(), call_.count, peer, block_at(Area::kSend, peer));
    goes.staged = goes.is_raw;
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

}  // namespace thinwire::collective
