// One local step for one piece, which any thread may do.
#pragma once

#include "collective/engine.h"
#include "collective/schedule.h"

namespace thinwire::collective {

struct Job {
  std::uint32_t task = 0;
  Action action = Action::kCopy;
  plan::Reason why_raw = plan::Reason::kCompress;  // kEncode: why it is to stay as it is
  Shape shape;
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  MutableByteView slot;          // kEncode: where a packet has room
  Packet packet;                 // what is decoded; after kEncode what was made
  message::Reference reference;  // what it may be coded against; without values there is none

  // Afterwards.
  Status status;
  double seconds = 0;

  bool is_raw() const { return why_raw != plan::Reason::kCompress; }
};

// Fails rather than throw.
void perform(Engine& engine, Job& job) noexcept;

}  // namespace thinwire::collective
