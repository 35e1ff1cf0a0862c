// The registrar's side of registration: where the ranks of a communicator meet, and whether all of
// them have the library and agree on its settings.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "agree/link.h"
#include "agree/terms.h"

namespace thinwire::nccl::agree {

std::string lacking_text(int lacking, int ranks);

class Meeting {
 public:
  using Tell = std::function<void(const std::string&)>;
  Meeting(Loop& loop, std::chrono::milliseconds time, Tell tell)
      : loop_(loop), time_(time), tell_(std::move(tell)) {}
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  void take(std::unique_ptr<Link> link, const Register& said);

 private:
  struct Seat {
    std::unique_ptr<Link> link;
    Address listens;
    std::uint64_t node = 0;
  };

  std::string objection(const Register& said) const;
  void begin(const Register& said);
  void ended(int rank);
  void decide_ready();
  void decide_raw(const std::string& why, bool tell = true);

  Loop& loop_;
  const std::chrono::milliseconds time_;
  const Tell tell_;
  Loop::TimerId timer_{};
  std::map<int, Seat> seats_;
  int ranks_ = 0;  // 0: nobody has come
  int first_rank_ = 0;
  std::string first_terms_;
  bool ready_ = false;
  std::string raw_;  // why, once that is decided
};

// All those of a helper.
class Meetings {
 public:
  Meetings(Loop& loop, std::chrono::milliseconds time, Meeting::Tell tell)
      : loop_(loop), time_(time), tell_(std::move(tell)) {}

  // An id with this secret was made here.
  void expect(const Secret& secret);
  // Here is rank 0 of the communicator with this secret: ranks of its parts come here.
  void expect_parts_of(const Secret& secret) { parents_.insert(secret); }

  // False: nobody knows of it, and the link stays with the caller.
  bool take(std::unique_ptr<Link>& link, const Register& said);

 private:
  Loop& loop_;
  const std::chrono::milliseconds time_;
  const Meeting::Tell tell_;
  std::map<Secret, std::unique_ptr<Meeting>> meetings_;
  std::deque<Secret> by_age_;
  std::set<Secret> parents_;
};

}  // namespace thinwire::nccl::agree
