#include "coding/in_order.h"

#include <thread>

namespace thinwire::nccl {

// Of one call; its end gives it back.
struct InOrder::Turn {
  InOrder* of;
  std::uint64_t number;
};

void InOrder::wait(void* turn) {
  const Turn& own = *static_cast<Turn*>(turn);
  while (own.of->finished_.load(std::memory_order_acquire) != own.number) std::this_thread::yield();
}

void InOrder::finish(void* turn) {
  const Turn* const own = static_cast<Turn*>(turn);
  own->of->finished_.store(own->number + 1, std::memory_order_release);
  delete own;
}

bool InOrder::begin(cudaStream_t stream) {
  if (streams() == Streams::kHost) {
    turn_ = new Turn{this, begun_++};
    return launch_on_host(stream, wait, turn_) == 0;
  }
  if (event_ == nullptr) return make_event(&event_);
  return wait_for_event(stream, event_);
}

bool InOrder::end(cudaStream_t stream) {
  if (streams() == Streams::kHost) return launch_on_host(stream, finish, turn_) == 0;
  return record_event(event_, stream);
}

void InOrder::release() {
  if (event_ != nullptr) end_event(event_);
  event_ = nullptr;
}

}  // namespace thinwire::nccl
