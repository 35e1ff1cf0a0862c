// Compresses a communicator's calls on this rank.
//
// decide() belongs to the host thread that makes the communicator's calls, one at a time as NCCL
// has it. What is enqueued and what the service thread reports exclude each other by mutex(); the
// service never waits for it, and nothing that waits is called under it but NCCL itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agree/agree.h"
#include "run/call.h"
#include "run/connections.h"
#include "run/decision.h"
#include "run/kinds.h"
#include "run/plans.h"
#include "run/stream_memory.h"

namespace thinwire::nccl {

class Compressor {
 public:
  // Calls that are decided together with siblings, if it has any.
  enum class Joins { kNothing, kWhatLoses, kSumsToo };
  Compressor(ncclComm_t comm, agree::CommunicatorRef agreed, int rank, int ranks, bool blocks,
             Joins joins);

  // Whether results of such calls are kept, to code others against.
  static bool keeps_results(const Call& call);
  // For a call that settings, type and size would let be coded; not yet enqueued. `is_grouped`: it
  // is made in a group of the program's; `may_refer`: in which no other call refers to results.
  Decision decide(const Call& call, bool is_grouped, bool may_refer);
  // The next number, of a call that is not decided about: other ranks may know it by another type.
  CallNumber number_of(const Call& call);
  // The call is made, and not only simulated: its number stands.
  void confirm(const CallNumber& made);

  // The plan of a sum whose values go without slots and are added in the order of the ranks, with
  // one user more; null: no memory, and the communicator fails. `at_root`: a Reduce that its root
  // adds alone.
  Plan* plan_in_order(const Call& call, bool is_grouped, bool at_root);

  bool blocks() const { return blocks_; }
  int device() const { return device_; }

  // Counts a call of the group that is ending. end_group(): true if the group was the largest so
  // far, so that reserve_together() must be called.
  void count_in_group() { ++grouped_; }
  bool end_group() { return std::exchange(grouped_, 0) > most_reserved_; }
  // Memory for a group's calls on this communicator, of those kinds, all at once: before the
  // ranks agree to code them, or a kind vetoes that. Largest first.
  void reserve_together(std::span<const Grouped> calls);

  // Whether the ranks may have agreed to code calls of some kind, for all that this one knows.
  bool may_code() const { return has_reserved_; }

  std::mutex& mutex() { return mutex_; }
  // Under the mutex. `group` numbers what is enqueued together. Null, and nothing changed but that
  // the plan has been given back: no memory.
  InFlight* prepare(const Call& call, const Decision& decision, Part part, std::uint64_t group,
                    Counters* counters, tw_stream_call* made);
  // Clocks of a timed call: before its first step is enqueued and after its last one. Null: nobody
  // will know what it took.
  InFlight* begin_time(const Call& call, const Decision& decision);
  void end_time(const Call& call, InFlight* clock);
  // Nobody will know what a call took that was to be timed.
  void lose_time(const Decision& decision) noexcept;
  // True while a coming call is timed: its time starts at the end of the call before, as NCCL
  // carries out the calls of a communicator one after the other, on whichever streams.
  bool times_next_call() const { return listens_ > 0; }
  // Called after the last step of a call that is not timed, whatever became of it.
  void note_end(const Call& call);
  // Under the mutex. What enqueueing this call left is not known: nothing is coded any more. The
  // call's memory is given back as soon as its stream has come to where it is now, and NCCL has
  // ended the communicator.
  void fail(const Call& call);
  // Likewise. Nobody will know when the memory of calls is free.
  void lose() { is_lost_ = true; }

  // Ends all waiting, from any thread; no more is coded.
  void abort();
  // As abort(); the program goes on with the communicator's parts.
  void revoke();
  // NCCL takes no more calls; `is_gone`: and has ended it. What is under way is served to its end;
  // then all is given back.
  void end(bool is_gone);
  // Whether it has been, as far as it will be.
  bool is_over() const { return is_over_.load(std::memory_order_acquire); }

  // The first failure of calls that the streams have come past.
  ncclResult_t error() const { return error_.load(std::memory_order_relaxed); }
  // A call that has been taken has failed since.
  void set_error(ncclResult_t error) {
    ncclResult_t none = ncclSuccess;
    error_.compare_exchange_strong(none, error);
  }

