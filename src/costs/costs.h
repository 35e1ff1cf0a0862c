// Tables of what codecs cost on a machine: measured once, kept in a file. Pure functions over text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "plan/plan.h"

namespace thinwire::costs {

enum class Place : std::uint32_t { kHost = 0, kGpu = 1 };

// One line of a table.
struct Row {
  std::string codec;  // its spec in the normal form
  Dtype dtype = Dtype::kF32;
  std::uint64_t bytes = 0;  // of the array that was measured
  Place place = Place::kHost;
  plan::CodecCost cost;
};

inline constexpr std::size_t kMostRows = 4096;

class Table {
 public:
  // Errors are "FILE:LINE: WHAT", with `file` as it is given: a text that is no table, is cut
  // short, or was measured on another machine or by another version than these.
  static Result<Table> read(std::string_view text, const std::string& file,
                            std::string_view machine, std::string_view version);

  const std::vector<Row>& rows() const { return rows_; }

  // Finds the codec's cost, by its spec in the normal form, for such arrays: of the size that is
  // nearest by its logarithm.
  std::optional<plan::CodecCost> find(std::string_view codec, Dtype dtype, std::uint64_t bytes,
                                      Place place) const;

 private:
  std::vector<Row> rows_;
};

// This machine in one line: its processor's model, how many, its GPUs and their driver, as far as
// the system tells without asking the driver. Read once.
const std::string& machine_text();

// The path of this machine's table: thinwire/costs-<number of the machine> in the user's cache
// folder; "" if the environment names no such folder.
std::string path_of_machine();

}  // namespace thinwire::costs
