#include "agree/member.h"

#include <algorithm>

#include "agree/address.h"
#include "agree/core.h"
#include "agree/socket.h"
#include "agree/terms.h"

namespace thinwire::nccl::agree {

Member::Member(Core& core, std::uint64_t id, std::shared_ptr<Shared> shared, int rank, int ranks)
    : core_(core),
      id_(id),
      shared_(std::move(shared)),
      rank_(rank),
      ranks_(ranks),
      rounds_(shared_->collectives) {}

void Member::register_with(const Origin& origin, ByTree up) {
  secret_ = origin.secret;
  name_ = name_of(secret_);
  form();
  Register message{
      {kVersion, secret_, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(ranks_)},
      {},
      origin.child_of,
      core_.options().host,
      origin.domain,
      origin.terms};
  registration_ = std::make_unique<Registration>(
      core_.loop(), origin.registrar, std::move(message),
      Registration::Times{core_.options().registrar,
                          core_.options().registration + core_.options().connecting + kPatience},
      Registration::Told{[this](const std::string& why) { become_raw(why); },
                         [this](const std::string& why) { become_raw(why, true); },
                         [this](const std::string& why) { miss_registrar(why); },
                         [this](const Table& table) {
                           if (rank_ == 0 && tree_) tree_->take(table);
                         },
                         [this](const std::string& why) {
                           waits_for_ = why;
                           if (state_ == State::kForming) shared_->set(state_, why);
                         },
                         [this](const Address& local) {
                           const Options& options = core_.options();
                           return core_.listen(listening_address(
                               interfaces_of_host(), local, options.interfaces, options.family));
                         },
                         [this](const Address& to, Message greeting) {
                           core_.messenger().say(to, std::move(greeting));
                         },
                         std::move(up)});
}

// Each rank finds it out by itself, and one says it: the second, as who makes an id is the first
// one mostly.
void Member::miss_registrar(const std::string& why) {
  if (rank_ == 1) core_.tell(why);
  become_raw(why);
}

void Member::form() {
  Tree::Told told;
  told.ready = [this] { become_ready(); };
  told.failed = [this](const std::string& why) {
    if (registration_ && !tree_->may_be_ready()) registration_->tell_failed(why);
    become_raw(why);
  };
  told.lost = [this](int rank, const std::string& why) {
    lose_collectives(rank_text(rank) + " " + why, Tree::kFromNobody);
  };
  told.message = [this](int from, Message&& message) { take(from, std::move(message)); };
  told.waits = [this](int rank, const std::string& why) { say_lost(rank, why); };
  told.progress = [this] {
    if (tree_->has_lost_parent()) lose_siblings();
    remove_if_done();
  };
  const Options& options = core_.options();
  tree_ = std::make_unique<Tree>(core_.loop(), secret_, rank_, ranks_,
                                 Tree::Times{options.connecting, options.resuming, options.refused},
                                 std::move(told));
  pairs_ = std::make_unique<Pairs>(
      core_.loop(), core_.idle(), core_.openings(), secret_, rank_,
      Pairs::Times{options.connecting, options.resuming, options.refused},
      Pairs::Told{
          [this](int rank) { return tree_->addresses()[static_cast<std::size_t>(rank)]; },
          [this] { return core_.has_room(); },
          [this](int rank, bool outgoing) -> Ledger& { return shared_->pair(rank, outgoing); },
          [this](const Part& part) { keep(part); },
          [this](const std::string& why) { break_off(why, Tree::kFromNobody); },
          [this](int rank, bool outgoing, const std::string& why) {
            lose_pair(rank, outgoing, why);
          },
          [this](const std::string& why) {
            core_.warn(Core::kUnreachablePair, why + "; messages between them stay raw");
          },
          [this](int rank, const std::string& why) { say_lost(rank, why); },
          [this] { remove_if_done(); }});
}

void Member::say_lost(int rank, const std::string& why) {
  core_.warn(Core::kLostConnection,
             "the connection of " + rank_text(rank_) + " to " + rank_text(rank) + " was lost (" +
                 why +
                 ") and is made again; calls go on as agreed, what does not fit its slot waits");
}

void Member::become_ready() {
  if (state_ != State::kForming) return;
  state_ = State::kReady;
  shared_->set_nodes(tree_->nodes());
  shared_->set(state_, "all " + std::to_string(ranks_) + " ranks have it");
  core_.loop().bury(std::move(registration_));
  if (rank_ < kMeetingPlaces) core_.meetings().expect_parts_of(secret_);
  Rounds::Way way;
  if (rank_ != 0) way.up = [this](const Message& message) { tree_->up(message); };
  way.down = [this](const Message& message) { tree_->down(message); };
  way.children = tree_->children();
  rounds_.start(std::move(way));
  say_kin();
  tell_waiting(first(), "");
  if (closed_ && related_.empty()) leave();
}

// The ranks in whose processes its parts may meet.
std::vector<Address> Member::first() const {
  const auto& all = tree_->addresses();
  const auto count = std::min<std::ptrdiff_t>(std::ssize(all), kMeetingPlaces);
  return {all.begin(), all.begin() + count};
}

// After its line that its subtree is whole a rank knows nothing of the others until it is told:
// what it finds by itself makes it raw alone, and no sum that others may add in order.
void Member::become_raw(const std::string& why, bool is_told) {
  if (state_ != State::kForming) return;
  state_ = State::kRaw;
  const bool is_unsure = !is_told && tree_ && tree_->may_be_ready();
  if (is_unsure) shared_->note_unsure();
  shared_->set(state_, why);
  // A communicator that the program has ended by itself is no reason for others to be silent.
  if (!closed_) core_.has_heard_of_raw();
  if (tree_) {
    const bool has_mark = why.starts_with(kRawText);
    tree_->around(Tree::kFromNobody,
                  Message(Broken{is_unsure && has_mark ? why.substr(kRawText.size()) : why}));
    tree_->dismiss();
    pairs_->dismiss();
  }
  if (registration_) core_.loop().bury(std::move(registration_));
  leave_kin();
  lose_kin();
  tell_waiting({}, why);
  if (closed_) core_.remove(id_);
}

void Member::when_known(WhenKnown then) {
  if (state_ == State::kForming) {
    waiting_.push_back(std::move(then));
  } else if (state_ == State::kReady || state_ == State::kBroken) {
    // Those that are left of a broken one may find each other.
    then(first(), "");
  } else {
    then({}, shared_->membership().text);
  }
}

void Member::tell_waiting(const std::vector<Address>& first, const std::string& why) {
  for (const auto& then : std::exchange(waiting_, {})) then(first, why);
}

bool Member::adopt_parent(std::unique_ptr<Link>& link, int from) {
  const bool expected = rank_ != 0 && from == parent_of(rank_) && tree_;
  if (!expected || state_ == State::kReady) return false;
  if (state_ == State::kForming) {
    tree_->adopt(std::move(link));
    return true;
  }
  link->send(Up{false, shared_->membership().text});
  Link::dismiss(core_.loop(), std::move(link));
  return true;
}

bool Member::adopt_sender(std::unique_ptr<Link>& link, int from) {
  // A sender that is ready may come before this rank has heard that it is; it comes again.
  if (state_ != State::kReady || closed_ || from >= ranks_ || from == rank_) return false;
  if (!core_.has_room() || !leaves_room(link->fd())) return false;
  return pairs_->adopt(link, from);
}

bool Member::adopt_again(std::unique_ptr<Link>& link, const Again& again) {
  const int from = static_cast<int>(again.head.speaker);
  if (state_ == State::kBroken) {
    link->send(Broken{shared_->membership().text});
    Link::dismiss(core_.loop(), std::move(link));
    return true;
  }
  if (state_ == State::kRaw || from >= ranks_ || from == rank_) return false;
  if (!again.makes) {
    if (again.of_pair) {
      pairs_->wake(from);
    } else {
      tree_->wake(from);
    }
    return false;
  }
  if (again.of_pair && !core_.has_room()) {
    // It comes again.
    link->send(Rest{});
    Link::dismiss(core_.loop(), std::move(link));
    return true;
  }
  if (again.of_pair) return pairs_->adopt_again(link, from, again.taken);
  return rank_ != 0 && from == parent_of(rank_) && tree_->adopt_again(link, again.taken);
}

void Member::take(int from, Message&& message) {
  bool fits = true;
  if (const auto* broken = std::get_if<Broken>(&message)) {
    break_off(broken->text, from);
  } else if (const auto* lost = std::get_if<Lost>(&message)) {
    lose_collectives(lost->text, from);
  } else if (const auto* part = std::get_if<Part>(&message)) {
    pass_on(from, *part);
  } else if (const auto* offered = std::get_if<Offered>(&message)) {
    fits = rounds_.take(from, *offered);
  } else if (const auto* limit = std::get_if<Limit>(&message)) {
    fits = rounds_.take(from, *limit);
  } else if (const auto* ask = std::get_if<Ask>(&message)) {
    fits = from == kFromParent && rounds_.take(*ask);
  } else if (const auto* commit = std::get_if<Commit>(&message)) {
    fits = from == kFromParent && rounds_.take(*commit);
  } else if (const auto* carried = std::get_if<Carried>(&message)) {
    fits = carry(from, *carried);
  } else if (const auto* line = std::get_if<Enrol>(&message)) {
    fits = take_line(from, *line);
  } else if (const auto* word = std::get_if<Word>(&message)) {
    fits = take_word(from, *word);
  } else if (std::holds_alternative<Leaving>(message) || std::holds_alternative<Left>(message)) {
    end_collectives(from);
  } else {
    fits = take_kin(from, message);
  }
  if (!fits) break_off("what came from another rank does not fit", Tree::kFromNobody);
}

}  // namespace thinwire::nccl::agree
