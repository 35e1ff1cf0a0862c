// A slot that came: its header, its frame's header and the decoder's word say what becomes of it.
#include "slot/verdict.h"

#include <gtest/gtest.h>

#include <cstring>

#include "frame/header.h"

namespace thinwire::slot {
namespace {

constexpr SlotTag kTag{.call = 3, .block = 1, .raw_bytes = 4000};
constexpr std::uint64_t kSlotBytes = 2048, kBodyBytes = 1000;

frame::HeaderStart start_of(const Shape& shape) {
  frame::Header header;
  header.dtype = Dtype::kF32;
  header.shape = shape;
  header.body_bytes = kBodyBytes;
  std::byte bytes[frame::kMaxHeaderBytes];
  frame::pack(header, frame::file_mark(), bytes);
  frame::HeaderStart start;
  std::memcpy(&start, bytes, sizeof start);
  return start;
}

StatusCode status_of(std::uint64_t said, const frame::HeaderStart& start) {
  const auto decoded = device::make_outcome(StatusCode::kOk, 0);
  const SlotWords words = sealed_slot(kTag, SlotKind::kFrame, said);
  return device::outcome_status(verdict(words, kTag, kSlotBytes, decoded, start));
}

TEST(Verdict, AFrameIsNoLongerThanItsSlotSays) {
  for (const Shape& shape : {Shape::line(1000), Shape{2, {10, 100}}}) {
    const frame::HeaderStart start = start_of(shape);
    const std::uint64_t length =
        frame::kFixedHeaderBytes + 8 * (static_cast<std::uint64_t>(shape.rank) - 1) + kBodyBytes;
    EXPECT_EQ(frame::length_by(start), length);
    EXPECT_EQ(status_of(length, start), StatusCode::kOk);
    EXPECT_EQ(status_of(length + 3, start), StatusCode::kOk);  // padding
    EXPECT_EQ(status_of(length - 1, start), StatusCode::kDamaged);
    EXPECT_EQ(status_of(length - 2, start), StatusCode::kDamaged);
  }
}

}  // namespace
}  // namespace thinwire::slot
