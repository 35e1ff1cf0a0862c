#include "agree/registration.h"

#include <algorithm>

#include "agree/address.h"

namespace thinwire::nccl::agree {

Registration::Registration(Loop& loop, const Address& registrar, Register message,
                           const Times& times, Told told)
    : loop_(loop),
      registrar_(registrar),
      message_(std::move(message)),
      told_(std::move(told)),
      times_(times) {
  // Not at once: what it tells needs the object that it is told to.
  retry_ = loop_.after(0ms, [this] { go_up(); });
}

Registration::~Registration() {
  loop_.cancel(silence_);
  loop_.cancel(patience_);
  loop_.cancel(retry_);
  if (link_) loop_.bury(std::move(link_));
}

// A process that is stopped takes connections without a word, as its kernel does: one that it holds
// may still be answered.
void Registration::wait_for_registrar() {
  loop_.cancel(silence_);
  silence_ = loop_.after(times_.registrar, [this] {
    is_overdue_ = true;
    if (!link_ || !link_->is_connected()) give_up();
  });
}

void Registration::wait_for_all() {
  loop_.cancel(patience_);
  patience_ = loop_.after(times_.all, [this] {
    if (is_overdue_) return give_up();
    told_.raw("raw: the ranks were not connected to each other in time");
  });
}

void Registration::give_up() {
  told_.unanswered("raw: no answer from the process that made the unique id, at " +
                   address_text(registrar_) + last_end_);
}

void Registration::go_up() {
  wait_for_all();
  if (told_.up) {
    by_tree_ = true;
    if (told_.up(false, message_.terms)) return;
    by_tree_ = false;
  }
  begin_connecting();
}

void Registration::lose_tree() {
  if (std::exchange(by_tree_, false)) begin_connecting();
}

void Registration::begin_connecting() {
  wait_for_registrar();
  connect();
}

void Registration::connect() {
  if (is_of_link(registrar_) && !seen_from_here(registrar_, interfaces_of_host())) {
    return told_.unanswered("raw: it is not known which interface here leads to " +
                            address_text(registrar_) +
                            ", the address of the process that made the unique id");
  }
  Socket socket = start_connecting(registrar_);
  if (!socket) return again("no socket");
  link_ = std::make_unique<Link>(loop_, std::move(socket),
                                 Introduction{message_.head, message_.child_of});
  link_->trust();
  link_->on_connected = [this] { greet(); };
  link_->on_proven = [this] { answered(); };
  link_->on_message = [this](Message&& message) { take(std::move(message)); };
  link_->on_ended = [this](const std::string& why) { again(why); };
}

// Whoever takes a connection and ends it may be anybody.
void Registration::again(const std::string& why) {
  if (link_) loop_.bury(std::move(link_));
  if (std::exchange(is_answered_, false)) wait_for_registrar();
  last_end_ = " (" + why + ")";
  if (is_overdue_) return give_up();
  retry_ = loop_.after(delay_, [this] { connect(); });
  delay_ = std::min<std::chrono::milliseconds>(2 * delay_, kMostRetry);
}

void Registration::greet() {
  const auto listens = told_.listens(link_->local());
  if (!listens) return told_.raw("raw: a rank finds no port to listen on");
  message_.listens = *listens;
  link_->send(message_);
}

// The other side knows the secret.
void Registration::answered() {
  loop_.cancel(silence_);
  is_overdue_ = false;
  is_answered_ = true;
  if (!std::exchange(was_ever_answered_, true)) wait_for_all();
}

void Registration::drop_link() {
  if (!link_) return;
  link_->close();
  loop_.bury(std::move(link_));
}

void Registration::take(Message&& message) {
  if (const auto* decision = std::get_if<Decision>(&message)) {
    if (!decision->ready) told_.decided_raw(decision->text);
  } else if (const auto* table = std::get_if<Table>(&message)) {
    told_.all_ranks(*table);
  } else if (const auto* waiting = std::get_if<Waiting>(&message)) {
    // It is noted, and called if there is more to say; rank 0 waits for the word to begin.
    if (message_.head.speaker != 0) drop_link();
    if (!waiting->text.empty()) told_.waits(waiting->text);
  }
}

void Registration::tell_failed(const std::string& why) {
  if (by_tree_ && told_.up(true, why)) return;
  const Failed failed{message_.head, why};
  if (!link_ || !link_->is_connected()) return told_.say(registrar_, failed);
  link_->send(failed);
  Link::dismiss(loop_, std::move(link_));
}

}  // namespace thinwire::nccl::agree
