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
  struct Times {
    std::chrono::milliseconds all;   // for all ranks to come, from the first on
    std::chrono::milliseconds late;  // after which it is said that some have not
  };
  Meeting(Loop& loop, const Times& times, Tell tell)
      : loop_(loop), times_(times), tell_(std::move(tell)) {}
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
  void say_late();
  std::string late_text() const;
  void ended(int rank);
  void decide_ready();
  void say_ready();
  void decide_raw(const std::string& why, bool tell = true);

  Loop& loop_;
  const Times times_;
  const Tell tell_;
  Loop::TimerId timer_{};
  std::map<int, Loop::TimerId> missed_;  // ranks whose connections have ended, and may come again
  std::map<int, Seat> seats_;
  int ranks_ = 0;  // 0: nobody has come
  int first_rank_ = 0;
  std::string first_terms_;
  bool is_late_ = false;
  bool ready_ = false;
  Table table_;      // once it is
  std::string raw_;  // why, once that is decided
};

// All those of a helper.
class Meetings {
 public:
  Meetings(Loop& loop, const Meeting::Times& times, Meeting::Tell tell)
      : loop_(loop), times_(times), tell_(std::move(tell)) {}

  // An id with this secret was made here.
  void expect(const Secret& secret);
  // Here is rank 0 of the communicator with this secret: ranks of its parts come here.
  void expect_parts_of(const Secret& secret) { parents_.insert(secret); }

  // False: nobody knows of it, and the link stays with the caller.
  bool take(std::unique_ptr<Link>& link, const Register& said);

 private:
  Loop& loop_;
  const Meeting::Times times_;
  const Meeting::Tell tell_;
  std::map<Secret, std::unique_ptr<Meeting>> meetings_;
  std::deque<Secret> by_age_;
  std::set<Secret> parents_;
};

}  // namespace thinwire::nccl::agree
