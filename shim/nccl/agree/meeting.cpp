#include "agree/meeting.h"

#include <algorithm>

#include "agree/terms.h"

namespace thinwire::nccl::agree {

std::string lacking_text(int lacking, int ranks) {
  return "raw: " + std::to_string(lacking) + " of " + std::to_string(ranks) +
         (lacking == 1 ? " ranks lacks it" : " ranks lack it");
}

Meeting::~Meeting() {
  loop_.cancel(timer_);
  loop_.cancel(missed_);
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
  for (auto& [rank, seat] : seats_) say(rank, seat, Waiting{text});
}

std::string Meeting::late_text() const {
  const int lacking = ranks_ - static_cast<int>(seats_.size());
  return lacking_text(lacking, ranks_) + (lacking == 1 ? ", or has" : ", or have") +
         " not come yet";
}

// Sends a message to a rank: over its connection, else over the tree, else by a call to the address
// at which it listens. A call cannot tell it to begin, because that needs an answer: rank 0 comes
// again for it.
void Meeting::say(int rank, Seat& seat, const Message& message) {
  if (seat.way.link) return seat.way.link->send(message);
  if (seat.way.tree && seat.way.tree(message)) return;
  Call call{{kVersion, secret_, 0, static_cast<std::uint32_t>(rank)}, Says::kRaw, ""};
  if (const auto* decision = std::get_if<Decision>(&message)) {
    if (decision->ready) return;
    call.text = decision->text;
  } else if (const auto* waiting = std::get_if<Waiting>(&message)) {
    call.says = Says::kWaits;
    call.text = waiting->text;
  } else {
    return;
  }
  messenger_.say(seat.listens, call);
}

void Meeting::seat(int rank, Way way, const Register& said) {
  if (way.link) {
    way.link->trust();
    way.link->on_message = [this](Message&& message) {
      if (const auto* why = std::get_if<Failed>(&message)) failed(why->text);
    };
    way.link->on_ended = [this, rank](const std::string&) { ended(rank); };
  }
  Seat& seat = seats_[rank];
  if (seat.way.link) loop_.bury(std::move(seat.way.link));  // it has come again
  seat = {std::move(way), said.listens, said.host, said.domain};
  if (rank == 0) loop_.cancel(missed_);
}

void Meeting::take(Way way, const Register& said) {
  const int rank = static_cast<int>(said.head.speaker);
  const std::string wrong = is_decided() ? "" : objection(said);
  if (ranks_ == 0) begin(said);
  seat(rank, std::move(way), said);
  if (!raw_.empty()) {
    say_raw();
  } else if (!wrong.empty()) {
    decide_raw("raw: " + wrong);
  } else if (!ready_ && static_cast<int>(seats_.size()) == ranks_) {
    decide_ready();
  } else if (ready_ && rank == 0) {
    say_ready();  // its connection may have ended before it had heard
  }
  answer(rank);
}

// Notes it; whom it can tell later it lets go.
void Meeting::answer(int rank) {
  const auto found = seats_.find(rank);
  if (found == seats_.end()) return;
  Seat& seat = found->second;
  const bool waits = is_late_ && !ready_;
  if (waits || (rank != 0 && seat.way.link)) say(rank, seat, Waiting{waits ? late_text() : ""});
  if (rank != 0 && seat.way.link) close(std::move(seat.way.link));
}

// The system still delivers what was written.
void Meeting::close(std::unique_ptr<Link> link) {
  if (link->has_unsent()) return Link::dismiss(loop_, std::move(link));
  link->close();
  loop_.bury(std::move(link));
}

void Meeting::ended(int rank) {
  const auto found = seats_.find(rank);
  if (found == seats_.end()) return;
  loop_.bury(std::move(found->second.way.link));
  seats_.erase(found);
  // After the tree is made rank 0 closes its connection here.
  if (is_decided()) return;
  // No more than a short program, mostly.
  missed_ = loop_.after(kComesAgain, [this, rank] {
    decide_raw("raw: " + rank_text(rank) + " ended before all ranks had come", false);
  });
}

// Whether NVLink joins hosts here, which NCCL uses only if each rank's GPU is in a domain.
bool Meeting::are_joined() const {
  const std::uint64_t host = seats_.begin()->second.host;
  return std::ranges::all_of(seats_, [](auto& each) { return each.second.domain != 0; }) &&
         std::ranges::any_of(seats_, [&](auto& each) { return each.second.host != host; });
}

void Meeting::decide_ready() {
  ready_ = true;
  loop_.cancel(timer_);
  loop_.cancel(missed_);
  const bool by_domain = are_joined();
  std::map<std::uint64_t, std::uint32_t> nodes;
  for (const auto& [rank, seat] : seats_) {
    const auto next = static_cast<std::uint32_t>(nodes.size());
    const std::uint64_t known_by = by_domain ? seat.domain : seat.host;
    const std::uint32_t node = nodes.try_emplace(known_by, next).first->second;
    table_.places.push_back({static_cast<std::uint32_t>(rank), node, seat.listens});
  }
  // Until then they may fail to connect.
  timer_ = loop_.after(kFormingTime, [this] {
    std::erase_if(seats_, [](const auto& each) { return each.second.way.link == nullptr; });
  });
  say_ready();
}

// A message that is sent may end it all.
void Meeting::say_ready() {
  for (const Message& message : {Message(Decision{true, ""}), Message(table_)}) {
    const auto first = seats_.find(0);
    if (first != seats_.end()) say(0, first->second, message);
  }
}

void Meeting::decide_raw(const std::string& why, bool tell) {
  if (!raw_.empty()) return;
  raw_ = why;
  loop_.cancel(timer_);
  loop_.cancel(missed_);
  if (tell) tell_(why);
  say_raw();
}

void Meeting::leave() {
  if (is_decided() || ranks_ == 0) return;
  decide_raw("raw: the process in which the ranks meet has ended before all had come", false);
}

void Meeting::say_raw() {
  auto all = std::exchange(seats_, {});
  for (auto& [rank, seat] : all) {
    say(rank, seat, Decision{false, raw_});
    if (seat.way.link) close(std::move(seat.way.link));
  }
}

}  // namespace thinwire::nccl::agree
