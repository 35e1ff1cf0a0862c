// Mailboxes: how blocks leave a stream for the host and come to it from there. One format of
// memory for host and device; a stream's side of it is a step of the stream's work.
//
// Each way has a chunk and two counters on lines of their own: of chunks that the stream has put
// (or wants), and of those that the host has taken (or given). They are equal if nothing is
// under way. Whoever moves a counter has written all that belongs to it before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/host_device.h"
#include "base/status.h"

namespace thinwire::slot {

// A part of a block, as announced by the stream.
struct MailChunk {
  std::uint64_t call = 0;
  std::uint64_t block = 0;
  std::uint64_t block_bytes = 0;  // of what goes by mailboxes
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int64_t rank = 0;  // for whom it is, -1 for all others; or from whom
};

// The rest of a block, whose first bytes go another way.
THINWIRE_HOST_DEVICE constexpr MailChunk behind(MailChunk block, std::uint64_t bytes) {
  block.block_bytes -= bytes;
  return block;
}

inline constexpr std::uint64_t kLineBytes = 64;

struct MailboxWay {
  alignas(kLineBytes) MailChunk chunk;              // the stream's
  alignas(kLineBytes) std::uint64_t by_stream = 0;  // chunks put or wanted
  alignas(kLineBytes) std::uint64_t by_host = 0;    // chunks taken or given
};

struct Mailbox {
  alignas(kLineBytes) std::uint64_t mark = 0;
  std::uint64_t chunk_bytes = 0;
  alignas(kLineBytes) std::uint64_t aborted = 0;
  MailboxWay out, in;

  static constexpr std::uint64_t kMark = 0x00786F626C69616Du;  // "mailbox"
  static constexpr std::uint64_t kControlBytes = 1024;
  static constexpr std::uint64_t kLeastBytes = 2048;

  THINWIRE_HOST_DEVICE std::byte* out_data() {
    return reinterpret_cast<std::byte*>(this) + kControlBytes;
  }
  THINWIRE_HOST_DEVICE std::byte* in_data() { return out_data() + chunk_bytes; }
};
static_assert(sizeof(Mailbox) <= Mailbox::kControlBytes);

inline Mailbox& mailbox_at(void* memory) { return *static_cast<Mailbox*>(memory); }

// kTooSmall below Mailbox::kLeastBytes, kInvalidArgument if `memory` is not aligned to a line.
Status open_mailbox(void* memory, std::uint64_t bytes);

// Whether it is one.
bool is_mailbox(const void* memory);

// The host's side; never waits. Of either way: the chunk that is under way, if any (none after the
// mailbox was aborted); and that the host is done with it, kInvalidArgument if none is.
bool under_way(const Mailbox& mailbox, const MailboxWay& way, MailChunk* chunk);
Status finish_chunk(MailboxWay& way);
void abort_mailbox(Mailbox& mailbox);

// The stream's side, on a thread of the stream's: brings a block out, or in. `chunk` says the
// block, not the part. Waits for the host; false if the mailbox was aborted.
bool put_block(Mailbox& mailbox, MailChunk chunk, const std::byte* values);
bool take_block(Mailbox& mailbox, MailChunk chunk, std::byte* values);

}  // namespace thinwire::slot
