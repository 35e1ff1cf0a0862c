// Buffers that parts of blocks come and go in, kept for the next parts: a buffer that the system
// takes back and gives anew for each part costs more than all that is done with its bytes.
#pragma once

#include "agree/messages.h"
#include "agree/outbox.h"

namespace thinwire::nccl::agree {

// An empty one, with room if a part has been in it. From any thread.
Bytes spare_bytes();
// For a part to come; freed if enough are kept.
void keep_spare(Bytes&& used) noexcept;

// A message with a part in it. Its buffer is kept after all that share it are done.
SharedBytes pack_part(const Message& message);

}  // namespace thinwire::nccl::agree
