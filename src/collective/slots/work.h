// Steps of slots in stream order: what StreamWork has not.
#pragma once

#include <span>

#include "collective/enqueued/stream_work.h"
#include "collective/slots/bound.h"
#include "collective/slots/mailbox.h"
#include "collective/slots/slot.h"
#include "collective/slots/sum.h"
#include "collective/slots/verdict.h"

namespace thinwire::collective {

// A block's slot in one run.
struct SlotPlace {
  MutableByteView slot;
  SlotTag tag;
  int rank = -1;  // for whom the block is, or from whom
  Mailbox* mailbox = nullptr;
  device::Outcome* outcome = nullptr;
};

// Slots of one exchange, which are sealed or finished together.
inline constexpr std::size_t kMostSteps = 16;
struct SealStep {
  SlotPlace place;
  const std::byte* values = nullptr;
};
struct FinishStep {
  SlotPlace place;
  const Shape* shape = nullptr;
  std::byte* to = nullptr;
  const std::byte* own = nullptr;
};

// What a rank tells of its values, in `block`, from `scratch`, room for kMostKeyRanges of them.
struct RangeStep {
  const std::byte* values = nullptr;
  std::uint64_t count = 0;
  std::uint64_t call = 0;
  int rank = 0;
  std::byte* block = nullptr;
  std::byte* scratch = nullptr;
};

// Tells the host that all is done: `outcomes` are brought to `to`, in the host's memory, and
// `done` becomes kKnown behind them.
struct RunEnd {
  std::span<const device::Outcome> outcomes;
  device::Outcome* to = nullptr;
  device::Outcome* done = nullptr;
};

inline MailChunk chunk_of(const SlotPlace& place) {
  return {.call = place.tag.call,
          .block = place.tag.block,
          .block_bytes = place.tag.raw_bytes,
          .offset = 0,
          .bytes = 0,
          .rank = place.rank};
}

// As StreamWork: enqueued in the order of the calls, nothing waited for but by the stream.
class SlotWork {
 public:
  virtual ~SlotWork() = default;

  virtual StreamWork& steps() = 0;

  // Lends the codec's workspace, aligned to 256, its contents being any where this is the run's
  // first stage; and makes that stage's outcomes, which lie behind it, 0.
  virtual Status begin(MutableByteView workspace, std::span<device::Outcome> outcomes,
                       bool first) = 0;

  // What all ranks have told is at `blocks`; resolves the record's parameter.
  virtual Status tell(const RangeStep& step) = 0;
  virtual Status resolve(const std::byte* blocks, int ranks, BoundRecord& record) = 0;

  // Encodes into what lies behind the slot's header; `bound`: with what its parameter is by then.
  virtual Status encode(const std::byte* from, const Shape& shape, MutableByteView frame,
                        device::Outcome* outcome, const BoundRecord* bound) = 0;

  // Behind the encodes that the outcomes are of: writes the headers, and brings values out by the
  // mailbox where a frame does not fit. Where one of `before` is an error, the values are those
  // that were lost.
  virtual Status seal(std::span<const SealStep> steps, std::span<const device::Outcome> before) = 0;

  // Decodes a slot that holds a frame; then, once all slots of an exchange are opened, finishes
  // each: takes what was spilled from the mailbox, or from `own`, where this rank has the values
  // itself; makes the values NaN where there are none. The outcome's bytes are those that came
  // spilled. Then reports, if `end` is given.
  virtual Status open(const SlotPlace& place, const Shape& shape, std::byte* to) = 0;
  virtual Status finish(std::span<const FinishStep> steps, const RunEnd* end) = 0;

  virtual Status sum(const Operands& arrays, std::uint64_t count, double scale, std::byte* to) = 0;

  virtual Status report(const RunEnd& end) = 0;
};

}  // namespace thinwire::collective
