// A frame that came in a slot is decoded if it is one that the plan describes, field by field.
#include "collective/slots/host_slots.h"

#include <gtest/gtest.h>

#include <vector>

#include "codec/spec.h"
#include "frame/header.h"

namespace thinwire::collective {
namespace {

constexpr std::uint64_t kSentValues = 700;
constexpr std::uint64_t kSentSlotBytes = 8192;

// A slot with a frame of a ramp.
struct SentSlot {
  explicit SentSlot(const char* spec) {
    settings.spec = *codec::parse_spec(spec);
    settings.dtype = Dtype::kF64;
    for (std::uint64_t at = 0; at < kSentValues; ++at) values[at] = 0.001 * static_cast<double>(at);
    tag = {.call = 7, .block = 1, .raw_bytes = sizeof(double) * kSentValues};
    HostSlots slots(settings);
    const auto* const from = reinterpret_cast<const std::byte*>(values.data());
    const MutableByteView frame = MutableByteView(slot).subspan(kSlotHeaderBytes);
    EXPECT_TRUE(
        slots.encode(from, Shape::line(kSentValues), frame, &outcome, nullptr, nullptr).ok());
    bytes = device::outcome_bytes(outcome);
    seal();
  }
  void seal() { store(slot.data(), sealed_slot(tag, SlotKind::kFrame, bytes)); }
  std::byte* frame() { return slot.data() + kSlotHeaderBytes; }

  // Writes the frame's header anew, right checksum and all.
  template <typename Change>
  void change_header(Change change) {
    auto header = frame::unpack(ByteView(frame(), bytes), settings.mark);
    ASSERT_TRUE(header.ok());
    change(*header);
    frame::pack(*header, settings.mark, frame());
  }

  EngineSettings settings;
  SlotTag tag;
  std::vector<double> values = std::vector<double>(kSentValues);
  std::vector<std::byte> slot = std::vector<std::byte>(kSentSlotBytes);
  device::Outcome outcome = 0;
  std::uint64_t bytes = 0;
};

StatusCode received(SentSlot& sent, const char* expected) {
  EngineSettings settings = sent.settings;
  settings.spec = *codec::parse_spec(expected);
  HostSlots slots(settings);
  Mailbox mailbox{};
  const SlotPlace place{
      .slot = sent.slot, .tag = sent.tag, .mailbox = &mailbox, .outcome = &sent.outcome};
  std::vector<double> found(kSentValues);
  auto* const to = reinterpret_cast<std::byte*>(found.data());
  const Shape shape = Shape::line(kSentValues);
  EXPECT_TRUE(slots.open(place, shape, to).ok());
  const FinishStep step{place, &shape, to, nullptr};
  EXPECT_TRUE(slots.finish({&step, 1}, nullptr).ok());
  const StatusCode status = device::outcome_status(sent.outcome);
  const bool is_nan = found[0] != found[0] && found[kSentValues - 1] != found[kSentValues - 1];
  EXPECT_EQ(is_nan, status != StatusCode::kOk);
  return status;
}

TEST(HostSlots, AFrameUnderThePlansBoundIsDecoded) {
  SentSlot sent("szp:abs=1e-4");
  EXPECT_EQ(received(sent, "szp:abs=1e-4"), StatusCode::kOk);
}

TEST(HostSlots, AFrameUnderAnotherBoundIsDamage) {
  SentSlot sent("szp:abs=1e-3");
  EXPECT_EQ(received(sent, "szp:abs=1e-4"), StatusCode::kDamaged);
}

TEST(HostSlots, AFrameOfAnotherStrideIsDamage) {
  SentSlot sent("lorenzo:tuple=2");
  EXPECT_EQ(received(sent, "lorenzo"), StatusCode::kDamaged);
}

TEST(HostSlots, AFrameThatSaysItWasCodedAsALineIsDamage) {
  SentSlot sent("lorenzo");
  sent.change_header([](frame::Header& header) {
    header.version = frame::kCodedShapesVersion;
    header.as_line = true;
  });
  EXPECT_EQ(received(sent, "lorenzo"), StatusCode::kDamaged);
}

TEST(HostSlots, AFrameWithoutChecksumsIsDamage) {
  SentSlot sent("lorenzo");
  sent.change_header([](frame::Header& header) { header.chunk_checksums = false; });
  EXPECT_EQ(received(sent, "lorenzo"), StatusCode::kDamaged);
}

}  // namespace
}  // namespace thinwire::collective
