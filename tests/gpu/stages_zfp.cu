// ZFP: every stage from values to the bits of a block and back, for ranks 1 to 3, fp32 and fp64.
#include "codec/zfp/block.h"
#include "stages.cuh"

namespace thinwire::stages {
namespace {

using namespace codec::zfp;

[[maybe_unused]] constexpr ExpandTable kExpand = make_expand_table();
[[maybe_unused]] constexpr SearchTable kSearch = make_search_table();
__device__ constexpr ExpandTable kDeviceExpand = make_expand_table();
__device__ constexpr SearchTable kDeviceSearch = make_search_table();

#if defined(__CUDA_ARCH__)
#define THINWIRE_TABLE(name) kDevice##name
#else
#define THINWIRE_TABLE(name) k##name
#endif

// A block as the bits of its values.
template <typename Scalar, int kRank>
struct Block {
  BitsOf<Scalar> word[kBlockValues<kRank>];

  THINWIRE_HOST_DEVICE Scalar value(int at) const { return __builtin_bit_cast(Scalar, word[at]); }
};

template <typename Scalar, int kRank>
THINWIRE_HOST_DEVICE IntegerOf<Scalar> largest_of(const Block<Scalar, kRank>& block) {
  Scalar values[kBlockValues<kRank>];
  for (int at = 0; at < kBlockValues<kRank>; ++at) values[at] = block.value(at);
  return largest_magnitude(values);
}

template <typename Scalar, int kRank>
struct Exponent {
  using In = Block<Scalar, kRank>;
  struct Out {
    std::uint64_t largest, header, forward, inverse;
  };
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    const IntegerOf<Scalar> largest = largest_of(in);
    const bool finite = largest < kInfinityBits<Scalar>;
    const std::int32_t header = finite ? block_header<Scalar>(largest) : 0;
    out.largest = static_cast<std::uint64_t>(largest);
    out.header = static_cast<std::uint64_t>(header);
    const Scalar forward = finite ? forward_scale<Scalar>(largest) : Scalar{0};
    const Scalar inverse = inverse_scale<Scalar>(static_cast<std::uint32_t>(header));
    out.forward = __builtin_bit_cast(BitsOf<Scalar>, forward);
    out.inverse = __builtin_bit_cast(BitsOf<Scalar>, inverse);
  }
};

template <typename Scalar, int kRank>
struct Quantise {
  using In = Block<Scalar, kRank>;
  using Out = Block<Scalar, kRank>;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    const IntegerOf<Scalar> largest = largest_of(in);
    const bool finite = largest < kInfinityBits<Scalar>;
    const Scalar scale = finite ? forward_scale<Scalar>(largest) : Scalar{0};
    for (int at = 0; at < kBlockValues<kRank>; ++at) {
      out.word[at] = finite ? quantise(in.value(at), scale) : 0;
    }
  }
};

template <typename Scalar, int kRank>
struct Transform {
  using In = Block<Scalar, kRank>;
  using Out = Block<Scalar, kRank>;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    out = in;
    forward_transform<kRank>(out.word);
    for (auto& word : out.word) word = to_negabinary(word);
  }
};

// The scale is that of the header in the block's first word.
template <typename Scalar, int kRank>
struct Restore {
  using In = Block<Scalar, kRank>;
  using Out = Block<Scalar, kRank>;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    BitsOf<Scalar> block[kBlockValues<kRank>];
    for (int at = 0; at < kBlockValues<kRank>; ++at) block[at] = from_negabinary(in.word[at]);
    inverse_transform<kRank>(block);
    const auto header = static_cast<std::uint32_t>(in.word[0]) & 0xFFF;
    const Scalar scale = inverse_scale<Scalar>(header);
    for (int at = 0; at < kBlockValues<kRank>; ++at) {
      out.word[at] = __builtin_bit_cast(BitsOf<Scalar>, restore(block[at], scale));
    }
  }
};

template <typename Scalar, int kRank>
struct PlanesAndBack {
  using In = Block<Scalar, kRank>;
  struct Out {
    LocalWords<kPlaneWords<Scalar, kRank>> planes;
    BitsOf<Scalar> block[kBlockValues<kRank>];
  };
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    to_planes<kRank>(in.word, out.planes);
    from_planes<kRank>(out.planes, out.block);
  }
};

// The bits of one block, put and read a bit at a time: nothing to share with any codec's own.
template <int kBits>
struct BitRow {
  std::uint64_t word[kBits / 64 + 2];
  std::uint64_t at, end;

