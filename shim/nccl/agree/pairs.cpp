#include "agree/pairs.h"

#include <algorithm>

#include "agree/terms.h"

namespace thinwire::nccl::agree {

Pairs::~Pairs() {
  for (auto& [name, end] : ends_) {
    openings_.done(end.get());
    loop_.cancel(end->retry);
    if (end->session) loop_.bury(std::move(end->session));
  }
}

Pairs::End& Pairs::end(int rank, bool outgoing) {
  auto& found = ends_[{rank, outgoing}];
  if (!found) found = std::make_unique<End>(told_.ledger(rank, outgoing));
  return *found;
}

Pairs::End& Pairs::outgoing_open(int rank) {
  End& opened = end(rank, true);
  if (!std::exchange(opened.is_asked_for, true)) begin_connecting(rank);
  return opened;
}

void Pairs::offer(int rank, bool outgoing, std::uint64_t key, Offer offer) {
  // A receiver's offer waits until the sender comes.
  End& of = outgoing ? outgoing_open(rank) : end(rank, false);
  of.rounds.offer(key, offer);
}

bool Pairs::has_way(int rank, const Part& part) {
  End& of = outgoing_open(rank);
  const bool begins = part.offset == 0;
  const bool ends = part.offset + part.bytes.size() == part.total;
  if (begins && !of.is_open && !ends) of.elsewhere.insert(part.block);
  if (begins) return of.is_open;
  const bool has = !of.elsewhere.contains(part.block);
  if (ends) of.elsewhere.erase(part.block);
  return has;
}

void Pairs::send_part(int rank, SharedBytes packed) {
  End& of = outgoing_open(rank);
  if (of.is_open) return of.session->send_part(std::move(packed));
  of.waiting_bytes += packed->size();
  of.waiting.push_back(std::move(packed));
  if (of.waiting_bytes > quarter_of_memory()) {
    told_.failed("more than a quarter of the memory waits for " + rank_text(rank));
  }
}

std::unique_ptr<Session> Pairs::session_with(int rank, bool outgoing) {
  Session::Told told;
  told.message = [this, rank, outgoing](Message&& message) {
    if (outgoing) return take_from_receiver(rank, std::move(message));
    take_from_sender(rank, std::move(message));
  };
  told.opened = [this, rank, outgoing] {
    if (outgoing) opened(rank);
  };
  told.lost = [this, rank, outgoing](const std::string& why) { ended(rank, outgoing, why); };
  told.waits = [this, rank](const std::string& why) { told_.waits(rank, why); };
  told.progress = [this] { told_.progress(); };
  Session::Ends ends{secret_, rank_, rank, true, outgoing, times_.resuming, times_.refused};
  ends.idle = &idle_;
  return std::make_unique<Session>(loop_, ends, std::move(told));
}

void Pairs::begin_connecting(int rank) {
  End& of = end(rank, true);
  of.is_tried = false;
  of.delay = kFirstRetry;
  ask_to_connect(rank);
}

// The next ranks first, so that not all ranks begin with the same one.
void Pairs::ask_to_connect(int rank) {
  const std::uint32_t distance = static_cast<std::uint32_t>(rank) - static_cast<unsigned>(rank_);
  openings_.ask(&end(rank, true), distance, [this, rank] { connect(rank); });
}

void Pairs::connect(int rank) {
  End& of = end(rank, true);
  if (leaves_ && of.waiting.empty()) return openings_.done(&of);
  if (!std::exchange(of.is_tried, true)) of.deadline = Loop::Clock::now() + times_.connecting;
  if (!told_.has_room()) {
    // Others may not be used soon; while some are made, those before them come to their rest.
    of.deadline = std::max(of.deadline, openings_.last_made() + times_.connecting);
    return ended(rank, true, "few file descriptors are left");
  }
  of.session = session_with(rank, true);
  of.session->connect(told_.address(rank), Pair{});
}

// The receiver has taken it.
void Pairs::opened(int rank) {
  End& of = end(rank, true);
  Session* const session = of.session.get();
  openings_.made(&of);
  of.is_open = true;
  session->hold();
  of.rounds.start({nullptr, [session](const Message& message) { session->send(message); }, 1});
  for (SharedBytes& part : of.waiting) session->send_part(std::move(part));
  of.waiting.clear();
  of.waiting_bytes = 0;
  if (leaves_) session->leave();
}

void Pairs::ended(int rank, bool outgoing, const std::string& why) {
  End& of = end(rank, outgoing);
  if (outgoing) openings_.done(&of);
  if (outgoing ? of.is_open : of.is_used) {
    return told_.lost(rank, outgoing, rank_text(rank) + " " + why);
  }
  if (!outgoing) return;  // the sender does not know that it had come, and comes again
  if (of.session) loop_.bury(std::move(of.session));
  if (Loop::Clock::now() + of.delay > of.deadline) return give_up(rank, why);
  of.retry = loop_.after(of.delay, [this, rank] { ask_to_connect(rank); });
  of.delay = std::min<std::chrono::milliseconds>(2 * of.delay, kMostRetry);
}

// Nothing of this pair has been coded: its messages stay raw until it can be made.
void Pairs::give_up(int rank, const std::string& why) {
  End& of = end(rank, true);
  const std::string text = rank_text(rank) + " cannot be reached from " + rank_text(rank_) +
                           " at " + address_text(told_.address(rank)) + " (" + why + ")";
  of.rounds.explain(kUnreachable);
  // Values that have no other way do not come.
  of.waiting_bytes = 0;
  if (!std::exchange(of.waiting, {}).empty()) return told_.lost(rank, true, text);
  of.retry = loop_.after(kPairRetry, [this, rank] { begin_connecting(rank); });
  told_.unreachable(text);
}

bool Pairs::adopt(std::unique_ptr<Link>& link, int from) {
  End& of = end(from, false);
  if (leaves_ || of.is_used) return false;
  if (of.session) loop_.bury(std::move(of.session));
  of.session = session_with(from, false);
  of.session->know(told_.address(from));
  of.session->adopt(std::move(link));
  Session* const kept = of.session.get();
  of.rounds.start(
      {[kept](const Message& message) { kept->send(message); }, [](const Message&) {}, 0});
  return true;
}

bool Pairs::adopt_again(std::unique_ptr<Link>& link, int from, std::uint64_t taken) {
  const auto found = ends_.find({from, false});
  if (found == ends_.end() || !found->second->session) return false;
  return found->second->session->adopt_again(link, taken);
}

void Pairs::wake(int rank) {
  const auto found = ends_.find({rank, true});
  if (found != ends_.end() && found->second->is_open) found->second->session->wake();
}

void Pairs::take_from_receiver(int rank, Message&& message) {
  Rounds& rounds = end(rank, true).rounds;
  bool fits = false;
  if (const auto* offered = std::get_if<Offered>(&message)) {
    fits = rounds.take(0, *offered);
  } else if (const auto* limit = std::get_if<Limit>(&message)) {
    fits = rounds.take(0, *limit);
  } else if (const auto* broken = std::get_if<Broken>(&message)) {
    return told_.failed(broken->text);
  } else if (std::holds_alternative<Leaving>(message)) {
    return rounds.stop();
  }
  if (!fits) told_.failed(rank_text(rank) + " said what does not fit");
}

void Pairs::take_from_sender(int rank, Message&& message) {
  End& of = end(rank, false);
  if (!std::exchange(of.is_used, true)) of.session->hold();
  bool fits = false;
  if (const auto* ask = std::get_if<Ask>(&message)) {
    fits = of.rounds.take(*ask);
  } else if (const auto* commit = std::get_if<Commit>(&message)) {
    fits = of.rounds.take(*commit);
  } else if (const auto* part = std::get_if<Part>(&message)) {
    return told_.part(*part);
  } else if (std::holds_alternative<Leaving>(message)) {
    return of.rounds.stop();
  }
  if (!fits) told_.failed(rank_text(rank) + " said what does not fit");
}

bool Pairs::has_unsent() const {
  return std::ranges::any_of(ends_, [](const auto& each) {
    const End& of = *each.second;
    return !of.waiting.empty() || (of.session && of.session->has_unsent());
  });
}

void Pairs::leave() {
  leaves_ = true;
  for (auto& [name, end] : ends_) {
    end->rounds.stop();
    if (end->session) end->session->leave();
  }
}

bool Pairs::is_done() const {
  return std::ranges::all_of(ends_, [](const auto& each) {
    const End& of = *each.second;
    return of.waiting.empty() && (!of.session || of.session->is_done());
  });
}

void Pairs::dismiss() {
  leaves_ = true;
  for (auto& [name, end] : ends_) {
    openings_.done(end.get());
    loop_.cancel(end->retry);
    if (end->session) end->session->dismiss();
  }
}

}  // namespace thinwire::nccl::agree
