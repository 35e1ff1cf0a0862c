// Which new connections of pairs are being made: few at a time, as an all-to-all by messages wants
// one to every rank at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "agree/loop.h"

namespace thinwire::nccl::agree {

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
