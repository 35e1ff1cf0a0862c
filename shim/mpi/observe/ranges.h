// Ranges that profilers show (NVTX) around encoding, decoding and compressed collectives, in a
// build that had its headers. If no profiler is attached they cost a look at a constant.
#pragma once

#include <cstdint>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Whether a profiler is attached; it was by the first range or never is.
bool ranges_are_watched();

// A range of the calling thread while it lives: what is done, by which codec (null: not told), and
// bytes, which are its payload too.
class WatchedRange {
 public:
  WatchedRange(const char* what, const tw_codec* codec, std::uint64_t bytes)
      : open_(ranges_are_watched()) {
    if (open_) [[unlikely]]
      begin(what, codec, bytes);
  }
  ~WatchedRange() {
    if (open_) [[unlikely]]
      end();
  }
  WatchedRange(const WatchedRange&) = delete;
  WatchedRange& operator=(const WatchedRange&) = delete;

 private:
  static void begin(const char* what, const tw_codec* codec, std::uint64_t bytes);
  static void end();

  const bool open_;
};

}  // namespace thinwire::mpi
