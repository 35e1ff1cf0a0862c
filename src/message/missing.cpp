#include "message/missing.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/numbers.h"

namespace thinwire::message {
namespace {

constexpr std::uint64_t kAtOnce = 64;

template <typename Word>
std::uint64_t bits_at(const Holed& chunk, std::uint64_t first, std::uint64_t count) {
  const std::byte* const values = chunk.values + first * sizeof(Word);
  const auto fill = static_cast<Word>(chunk.fill);
  std::uint64_t bits = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    bits |= std::uint64_t{load<Word>(values + at * sizeof(Word)) == fill} << at;
  }
  return bits;
}

// Calls visit(the word of bits, how many bits it has) for each 64 values, 1 for a missing one.
template <typename Visit>
void for_each_bits(const Holed& chunk, Visit&& visit) {
  with_float_dtype(chunk.dtype, [&](auto kDtype) {
    for (std::uint64_t first = 0; first < chunk.count; first += kAtOnce) {
      const std::uint64_t count = std::min(kAtOnce, chunk.count - first);
      visit(bits_at<WordOf<kDtype>>(chunk, first, count), count);
    }
    return 0;
  });
}

// Writes lengths of runs, 7 bits a byte, as long as they fit.
class RunWriter {
 public:
  RunWriter(std::byte* out, std::uint64_t most) : out_(out), most_(most) {}

  void add(std::uint64_t bits, std::uint64_t count) {
    for (std::uint64_t at = 0; at < count;) {
      const std::uint64_t rest = bits >> at;
      const bool is_missing = (rest & 1) != 0;
      const int same = is_missing ? std::countr_one(rest) : std::countr_zero(rest);
      const std::uint64_t length = std::min<std::uint64_t>(static_cast<unsigned>(same), count - at);
      if (is_missing != of_missing_) end_run();
      of_missing_ = is_missing;
      length_ += length;
      at += length;
    }
  }

  // The bytes written; more than the most if they did not fit.
  std::uint64_t finish() {
    end_run();
    return written_;
  }

 private:
  void end_run() {
    do {
      const auto more = static_cast<std::uint8_t>(length_ > 0x7F ? 0x80 : 0);
      if (written_ < most_) {
        store(out_ + written_, static_cast<std::uint8_t>((length_ & 0x7F) | more));
      }
      ++written_;
      length_ >>= 7;
    } while (length_ != 0);
  }

  std::byte* out_;
  std::uint64_t most_;
  std::uint64_t written_ = 0;
  std::uint64_t length_ = 0;
  bool of_missing_ = false;
};

std::uint64_t bitmap_bytes(std::uint64_t count) { return ceil_div(count, 8); }

void write_bits(const Holed& chunk, std::byte* out) {
  for_each_bits(chunk, [&](std::uint64_t bits, std::uint64_t count) {
    std::memcpy(out, &bits, bitmap_bytes(count));
    out += bitmap_bytes(count);
  });
}

// Reads one length; false if there is none, or it could be shorter.
bool read_length(ByteView& from, std::uint64_t& length) {
  constexpr std::size_t kMostBytes = 5;
  length = 0;
  for (std::size_t at = 0; at < std::min(from.size(), kMostBytes); ++at) {
    const auto byte = std::to_integer<std::uint64_t>(from[at]);
    length |= (byte & 0x7F) << (7 * at);
    if ((byte & 0x80) != 0) continue;
    from = from.subspan(at + 1);
    return byte != 0 || at == 0;
  }
  return false;
}

// Calls visit(first, length) for each run of missing values; returns the bytes that say `count`
// values, 0 if none do.
template <typename Visit>
std::uint64_t for_each_run(ByteView coded, std::uint64_t count, Visit&& visit) {
  ByteView rest = coded;
  std::uint64_t at = 0;
  for (bool is_missing = false; at < count; is_missing = !is_missing) {
    std::uint64_t length = 0;
    if (!read_length(rest, length) || length > count - at) return 0;
    if (length == 0 && at != 0) return 0;
    if (length == 0 && is_missing) return 0;
    if (is_missing) visit(at, length);
    at += length;
  }
  return coded.size() - rest.size();
}

Status wrong(const char* what) { return {StatusCode::kDamaged, what}; }

template <typename Word>
void store_run(std::byte* values, std::uint64_t first, std::uint64_t count, Word fill) {
  for (std::uint64_t at = first; at < first + count; ++at) store(values + at * sizeof(Word), fill);
}

template <typename Word>
void store_all(const Mask& mask, Word fill, std::byte* values) {
  if (mask.kind == Mask::Kind::kAll) return store_run(values, 0, mask.count, fill);
  if (mask.kind == Mask::Kind::kRuns) {
    for_each_run(mask.coded, mask.count, [&](std::uint64_t first, std::uint64_t count) {
      store_run(values, first, count, fill);
    });
  }
  if (mask.kind != Mask::Kind::kBits) return;
  for (std::uint64_t at = 0; at < mask.count; ++at) {
    if ((std::to_integer<unsigned>(mask.coded[at / 8]) >> at % 8 & 1) == 0) continue;
    store(values + at * sizeof(Word), fill);
  }
}

}  // namespace

