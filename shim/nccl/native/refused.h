// Handling of what the system refuses this library: memory, or a thread. No exception leaves a
// function that NCCL's callers, which may be C, have called.
#pragma once

namespace thinwire::nccl {

// Says once a process that something was refused.
void note_refused() noexcept;

// Does it. False: something that it asks for was refused, and it is done in part or not at all.
template <typename Do>
bool allowed(Do what) noexcept {
  try {
    what();
    return true;
  } catch (...) {
    note_refused();
    return false;
  }
}

}  // namespace thinwire::nccl
