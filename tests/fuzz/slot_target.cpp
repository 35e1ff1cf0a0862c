// slot: the input says which array a reader expects, and what came in its slot. Either the values
// are there, the same each time, or they are all NaN and the outcome an error.
#include "fuzz/all_targets.h"

#include <cmath>

#include "base/bytes.h"
#include "codec/accumulate.h"
#include "codec/registry.h"
#include "collective/slots/host_slots.h"
#include "fuzz/input.h"
#include "fuzz/recipe.h"

namespace thinwire::fuzz {
namespace {

using collective::EngineSettings;
using collective::HostSlots;
using device::Outcome;

constexpr std::size_t kExpectedBytes = 8;  // codec, dtype, elements, length of the slot, block
constexpr std::uint64_t kMostValues = 2048;
constexpr std::uint64_t kCall = 0x1234;

struct Expected {
  EngineSettings settings;
  Shape shape;
  collective::SlotTag tag;
  std::uint64_t slot_bytes = 0;
};

std::vector<const codec::Codec*> slot_codecs() {
  std::vector<const codec::Codec*> codecs;
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (!codec->gpu_only && codec != &codec::raw_codec()) codecs.push_back(codec);
  }
  return codecs;
}

Expected read_expected(Reader& reader) {
  const auto codecs = slot_codecs();
  const codec::Codec& codec = *codecs[reader.take<std::uint8_t>() % codecs.size()];
  Expected expected;
  auto dtype = static_cast<Dtype>(1 + reader.take<std::uint8_t>() % (kDtypeCount - 1));
  if (!codec.takes(dtype)) dtype = Dtype::kF32;
  expected.shape = Shape::line(1 + reader.take<std::uint16_t>() % kMostValues);
  expected.slot_bytes = 512 * (1 + std::uint64_t{reader.take<std::uint16_t>()} % 64);
  expected.tag = {.call = kCall,
                  .block = reader.take<std::uint16_t>(),
                  .raw_bytes = expected.shape.count() * dtype_size(dtype)};
  expected.tag.factor.exists = expected.tag.block % 2 != 0;
  expected.settings.dtype = dtype;
  expected.settings.spec.kind = codec::Spec::Kind::kCodec;
  expected.settings.spec.codec = &codec;
  expected.settings.spec.parameter = sample_parameters(codec, dtype, 1, 1)[0];
  return expected;
}

// The values that come of a slot; the outcome, too.
Outcome read_slot(const Expected& expected, const WatchedBuffer& slot, std::byte* to) {
  alignas(64) static std::byte memory[collective::Mailbox::kLeastBytes];
  THINWIRE_FUZZ_CHECK(collective::open_mailbox(memory, sizeof memory).ok());
  auto& mailbox = collective::mailbox_at(memory);
  collective::abort_mailbox(mailbox);  // nobody serves it
  Outcome outcome = 0;
  HostSlots slots(expected.settings);
  const collective::SlotPlace place{.slot = slot.view(),
                                    .tag = expected.tag,
                                    .rank = 0,
                                    .mailbox = &mailbox,
                                    .outcome = &outcome};
  THINWIRE_FUZZ_CHECK(slots.open(place, expected.shape, to).ok());
  const collective::FinishStep step{place, &expected.shape, to, nullptr};
  THINWIRE_FUZZ_CHECK(slots.finish({&step, 1}, nullptr).ok());
  return outcome;
}

bool all_nan(const Expected& expected, const std::byte* values) {
  return with_any_float_dtype(expected.settings.dtype, [&](auto kDtype) {
    using Word = codec::WordOf<kDtype>;
    for (std::uint64_t at = 0; at < expected.shape.count(); ++at) {
      const auto word = load<Word>(values + at * sizeof(Word));
      const bool is_nan = is_added(kDtype) ? std::isnan(codec::number_of<kDtype>(word))
                                           : word == codec::nan_word<kDtype>();
      if (!is_nan) return false;
    }
    return true;
  });
}

}  // namespace

void run_slot(const Target&, ByteView input) {
  Reader reader(input);
  const Expected expected = read_expected(reader);
  const WatchedBuffer slot(expected.slot_bytes, std::byte{0});
  std::copy_n(reader.rest().begin(),
              std::min<std::size_t>(reader.rest().size(), expected.slot_bytes), slot.data());
  const WatchedBuffer one(expected.tag.raw_bytes, std::byte{0xA5}, 1);
  const WatchedBuffer two(expected.tag.raw_bytes, std::byte{0x5A});
  const Outcome first = read_slot(expected, slot, one.data());
  THINWIRE_FUZZ_CHECK(read_slot(expected, slot, two.data()) == first);
  THINWIRE_FUZZ_CHECK(same(one.view(), two.view()));
  const StatusCode code = device::outcome_status(first);
  if (code == StatusCode::kOk) return;
  THINWIRE_FUZZ_CHECK(code == StatusCode::kDamaged || code == StatusCode::kInternal);
  THINWIRE_FUZZ_CHECK(all_nan(expected, one.data()));
}

std::size_t mend_slot(const Target&, MutableByteView input, std::size_t length, unsigned seed) {
  if (seed % 8 == 0 || length < kExpectedBytes + collective::kSlotHeaderBytes) return length;
  Reader reader(input.first(length));
  const Expected expected = read_expected(reader);
  std::byte* const header = input.data() + kExpectedBytes;
  auto words = load<collective::SlotWords>(header);
  if (seed % 2 == 0) {
    const auto kind = static_cast<collective::SlotKind>(1 + words.word[3] % 3);
    words = collective::sealed_slot(expected.tag, kind, words.word[4] % expected.slot_bytes);
  }
  words.word[collective::kSlotWords - 1] = collective::slot_checksum(words);
  store(header, words);
  reseal(input.first(length).subspan(kExpectedBytes + collective::kSlotHeaderBytes),
         frame::file_mark(), seed % 8 < 3);
  return length;
}

std::vector<Bytes> slot_seeds(const Target&) {
  std::vector<Bytes> seeds;
  const auto codecs = slot_codecs();
  for (std::size_t index = 0; index < codecs.size(); ++index) {
    for (std::uint8_t dtype = 0; dtype + 1 < kDtypeCount; ++dtype) {
      Bytes seed(kExpectedBytes);
      seed[0] = static_cast<std::byte>(index);
      seed[1] = static_cast<std::byte>(dtype);
      store(seed.data() + 2, static_cast<std::uint16_t>(60 + 300 * dtype));
      store(seed.data() + 4, std::uint16_t{40});
      Reader reader(seed);
      const Expected expected = read_expected(reader);
      const codec::Chunk array = expected.settings.array(expected.shape);
      Bytes values(array.raw_bytes());
      fill_array(array, 1, seed, values.data());
      Bytes slot(expected.slot_bytes + array.raw_bytes() + 4096);
      Outcome outcome = 0;
      HostSlots slots(expected.settings);
      const MutableByteView room(slot.data() + collective::kSlotHeaderBytes,
                                 slot.size() - collective::kSlotHeaderBytes);
      (void)slots.encode(values.data(), expected.shape, room, &outcome, nullptr, nullptr);
      if (device::outcome_status(outcome) != StatusCode::kOk) continue;
      const std::uint64_t frame = device::outcome_bytes(outcome);
      store(slot.data(),
            collective::sealed_slot(expected.tag, collective::SlotKind::kFrame, frame));
      slot.resize(collective::kSlotHeaderBytes + frame);
      seed.insert(seed.end(), slot.begin(), slot.end());
      seeds.push_back(std::move(seed));
    }
  }
  return seeds;
}

}  // namespace thinwire::fuzz
