// Which connections of pairs are not used: where there are more than a process keeps, both sides
// end those that nothing was said on for longest.
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>

#include "agree/loop.h"

namespace thinwire::nccl::agree {

class Session;

class Idle {
 public:
  // `kept`: connections, of whatever use.
  Idle(Loop& loop, std::size_t kept) : loop_(loop), kept_(kept) {}
  ~Idle() { loop_.cancel(timer_); }
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;

  void made(Session& session);
  void used(Session& session);
  void ended(Session& session);
  // Whether the process may have one more.
  bool has_room() const;

 private:
  struct Use {
    Session* session;
    Loop::Clock::time_point at;
  };
  // Fewer if the process may have few, so that others come to their turn.
  std::size_t kept() const;
  void look();

  Loop& loop_;
  const std::size_t kept_;
  std::list<Use> by_use_;  // the longest unused first
  std::unordered_map<const Session*, std::list<Use>::iterator> places_;
  bool looks_ = false;
  Loop::TimerId timer_{};
};

}  // namespace thinwire::nccl::agree
