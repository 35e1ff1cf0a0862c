// How a thread waits that has nothing to do until another rank's message comes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace thinwire::mpi {

// One wait after the other, of one thread.
class Waiting {
 public:
  enum class Who : std::uint8_t {
    kProgram,  // the program's own thread, in a blocking call: what it waits for it wants at once
    kLibrary,  // a thread of the library, while the program computes or sleeps in a wait of its own
  };

  // Who waits from now on. A thread of the library waits as the program does while `wanted`, if
  // there is one, counts threads of the program that wait for what it does: nobody else may be
  // moving the process' messages meanwhile.
  void set(Who who, const std::atomic<unsigned>* wanted = nullptr) {
    who_ = who;
    wanted_ = wanted;
    turns_ = 0;
  }

  // Several ranks take turns on a processor: who waits lets others run at once, because what he
  // waits for may be theirs to send.
  void share_processors() { shares_ = true; }

  // Something has come: the next wait begins.
  void progress() { turns_ = 0; }

  // Nothing has. Returns at once at first; later lets others run, and the library's own thread
  // sleeps the longer the longer it has waited.
  void idle();

 private:
  void idle_of_library();

  bool waits_as_library() const {
    return who_ == Who::kLibrary &&
           (wanted_ == nullptr || wanted_->load(std::memory_order_relaxed) == 0);
  }

  Who who_ = Who::kProgram;
  const std::atomic<unsigned>* wanted_ = nullptr;
  bool shares_ = false;
  std::uint32_t turns_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

// Whether so many ranks of a node outnumber the processors that this process may run on.
bool outnumber_processors(int ranks);

// Makes the calling thread's short sleeps short; each thread of the library that waits calls it
// first.
void sleep_precisely();

}  // namespace thinwire::mpi
