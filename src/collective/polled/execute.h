// The driver of schedules that polls: runs a rank's tasks as what they wait for comes true.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "choose/backoff.h"
#include "collective/arrays.h"
#include "collective/engine.h"
#include "collective/polled/crew.h"
#include "collective/program.h"
#include "plan/plan.h"
#include "transport/transport.h"

namespace thinwire::collective {

// Memory for what travels and for what the schedule keeps meanwhile; as long as a run.
struct Workspace {
  std::byte* packets = nullptr;  // memory that the transport reaches
  std::uint64_t packet_bytes = 0;
  std::uint64_t packet_stride = 0;  // from one to the next; 0 if a rank cannot take part
  std::byte* scratch = nullptr;     // where the values lie
  std::uint64_t scratch_bytes = 0;
};

// Means with which a run works.
struct Means {
  Workspace workspace;
  Engine& engine;  // of the caller's thread
  transport::Transport& transport;
  Crew* crew = nullptr;                            // nullptr: the caller's thread codes alone
  plan::Reason why_off = plan::Reason::kCompress;  // why nothing at all is coded, if that is so
  bool crowded = false;  // there are fewer processors than threads: waiting must not keep one

  // nullptr if every piece is tried: where ranks encode the same values each for itself and hold
  // what comes of it, whether a piece is coded must depend on the values alone.
  choose::Backoff* backoff = nullptr;
};

// Counts of one run, this rank's.
struct Tally {
  std::uint64_t raw_bytes = 0;   // of what was sent
  std::uint64_t wire_bytes = 0;  // as it travelled
  std::uint64_t packets = 0;
  std::uint64_t raw_packets = 0;
  std::array<std::uint64_t, plan::kReasonCount> raw_by_reason{};  // of them
  std::uint64_t delta_packets = 0;  // encoded against a reference, each counted once
  std::uint64_t delta_bytes = 0;    // of them, before encoding
  std::uint64_t delta_wire_bytes = 0;
  double encode_seconds = 0;  // of all threads together
  double decode_seconds = 0;  // and of reductions
};

class Executor {
 public:
  // Complete on return. A piece that one rank cannot give (damage, a failing GPU) is lost to all
  // that need it: they get an error, and nobody waits for ever. The first error is returned. If
  // the transport fails, messages may still be under way: it cannot be used again.
  //
  // `hindrance`: why this rank cannot take part, if it cannot. It then passes nothing on to those
  // who wait for it, needs the memory of one packet alone, and gets its own status back.
  Status run(const Schedule& schedule, std::span<const Block> blocks, const Program& program,
             const Arrays& arrays, const Means& means, const Status& hindrance, Tally& tally);

  bool transport_failed() const { return transport_failed_; }

 private:
  // Messages to or from one peer, which are posted in order.
  struct Queue {
    int peer;
    bool sends;
    std::uint32_t first, end, next;  // places in queued_
  };

  struct Run;  // the arguments of run()

  void prepare(const Run& run);
  void make_queues(const Run& run);
  void release(const Run& run, std::uint32_t task);
  Status advance(Run& run);
  static void tally(Run& run, const Packet& packet, std::uint64_t raw_bytes);
  Status post_ready(Run& run, bool& progressed);
  Status post(Run& run, std::uint32_t task, int peer, bool sends);
  Status collect(Run& run, bool& progressed);
  void arrive(Run& run, std::uint32_t task, std::uint64_t bytes);
  bool work_on_next(Run& run);
  static plan::Reason why_raw(Run& run, const Step& step);
  static message::Reference reference_of(const Run& run, const Task& task);
  Job job_of(Run& run, std::uint32_t task);
  bool has_lost(const Run& run, const Task& task) const;
  void finish(Run& run, const Job& job);
  void wait_for_crew(Run& run);
  static void idle(const Run& run);
  void fail(Run& run, const Task& task, const Status& status);

  bool transport_failed_ = false;
  std::vector<std::uint32_t> waits_for_;  // of each task, what is left
  std::vector<std::uint32_t> ready_;      // local tasks, a heap with the earliest on top
  std::vector<Queue> queues_;
  std::vector<std::uint32_t> queued_;    // tasks of all queues
  std::vector<std::uint32_t> queue_of_;  // by task
  std::vector<std::uint32_t> awake_;     // queues whose next message may be ready
  std::vector<Packet> packets_;
  std::vector<bool> lost_;                  // values that could not be had
  std::vector<transport::Ticket> tickets_;  // under way
  std::vector<std::uint32_t> under_way_;    // their tasks
  std::vector<transport::Arrival> arrivals_;
};

}  // namespace thinwire::collective
