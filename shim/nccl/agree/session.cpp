#include "agree/session.h"

#include <errno.h>

#include <algorithm>

#include "agree/socket.h"

namespace thinwire::nccl::agree {

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
