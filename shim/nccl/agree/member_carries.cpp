// Messages that a member carries for others: blocks, offers of pairs, and addresses of ranks.
#include "agree/core.h"
#include "agree/member.h"
#include "agree/spare_bytes.h"

namespace thinwire::nccl::agree {

// True for another rank: what a rank sends to itself needs nobody.
bool Member::is_another(int rank) const { return rank >= 0 && rank < ranks_ && rank != rank_; }

void Member::offer_to_pair(int rank, bool outgoing, std::uint64_t key, Offer offer) {
  if (!is_another(rank)) return;
  when_known([=, this](const std::vector<Address>&, const std::string&) {
    if (state_ == State::kReady && !closed_) pairs_->offer(rank, outgoing, key, offer);
  });
}

void Member::give(int to, SharedBytes packed) {
  if (state_ != State::kReady) return;
  if (to == kToAll) {
    if (has_lost_) return;
    tree_->around(Tree::kFromNobody, packed);
  } else if (is_another(to)) {
    give_to_one(to, std::move(packed));
  }
}

void Member::give_to_one(int to, SharedBytes packed) {
  const auto message = parse(ByteView(*packed).subspan(kLengthBytes));
  const Part& part = std::get<Part>(*message);
  if (has_lost_ && !part.block.of_pair) return;
  if (!pairs_->has_way(to, part)) {
    const Carried carried{static_cast<std::uint32_t>(to), part};
    if (tree_->towards(to, pack_part(carried))) return;
  }
  pairs_->send_part(to, std::move(packed));
}

void Member::pass_on(int from, const Part& part) {
  if (state_ != State::kReady) return;
  if (tree_->neighbours() > 1) tree_->around(from, pack_part(part));
  keep(part);
}

void Member::keep(const Part& part) {
  if (state_ != State::kReady || closed_) return;
  if (part.block.from >= ranks_ ||
      !shared_->blocks.put(part.block, part.total, part.offset, part.bytes)) {
    break_off("a part of a block came out of order, or more waits than may", Tree::kFromNobody);
  }
}

// A part for one rank whose connection to the sender is not made yet.
bool Member::carry(int from, const Carried& carried) {
  const int to = static_cast<int>(carried.to);
  if (to >= ranks_ || state_ != State::kReady || has_lost_) return to < ranks_;
  if (to == rank_) {
    keep(carried.part);
    return true;
  }
  // Not back to where it came from.
  const int next = is_below(rank_, to) ? way_to(rank_, to) : kFromParent;
  if (next == from) return false;
  if (tree_->towards(to, pack_part(carried))) return true;
  pairs_->send_part(to, pack_part(carried.part));
  return true;
}

}  // namespace thinwire::nccl::agree
