// Messages whose length depends on their data, over a transport that must know every length: it
// travels ahead of the frame.
#pragma once

#include <cstdint>

#include "message/message.h"
#include "transport/stream_transport.h"

namespace thinwire::collective {

// What is sent to a peer or received from it; none where `peer` is below 0. The peer must know the
// array's dtype and shape.
struct SizedMessage {
  int peer = -1;
  codec::Chunk array;
  std::byte* values = nullptr;  // in GPU memory

  bool travels() const { return peer >= 0 && array.raw_bytes() > 0; }
};

// One message each way at most, at once. What the codec declines, or what would not shrink, travels
// as its raw values. The host must call advance() until the exchange is over; two exchanges on one
// transport must follow one another, in the same order on all ranks. Not for streams that are being
// captured. The stream's device is the thread's current one in all calls.
//
// First the outcomes of the encodes travel, a word each; a kernel tells the host both of them in
// pinned memory, which is polled; then frames or values go, of lengths that both sides know now.
class SizedExchange {
 public:
  // Words of pinned memory.
  static constexpr std::uint32_t kOutcomes = 3;

  // Plans exchanges of such messages; `coder` is what both sides code with. kUnsupported where it
  // cannot be enqueued.
  Status prepare(const message::Coder& coder, const frame::Mark& mark, const SizedMessage& sent,
                 const SizedMessage& received);

  // Device memory that an exchange needs, aligned to 256.
  std::uint64_t device_bytes() const { return places_.end; }

  // Enqueues the encode and the exchange of lengths behind what is on `stream` now. The memory is
  // lent until the exchange is over; allocates nothing.
  Status start(std::byte* memory, device::Outcome* outcomes, transport::StreamTransport& transport,
               device::StreamHandle stream);

  // Never blocks: enqueues what can be, and says whether the exchange is over, the values being in
  // their place. kDamaged where what came is no frame of the array. kDevice where GPU or transport
  // have failed: it may then never end, and the transport cannot be used again.
  Result<bool> advance();

  // Bytes that travelled, beside the words: of the frame, or of the values. From the moment that
  // the lengths are known.
  std::uint64_t sent_bytes() const { return sent_bytes_; }
  std::uint64_t received_bytes() const { return received_bytes_; }

 private:
  enum class Stage { kIdle, kLengths, kFrames };

  // Where the parts of the device memory begin; before them the words.
  struct Places {
    std::uint64_t outgoing = 0, incoming = 0, workspace = 0, end = 0;
  };

  message::EncodeOptions options() const {
    return {.mark = mark_, .declines_integers = false, .stream = stream_};
  }
  device::Outcome* word(int number) const {
    return reinterpret_cast<device::Outcome*>(memory_) + number;
  }
  MutableByteView part(std::uint64_t first, std::uint64_t end) const {
    return {memory_ + first, end - first};
  }
  Status exchange_lengths();
  Status exchange_frames();
  Status decode();
  Status check_progress();

  message::Coder coder_{};
  frame::Mark mark_{};
  SizedMessage sent_, received_;
  Places places_;
  std::byte* memory_ = nullptr;
  std::byte* cleared_ = nullptr;  // whose workspace is as the codec wants it
  device::Outcome* outcomes_ = nullptr;
  transport::StreamTransport* transport_ = nullptr;
  device::StreamHandle stream_ = nullptr;
  Stage stage_ = Stage::kIdle;
  std::uint64_t sent_bytes_ = 0, received_bytes_ = 0;
  std::uint32_t polls_ = 0;
};

}  // namespace thinwire::collective
