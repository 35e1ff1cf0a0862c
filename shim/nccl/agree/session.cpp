#include "agree/session.h"

#include <errno.h>

#include <algorithm>

#include "agree/descriptors.h"

namespace thinwire::nccl::agree {
namespace {

constexpr Loop::Clock::time_point kNow{};  // of `lost_at_`: nothing is lost

// How much of what the other side keeps a message stands for, so that it keeps no more than 64
// messages or a MiB.
constexpr unsigned kOfMessage = 1;
constexpr unsigned kOfPart = 16;
constexpr unsigned kToBeSaid = 64;

}  // namespace

Session::Session(Loop& loop, const Ends& ends, Told told)
    : loop_(loop), ends_(ends), told_(std::move(told)), delay_(kFirstRetry) {
  out_.keep();
}

Session::~Session() {
  loop_.cancel(retry_);
  loop_.cancel(full_);
  drop_link();
}

// Its handlers may be what is running.
void Session::drop_link() {
  loop_.cancel(limit_);
  if (!link_) return;
  link_->close();
  loop_.bury(std::move(link_));
}

void Session::attach(std::unique_ptr<Link> link) {
  drop_link();
  link_ = std::move(link);
  link_->trust();
  link_->on_message = [this](Message&& message) { take(std::move(message)); };
  link_->on_ended = [this](const std::string& why) { link_ended(why); };
}

Introduction Session::introduction() const {
  return {{kVersion, ends_.secret, static_cast<std::uint32_t>(ends_.own),
           static_cast<std::uint32_t>(ends_.other)},
          std::nullopt};
}

// A firewall that drops what is sent would keep it waiting for minutes.
void Session::limit_connecting() {
  limit_ = loop_.after(kConnectTime, [this] {
    drop_link();
    link_ended("no answer");
  });
}

void Session::connect(const Address& to, const Message& greeting) {
  other_at_ = to;
  Socket socket = start_connecting(to);
  if (!socket || (ends_.of_pair && !leaves_room(socket.fd()))) {
    const std::string why = socket ? "few file descriptors are left" : "no socket";
    limit_ = loop_.after(0ms, [this, why] { link_ended(why); });
    return;
  }
  attach(std::make_unique<Link>(loop_, std::move(socket), introduction()));
  link_->send_control(greeting);
  link_->use(out_);
  limit_connecting();
}

void Session::adopt(std::unique_ptr<Link> link) {
  attach(std::move(link));
  link_->send_control(Took{taken_});
  link_->use(out_);
}

void Session::link_ended(const std::string& why) {
  const bool refused = link_ && link_->error() == ECONNREFUSED;
  const bool unanswered = link_ && lost_at_ != kNow && link_->is_connected();
  drop_link();
  if (over_) return;
  if (!holds_) return told_.lost(why);
  // It has all that it was to have.
  if (other_leaves_ && out_.is_empty()) return lose("has left");
  const auto now = Loop::Clock::now();
  if (lost_at_ == kNow) {
    lost_at_ = now;
    refused_ = unanswered_ = 0;
    delay_ = kFirstRetry;
    if (!other_leaves_) told_.waits(why);
  }
  refused_ = refused ? refused_ + 1 : 0;
  if (unanswered) ++unanswered_;
  if (refused_ >= kRefusals) return lose("has ended");
  if (unanswered_ >= (ends_.makes ? kUnanswered : kUnansweredWishes)) return lose("has ended it");
  if (now - lost_at_ > ends_.patience) return lose("cannot be reached any more (" + why + ")");
  loop_.cancel(retry_);
  retry_ = loop_.after(delay_, [this] { again(); });
  delay_ = std::min<std::chrono::milliseconds>(2 * delay_, kMostRetry);
}

// Makes the connection again, or asks the other side to.
void Session::again() {
  if (!other_at_) return link_ended("no connection");
  Socket socket = start_connecting(*other_at_);
  if (!socket) return link_ended("no socket");
  attach(std::make_unique<Link>(loop_, std::move(socket), introduction()));
  link_->on_message = [this](Message&& message) { answered(std::move(message)); };
  link_->send_control(Again{{}, ends_.of_pair, ends_.makes, taken_});
  limit_connecting();
}

void Session::answered(Message&& message) {
  if (std::holds_alternative<Broken>(message)) return told_.message(std::move(message));
  const auto* const took = std::get_if<Took>(&message);
  if (!ends_.makes || took == nullptr) return lose("said what does not fit");
  link_->on_message = [this](Message&& next) { take(std::move(next)); };
  resume(took->count);
}

void Session::resume(std::uint64_t taken) {
  loop_.cancel(limit_);
  loop_.cancel(retry_);
  if (!out_.rewind(taken)) return lose("said what does not fit");
  lost_at_ = kNow;
  link_->use(out_);
  if (told_.progress) told_.progress();
}

bool Session::adopt_again(std::unique_ptr<Link>& link, std::uint64_t taken) {
  if (ends_.makes || over_) return false;
  attach(std::move(link));
  link_->send_control(Took{taken_});
  resume(taken);
  return true;
}

void Session::wake() {
  if (!ends_.makes || !holds_ || over_) return;
  if (link_ && lost_at_ == kNow) {
    drop_link();
    link_ended("the other side has lost it");
  }
}

void Session::send(const Message& message) {
  if (!can_send()) return;
  out_.put(std::make_shared<const Bytes>(pack(message)));
  write();
}

void Session::send_part(SharedBytes packed) {
  if (!can_send()) return;
  out_.put_part(std::move(packed));
  write();
}

// Who sends must not find the session ended while it does.
void Session::write() {
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

void Session::leave() {
  if (std::exchange(leaves_, true)) return;
  send_last(Leaving{});
}

// Behind the parts of blocks.
void Session::send_last(const Message& message) {
  send_part(std::make_shared<const Bytes>(pack(message)));
}

bool Session::is_done() const { return over_ || !holds_ || (heard_gone_ && out_.is_empty()); }

void Session::lose(const std::string& why) {
  over_ = true;
  loop_.cancel(retry_);
  drop_link();
  out_.clear();
  if (other_leaves_) {
    if (told_.progress) told_.progress();
    return;
  }
  told_.lost(why);
}

void Session::dismiss() {
  over_ = true;
  loop_.cancel(retry_);
  loop_.cancel(limit_);
  Link::dismiss(loop_, std::move(link_));
  out_.clear();
}

}  // namespace thinwire::nccl::agree
