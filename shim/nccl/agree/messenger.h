// Short words by connections of their own: each is made, says one greeting, and ends. Who cannot be
// reached is not told.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "agree/link.h"

namespace thinwire::nccl::agree {

class Messenger {
 public:
  explicit Messenger(Loop& loop) : loop_(loop) {}
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  void say(const Address& to, Message greeting);

 private:
  struct Waiting {
    Address to;
    Message greeting;
    Loop::Clock::time_point until;
  };
  struct Way {
    std::unique_ptr<Link> link;
    Loop::TimerId limit;
  };

  void send_next();
  void begin(Socket socket, const Message& greeting);
  void end(std::uint64_t way);

  Loop& loop_;
  std::deque<Waiting> waiting_;
  std::map<std::uint64_t, Way> under_way_;
  std::uint64_t next_ = 0;
  Loop::TimerId retry_{};
};

}  // namespace thinwire::nccl::agree
