// Messages that a session sends and takes, and how its connection comes to rest.
#include "agree/session.h"

namespace thinwire::nccl::agree {
namespace {

// How much of what the other side keeps a message stands for, so that it keeps no more than 64
// messages or a MiB.
constexpr unsigned kOfMessage = 1;
constexpr unsigned kOfPart = 16;
constexpr unsigned kToBeSaid = 64;

}  // namespace

bool Session::may_rest() const {
  const bool whole = link_ && link_->is_connected() && lost_at_ == kNow && !link_->has_unsent();
  return whole && holds_ && !over_ && !leaves_ && !other_leaves_ && !wishes_rest_;
}

void Session::wish_rest() {
  wishes_rest_ = true;
  heard_rest_ = false;
  unsaid_ = 0;
  link_->send_control(Rest{taken_});
}

// Whoever has said what the other has not taken goes on with the connection. If it wishes the same,
// what it hears is an answer and the connection ends next, or a wish that has crossed what it said:
// the other side takes that for void.
void Session::take_rest(std::uint64_t taken) {
  if (!ends_.of_pair || !out_.took(taken)) return lose("said what does not fit");
  holds_ = true;  // the other side does
  heard_rest_ = wishes_rest_;
  if (!out_.is_empty() || (leaves_ && !wishes_rest_)) return;
  if (!wishes_rest_) link_->send_control(Rest{taken_});
  begin_rest();
}

void Session::begin_rest() {
  wishes_rest_ = heard_rest_ = false;
  unsaid_ = 0;
  drop_link();
  rests_ = true;
  has_part_ = !out_.is_empty();
  if (has_part_) wake_from_rest();
  if (told_.progress) told_.progress();
}

void Session::wake_from_rest() {
  rests_ = false;
  has_rested_ = true;
  lost_at_ = Loop::Clock::now();
  refused_ = unlistened_ = unanswered_ = 0;
  delay_ = kFirstRetry;
  again();
}

void Session::send(const Message& message) {
  if (!can_send()) return;
  out_.put(std::make_shared<const Bytes>(pack(message)));
  write();
}

void Session::send_part(SharedBytes packed) {
  if (given_up_) {
    full_ = loop_.after(0ms, [this] { told_.lost("has ended it"); });
    return;
  }
  if (!can_send()) return;
  out_.put_part(std::move(packed));
  has_part_ = has_part_ || rests_ || has_rested_;
  write();
}

// Who sends must not find the session ended while it does.
void Session::write() {
  if (rests_) return wake_from_rest();
  used();
  if (link_) link_->write();
  if (out_.bytes() <= ends_.most_kept || full_ != Loop::TimerId{}) return;
  full_ = loop_.after(0ms, [this] {
    if (!over_) lose("does not take what it is sent: more than a quarter of the memory waits");
  });
}

void Session::take(Message&& message) {
  loop_.cancel(limit_);
  if (const auto* took = std::get_if<Took>(&message)) {
    if (!out_.took(took->count)) return lose("said what does not fit");
    if (!std::exchange(opened_, true) && told_.opened) return told_.opened();
    if (told_.progress) told_.progress();
    return;
  }
  if (const auto* rest = std::get_if<Rest>(&message)) return take_rest(rest->count);
  wishes_rest_ = false;
  used();
  count(message);
  if (std::holds_alternative<Gone>(message)) {
    heard_gone_ = true;
    if (told_.progress) told_.progress();
    return;
  }
  if (std::holds_alternative<Leaving>(message)) {
    send_last(Gone{});
    other_leaves_ = true;
  }
  told_.message(std::move(message));
}

void Session::count(const Message& message) {
  ++taken_;
  const bool is_part =
      std::holds_alternative<Part>(message) || std::holds_alternative<Carried>(message);
  unsaid_ += is_part ? kOfPart : kOfMessage;
  const bool soon = leaves_ || other_leaves_ || std::holds_alternative<Leaving>(message);
  if (unsaid_ >= kToBeSaid || soon) say_taken();
}

void Session::say_taken() {
  unsaid_ = 0;
  link_->send_control(Took{taken_});
}

// Sends it after the parts of blocks.
void Session::send_last(const Message& message) {
  if (!can_send()) return;
  out_.put_part(std::make_shared<const Bytes>(pack(message)));
  write();
}

}  // namespace thinwire::nccl::agree
