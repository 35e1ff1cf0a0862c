#include "agree/tree.h"

#include <algorithm>

#include "agree/words.h"

namespace thinwire::nccl::agree {

Tree::Tree(Loop& loop, const Secret& secret, int rank, int ranks, std::chrono::milliseconds time,
           Told told)
    : loop_(loop),
      secret_(secret),
      rank_(rank),
      ranks_(ranks),
      time_(time),
      told_(std::move(told)),
      children_(static_cast<std::size_t>(children_of(rank, ranks))) {}

Tree::~Tree() {
  if (parent_) loop_.bury(std::move(parent_));
  for (Child& each : children_) {
    loop_.cancel(each.retry);
    if (each.link) loop_.bury(std::move(each.link));
  }
}

void Tree::adopt(std::unique_ptr<Link> parent) {
  parent_ = std::move(parent);
  parent_->trust();
  parent_->on_message = [this](Message&& message) { take_from_parent(std::move(message)); };
  parent_->on_ended = [this](const std::string&) {
    if (ready_) return told_.lost(parent_of(rank_));
    fail("raw: " + rank_text(parent_of(rank_)) + " ended while the ranks were connecting");
  };
}

bool Tree::fits(const Table& table) const {
  if (static_cast<int>(table.places.size()) != ranks_below(rank_, ranks_)) return false;
  int before = -1;
  return std::ranges::all_of(table.places, [&](const Place& each) {
    const int rank = static_cast<int>(each.rank);
    const bool next = rank > std::exchange(before, rank) && rank < ranks_;
    return next && is_below(rank_, rank) && (each.address.family == 4 || each.address.family == 6);
  });
}

void Tree::take(const Table& table) {
  if (has_table_ || !fits(table)) return fail("raw: the ranks' addresses cannot be read");
  has_table_ = true;
  places_ = table.places;
  deadline_ = Loop::Clock::now() + time_;
  for (int child = 0; child < children(); ++child) connect(child);
  settle();
}

std::optional<Address> Tree::address_of(int rank) const {
  const auto found =
      std::ranges::lower_bound(places_, static_cast<std::uint32_t>(rank), {}, &Place::rank);
  const bool there = found != places_.end() && static_cast<int>(found->rank) == rank;
  return there ? std::optional(found->address) : std::nullopt;
}

void Tree::connect(int child) {
  const int rank = first_child(rank_) + child;
  Socket socket = start_connecting(*address_of(rank));
  if (!socket) return child_ended(child, "no socket");
  auto link = std::make_unique<Link>(loop_, std::move(socket), true);
  link->trust();
  link->send(Join{
      {kVersion, secret_, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(rank)}});
  Table below;
  std::ranges::copy_if(places_, std::back_inserter(below.places), [&](const Place& each) {
    return is_below(rank, static_cast<int>(each.rank));
  });
  link->send(below);
  link->on_message = [this, child](Message&& message) {
    take_from_child(child, std::move(message));
  };
  link->on_ended = [this, child](const std::string& why) { child_ended(child, why); };
  children_[child].link = std::move(link);
}

void Tree::child_ended(int child, const std::string& why) {
  Child& ended = children_[child];
  const int rank = first_child(rank_) + child;
  if (ended.link) loop_.bury(std::move(ended.link));
  if (ready_) return told_.lost(rank);
  if (ended.up) return fail("raw: " + rank_text(rank) + " ended while the ranks were connecting");
  if (Loop::Clock::now() + ended.delay > deadline_) {
    return fail("raw: " + rank_text(rank) + " cannot be reached from " + rank_text(rank_) + " at " +
                address_text(*address_of(rank)) + " (" + why + ")");
  }
  ended.retry = loop_.after(ended.delay, [this, child] { connect(child); });
  ended.delay = std::min<std::chrono::milliseconds>(2 * ended.delay, kMostRetry);
}

void Tree::take_from_parent(Message&& message) {
  if (const auto* table = std::get_if<Table>(&message)) {
    take(*table);
  } else if (const auto* ready = std::get_if<Ready>(&message)) {
    const bool whole = static_cast<int>(ready->nodes.size()) == ranks_;
    if (said_up_ && !ready_ && !whole) return fail("raw: the ranks' nodes cannot be read");
    if (said_up_ && !ready_) become_ready(*ready);
  } else if (ready_ || std::holds_alternative<Broken>(message)) {
    told_.message(kFromParent, std::move(message));
  }
}

void Tree::take_from_child(int child, Message&& message) {
  if (const auto* up = std::get_if<Up>(&message)) {
    if (!up->well) return fail(up->text);
    children_[child].up = true;
    settle();
  } else if (ready_ || std::holds_alternative<Broken>(message)) {
    told_.message(child, std::move(message));
  }
}

void Tree::settle() {
  if (!has_table_ || said_up_ || ready_) return;
  if (!std::ranges::all_of(children_, &Child::up)) return;
  if (rank_ == 0) {
    Ready all;
    for (int rank = 0; rank < std::min(ranks_, kMeetingPlaces); ++rank) {
      all.first.push_back(*address_of(rank));
    }
    for (const Place& each : places_) all.nodes.push_back(each.node);
    return become_ready(all);
  }
  said_up_ = true;
  up(Up{true, ""});
}

void Tree::become_ready(const Ready& with) {
  ready_ = true;
  first_ = with.first;
  nodes_ = with.nodes;
  down(with);
  told_.ready();
}

void Tree::fail(const std::string& why) {
  if (ready_) return;
  if (parent_) up(Up{false, why});
  told_.failed(why);
}

void Tree::up(const Message& message) {
  if (parent_) parent_->send(message);
}

void Tree::down(const Message& message) {
  for (int child = 0; child < children(); ++child) down(child, message);
}

void Tree::down(int child, const Message& message) {
  if (children_[child].link) children_[child].link->send(message);
}

void Tree::around(int but, const Message& message) {
  if (but != kFromParent) up(message);
  for (int child = 0; child < children(); ++child) {
    if (child != but) down(child, message);
  }
}

void Tree::around(int but, const SharedBytes& packed) {
  if (but != kFromParent && parent_) parent_->send_part(packed);
  for (int child = 0; child < children(); ++child) {
    if (child != but && children_[child].link) children_[child].link->send_part(packed);
  }
}

bool Tree::has_unsent() const {
  const auto unsent = [](const std::unique_ptr<Link>& link) { return link && link->has_unsent(); };
  return unsent(parent_) || std::ranges::any_of(children_, unsent, &Child::link);
}

void Tree::dismiss() {
  Link::dismiss(loop_, std::move(parent_));
  for (Child& each : children_) {
    loop_.cancel(each.retry);
    Link::dismiss(loop_, std::move(each.link));
  }
}

}  // namespace thinwire::nccl::agree
