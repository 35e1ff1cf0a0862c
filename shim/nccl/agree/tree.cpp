#include "agree/tree.h"

#include <algorithm>

#include "agree/terms.h"

namespace thinwire::nccl::agree {

Tree::Tree(Loop& loop, const Secret& secret, int rank, int ranks, const Times& times, Told told)
    : loop_(loop),
      secret_(secret),
      rank_(rank),
      ranks_(ranks),
      times_(times),
      told_(std::move(told)),
      children_(static_cast<std::size_t>(children_of(rank, ranks))) {}

Tree::~Tree() {
  loop_.cancel(parent_timer_);
  if (parent_) loop_.bury(std::move(parent_));
  for (Child& each : children_) {
    loop_.cancel(each.retry);
    if (each.session) loop_.bury(std::move(each.session));
  }
}

std::unique_ptr<Session> Tree::session_with(int rank) {
  const bool is_child = rank > rank_;
  const int child = rank - first_child(rank_);
  Session::Told told;
  told.message = [this, is_child, child](Message&& message) {
    if (is_child) return take_from_child(child, std::move(message));
    take_from_parent(std::move(message));
  };
  told.lost = [this, is_child, child](const std::string& why) {
    if (is_child) return child_ended(child, why);
    miss_parent(why);
  };
  told.waits = [this, rank](const std::string& why) { told_.waits(rank, why); };
  told.progress = [this] { told_.progress(); };
  return std::make_unique<Session>(
      loop_, Session::Ends{secret_, rank_, rank, false, is_child, times_.resuming, times_.refused},
      std::move(told));
}

void Tree::adopt(std::unique_ptr<Link> parent) {
  loop_.cancel(parent_timer_);
  if (parent_) loop_.bury(std::move(parent_));
  parent_ = session_with(parent_of(rank_));
  parent_->adopt(std::move(parent));
}

bool Tree::adopt_again(std::unique_ptr<Link>& parent, std::uint64_t taken) {
  if (!parent_ || !parent_->adopt_again(parent, taken)) return false;
  loop_.cancel(parent_timer_);
  return true;
}

void Tree::wake(int rank) {
  const int child = rank - first_child(rank_);
  if (child < 0 || child >= children()) return;
  if (children_[child].session) children_[child].session->wake();
}

// Before all ranks are connected the parent may still come again. After this subtree is, others may
// have heard that all are: then it is waited for as one that was lost later.
void Tree::miss_parent(const std::string& why) {
  if (ready_) return told_.lost(parent_of(rank_), why);
  loop_.cancel(parent_timer_);
  parent_timer_ = loop_.after(said_up_ ? times_.resuming : times_.connecting, [this, why] {
    fail("raw: " + rank_text(parent_of(rank_)) + " ended while the ranks were connecting (" + why +
         ")");
  });
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
  if (has_table_) {
    // Who sent it has come again.
    if (said_up_ && !ready_) up(Up{true, ""});
    return;
  }
  if (!fits(table)) return fail("raw: the ranks' addresses cannot be read");
  has_table_ = true;
  places_ = table.places;
  deadline_ = Loop::Clock::now() + times_.connecting;
  for (int child = 0; child < children(); ++child) connect(child);
  report_if_whole();
}

// The address of a rank of the subtree.
const Address& Tree::place_of(int rank) const {
  return std::ranges::lower_bound(places_, static_cast<std::uint32_t>(rank), {}, &Place::rank)
      ->address;
}

void Tree::connect(int child) {
  const int rank = first_child(rank_) + child;
  Table below;
  std::ranges::copy_if(places_, std::back_inserter(below.places), [&](const Place& each) {
    return is_below(rank, static_cast<int>(each.rank));
  });
  auto& session = children_[child].session;
  session = session_with(rank);
  session->connect(place_of(rank), Join{});
  session->send(below);
}

void Tree::child_ended(int child, const std::string& why) {
  Child& ended = children_[child];
  const int rank = first_child(rank_) + child;
  if (ready_) return told_.lost(rank, why);
  if (ended.up) return fail("raw: " + rank_text(rank) + " ended while the ranks were connecting");
  if (ended.session) loop_.bury(std::move(ended.session));
  if (Loop::Clock::now() + ended.delay > deadline_) {
    return fail("raw: " + rank_text(rank) + " cannot be reached from " + rank_text(rank_) + " at " +
                address_text(place_of(rank)) + " (" + why + ")");
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
    children_[child].session->hold();
    report_if_whole();
  } else if (ready_ || std::holds_alternative<Broken>(message)) {
    told_.message(child, std::move(message));
  }
}

void Tree::report_if_whole() {
  if (!has_table_ || said_up_ || ready_) return;
  if (!std::ranges::all_of(children_, &Child::up)) return;
  if (rank_ == 0) {
    Ready all;
    for (const Place& each : places_) {
      all.addresses.push_back(each.address);
      all.nodes.push_back(each.node);
    }
    return become_ready(all);
  }
  said_up_ = true;
  up(Up{true, ""});
}

void Tree::become_ready(const Ready& with) {
  ready_ = true;
  addresses_ = with.addresses;
  nodes_ = with.nodes;
  places_ = {};
  if (parent_) {
    parent_->know(addresses_[static_cast<std::size_t>(parent_of(rank_))]);
    parent_->hold();
  }
  down(with);
  told_.ready();
}

void Tree::fail(const std::string& why) {
  if (ready_) return;
  if (parent_) up(Up{false, why});
  told_.failed(why);
}

}  // namespace thinwire::nccl::agree
