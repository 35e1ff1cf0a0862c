// Steps of slots in stream order: what is asked of whoever works where values lie.
#pragma once

#include <span>

#include "collective/slots/bound.h"
#include "collective/slots/references.h"
#include "collective/slots/sum.h"
#include "slot/mailbox.h"
#include "slot/seal.h"
#include "slot/slot.h"
#include "slot/verdict.h"

namespace thinwire::collective {

using namespace slot;

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
  bool as_is = false;  // spilled, whatever the encode has come to
};
struct FinishStep {
  SlotPlace place;
  const Shape* shape = nullptr;
  std::byte* to = nullptr;
  const std::byte* own = nullptr;
  std::uint64_t* reference =
      nullptr;  // of the block, as RestoreStep has it; nullptr: there is none
};

// The range that a rank tells of its values, in `block`, from `scratch`, room for kMostKeyRanges of
// them.
struct RangeStep {
  const std::byte* values = nullptr;
  std::uint64_t count = 0;
  std::uint64_t call = 0;
  int rank = 0;
  std::byte* block = nullptr;
  std::byte* scratch = nullptr;
};

// This rank's block against the one of a result that is nearest to it: `to` gets the differences,
// or the values as they are, and `said` what the others have to know.
struct DifferStep {
  References references;
  ReferenceKey key;
  std::uint64_t call = 0;
  std::uint64_t block = 0;
  const std::byte* values = nullptr;
  std::byte* said = nullptr;
  std::byte* to = nullptr;
};

// The ranks' messages about their blocks, after they have come; and after the blocks have come too,
// these: differences become values again, and the result is kept.
struct RestoreStep {
  References references;
  ReferenceKey key;
  std::uint64_t call = 0;
  const std::byte* said = nullptr;        // of each block, kSlotUnit each
  std::uint64_t* found = nullptr;         // a word a block and one more
  std::byte* values = nullptr;            // where they came
  std::uint64_t own = 0;                  // the block that is this rank's own,
  const std::byte* own_values = nullptr;  // which is there; nullptr: none is
  device::Outcome* outcome = nullptr;
  bool adds = true;   // what came are differences, if there are references
  bool keeps = true;  // the result has come, all of it
  // These blocks alone, if there are any.
  int listed = 0;
  std::uint64_t blocks[kMostSteps] = {};
};

// A run's last step: copies this rank's own values, if any, which overlap nothing that is still
// read; then tells the host that all is done: `outcomes` are brought to `to`, in the host's memory,
// and left 0, and `done` becomes kKnown after them.
struct RunEnd {
  std::span<device::Outcome> outcomes;
  device::Outcome* to = nullptr;
  device::Outcome* done = nullptr;
  std::byte* copy_to = nullptr;
  const std::byte* copy_from = nullptr;
  std::uint64_t copy_bytes = 0;
};

// A sum of arrays in the order of ranks; some of them come from slots, which are opened and are
// finished first.
struct SumStep {
  Operands arrays;
  std::uint64_t count = 0;
  std::byte* to = nullptr;
};

// Rows of as many bytes, each `step` after the one before; where they come from and go to overlap
// nowhere.
struct RowsStep {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::uint64_t rows = 0, row_bytes = 0;
  std::uint64_t to_step = 0, from_step = 0;
};

inline MailChunk chunk_of(const SlotPlace& place) {
  return {.call = place.tag.call,
          .block = place.tag.block,
          .block_bytes = place.tag.raw_bytes,
          .offset = 0,
          .bytes = 0,
          .rank = place.rank};
}

// The same for kernels.
inline DeviceSlot slot_of(const SlotPlace& place) {
  return {place.slot.data(), place.slot.size(), place.tag,
          chunk_of(place),   place.mailbox,     place.outcome};
}
inline ToSeal to_seal(const SealStep& step, std::span<const device::Outcome> before) {
  return {slot_of(step.place), step.values, before.data(),
          static_cast<std::uint32_t>(before.size()), step.as_is};
}

