// Threads that code pieces while the caller's moves messages. On a GPU each works on a stream of
// its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "collective/engine.h"
#include "collective/schedule.h"

namespace thinwire::collective {

// One local step for one piece, which any thread may do.

struct Job {
  std::uint32_t task = 0;
  Action action = Action::kCopy;
  plan::Reason why_raw = plan::Reason::kCompress;  // kEncode: why it is to stay as it is
  Shape shape;
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  MutableByteView slot;          // kEncode: where a packet has room
  std::uint64_t stride = 0;      // kAddExactly: from one array to the next, after `to`
  int arrays = 0;                // and how many there are
  Packet packet;                 // what is decoded; after kEncode what was made
  message::Reference reference;  // what it may be coded against; without values there is none

  // Afterwards.
  Status status;
  double seconds = 0;

  bool is_raw() const { return why_raw != plan::Reason::kCompress; }
};

// Fails rather than throw.
void perform(Engine& engine, Job& job) noexcept;

class Crew {
 public:
  // Fewer, or none, if the system has no more.
  explicit Crew(std::uint32_t threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  std::uint32_t size() const { return static_cast<std::uint32_t>(threads_.size()); }

  // Equips the crew for the jobs that come: one engine a thread, none of them used by anybody else.
  void equip(std::vector<Engine> engines) { engines_ = std::move(engines); }

  // These are for the caller's thread alone. No more than size() jobs are out at a time: each is
  // begun at once.
  bool has_room() const { return out_ < size(); }
  bool is_idle() const { return out_ == 0; }
  void hand_over(const Job& job);

  // One that is done, in any order; false if there is none yet.
  bool take_back(Job& job);

 private:
  void work(std::size_t member);

  std::vector<Engine> engines_;
  std::uint32_t out_ = 0;
  std::mutex mutex_;  // guards what follows
  std::condition_variable comes_;
  std::vector<Job> waiting_, done_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace thinwire::collective
