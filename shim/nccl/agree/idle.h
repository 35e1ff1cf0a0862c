// Which connections of pairs are not used: where there are more than a process keeps, both sides
// end those that nothing was said on for longest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

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

// Which new connections of pairs are being made: few at a time, as an all-to-all by messages wants
// one to every rank at once.

class Openings {
 public:
  explicit Openings(Loop& loop) : loop_(loop) {}
  ~Openings() { loop_.cancel(timer_); }
  Openings(const Openings&) = delete;
  Openings& operator=(const Openings&) = delete;

  // `start` when it is `owner`'s turn, soon at the earliest; those with a small `order` come first.
  void ask(const void* owner, std::uint32_t order, Loop::Task start);
  // made(): the connection has been made. done(): it has failed, or is not wanted any more.
  void made(const void* owner);
  void done(const void* owner);
  Loop::Clock::time_point last_made() const { return last_made_; }

 private:
  void go_on();
  void start_some();

  Loop& loop_;
  std::set<const void*> under_way_;
  std::map<std::pair<std::uint32_t, const void*>, Loop::Task> waiting_;
  std::map<const void*, std::uint32_t> orders_;  // of those that wait
  Loop::Clock::time_point last_made_{};
  bool goes_on_ = false;
  Loop::TimerId timer_{};
};

}  // namespace thinwire::nccl::agree
