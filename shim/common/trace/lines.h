// The lines of a trace (docs/reference/trace.md), each one JSON object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/cells.h"

namespace thinwire::mpi {

// `text` in quotes, whatever is in it.
std::string quoted(const char* text);

// What the process has counted besides cells, since it started.
struct ProcessFigures {
  std::uint64_t below_threshold, decoded, decode_nanoseconds, damaged, without_memory,
      device_failures;
  bool operator==(const ProcessFigures&) const = default;
};

// Writes a bin's line from what has been counted since the last one.
class BinLines {
 public:
  // "" where nothing was. Begins with the lines of cells that are new.
  std::string next(const Cells& cells, const Names& names, const ProcessFigures& figures,
                   std::uint64_t pool_bytes, double from, double to);

 private:
  struct Counted {
    std::uint64_t calls, bytes, wire_bytes, predicted_nanoseconds, nanoseconds;
    std::array<std::uint64_t, kBuckets> sizes, times;
  };
  std::string changes(const Cell& cell, Counted& before, std::size_t place);

  std::vector<Counted> counted_;
  ProcessFigures figures_{};
};

// The first line.
std::string head_line();

}  // namespace thinwire::mpi
