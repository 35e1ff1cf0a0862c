// A thread of the crew that runs out of memory fails its job; it does not end the process.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "collective/polled/crew.h"

namespace {

// Memory is refused on every thread but the one that says so.
std::atomic<bool> refuses{false};
thread_local bool is_spared = false;

void* allocate(std::size_t bytes) {
  void* const memory = refuses.load() && !is_spared ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace thinwire::collective {
namespace {

TEST(Crew, AThreadWithoutMemoryFailsItsJob) {
  is_spared = true;
  const EngineSettings settings{};
  Crew crew(1);
  crew.equip({Engine(settings, nullptr)});
  Job job;
  job.action = Action::kDecode;
  job.packet.kind = Packet::Kind::kLost;  // the sentence that says so needs memory
  for (const bool refused : {true, false}) {
    refuses = refused;
    crew.hand_over(job);
    Job done;
    while (!crew.take_back(done)) std::this_thread::yield();
    refuses = false;
    EXPECT_EQ(done.status.code(), refused ? StatusCode::kInternal : StatusCode::kDamaged);
    EXPECT_FALSE(done.status.message().empty());
  }
}

}  // namespace
}  // namespace thinwire::collective