  THINWIRE_HOST_DEVICE void begin(std::uint64_t bits) {
    for (auto& each : word) each = 0;
    at = 0;
    end = bits;
  }
  THINWIRE_HOST_DEVICE bool full() const { return at >= end; }
  THINWIRE_HOST_DEVICE void put(std::uint64_t value, int bits) {
    for (int bit = 0; bit < bits && !full(); ++bit, ++at) {
      word[at / 64] |= (value >> bit & 1) << at % 64;
    }
  }
  THINWIRE_HOST_DEVICE std::uint64_t window() const {
    std::uint64_t bits = 0;
    for (std::uint64_t bit = 0; bit < 64 && at + bit < end; ++bit) {
      bits |= (word[(at + bit) / 64] >> (at + bit) % 64 & 1) << bit;
    }
    return bits;
  }
  THINWIRE_HOST_DEVICE void skip(int bits) { at += static_cast<std::uint64_t>(bits); }
  THINWIRE_HOST_DEVICE std::uint32_t take_word() {
    const auto word = static_cast<std::uint32_t>(window());
    skip(32);
    return word;
  }
  THINWIRE_HOST_DEVICE std::uint64_t position() const { return at; }
  THINWIRE_HOST_DEVICE void seek(std::uint64_t position) { at = position; }
};

// The whole block at a budget of kBits bits.
template <typename Scalar, int kRank, int kBits>
struct WholeBlock {
  using In = Block<Scalar, kRank>;
  struct Out {
    BitRow<kBits> row;
    BitsOf<Scalar> values[kBlockValues<kRank>];
    std::uint64_t coded;
  };
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    constexpr int kValues = kBlockValues<kRank>;
    Scalar values[kValues];
    for (int at = 0; at < kValues; ++at) values[at] = in.value(at);
    LocalWords<kPlaneWords<Scalar, kRank>> planes;
    out.row.begin(kBits);
    BlockHead head;
    out.coded = make_planes<Scalar, kRank>(values, head, planes) ? 1 : 0;
    put_block<Scalar, kRank>(THINWIRE_TABLE(Expand), head, planes, out.row);
    out.row.at = 0;
    decode_block<Scalar, kRank>(THINWIRE_TABLE(Search), out.row, kBits, planes, values);
    out.row.at = 0;
    for (int at = 0; at < kValues; ++at) {
      out.values[at] = __builtin_bit_cast(BitsOf<Scalar>, values[at]);
    }
  }
};

// Smooth, random bits, one value alone, zeros, close to what is coded empty, close to infinity.
template <typename Scalar, int kRank>
std::vector<Block<Scalar, kRank>> make_blocks() {
  std::mt19937_64 random(11);
  std::vector<Block<Scalar, kRank>> blocks(3000);
  const auto bits_of = [](double value) {
    return __builtin_bit_cast(BitsOf<Scalar>, static_cast<Scalar>(value));
  };
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    for (int i = 0; i < kBlockValues<kRank>; ++i) {
      const auto bits = static_cast<BitsOf<Scalar>>(random());
      const double part = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
      const bool wide = sizeof(Scalar) == 8;
      const double tiny = wide ? 0x1p-962 : 0x1p-98, huge = wide ? 0x1p1023 : 0x1p127;
      const BitsOf<Scalar> kinds[] = {bits_of(0.1 * i + 1e-4 * part),
                                      bits,
                                      bits_of(static_cast<std::size_t>(i) == at % 4 ? part : 0),
                                      0,
                                      bits_of(4 * tiny * part),
                                      bits_of(huge * part * 2)};
      blocks[at].word[i] = kinds[at % 6];
    }
  }
  return blocks;
}

template <typename Scalar, int kRank>
void compare_rank(Report& report) {
  const std::string of =
      std::string(sizeof(Scalar) == 4 ? ", f32" : ", f64") + ", rank " + std::to_string(kRank);
  const auto blocks = make_blocks<Scalar, kRank>();
  compare<Exponent<Scalar, kRank>>(report, "zfp exponents and scales" + of, blocks);
  compare<Quantise<Scalar, kRank>>(report, "zfp integers" + of, blocks);
  compare<Transform<Scalar, kRank>>(report, "zfp transform and negabinary" + of, blocks);
  compare<Restore<Scalar, kRank>>(report, "zfp inverse transform and values" + of, blocks);
  compare<PlanesAndBack<Scalar, kRank>>(report, "zfp planes" + of, blocks);
  constexpr int kValues = kBlockValues<kRank>;
  compare<WholeBlock<Scalar, kRank, 8 * kValues + 1>>(report, "zfp blocks, 8 bits" + of, blocks);
  compare<WholeBlock<Scalar, kRank, 25 * kValues>>(report, "zfp blocks, 25 bits" + of, blocks);
}

void compare_zfp(Report& report) {
  compare_rank<float, 1>(report);
  compare_rank<float, 2>(report);
  compare_rank<float, 3>(report);
  compare_rank<double, 1>(report);
  compare_rank<double, 2>(report);
  compare_rank<double, 3>(report);
}

const Comparison kComparison(compare_zfp);

}  // namespace
}  // namespace thinwire::stages
