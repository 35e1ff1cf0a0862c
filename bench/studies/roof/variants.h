// The variants that are measured, each by what measuring it takes.
#pragma once

#include "framed_decode.cuh"
#include "framed_encode.cuh"
#include "gather.cuh"
#include "reference.h"

namespace roof {

template <typename F, Patches kPatches = Patches::kInShared, Learns kLearns = Learns::kLooksBack>
struct Variant {
  using Its = F;
  static constexpr bool kGathers = kLearns == Learns::kLater;
  static constexpr int kThreads = 32 * F::kBlockWarps;
  static constexpr std::uint64_t kBlockValues = F::kBlockValues;
  static constexpr std::uint64_t kChunkValues = F::kChunkValues;
  static constexpr std::size_t kEncodeShared = encode_shared<F>();
  static constexpr std::size_t kDecodeShared = decode_shared<F, kPatches>();
  static constexpr auto* kEncode = &encode<F, kLearns>;
  static constexpr auto* kDecode = &decode<F, kPatches>;
  static constexpr std::size_t kHeader = 0;  // bytes at a frame's begin that nobody writes
  static constexpr auto* kReference = &reference_frame<F>;
};

template <bool kSums, int kStep>
struct FramedVariant {
  using Its = Format<8, 4, 4, Parts::kTogether>;  // of no use
  static constexpr bool kGathers = false;
  static constexpr int kThreads = 32 * framed::kWarps;
  static constexpr std::uint64_t kBlockValues = framed::kValues, kChunkValues = framed::kValues;
  static constexpr std::size_t kEncodeShared = sizeof(framed::Shared);
  static constexpr std::size_t kDecodeShared = sizeof(framed::Shared);
  static constexpr auto* kEncode = &framed::encode<kSums, kStep>;
  static constexpr auto* kDecode = &framed::decode<kSums, kStep>;
  static constexpr std::size_t kHeader = framed::kFrameHeader;
  static constexpr auto* kReference = &framed::reference_frame<kSums>;
};

// Calls visit(variant, name) for each.
template <typename Visit>
void for_each_variant(const Visit& visit) {
  using enum Parts;
  constexpr auto kShared = Patches::kInShared;
  visit(Variant<Format<4, 4, 4, kApart>>{}, "apart, 4 warps, 4 rows");
  visit(Variant<Format<4, 8, 8, kApart>>{}, "apart, 8 warps, 4 rows");
  visit(Variant<Format<4, 8, 8, kApart, 4>>{}, "apart, 8 warps, 4 rows, step 4");
  visit(Variant<Format<4, 16, 16, kApart>>{}, "apart, 16 warps, 4 rows");
  visit(Variant<Format<4, 16, 16, kApart, 4>>{}, "apart, 16 warps, 4 rows, step 4");
  visit(Variant<Format<8, 4, 4, kApart>>{}, "apart, 4 warps, 8 rows");
  visit(Variant<Format<8, 8, 8, kApart>>{}, "apart, 8 warps, 8 rows");
  visit(Variant<Format<8, 16, 16, kApart, 4>>{}, "apart, 16 warps, 8 rows, step 4");
  visit(Variant<Format<4, 8, 8, kApart>, Patches::kInOutput>{}, "apart, 8 warps, patches output");
  visit(Variant<Format<4, 8, 8, kApart>, kShared, Learns::kLater>{}, "apart, 8 warps, gathered");
  visit(Variant<Format<4, 8, 8, kApart, 4, true, Raw::kNamed>>{}, "apart, 8 warps, named, step 4");
  visit(Variant<Format<4, 8, 8, kTogether>>{}, "together, 8 warps, 4 rows");
  visit(Variant<Format<8, 4, 4, kTogether>>{}, "together, 4 warps, 8 rows");
  visit(Variant<Format<8, 8, 8, kTogether>>{}, "together, 8 warps, 8 rows");
  visit(Variant<Format<8, 8, 8, kTogether, 4, false>>{},
        "together, 8 warps, 8 rows, sizes, step 4");
  visit(Variant<Format<4, 1, 4, kTogether>>{}, "a warp alone, 4 rows");
  visit(Variant<Format<8, 1, 4, kTogether>>{}, "a warp alone, 8 rows");
  visit(Variant<Format<8, 1, 4, kApart>>{}, "a warp alone, apart, 8 rows");
  visit(FramedVariant<false, 4>{}, "as frames are, no checksums, step 4");
  visit(FramedVariant<true, 4>{}, "as frames are, step 4");
  visit(FramedVariant<true, 8>{}, "as frames are, step 8");
}

}  // namespace roof