std::uint64_t count_missing(const Holed& chunk) {
  return with_float_dtype(chunk.dtype, [&](auto kDtype) {
    using Word = WordOf<kDtype>;
    const auto fill = static_cast<Word>(chunk.fill);
    constexpr std::uint64_t kFewerThanAWord = 255;
    std::uint64_t count = 0;
    for (std::uint64_t first = 0; first < chunk.count; first += kFewerThanAWord) {
      const std::uint64_t end = std::min(first + kFewerThanAWord, chunk.count);
      Word some = 0;
      for (std::uint64_t at = first; at < end; ++at) {
        some = static_cast<Word>(some + (load<Word>(chunk.values + at * sizeof(Word)) == fill));
      }
      count += some;
    }
    return count;
  });
}

std::uint64_t write_mask(const Holed& chunk, std::uint64_t missing, std::byte* out) {
  const auto begin = [&](Mask::Kind kind) { store(out, static_cast<std::uint8_t>(kind)); };
  if (missing == 0 || missing == chunk.count) {
    begin(missing == 0 ? Mask::Kind::kNone : Mask::Kind::kAll);
    return 1;
  }
  const std::uint64_t most = bitmap_bytes(chunk.count);
  RunWriter runs(out + 1, most);
  for_each_bits(chunk, [&](std::uint64_t bits, std::uint64_t count) { runs.add(bits, count); });
  if (const std::uint64_t bytes = runs.finish(); bytes <= most) {
    begin(Mask::Kind::kRuns);
    return 1 + bytes;
  }
  begin(Mask::Kind::kBits);
  write_bits(chunk, out + 1);
  return 1 + most;
}

Result<Mask> read_mask(ByteView payload, std::uint64_t count) {
  if (payload.empty()) return wrong("there is no mask of missing values");
  const auto kind = static_cast<Mask::Kind>(payload[0]);
  const ByteView rest = payload.subspan(1);
  Mask mask{.kind = kind, .coded = {}, .count = count};
  switch (kind) {
    case Mask::Kind::kNone:
    case Mask::Kind::kAll:
      return mask;
    case Mask::Kind::kRuns: {
      const std::uint64_t bytes = for_each_run(rest, count, [](std::uint64_t, std::uint64_t) {});
      if (bytes == 0) return wrong("runs of missing values do not fill their chunk");
      mask.coded = rest.first(bytes);
      return mask;
    }
    case Mask::Kind::kBits: {
      const std::uint64_t bytes = bitmap_bytes(count);
      if (rest.size() < bytes) return wrong("the mask of missing values is cut short");
      const unsigned spare = static_cast<unsigned>(8 * bytes - count);
      if (std::to_integer<unsigned>(rest[bytes - 1]) >> (8 - spare) != 0) {
        return wrong("the mask of missing values has bits of none");
      }
      mask.coded = rest.first(bytes);
      return mask;
    }
  }
  return wrong("the mask of missing values is of no known kind");
}

void store_missing(const Mask& mask, Dtype dtype, std::uint64_t fill, std::byte* values) {
  with_float_dtype(dtype, [&](auto kDtype) {
    store_all(mask, static_cast<WordOf<kDtype>>(fill), values);
    return 0;
  });
}

}  // namespace thinwire::message
