// The description that kernels get of a slot that holds a frame.
#pragma once

#include "slot/mailbox.h"
#include "slot/slot.h"

namespace thinwire::slot {

struct DeviceSlot {
  std::byte* at = nullptr;
  std::uint64_t bytes = 0;
  SlotTag tag;
  MailChunk chunk;
  Mailbox* mailbox = nullptr;
  std::uint64_t* outcome = nullptr;  // of its coding (device/stream.h)
};

// A slot to be sealed after its frame is encoded: the header is written, and the values are brought
// out by the mailbox if the frame does not fit. Where one of `before` is an error, they are
// lost.
struct ToSeal {
  DeviceSlot slot;  // none without an address
  const std::byte* values = nullptr;
  const std::uint64_t* before = nullptr;
  std::uint32_t before_count = 0;
  bool as_is = false;  // spilled, whatever the encode has come to
};

}  // namespace thinwire::slot
