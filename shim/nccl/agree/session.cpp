#include "agree/session.h"

#include <errno.h>

#include <algorithm>

#include "agree/descriptors.h"
#include "agree/listeners.h"

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
  if (ends_.idle != nullptr) ends_.idle->ended(*this);
  link_->close();
  loop_.bury(std::move(link_));
}

void Session::attach(std::unique_ptr<Link> link) {
  drop_link();
  link_ = std::move(link);
  link_->trust();
  link_->on_message = [this](Message&& message) { take(std::move(message)); };
  link_->on_ended = [this](const std::string& why) { link_ended(why); };
  wishes_rest_ = heard_rest_ = rests_ = false;
  if (ends_.idle != nullptr) ends_.idle->made(*this);
}

void Session::used() {
  if (ends_.idle != nullptr && link_) ends_.idle->used(*this);
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
  if (wishes_rest_ && heard_rest_) return begin_rest();
  if (!holds_) return told_.lost(why);
  // It has all that it was to have.
  if (other_leaves_ && out_.is_empty()) return lose("has left");
  const auto now = Loop::Clock::now();
  if (lost_at_ == kNow) {
    lost_at_ = now;
    refused_ = unlistened_ = unanswered_ = 0;
    delay_ = kFirstRetry;
    if (!other_leaves_ && !wishes_rest_) told_.waits(why);
  }
  if (has_ended(refused)) return lose("has ended", true);
  if (says_nothing(unanswered)) return give_up();
  if (now - lost_at_ > ends_.patience) return lose("cannot be reached any more (" + why + ")");
  loop_.cancel(retry_);
  retry_ = loop_.after(delay_, [this] { again(); });
  delay_ = std::min<std::chrono::milliseconds>(2 * delay_, kMostRetry);
}

// Gives up, as a rank does not know the communicator any more, or has too many strangers. The maker
// of a connection that has rested may still come for what waits for it.
void Session::give_up() {
  if (ends_.makes || !has_rested_) return lose("has ended it", true);
  lost_at_ = kNow;
  rests_ = true;
}

// Another machine's refusals count after a time. Whoever leaves has nothing to say to a rank that
// may have ended.
std::chrono::milliseconds Session::most_refused() const {
  if (!leaves_) return ends_.refused;
  return std::min<std::chrono::milliseconds>(ends_.refused, kExitTime);
}

// After an attempt to connect.
bool Session::has_ended(bool refused) {
  const auto now = Loop::Clock::now();
  if (!refused) {
    refused_ = unlistened_ = 0;
    return false;
  }
  if (refused_++ == 0) refused_since_ = now;
  unlistened_ = listens(*other_at_) == Listens::kNo ? unlistened_ + 1 : 0;
  const bool for_long = refused_ >= kRefusals && now - refused_since_ >= most_refused();
  return unlistened_ >= kRefusals || for_long;
}

bool Session::says_nothing(bool unanswered) {
  const auto now = Loop::Clock::now();
  if (unanswered && unanswered_++ == 0) unanswered_since_ = now;
  const int most = ends_.makes ? kUnanswered : kUnansweredWishes;
  return unanswered_ >= most && now - unanswered_since_ >= most_refused();
}

// Makes the connection again, or asks the other side to.
void Session::again() {
  if (!other_at_) return link_ended("no connection");
  if (ends_.idle != nullptr && !ends_.idle->has_room())
    return link_ended("few descriptors are left");
  Socket socket = start_connecting(*other_at_);
  if (!socket) return link_ended("no socket");
  attach(std::make_unique<Link>(loop_, std::move(socket), introduction()));
  link_->on_message = [this](Message&& message) { answered(std::move(message)); };
  link_->send_control(Again{{}, ends_.of_pair, ends_.makes, taken_});
  limit_connecting();
}

void Session::answered(Message&& message) {
  if (std::holds_alternative<Broken>(message)) return told_.message(std::move(message));
  if (std::holds_alternative<Rest>(message)) {
    drop_link();
    return link_ended("it has few descriptors left");
  }
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
  has_rested_ = has_part_ = false;
  link_->use(out_);
  if (told_.progress) told_.progress();
}

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

bool Session::adopt_again(std::unique_ptr<Link>& link, std::uint64_t taken) {
  if (ends_.makes || over_) return false;
  attach(std::move(link));
  link_->send_control(Took{taken_});
  resume(taken);
  return true;
}

void Session::wake() {
  if (!ends_.makes || !holds_ || over_) return;
  if (rests_) return wake_from_rest();
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

void Session::leave() {
  if (std::exchange(leaves_, true)) return;
  // Nobody waits for anything: the other side finds out if it ever has something to say.
  if (rests_ || (has_rested_ && !has_part_)) return end();
  send_last(Leaving{});
}

void Session::end() {
  over_ = true;
  loop_.cancel(retry_);
  drop_link();
  out_.clear();
}

// Sends it after the parts of blocks.
void Session::send_last(const Message& message) {
  if (!can_send()) return;
  out_.put_part(std::make_shared<const Bytes>(pack(message)));
  write();
}

bool Session::is_done() const { return over_ || !holds_ || (heard_gone_ && out_.is_empty()); }

void Session::lose(const std::string& why, bool has_gone) {
  const bool quiet = has_gone && has_rested_ && !has_part_;
  end();
  given_up_ = quiet;
  // Who has left while the connection rested was not told goodbye. One that is dead others miss.
  if (quiet) told_.message(Leaving{});
  if (other_leaves_ || quiet) {
    if (told_.progress) told_.progress();
    return;
  }
  told_.lost(why);
}

void Session::dismiss() {
  over_ = true;
  loop_.cancel(retry_);
  loop_.cancel(limit_);
  if (ends_.idle != nullptr) ends_.idle->ended(*this);
  Link::dismiss(loop_, std::move(link_));
  out_.clear();
}

}  // namespace thinwire::nccl::agree
