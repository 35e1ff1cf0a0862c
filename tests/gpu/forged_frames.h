// Forged frames (tests/fuzz/forgery.h) decoded on the host and on the other side: the same answer,
// the same array, and no byte outside of it.
#pragma once

#include <algorithm>
#include <cstdio>
#include <vector>

#include "fuzz/forgery.h"
#include "slots_ranks.h"
#include "thinwire/thinwire.h"

namespace thinwire::collective {

using fuzz::Bytes;

struct FrameTally {
  std::uint64_t same = 0, different = 0, decoded = 0;
};

class ForgedFrames {
 public:
  explicit ForgedFrames(Where where)
      : on_gpu_(where == Where::kGpu), frame_(where, fuzz::kLongestForgery), array_(where, kAll) {}

  FrameTally run(fuzz::Origin& origin, std::uint64_t runs) {
    FrameTally tally;
    fuzz::Random random(7);
    for (std::uint64_t run = 0; run < runs; ++run) {
      Bytes room(fuzz::kLongestForgery);
      const ByteView frame = fuzz::forge(origin, random, room);
      const bool adds = run % 4 == 0;
      const tw_status host = decode_here(frame, adds);
      const tw_status other = decode_there(frame, adds);
      const bool agrees = host == other && (host != TW_OK || here_ == there_) && is_untouched();
      ++(agrees ? tally.same : tally.different);
      if (host == TW_OK) ++tally.decoded;
      if (!agrees && tally.different < 5) {
        std::printf("FAILED %s %s, forged frame %llu: host says %d, GPU %d%s\n",
                    origin.codec.c_str(), origin.dtype.c_str(),
                    static_cast<unsigned long long>(run), host, other,
                    is_untouched() ? "" : ", which wrote outside of the array");
      }
    }
    return tally;
  }

 private:
  static constexpr std::uint64_t kMostRawBytes = 16 << 10, kGuard = 256;
  static constexpr std::uint64_t kAll = kGuard + kMostRawBytes + kGuard;
  static constexpr std::byte kFill{0x3C};

  tw_status decode(const void* frame, std::uint64_t length, void* array, bool adds) const {
    tw_message_options options{};
    options.size = sizeof options;
    options.flags = adds ? TW_MESSAGE_ADD : 0;
    return tw_message_decode(frame, length, array, bytes_, &options, nullptr);
  }

  tw_status decode_here(ByteView frame, bool adds) {
    tw_message_info info{};
    info.size = sizeof info;
    const bool is_known = tw_message_inspect(frame.data(), frame.size(), nullptr, &info) == TW_OK;
    bytes_ = is_known ? std::min(info.raw_bytes, kMostRawBytes) : 64;
    here_.assign(bytes_, kFill);
    return decode(frame.data(), frame.size(), here_.data(), adds);
  }

  tw_status decode_there(ByteView frame, bool adds) {
    all_.assign(kAll, kFill);
    Board::move(on_gpu_, array_.get(), all_.data(), kAll);
    Board::move(on_gpu_, frame_.get(), frame.data(), frame.size());
    const tw_status status = decode(frame_.get(), frame.size(), array_.get() + kGuard, adds);
    Board::move(on_gpu_, all_.data(), array_.get(), kAll);
    const auto first = all_.begin() + kGuard;
    there_.assign(first, first + static_cast<std::ptrdiff_t>(bytes_));
    return status;
  }

  bool is_untouched() const {
    const auto is_fill = [](std::byte byte) { return byte == kFill; };
    const auto first = all_.begin() + kGuard;
    return std::all_of(all_.begin(), first, is_fill) &&
           std::all_of(first + static_cast<std::ptrdiff_t>(bytes_), all_.end(), is_fill);
  }

  bool on_gpu_;
  Room frame_, array_;
  std::uint64_t bytes_ = 0;
  Bytes here_, there_, all_;
};

}  // namespace thinwire::collective