  // The number of ranks to which compressed calls made NCCL connect, and the bytes that this takes,
  // as estimated.
  int connected_ranks() const { return connected_ranks_.load(std::memory_order_relaxed); }
  std::uint64_t connected_bytes() const { return connected_bytes_.load(std::memory_order_relaxed); }

  // The GPU memory of its calls: now, and at the most.
  const Held& held() const { return held_; }

  // ---- Of the service thread ----

  // Whether something moved.
  bool serve();
  // Notes that the compressor cannot be served any more: a block may be lost for which another rank
  // waits.
  void lose_service();
  // Takes reports of what is complete, if nobody has the mutex. False once nothing is under way.
  bool reap();

  std::atomic<bool> listed{false};  // the service thread has it
  std::atomic<int> in_service{0};   // how often it is on the service's lists

  // True, after the communicator has ended in order, if nobody else refers to this any more.
  bool is_free() const {
    return is_over() && in_service == 0 && !aborted_ && !is_lost_ && !failed_;
  }

 private:
  Track& track_of(const Call& call);
  // Finds out who shares a node; called after all ranks are known to have the library.
  void know_nodes();
  // Whether no data of such calls leaves a node, and does not compress therefore.
  bool stays_inside(const Call& call) const;
  // The side to which the call's data goes, after nodes are known.
  Side side_of(const Call& call) const;
  // Whether it is decided on together with siblings; the same on all ranks, from the first call on.
  bool is_joined(const Call& call) const;
  // Applies the policy to a call, after nodes are known: why it goes raw, or 0.
  int take_choice(Side side, const Choice& choice, PlanKey& key, Decision& made) const;
  // The value of a kind at the call's number; none: what is made fails.
  std::optional<agree::Value> value_of(Kind& of, Decision& made);
  void decide_in_order(const Call& call, bool is_grouped, Decision& made);
  void decide_collective(const Call& call, bool is_grouped, bool may_refer, Decision& made);
  void decide_message(const Call& call, Decision& made);
  // Decides a call by the kind's value, which has a capacity.
  void decide_in_slot(const Call& call, const agree::Value& value, Decision& made);
  void take_plan(const Call& call, const PlanKey& key, Decision& made);
  void decide_without_memory(const Call& call, Decision& made);
  void decide_raw(const Call& call, PlanKey key, agree::Value value, Decision& made);
  // Whether a call whose blocks would fit goes raw all the same. One that is captured goes for ever
  // as it is decided now.
  bool captured_goes_raw(const agree::Value& value, Decision& made) const;
  bool goes_raw(const agree::Value& value, Decision& made);
  bool looks_for_memory(const Decision& made);
  // The call's kinds, of which it is one that NCCL is to have as it is, or one that it need not
  // have. All ranks find out by the kinds' values.
  void note_left_to_nccl(const Call& call, const Decision& made);
  // Whether a raw call, or its kind, is such a one, as far as this rank knows.
  bool is_left_to_nccl(const Call& call, Decision& made);
  // Connections that calls with such a plan would have NCCL make, and that it has not made.
  Connections missing_connections(const Call& call, const Plan& plan) const;
  // A compressed call has had it connect them.
  void note_connections(const Call& call, const Plan& plan);
  // Whether the GPU has room for so much of this library's and for what NCCL takes for connections,
  // beside what is left to the program. Says once in a process if it has not.
  bool has_room(std::uint64_t own, const Connections& missing) const;
  // Looks again for room, before the first compressed call of a kind that the ranks have agreed
  // on: a veto if it is gone since.
  void look_for_room_again(const Call& call, const PlanKey& key, const Decision& made);
  int lacks(const Call& call, PlanKey key, const Decision& made);
  bool reserve(const Call& call, const PlanKey& key, const Decision& made);
  // Finds what the largest call of its kind takes at most, as this one is planned; `key` becomes
  // that one's. Returns why there is no such plan, or 0.
  int largest_needs(const Call& call, PlanKey& key, Working& needs);
  // Likewise of a message that comes, as whatever it may be sent.
  int largest_needs_of_any_type(const Call& call, Working& needs);
  // Bytes of references of calls that are coded against earlier results, if settings have memory
  // for these.
  static std::uint64_t reference_bytes_of(const Call& call, unsigned codec);
  // Memory for results, for the communicator's life. Null: none is left.
  void* references();
  static constexpr std::uint64_t kNoGroup = 0;
  static constexpr std::uint64_t kReservation = std::uint64_t{1} << 63;  // of a group: its number
  // One of its own, or one that is idle and not of this group. Unless calls work in it, one without
  // memory.
  StreamMemory& memory_for(cudaStream_t stream, std::uint64_t group, bool works = true);
  // The memory of calls of this capture on this stream, which ends with the graph; null: no memory.
  StreamMemory* memory_for_graph(const Call& call);
  StreamMemory& add_stream_memory();
  void* open_mailbox(StreamMemory& stream_memory);
  Where lend(StreamMemory& stream_memory, const tw_stream_plan_info& needs, tw_stream_call* made);
  // Memory of its device had none for the call.
  void leave_device(const Decision& decision);
  bool serve(StreamMemory& stream_memory, void* mailbox);
  // A block of that chunk is about to be carried.
  void note_spilled(StreamMemory& stream_memory, const tw_mailbox_chunk& chunk) const;
  // Tells the kind, before the call is complete.
  static void report_spilling(StreamMemory& stream_memory);
  // Takes back the memory of graphs that have ended; returns whether others live.
  bool reap_captured(StreamMemory& stream_memory);
  // For times of a call of that kind, or of no one's; null: no memory.
  InFlight* take_clock(Kind* of);
  bool enqueue_time(const Call& call, InFlight* clock, int at);
  void keep_end(const Call& call, InFlight* clock);
  // Takes the end of a call that is timed, or a mere end.
  bool has_ended(InFlight& clock);
  // Whether the stream has come past it; its report is taken then.
  bool has_landed(InFlight& in_flight);
  void take_report(InFlight& in_flight, tw_status status, const tw_stream_report& report);
  void note_failure(tw_status status);
  void note_failure(ncclResult_t failure, const char* why);
  void say_failed(std::string why) const;
  void release();
  void give_back();
  // Whether it will be known when the stream is past all that it has now.
  bool marks_failure(const Call& call);
  // Drops the calls of a stream on which one failed; the stream is past all of them.
  void drop_in_flight(StreamMemory& stream_memory);
  void abort_mailboxes();

