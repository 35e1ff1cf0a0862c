// How a member ends: in order, broken, aborted, or with its process; and what the end of another
// rank ends here.
#include "agree/core.h"
#include "agree/member.h"
#include "agree/spare_bytes.h"

namespace thinwire::nccl::agree {

void Member::break_off(const std::string& why, int but) {
  if (state_ == State::kForming) {
    const bool is_raw = why.starts_with(kRawText);
    const std::string text = is_raw ? why : std::string(kRawText) + why;
    return become_raw(text, is_raw && but == kFromParent);
  }
  if (state_ != State::kReady) return;
  state_ = State::kBroken;
  // Whoever has closed it does not mind; what came first is the cause.
  if (!closed_ && !has_lost_) {
    shared_->set(state_, "all " + std::to_string(ranks_) + " ranks had it, until " + why);
  }
  shared_->gate.end(Outcome::kBroken);
  leave_kin();
  lose_kin();
  // After the parts of blocks, which other ranks' calls may still be complete by.
  tree_->around(but, std::make_shared<const Bytes>(pack(Broken{why})));
  tree_->dismiss();
  pairs_->dismiss();
  core_.lose_tree_of(id_);
  if (closed_) core_.remove(id_);
}

// A collective needs all ranks, and the tree may lack the way to some. Messages need their two ends
// alone, each of which finds out when the other has died.
void Member::lose_collectives(const std::string& why, int but) {
  if (state_ != State::kReady || std::exchange(has_lost_, true)) return;
  has_left_ = true;
  if (!closed_) {
    shared_->set(State::kBroken, "all " + std::to_string(ranks_) + " ranks had it, until " + why);
  }
  rounds_.give_up();
  leave_kin();
  if (sets_) sets_->stop();
  shared_->collectives.end(Outcome::kBroken);
  shared_->blocks.end_collectives();
  tree_->around(but, Message(Lost{why}));
  core_.lose_tree_of(id_);
  remove_if_done();
}

// Blocks of collectives may have been on its way.
void Member::lose_pair(int rank, bool outgoing, const std::string& why) {
  shared_->pair(rank, outgoing).end(Outcome::kBroken);
  if (!outgoing) shared_->blocks.end_messages(rank);
  lose_collectives(why, Tree::kFromNobody);
  remove_if_done();
}

// Closes it; what it has sent is still delivered, and what others send each other by way of it.
void Member::close() {
  if (std::exchange(closed_, true)) return;
  if (state_ == State::kReady) {
    if (related_.empty()) {
      leave();
    } else {
      shared_->set_gone();  // nobody waits until the others need it no more
    }
    return;
  }
  // Its parts need to know who has it: it ends after that is known.
  if (state_ == State::kForming && !waiting_.empty()) return;
  const bool waits = !waits_for_.empty();
  if (state_ == State::kForming) {
    become_raw(waits ? waits_for_ : "raw: ended before it was known who has it");
  }
  core_.remove(id_);
}

void Member::leave() {
  leaves_ = true;
  end_collectives(Tree::kFromNobody);
  tree_->leave();
  pairs_->leave();
  remove_if_done();
}

// A collective needs all ranks, so that nobody makes one that is not under way. Every rank passes
// it on once.
void Member::end_collectives(int but) {
  if (state_ != State::kReady || std::exchange(has_left_, true)) return;
  rounds_.stop();
  leave_kin();
  if (sets_) sets_->stop();
  if (!leaves_) tree_->around(but, Message(Left{}));
  core_.lose_tree_of(id_);
}

void Member::remove_if_done() {
  if (state_ != State::kReady || !leaves_ || !tree_->is_done() || !pairs_->is_done()) return;
  state_ = State::kBroken;
  tree_->dismiss();
  pairs_->dismiss();
  core_.remove(id_);
}

void Member::revoke() {
  break_off("rank " + std::to_string(rank_) + " has revoked it", Tree::kFromNobody);
}

void Member::abort() {
  break_off("rank " + std::to_string(rank_) + " has aborted it", Tree::kFromNobody);
  closed_ = true;
  core_.remove(id_);
}

bool Member::is_needed() const {
  if (state_ != State::kReady) return false;
  return closed_ || tree_->has_unsent() || pairs_->has_unsent();
}

void Member::lose_helper() {
  if (state_ == State::kForming) {
    if (tree_ && tree_->may_be_ready()) shared_->note_unsure();
    shared_->set(State::kRaw, "raw: its helper has ended");
  }
  if (state_ == State::kReady && !closed_) {
    shared_->set(State::kBroken,
                 "all " + std::to_string(ranks_) + " ranks had it, until its helper has ended");
  }
  state_ = State::kBroken;
  shared_->gate.end(Outcome::kBroken);
  shared_->set_gone();
}

// Messages that a member carries for others: blocks, offers of pairs, and addresses of ranks.

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
