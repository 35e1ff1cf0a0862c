// The lines of a trace (docs/reference/trace.md), each one JSON object.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shim/common/trace/cells.h"
#include "shim/common/trace/steps.h"
#include "thinwire/thinwire.h"

namespace thinwire::shim {

// `text` in quotes, whatever is in it.
std::string quoted(const char* text);

// Fields that all first lines have, as an object's, with no comma around them.
std::string head_fields();

// Texts for the numbers of a key.
struct CellText {
  std::string operation;
  std::string place{};  // "": not told
  std::string codec{};  // "": none
  std::string raw{};    // why; "": compressed
};
using Describe = std::function<CellText(const CellKey&)>;

// Scratch memory that the library holds, idle or in use; the most so far.
struct PoolBytes {
  std::uint64_t now = 0, peak = 0;
};

// Counts of the process besides cells, since it started.
struct ProcessFigures {
  std::uint64_t below_threshold = 0, decoded = 0, decode_nanoseconds = 0, damaged = 0,
                without_memory = 0, device_failures = 0;
  bool operator==(const ProcessFigures&) const = default;
};

// Writes a bin's line from what has been counted since the last one.
class BinLines {
 public:
  explicit BinLines(Describe describe) : describe_(std::move(describe)) {}

  struct Seconds {
    double from = 0, to = 0;
  };

  // "" if nothing was. Begins with the lines of cells that are new.
  std::string next(const Cells& cells, const Names& names, const ProcessFigures& figures,
                   const PoolBytes& pool, const StepSums& steps, const Seconds& seconds);

 private:
  struct Counted {
    std::uint64_t calls, bytes, wire_bytes, predicted_nanoseconds, nanoseconds, raw_nanoseconds,
        whole_nanoseconds;
    std::array<std::uint64_t, kBuckets> sizes, times, predictions;
  };
  std::string cell_line(const Cell& cell, const Names& names, std::size_t place) const;
  std::string changes(const Cell& cell, Counted& before, std::size_t place);

  Describe describe_;
  std::vector<Counted> counted_;
  ProcessFigures figures_{};
};

// The cells of a trace as programs read them (tw_stats_read_kind()).

void read_kind(const Cell& cell, const Names& names, const Describe& describe, tw_stats_kind& kind);

}  // namespace thinwire::shim
