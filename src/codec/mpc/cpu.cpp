#include <algorithm>
#include <bit>
#include <charconv>

#include "codec/mpc/core.h"
#include "codec/mpc/mpc.h"

namespace thinwire::codec {
namespace {

using namespace mpc;

// ---- One unit ----

// Values at `source` to words whose bit planes are mostly zero; returns how many words.
template <typename Word>
int forward_unit(const std::byte* source, int values, int stride, Word* words) {
  const int count = unit_words<Word>(values);
  std::memcpy(words, source, values * sizeof(Word));
  // From the back, because each difference needs its neighbour as it was.
  for (int at = values - 1; at >= stride; --at) words[at] -= words[at - stride];
  std::fill(words + values, words + count, Word{0});
  for (int group = 0; group < count; group += kWordBits<Word>) transpose(words + group);
  for (int at = count - 1; at > 0; --at) words[at] -= words[at - 1];
  return count;
}

template <typename Word>
void inverse_unit(Word* words, int values, int stride, std::byte* out) {
  const int count = unit_words<Word>(values);
  for (int at = 1; at < count; ++at) words[at] += words[at - 1];
  for (int group = 0; group < count; group += kWordBits<Word>) transpose(words + group);
  for (int at = stride; at < values; ++at) words[at] += words[at - stride];
  std::memcpy(out, words, values * sizeof(Word));
}

// ---- One chunk ----

template <typename Word>
std::uint64_t encode_words(const std::byte* source, std::uint64_t values, int stride,
                           std::byte* out) {
  std::byte* bitmap = out;
  std::byte* next = out + bitmap_bytes<Word>(values);
  Word words[kUnitValues];
  for (std::uint64_t done = 0; done < values; done += kUnitValues) {
    const int unit = static_cast<int>(std::min<std::uint64_t>(kUnitValues, values - done));
    const int count = forward_unit(source + done * sizeof(Word), unit, stride, words);
    for (int group = 0; group < count; group += kWordBits<Word>) {
      Word present = 0;
      for (int bit = 0; bit < kWordBits<Word>; ++bit) {
        const Word word = words[group + bit];
        // Written always, kept if not zero: no branch on the data.
        store(next, word);
        next += word != 0 ? sizeof(Word) : 0;
        present |= static_cast<Word>(word != 0) << bit;
      }
      store(bitmap, present);
      bitmap += sizeof present;
    }
  }
  return static_cast<std::uint64_t>(next - out);
}

template <typename Word>
Status decode_words(ByteView encoded, std::uint64_t values, int stride, std::byte* out) {
  const std::uint64_t bitmaps = bitmap_bytes<Word>(values);
  if (encoded.size() < bitmaps) return {StatusCode::kDamaged, "mpc: shorter than its bitmaps"};
  std::uint64_t present = 0;
  for (std::uint64_t at = 0; at < bitmaps; at += sizeof(Word)) {
    present += static_cast<std::uint64_t>(std::popcount(load<Word>(encoded.data() + at)));
  }
  if (encoded.size() != bitmaps + present * sizeof(Word)) {
    return {StatusCode::kDamaged, "mpc: its length is not what its bitmaps say"};
  }
  const std::byte* bitmap = encoded.data();
  const std::byte* next = bitmap + bitmaps;
  Word words[kUnitValues];
  for (std::uint64_t done = 0; done < values; done += kUnitValues) {
    const int unit = static_cast<int>(std::min<std::uint64_t>(kUnitValues, values - done));
    std::fill(words, words + unit_words<Word>(unit), Word{0});
    for (int group = 0; group < unit_words<Word>(unit); group += kWordBits<Word>) {
      for (Word left = load<Word>(bitmap); left != 0; left &= left - 1) {
        words[group + std::countr_zero(left)] = load<Word>(next);
        next += sizeof(Word);
      }
      bitmap += sizeof(Word);
    }
    inverse_unit(words, unit, stride, out + done * sizeof(Word));
  }
  return {};
}

// ---- The row of the registry ----

Status invalid() {
  return {StatusCode::kInvalidArgument, "mpc takes stride=<values in a tuple>, 1 to 32"};
}

Result<std::uint64_t> parse(std::span<const Option> options) {
  std::uint64_t stride = 1;
  for (const Option& option : options) {
    const char* end = option.value.data() + option.value.size();
    const auto [at, error] = std::from_chars(option.value.data(), end, stride);
    if (option.key != "stride" || error != std::errc() || at != end) return invalid();
  }
  if (stride < 1 || stride > kMaxStride) return invalid();
  return stride;
}

std::string describe(std::uint64_t parameter) { return "stride=" + std::to_string(parameter); }

Status check(std::uint64_t parameter, Dtype, int) {
  if (parameter >= 1 && parameter <= kMaxStride) return {};
  return {StatusCode::kDamaged, "mpc: the parameter is no stride"};
}

Shape chunk_shape(const Shape&, Dtype, std::uint64_t) { return Shape::line(kChunkValues); }

std::uint64_t bound(const Chunk& chunk, std::uint64_t) {
  const std::uint64_t bits = 8 * dtype_size(chunk.dtype);
  const std::uint64_t words = ceil_div(chunk.shape.count(), bits) * bits;
  // One word more: the encoder writes before it knows whether to keep.
  return words / 8 + (words + 1) * dtype_size(chunk.dtype);
}

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  const std::uint64_t values = chunk.shape.count();
  const int stride = static_cast<int>(parameter);
  return chunk.dtype == Dtype::kF32 ? encode_words<std::uint32_t>(source, values, stride, out)
                                    : encode_words<std::uint64_t>(source, values, stride, out);
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  const std::uint64_t values = chunk.shape.count();
  const int stride = static_cast<int>(parameter);
  return chunk.dtype == Dtype::kF32 ? decode_words<std::uint32_t>(encoded, values, stride, out)
                                    : decode_words<std::uint64_t>(encoded, values, stride, out);
}

}  // namespace

const Codec kMpc = {
    .id = 2,
    .name = "mpc",
    .summary = "MPC: lossless for fields and tuples, by differences and bit planes",
    .options = "stride=<values in a tuple>",
    .example = "mpc:stride=1",
    .version = 0,
    .lossless = true,
    .fixed_size = false,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF64),
    .max_rank = kMaxRank,
    .flat = true,
    .parse = parse,
    .describe = describe,
    .check = check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
#ifdef THINWIRE_CUDA
    .device = &kMpcDevice,
#endif
};

}  // namespace thinwire::codec