// All is enqueued on one stream, in the order of the calls; nothing is allocated, and nothing
// waited for but by the stream. Outcomes are words in memory of the same kind as the values, 0
// before.
class SlotWork {
 public:
  virtual ~SlotWork() = default;

  // Lends the codec's workspace, aligned to 256, the outcomes, which lie after it, and one word
  // more after them. All of it is zeros between steps of a run but for the outcomes, and zeros
  // where a run has ended. Makes zeros of `cleared` bytes from the workspace on.
  virtual Status begin(MutableByteView workspace, std::span<device::Outcome> outcomes,
                       std::uint64_t cleared) = 0;

  // Resolves the record's parameter from what all ranks have told, at `blocks`.
  virtual Status tell(const RangeStep& step) = 0;
  virtual Status resolve(const std::byte* blocks, int ranks, BoundRecord& record) = 0;

  // differ(): before the encodes. match(): after what all ranks say has come, and before slots are
  // finished; `step.found` gets the references, and the result its place. What a rank says of a
  // block that is not sound, or not of the reference that this rank has, makes the outcome an error
  // and the reference kUnsoundReference. restore(): after blocks have come, all or those listed;
  // that reference makes a block NaN.
  virtual Status differ(const DifferStep& step) = 0;
  virtual Status match(const RestoreStep& step) = 0;
  virtual Status restore(const RestoreStep& step) = 0;

  // Writes a factor as it goes with values that have no slot, kFactorBytes.
  virtual Status write_factor(std::byte* to, const SlotFactor& factor) = 0;

  // Whether encodes seal their slots themselves.
  virtual bool seals() const = 0;

  // Encodes `from` into what lies after the slot's header; `bound`: with what its parameter is by
  // then; `sealed`, if encodes seal: so that slot.
  virtual Status encode(const std::byte* from, const Shape& shape, MutableByteView frame,
                        device::Outcome* outcome, const BoundRecord* bound,
                        const ToSeal* sealed) = 0;

  // The same of several blocks of one shape, whose outcomes follow each other, at most
  // SlotPlan::blocks_at_once(); with their slots, if encodes seal.
  virtual Status encode_blocks(std::span<const SealStep> blocks, const Shape& shape,
                               std::span<const device::Outcome> before) = 0;

  // Comes after the encodes that the outcomes are of: writes the headers, and brings values out by
  // the mailbox if a frame does not fit. Where one of `before` is an error, the values are those
  // that were lost.
  virtual Status seal(std::span<const SealStep> steps, std::span<const device::Outcome> before) = 0;

  // Decodes a slot that holds a frame; then, after all slots of an exchange are opened, finishes
  // each: takes what was spilled from the mailbox, or from `own`, if this rank has the values
  // itself; makes the values NaN if there are none, and the reference kUnsoundReference. The
  // outcome's bytes are those that came spilled. Then reports, if `end` is given.
  // open_blocks(): several of one shape, as encode_blocks() has them.
  virtual Status open(const SlotPlace& place, const Shape& shape, std::byte* to) = 0;
  virtual Status open_blocks(std::span<const FinishStep> blocks) = 0;
  virtual Status finish(std::span<const FinishStep> steps, const RunEnd* end) = 0;

  // finish(slots, nullptr), if there are any, the sum, and report(*end), if `end` is given.
  virtual Status sum(const SumStep& step, std::span<const FinishStep> slots, const RunEnd* end) = 0;

  // Zeros.
  virtual Status clear(std::byte* at, std::uint64_t bytes) = 0;
  virtual Status copy(std::byte* to, const std::byte* from, std::uint64_t bytes) = 0;
  virtual Status copy_rows(const RowsStep& step) = 0;

  virtual Status report(const RunEnd& end) = 0;
};

}  // namespace thinwire::collective
