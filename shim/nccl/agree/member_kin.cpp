// How a member finds its siblings: communicators whose ranks share out all the job's ranks, as the
// data-parallel groups of a training do (`siblings.h`).
//
// Two members of a process take part. The *whole* is its member of a communicator of all the job's
// ranks; the *related* ones are those that look for siblings over the tree of the whole. A message
// of a related member goes up that tree to rank 0, whose whole keeps the sets of siblings
// (`SiblingSets`). What the sets answer goes down to the rank 0 of the related communicator, and
// there to the member with the message's tag; that one tells its own ranks over its own tree.
#include <cstring>

#include "agree/core.h"
#include "agree/member.h"
#include "base/mix.h"

namespace thinwire::nccl::agree {
namespace {

// A communicator's tag: alike on its ranks, and never 0.
std::uint64_t tag_of(const Name& name) {
  std::uint64_t tag = 0;
  std::memcpy(&tag, name.data(), sizeof tag);
  return tag | 1U;
}

// Alike for communicators whose ranks share nodes alike.
std::uint64_t layout_of(const std::vector<std::uint32_t>& nodes) {
  std::uint64_t layout = 0;
  for (const std::uint32_t node : nodes) layout = mix_of(layout, node);
  return layout;
}

}  // namespace

void Member::relate(Member& whole, std::uint64_t split, const Kindred& kindred) {
  const std::uint64_t kind = kindred.kind;
  whole_ = whole.id_;
  whole.related_.insert(id_);
  kin_.split = split;
  kin_.alike = mix_of(ranks_, kind, whole.kinds_[{ranks_, kind}]++);
  kin_.siblings = kindred.siblings;
  family_ = split != 0 ? split : kin_.alike;
  say_kin();
}

// ---- what a related member says of itself ----

// Tells the sets of this member after both it and its whole are ready. Of a whole that has just
// become ready: of its related members.
void Member::say_kin() {
  for (const std::uint64_t id : std::set(related_)) {
    if (Member* const each = core_.member(id)) each->say_kin();
  }
  Member* const whole = core_.member(whole_);
  if (whole == nullptr || has_said_kin_) return;
  if (state_ != State::kReady || whole->state_ != State::kReady) return;
  has_said_kin_ = true;
  kin_.from = static_cast<std::uint32_t>(whole->rank_);
  kin_.tag = tag_of(name_);
  kin_.rank = static_cast<std::uint32_t>(rank_);
  kin_.ranks = static_cast<std::uint32_t>(ranks_);
  kin_.layout = layout_of(tree_->nodes());
  whole->send_to_sets(kin_);
}

// Ends this member's relation to its whole. A whole that its program has closed leaves with the
// last related member, as its tree was needed until now.
void Member::leave_kin() {
  Member* const whole = core_.member(std::exchange(whole_, 0));
  if (whole == nullptr) return;
  if (has_said_kin_) whole->send_to_sets(NoKin{kin_.from, kin_.tag});
  whole->related_.erase(id_);
  const bool may_leave = whole->closed_ && !whole->leaves_ && whole->state_ == State::kReady;
  if (may_leave && whole->related_.empty()) whole->leave();
}

// ---- how the whole carries it ----

// Takes a message a step up, and at rank 0 into the sets.
void Member::send_to_sets(const Message& message) {
  if (state_ != State::kReady || has_left_) return;
  if (rank_ != 0) return tree_->up(message);
  if (!sets_) {
    sets_ = std::make_unique<SiblingSets>(
        ranks_, [this](std::uint32_t to, const Message& said) { send_to_rank(to, said); });
  }
  bool fits = true;
  if (const auto* kin = std::get_if<Kin>(&message)) fits = sets_->take(*kin);
  if (const auto* gone = std::get_if<NoKin>(&message)) fits = sets_->take(*gone);
  if (const auto* joined = std::get_if<Joined>(&message)) fits = sets_->take(*joined);
  if (!fits) break_off("what came from another rank does not fit", Tree::kFromNobody);
}

// Sends what the sets say to a rank. For this rank itself it comes later too, as the sets must have
// returned before they are called again.
void Member::send_to_rank(std::uint32_t to, const Message& message) {
  if (static_cast<int>(to) != rank_) {
    tree_->towards(static_cast<int>(to), message);
    return;
  }
  core_.loop().post([&core = core_, id = id_, message] {
    if (Member* const self = core.member(id)) self->hand_to_related(message);
  });
}

// Takes a message to a rank at or below this one in the tree. False: there is no such rank.
bool Member::send_below(std::uint32_t to, const Message& message) {
  const int rank = static_cast<int>(to);
  if (rank >= ranks_ || !is_below(rank_, rank)) return false;
  if (rank == rank_) {
    hand_to_related(message);
  } else {
    tree_->towards(rank, message);
  }
  return true;
}

// Takes what came over this member's tree about siblings. False: it breaks the protocol.
bool Member::take_kin(int from, const Message& message) {
  const bool comes_up = from != kFromParent;
  // A message that goes up must be of a rank below the child that sent it.
  const auto is_from = [&](std::uint32_t rank) {
    return comes_up && static_cast<int>(rank) < ranks_ &&
           is_below(first_child(rank_) + from, static_cast<int>(rank));
  };
  bool fits = false;
  if (const auto* kin = std::get_if<Kin>(&message)) fits = is_from(kin->from);
  if (const auto* gone = std::get_if<NoKin>(&message)) fits = is_from(gone->from);
  if (const auto* joined = std::get_if<Joined>(&message)) {
    if (!comes_up) return send_below(joined->to, message);
    fits = joined->to == 0;
  }
  if (const auto* siblings = std::get_if<Siblings>(&message)) {
    if (comes_up) return false;
    // With another tag it is on its way down the whole, else of this one's own siblings.
    if (!has_said_kin_ || siblings->tag != kin_.tag) return send_below(siblings->to, message);
    know_siblings(siblings->known);
    return true;
  }
  if (fits) send_to_sets(message);
  return fits;
}

// ---- what a related member is told ----

// Hands what came down the whole to the related member that it is for.
void Member::hand_to_related(const Message& message) {
  const auto* const joined = std::get_if<Joined>(&message);
  const auto* const siblings = std::get_if<Siblings>(&message);
  const std::uint64_t tag = joined != nullptr ? joined->tag : siblings->tag;
  for (const std::uint64_t id : related_) {
    Member* const each = core_.member(id);
    if (each != nullptr && each->has_said_kin_ && each->kin_.tag == tag) {
      return each->hear_from_sets(message);
    }
  }
}

// Takes an answer of the sets, at rank 0 of this communicator.
void Member::hear_from_sets(const Message& message) {
  if (state_ != State::kReady || rank_ != 0) return;
  if (const auto* siblings = std::get_if<Siblings>(&message)) return know_siblings(siblings->known);
  if (!rounds_.is_joined()) return;
  const auto& said = std::get<Joined>(message).said;
  bool fits = false;
  if (const auto* ask = std::get_if<Ask>(&said)) fits = is_joined(ask->key) && rounds_.take(*ask);
  if (const auto* commit = std::get_if<Commit>(&said)) {
    fits = is_joined(commit->key) && rounds_.take(*commit);
  }
  if (!fits) break_off("what came of its siblings does not fit", Tree::kFromNobody);
}

// Notes whether it has siblings, and tells the ranks below. Rank 0 lets its rounds be decided by
// the sets from then on, or by itself again.
void Member::know_siblings(bool known) {
  shared_->know_siblings(known);
  tree_->down(Siblings{0, kin_.tag, known});
  if (rank_ != 0) return;
  if (!known) return rounds_.part();
  rounds_.join([this](const Message& message) {
    Member* const whole = core_.member(whole_);
    if (whole == nullptr) return;
    Joined joined{0, kin_.tag, {}};
    if (const auto* offered = std::get_if<Offered>(&message)) joined.said = *offered;
    if (const auto* limit = std::get_if<Limit>(&message)) joined.said = *limit;
    whole->send_to_sets(joined);
  });
}

// Called as the whole has lost its way to rank 0: related members decide by themselves again.
void Member::lose_siblings() {
  for (const std::uint64_t id : std::set(related_)) {
    Member* const each = core_.member(id);
    if (each != nullptr && each->rank_ == 0 && each->rounds_.is_joined()) {
      each->know_siblings(false);
    }
  }
}

// Called as the whole carries nothing any more: its related members have none from then on.
void Member::lose_kin() {
  lose_siblings();
  for (const std::uint64_t id : std::exchange(related_, {})) {
    if (Member* const each = core_.member(id)) each->whole_ = 0;
  }
  if (closed_ && !leaves_ && state_ == State::kReady) leave();
}

}  // namespace thinwire::nccl::agree
