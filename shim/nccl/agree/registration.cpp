#include "agree/registration.h"

#include <algorithm>

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
  loop_.cancel(patience_);
  loop_.cancel(retry_);
  if (link_) loop_.bury(std::move(link_));
}

void Registration::wait_for_registrar() {
  loop_.cancel(patience_);
  patience_ = loop_.after(times_.connecting, [this] {
    told_.raw("raw: no answer from the process that made the unique id, at " +
              address_text(registrar_));
  });
}

void Registration::go_up() {
  if (told_.up) {
    wait_for_all();
    by_tree_ = true;
    if (told_.up(false, message_.terms)) return;
    by_tree_ = false;
  }
  wait_for_registrar();
  connect();
}

void Registration::lose_tree() {
  if (!std::exchange(by_tree_, false)) return;
  wait_for_registrar();
  connect();
}

void Registration::connect() {
  Socket socket = start_connecting(registrar_);
  if (!socket) return again();
  link_ = std::make_unique<Link>(loop_, std::move(socket),
                                 Introduction{message_.head, message_.child_of});
  link_->trust();
  link_->on_connected = [this] { greet(); };
  link_->on_message = [this](Message&& message) { take(std::move(message)); };
  link_->on_ended = [this](const std::string&) { again(); };
}

void Registration::again() {
  if (link_) loop_.bury(std::move(link_));
  if (std::exchange(has_greeted_, false)) wait_for_registrar();
  retry_ = loop_.after(delay_, [this] { connect(); });
  delay_ = std::min<std::chrono::milliseconds>(2 * delay_, kMostRetry);
}

void Registration::greet() {
  const auto listens = told_.listens(link_->local());
  if (!listens) return told_.raw("raw: a rank finds no port to listen on");
  message_.listens = *listens;
  link_->send(message_);
  has_greeted_ = true;
  wait_for_all();
}

void Registration::wait_for_all() {
  loop_.cancel(patience_);
  patience_ = loop_.after(
      times_.all, [this] { told_.raw("raw: the ranks were not connected to each other in time"); });
}

void Registration::drop_link() {
  if (!link_) return;
  link_->close();
  loop_.bury(std::move(link_));
}

void Registration::take(Message&& message) {
  if (const auto* decision = std::get_if<Decision>(&message)) {
    if (!decision->ready) told_.raw(decision->text);
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
