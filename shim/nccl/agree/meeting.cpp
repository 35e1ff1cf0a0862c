#include "agree/meeting.h"

#include <algorithm>

#include "agree/words.h"

namespace thinwire::nccl::agree {

std::string lacking_text(int lacking, int ranks) {
  return "raw: " + std::to_string(lacking) + " of " + std::to_string(ranks) +
         (lacking == 1 ? " ranks lacks it" : " ranks lack it");
}

Meeting::~Meeting() {
  loop_.cancel(timer_);
  for (const auto& [rank, timer] : missed_) loop_.cancel(timer);
}

std::string Meeting::objection(const Register& said) const {
  const int rank = static_cast<int>(said.head.speaker);
  if (said.head.version != kVersion) {
    return rank_text(rank) + " has another version of the library's protocol (" +
           std::to_string(said.head.version) + ", here " + std::to_string(kVersion) + ")";
  }
  const int ranks = static_cast<int>(said.head.number);
  const bool sound = ranks > 1 && rank < ranks && (ranks_ == 0 || ranks == ranks_);
  if (!sound) return rank_text(rank) + " believes in " + std::to_string(ranks) + " ranks";
  if (ranks_ == 0) return "";
  return difference(first_rank_, first_terms_, rank, said.terms);
}

void Meeting::begin(const Register& said) {
  ranks_ = static_cast<int>(said.head.number);
  first_rank_ = static_cast<int>(said.head.speaker);
  first_terms_ = said.terms;
  timer_ = loop_.after(std::min(times_.late, times_.all), [this] { say_late(); });
}

void Meeting::say_late() {
  const auto decide = [this] {
    decide_raw(lacking_text(ranks_ - static_cast<int>(seats_.size()), ranks_));
  };
  if (times_.all <= times_.late) return decide();
  is_late_ = true;
  timer_ = loop_.after(times_.all - times_.late, decide);
  const std::string text = late_text();
  tell_(text);
  for (const auto& [rank, seat] : seats_) seat.link->send(Waiting{text});
}

std::string Meeting::late_text() const {
  const int lacking = ranks_ - static_cast<int>(seats_.size());
  return lacking_text(lacking, ranks_) + (lacking == 1 ? ", or has" : ", or have") +
         " not come yet";
}

void Meeting::take(std::unique_ptr<Link> link, const Register& said) {
  const int rank = static_cast<int>(said.head.speaker);
  const std::string wrong = ready_ || !raw_.empty() ? "" : objection(said);
  if (ranks_ == 0) begin(said);
  link->trust();
  link->on_message = [this](Message&& message) {
    // Whether the tree could be made is not known here; the first that says no is believed.
    if (const auto* failed = std::get_if<Failed>(&message)) decide_raw(failed->text);
  };
  link->on_ended = [this, rank](const std::string&) { ended(rank); };
  Seat& seat = seats_[rank];
  if (seat.link) loop_.bury(std::move(seat.link));  // it has come again
  seat = {std::move(link), said.listens, said.node};
  if (const auto missed = missed_.find(rank); missed != missed_.end()) {
    loop_.cancel(missed->second);
    missed_.erase(missed);
  }
  if (!raw_.empty()) {
    seat.link->send(Decision{false, raw_});
    Link::dismiss(loop_, std::move(seat.link));
    seats_.erase(rank);
  } else if (!wrong.empty()) {
    decide_raw("raw: " + wrong);
  } else if (!ready_ && static_cast<int>(seats_.size()) == ranks_) {
    decide_ready();
  } else if (ready_ && rank == 0) {
    say_ready();  // its connection may have ended before it had heard
  } else if (is_late_ && !ready_) {
    seat.link->send(Waiting{late_text()});
  }
}

void Meeting::ended(int rank) {
  const auto found = seats_.find(rank);
  if (found == seats_.end()) return;
  loop_.bury(std::move(found->second.link));
  seats_.erase(found);
  // Once the tree is made, ranks close their connections here.
  if (!ready_ && raw_.empty()) {
    // No more than a short program, mostly.
    missed_[rank] = loop_.after(kComesAgain, [this, rank] {
      decide_raw("raw: " + rank_text(rank) + " ended before all ranks had come", false);
    });
  }
}

void Meeting::decide_ready() {
  ready_ = true;
  loop_.cancel(timer_);
  std::map<std::uint64_t, std::uint32_t> nodes;
  for (const auto& [rank, seat] : seats_) {
    const auto next = static_cast<std::uint32_t>(nodes.size());
    const std::uint32_t node = nodes.try_emplace(seat.node, next).first->second;
    table_.places.push_back({static_cast<std::uint32_t>(rank), node, seat.listens});
  }
  say_ready();
}

void Meeting::say_ready() {
  Link& first = *seats_.at(0).link;
  first.send(Decision{true, ""});
  first.send(table_);
}

void Meeting::decide_raw(const std::string& why, bool tell) {
  if (!raw_.empty()) return;
  raw_ = why;
  loop_.cancel(timer_);
  for (const auto& [rank, timer] : missed_) loop_.cancel(timer);
  missed_.clear();
  if (tell) tell_(why);
  for (auto& [rank, seat] : seats_) {
    seat.link->send(Decision{false, raw_});
    Link::dismiss(loop_, std::move(seat.link));
  }
  seats_.clear();
}

void Meetings::expect(const Secret& secret) {
  const auto [found, added] = meetings_.try_emplace(secret);
  if (!added) return;
  found->second = std::make_unique<Meeting>(loop_, times_, tell_);
  by_age_.push_back(secret);
  if (by_age_.size() <= kMostMeetings) return;
  const auto oldest = meetings_.find(by_age_.front());
  loop_.bury(std::move(oldest->second));
  meetings_.erase(oldest);
  by_age_.pop_front();
}

bool Meetings::take(std::unique_ptr<Link>& link, const Register& said) {
  const Secret& secret = said.head.secret;
  if (const auto& of = said.child_of) {
    const bool ours =
        parents_.contains(of->parent) && derive(of->parent, of->split, of->color) == secret;
    if (!ours) return false;
    expect(secret);
  }
  const auto found = meetings_.find(secret);
  if (found == meetings_.end()) return false;
  found->second->take(std::move(link), said);
  return true;
}

}  // namespace thinwire::nccl::agree
