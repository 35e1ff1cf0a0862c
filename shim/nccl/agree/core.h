// The parts of a helper. All but post() belongs to its thread.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agree/agree.h"
#include "agree/idle.h"
#include "agree/meetings.h"
#include "agree/member.h"
#include "agree/messenger.h"
#include "agree/unique_id.h"

namespace thinwire::nccl::agree {

class Core {
 public:
  explicit Core(Options options);
  ~Core();

  Loop& loop() { return loop_; }
  const Options& options() const { return options_; }
  Meetings& meetings() { return meetings_; }
  Messenger& messenger() { return messenger_; }
  Idle& idle() { return idle_; }
  Openings& openings() { return openings_; }

  // ---- tasks of the host ----
  std::optional<Stamp> make_stamp(const Address& interface);
  void open(std::uint64_t id, std::shared_ptr<Shared> shared, int rank, int ranks,
            const Stamp& stamp, const std::string& terms, std::uint64_t domain);
  void open_child(std::uint64_t id, std::shared_ptr<Shared> shared, int rank, int ranks,
                  const PartOf& of, int meets, const std::string& terms, std::uint64_t domain);
  // Makes the stamp for ranks that are new to the part; nothing: the parent is not ready.
  std::optional<Stamp> stamp_of_part(std::uint64_t parent, std::uint64_t split, std::int32_t color);
  // Siblings are found by these: core.cpp.
  void relate(std::uint64_t id, const Kindred& kindred);
  void relate_part(std::uint64_t id, const Kindred& kindred, std::uint64_t parent,
                   std::uint64_t split, std::int32_t color);
  void leave_out(std::uint64_t parent, std::uint64_t split);
  std::size_t connections() const { return loop_.watched() - listening_.size(); }
  // Null: it has ended, or never was.
  Member* member(std::uint64_t id);
  // Tells `done` when nothing more has to be sent, or the time is over; then the helper has ended.
  void leave(std::shared_ptr<std::promise<void>> done);

  // ---- what members need ----
  // Listens on the host of `local`, once for all; the address with the port.
  std::optional<Address> listen(const Address& local);
  void remove(std::uint64_t id);
  // The registrar's word to a part, if its rank here still waits for it.
  void tell_part(const PartOf& which, Message&& message);
  // The communicator's tree is no way any more for those of its parts that register over it.
  void lose_tree_of(std::uint64_t id);
  void has_heard_of_raw() { heard_of_raw_ = true; }
  // Why a communicator stays raw, the first of which is said.
  void tell(const std::string& text);
  // Whether the process may have one more connection that it could do without.
  bool has_room() const;
  // Trouble with which calls go on, of each kind once.
  enum Trouble { kUnreachablePair, kLostConnection, kTroubles };
  void warn(Trouble kind, const std::string& text);

 private:
  struct Listening {
    Socket socket;
    std::uint64_t watched = 0;
    Address address;
  };
  struct Stranger {
    std::unique_ptr<Link> link;
    Loop::TimerId deadline;
    Loop::Clock::time_point came;
    bool names_one = false;  // a communicator that is known here
  };

  void fail();
  void watch(Listening& on);
  void pause(Listening& on, std::chrono::milliseconds time);
  void accept_some(Listening& on);
  bool make_room();
  void meet(Socket socket);
  void drop(std::uint64_t stranger);
  std::optional<Introduction> find(const Hello& hello) const;
  void greeted(std::uint64_t stranger, Message&& message);
  Member* member_of(const Head& head);
  void called(const Call& call);
  Member* first_whole(std::uint32_t job);
  void relate_waiting(Member& whole);
  void leave_when_done(Loop::Clock::time_point deadline, std::shared_ptr<std::promise<void>> done);

  const Options options_;
  Loop loop_;
  Messenger messenger_;
  Idle idle_;
  Openings openings_;
  Meetings meetings_;
  std::map<Address, Listening> listening_;  // by address without port
  std::map<std::uint64_t, Stranger> strangers_;
  std::uint64_t next_stranger_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Member>> members_;
  // Communicators that were made before one of all ranks, with the ranks of the job.
  std::map<std::uint64_t, Kindred> unrelated_;
  bool heard_of_raw_ = false;
  bool warned_[kTroubles]{};
};

}  // namespace thinwire::nccl::agree
