// What a member carries for others: blocks, offers of pairs, and where ranks are to be found.
#include "agree/core.h"
#include "agree/member.h"

namespace thinwire::nccl::agree {

// What a rank sends to itself needs nobody.
bool Member::is_another(int rank) const { return rank >= 0 && rank < ranks_ && rank != rank_; }

void Member::offer_to_pair(int rank, bool outgoing, std::uint64_t key, Offer offer) {
  if (!is_another(rank)) return;
  when_settled([=, this](const std::vector<Address>&, const std::string&) {
    if (state_ == State::kReady) pairs_->offer(rank, outgoing, key, offer);
  });
}

void Member::give(int to, SharedBytes packed) {
  if (state_ != State::kReady) return;
  if (to == kToAll) {
    tree_->around(Tree::kFromNobody, packed);
  } else if (is_another(to)) {
    pairs_->send_part(to, std::move(packed));
  }
}

void Member::pass_on(int from, const Part& part) {
  if (state_ != State::kReady) return;
  if (tree_->neighbours() > 1) tree_->around(from, std::make_shared<const Bytes>(pack(part)));
  keep(part);
}

void Member::keep(const Part& part) {
  if (state_ != State::kReady || closed_) return;
  if (!shared_->blocks.put(part.block, part.total, part.offset, part.bytes)) {
    break_off("a part of a block came out of order", Tree::kFromNobody);
  }
}

// Up to whoever has the rank below itself.
void Member::find(int rank) {
  if (const auto address = tree_->address_of(rank)) return pairs_->found(rank, *address);
  tree_->up(Find{static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(rank_)});
}

void Member::take_find(int from, const Find& find) {
  if (from == kFromParent) return;
  if (const auto address = tree_->address_of(static_cast<int>(find.rank))) {
    tree_->down(from, Found{find.rank, find.asker, true, *address});
  } else if (rank_ != 0) {
    tree_->up(find);
  }
}

void Member::take_found(const Found& found) {
  const int asker = static_cast<int>(found.asker);
  if (asker == rank_) {
    pairs_->found(static_cast<int>(found.rank), found.address);
  } else if (asker < ranks_ && is_below(rank_, asker)) {
    tree_->down(way_to(rank_, asker), found);
  }
}

}  // namespace thinwire::nccl::agree
