// Parts of a communicator register over its tree: each rank's line goes up to rank 0, whose helper
// is the registrar, and its word comes down. No rank has a connection more for it.
#include "agree/core.h"
#include "agree/member.h"

namespace thinwire::nccl::agree {

// Registers a part. One that all ranks make together has a color from 0 on; others may come only by
// a connection: ranks that are new, or that are left of those which hang.
void Member::register_as(const PartOf& part, const Origin& origin) {
  part_of_ = part;
  if (part.color < 0) return register_with(origin, nullptr);
  register_with(origin, [this, domain = origin.domain](bool failed, const std::string& text) {
    Member* const of = core_.member(part_of_.parent);
    Enrol line{part_of_.split,
               part_of_.color,
               0,
               static_cast<std::uint32_t>(rank_),
               static_cast<std::uint32_t>(ranks_),
               core_.options().host,
               domain,
               failed,
               text};
    return of != nullptr && of->enrol(std::move(line));
  });
}

// After a rank has left, the tree may lack the way.
bool Member::enrol(Enrol line) {
  if (state_ != State::kReady || closed_ || has_left_) return false;
  line.from = static_cast<std::uint32_t>(rank_);
  if (rank_ == 0) {
    meet(line);
  } else {
    tree_->up(line);
  }
  return true;
}

bool Member::take_line(int from, const Enrol& line) {
  const int rank = static_cast<int>(line.from);
  const bool fits = rank < ranks_ && static_cast<int>(line.ranks) <= ranks_;
  if (from == kFromParent || !fits || !is_below(first_child(rank_) + from, rank)) {
    return false;
  }
  if (rank_ == 0) {
    meet(line);
  } else {
    tree_->up(line);
  }
  return true;
}

// The registrar's side. Where each rank listens is known.
void Member::meet(const Enrol& line) {
  const Secret secret = derive(secret_, line.split, line.color);
  if (line.failed) return core_.meetings().failed(secret, line.text);
  const Register said{{kVersion, secret, line.rank, line.ranks},
                      tree_->addresses()[line.from],
                      Lineage{secret_, line.split, line.color},
                      line.host,
                      line.domain,
                      line.text};
  const Word form{line.from, line.split, line.color, Says::kRaw, "", {}};
  core_.meetings().take_of_tree(said, [&core = core_, id = id_, form](const Message& message) {
    Word word = form;
    if (const auto* table = std::get_if<Table>(&message)) {
      word.says = Says::kReady;
      word.table = *table;
    } else if (const auto* waiting = std::get_if<Waiting>(&message)) {
      word.says = Says::kWaits;
      word.text = waiting->text;
    } else if (const auto* decision = std::get_if<Decision>(&message)) {
      if (decision->ready) return true;  // as the table says
      word.text = decision->text;
    }
    Member* const of = core.member(id);
    return of != nullptr && of->send_word(word);
  });
}

bool Member::send_word(const Word& word) {
  if (state_ != State::kReady || closed_ || has_left_) return false;
  if (static_cast<int>(word.to) == rank_) {
    tell_part(word);
    return true;
  }
  return tree_->towards(static_cast<int>(word.to), std::make_shared<const Bytes>(pack(word)));
}

// Takes a message for another rank. If the way to it has ended, the sender hears of it and comes
// again by a connection.
bool Member::take_word(int from, const Word& word) {
  const int to = static_cast<int>(word.to);
  if (from != kFromParent || to >= ranks_ || !is_below(rank_, to)) return false;
  if (to == rank_) {
    tell_part(word);
  } else if (state_ == State::kReady) {
    tree_->towards(to, std::make_shared<const Bytes>(pack(word)));
  }
  return true;
}

void Member::tell_part(const Word& word) {
  const PartOf which{id_, word.split, word.color};
  if (word.says == Says::kReady) return core_.tell_part(which, word.table);
  if (word.says == Says::kWaits) return core_.tell_part(which, Waiting{word.text});
  core_.tell_part(which, Decision{false, word.text});
}

void Member::hear(Message&& message) {
  if (state_ == State::kForming && registration_) registration_->take(std::move(message));
}

void Member::lose_tree() {
  if (registration_) registration_->lose_tree();
}

void Core::tell_part(const PartOf& which, Message&& message) {
  for (const auto& [id, member] : members_) {
    if (member->part_of() == which) return member->hear(std::move(message));
  }
}

void Core::lose_tree_of(std::uint64_t id) {
  for (const auto& [number, member] : members_) {
    if (member->part_of().parent == id) member->lose_tree();
  }
}

}  // namespace thinwire::nccl::agree
