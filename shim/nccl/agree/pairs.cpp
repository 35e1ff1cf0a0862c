#include "agree/pairs.h"

#include <algorithm>

#include "agree/words.h"

namespace thinwire::nccl::agree {

Pairs::~Pairs() {
  for (auto& [name, end] : ends_) {
    loop_.cancel(end->retry);
    if (end->link) loop_.bury(std::move(end->link));
  }
}

Pairs::End& Pairs::end(int rank, bool outgoing) {
  auto& found = ends_[{rank, outgoing}];
  if (!found) found = std::make_unique<End>(told_.ledger(rank, outgoing));
  return *found;
}

Pairs::End& Pairs::outgoing_open(int rank) {
  End& opened = end(rank, true);
  if (!std::exchange(opened.is_asked_for, true)) told_.find(rank);
  return opened;
}

void Pairs::offer(int rank, bool outgoing, std::uint64_t key, Offer offer) {
  // A receiver's offer waits until the sender comes.
  End& of = outgoing ? outgoing_open(rank) : end(rank, false);
  of.rounds.offer(key, offer);
}

void Pairs::send_part(int rank, SharedBytes packed) {
  End& of = outgoing_open(rank);
  if (of.link && of.link->is_connected()) return of.link->send_part(std::move(packed));
  of.waiting.push_back(std::move(packed));
}

void Pairs::found(int rank, const Address& address) {
  End& of = end(rank, true);
  if (of.link || of.deadline != Loop::Clock::time_point{}) return;
  of.address = address;
  of.deadline = Loop::Clock::now() + time_;
  connect(rank);
}

void Pairs::connect(int rank) {
  End& of = end(rank, true);
  Socket socket = start_connecting(of.address);
  if (!socket) return outgoing_ended(rank, "no socket");
  of.link = std::make_unique<Link>(loop_, std::move(socket), true);
  of.link->trust();
  of.link->on_connected = [this, rank] { connected(rank); };
  of.link->on_message = [this, rank](Message&& message) {
    take_from_receiver(rank, std::move(message));
  };
  of.link->on_ended = [this, rank](const std::string& why) { outgoing_ended(rank, why); };
}

void Pairs::connected(int rank) {
  End& of = end(rank, true);
  of.link->send(Pair{
      {kVersion, secret_, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(rank)}});
  Link* const link = of.link.get();
  of.rounds.start({nullptr, [link](const Message& message) { link->send(message); }, 1});
  for (SharedBytes& part : of.waiting) link->send_part(std::move(part));
  of.waiting.clear();
}

void Pairs::outgoing_ended(int rank, const std::string& why) {
  End& of = end(rank, true);
  const bool was_connected = of.rounds.started();
  if (of.link) loop_.bury(std::move(of.link));
  if (was_connected) return told_.failed(rank_text(rank) + " has ended");
  if (Loop::Clock::now() + of.delay > of.deadline) {
    return told_.failed(rank_text(rank) + " cannot be reached from " + rank_text(rank_) + " at " +
                        address_text(of.address) + " (" + why + ")");
  }
  of.retry = loop_.after(of.delay, [this, rank] { connect(rank); });
  of.delay = std::min<std::chrono::milliseconds>(2 * of.delay, kMostRetry);
}

void Pairs::adopt(std::unique_ptr<Link> link, int from) {
  End& of = end(from, false);
  if (of.link) return loop_.bury(std::move(link));  // it has one already
  of.link = std::move(link);
  of.link->trust();
  of.link->on_message = [this, from](Message&& message) {
    take_from_sender(from, std::move(message));
  };
  of.link->on_ended = [this, from](const std::string&) {
    told_.failed(rank_text(from) + " has ended");
  };
  Link* const kept = of.link.get();
  of.rounds.start(
      {[kept](const Message& message) { kept->send(message); }, [](const Message&) {}, 0});
}

void Pairs::take_from_receiver(int rank, Message&& message) {
  Rounds& rounds = end(rank, true).rounds;
  bool fits = false;
  if (const auto* offered = std::get_if<Offered>(&message)) {
    fits = rounds.take(0, *offered);
  } else if (const auto* limit = std::get_if<Limit>(&message)) {
    fits = rounds.take(*limit);
  }
  if (!fits) told_.failed(rank_text(rank) + " said what does not fit");
}

void Pairs::take_from_sender(int rank, Message&& message) {
  Rounds& rounds = end(rank, false).rounds;
  bool fits = false;
  if (const auto* ask = std::get_if<Ask>(&message)) {
    fits = rounds.take(*ask);
  } else if (const auto* commit = std::get_if<Commit>(&message)) {
    fits = rounds.take(*commit);
  } else if (const auto* part = std::get_if<Part>(&message)) {
    return told_.part(*part);
  }
  if (!fits) told_.failed(rank_text(rank) + " said what does not fit");
}

bool Pairs::has_unsent() const {
  return std::ranges::any_of(ends_, [](const auto& each) {
    const End& of = *each.second;
    return !of.waiting.empty() || (of.link && of.link->has_unsent());
  });
}

void Pairs::dismiss() {
  for (auto& [name, end] : ends_) {
    loop_.cancel(end->retry);
    Link::dismiss(loop_, std::move(end->link));
  }
}

}  // namespace thinwire::nccl::agree
