#include "agree/messenger.h"

namespace thinwire::nccl::agree {
namespace {

Introduction introduction_of(const Message& greeting) {
  return std::visit(
      [](const auto& it) {
        Introduction made;
        if constexpr (requires { it.head; }) made.head = it.head;
        return made;
      },
      greeting);
}

}  // namespace

Messenger::~Messenger() {
  loop_.cancel(retry_);
  for (auto& [id, way] : under_way_) {
    loop_.cancel(way.limit);
    loop_.bury(std::move(way.link));
  }
  loop_.unfinished -= static_cast<int>(waiting_.size() + under_way_.size());
}

void Messenger::say(const Address& to, Message greeting) {
  waiting_.push_back({to, std::move(greeting), Loop::Clock::now() + kCallTime});
  ++loop_.unfinished;
  send_next();
}

// A few at a time, so that many ranks take few descriptors.
void Messenger::send_next() {
  loop_.cancel(retry_);
  while (!waiting_.empty() && under_way_.size() < kMostCalls) {
    Socket socket = start_connecting(waiting_.front().to);
    if (!socket && Loop::Clock::now() < waiting_.front().until) {
      retry_ = loop_.after(kFirstRetry, [this] { send_next(); });
      return;
    }
    if (socket) {
      begin(std::move(socket), waiting_.front().greeting);
    } else {
      --loop_.unfinished;
    }
    waiting_.pop_front();
  }
}

void Messenger::begin(Socket socket, const Message& greeting) {
  const std::uint64_t id = next_++;
  Way& way = under_way_[id];
  way.link = std::make_unique<Link>(loop_, std::move(socket), introduction_of(greeting));
  way.link->send(greeting);
  // Who has read it ends the connection.
  way.link->on_ended = [this, id](const std::string&) { end(id); };
  way.limit = loop_.after(kConnectTime, [this, id] { end(id); });
}

void Messenger::end(std::uint64_t way) {
  const auto found = under_way_.find(way);
  if (found == under_way_.end()) return;
  loop_.cancel(found->second.limit);
  found->second.link->close();
  loop_.bury(std::move(found->second.link));
  under_way_.erase(found);
  --loop_.unfinished;
  send_next();
}

}  // namespace thinwire::nccl::agree