  const agree::CommunicatorRef agreed_;
  const int rank_, ranks_;
  const int device_;
  const bool blocks_;
  const Joins joins_;
  const ncclComm_t comm_;
  tw_stream_comm* stream_comm_ = nullptr;  // after nodes are known
  tw_status unable_ = TW_OK;

  // State of the host thread.
  bool knows_nodes_ = false;
  RankNodes nodes_;  // as calls are planned
  RankNodes hosts_;  // as they are, also if ranks of one compress
  agree::State state_ = agree::State::kForming;
  Track collectives_;
  std::map<std::pair<int, bool>, Track> messages_;
  Connected connected_{rank_, ranks_};
  Plans plans_;
  std::uint32_t listens_ = 0;  // to the ends of so many calls more
  std::uint32_t waiting_ = 0;  // kinds whose next call is timed
  bool serves_ = false;        // its sums have the service thread
  std::size_t grouped_ = 0, most_reserved_ = 0;
  std::uint64_t reservations_ = 0;

  std::mutex mutex_;
  Held held_;
  InFlightPool in_flight_pool_{device_};
  InFlight* last_end_ = nullptr;  // of the latest call whose end is known as soon as it comes
  bool failed_ = false, ended_ = false, released_ = false;
  bool is_gone_ = false;  // NCCL has ended it
  bool is_lost_ = false;  // see lose()
  std::atomic<bool> is_over_{false};
  void* references_ = nullptr;
  bool has_referred_ = false;

  std::mutex stream_memories_mutex_;  // of the list alone, which only grows
  std::vector<std::unique_ptr<StreamMemory>> stream_memories_;
  std::atomic<bool> aborted_{false};
  std::vector<StreamMemory*> served_;  // of the service thread

  std::atomic<bool> has_reserved_{false};  // for some kind, so that it may have been offered
  std::atomic<ncclResult_t> error_{ncclSuccess};
  std::atomic<int> connected_ranks_{0};
  std::atomic<std::uint64_t> connected_bytes_{0};
};

// Lets go of a communicator after the program's last call on it. As soon as nobody needs more of it
// than its figures, and it is none of the latest that have ended, it is destroyed.
void let_go(Communicator& ended);

}  // namespace thinwire::nccl
