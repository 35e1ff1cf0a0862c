#include "shim/common/trace/metrics.h"

#include <map>
#include <sstream>

namespace thinwire::shim {
namespace {

struct Sums {
  std::uint64_t calls = 0, bytes = 0, wire_bytes = 0, predicted_nanoseconds = 0, nanoseconds = 0;
};
using ByLabels = std::map<std::string, Sums>;

// As a label's value is written: a name may have anything in it.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\n') {
      out += "\\n";
      continue;
    }
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return '"' + out + '"';
}

std::string labels_of(const Cell& cell, const Names& names, const Describe& describe,
                      const std::string& rank) {
  const bool is_rest = cell.key == Cells::kOfAllOthers;
  const CellKey key = unpacked(cell.key);
  const CellText text = is_rest ? CellText{"others"} : describe(key);
  return "{rank=" + escaped(rank) + ",operation=" + escaped(text.operation) +
         ",communicator=" + escaped(is_rest ? "" : names.at(key.name)) +
         ",place=" + escaped(text.place) + ",codec=" + escaped(text.codec) +
         ",raw=" + escaped(text.raw) + "}";
}

ByLabels summed(const Cells& cells, const Names& names, const Describe& describe,
                const std::string& rank) {
  ByLabels sums;
  const std::size_t size = cells.size();
  for (std::size_t place = 0; place < size; ++place) {
    const Cell& cell = cells.at(place);
    Sums& sum = sums[labels_of(cell, names, describe, rank)];
    sum.calls += cell.calls.read();
    sum.bytes += cell.bytes.read();
    sum.wire_bytes += cell.wire_bytes.read();
    sum.predicted_nanoseconds += cell.predicted_nanoseconds.read();
    sum.nanoseconds += cell.nanoseconds.read();
  }
  return sums;
}

void begin(std::ostringstream& out, const char* name, const char* type, const char* help) {
  out << "# HELP thinwire_" << name << ' ' << help << "\n# TYPE thinwire_" << name << ' ' << type
      << '\n';
}

void write_counts(std::ostringstream& out, const ByLabels& all, const char* name, const char* help,
                  std::uint64_t Sums::* figure) {
  begin(out, name, "counter", help);
  for (const auto& [labels, sums] : all)
    out << "thinwire_" << name << labels << ' ' << sums.*figure << '\n';
}

void write_seconds(std::ostringstream& out, const ByLabels& all, const char* name, const char* help,
                   std::uint64_t Sums::* figure) {
  begin(out, name, "counter", help);
  for (const auto& [labels, sums] : all)
    out << "thinwire_" << name << labels << ' ' << 1e-9 * static_cast<double>(sums.*figure) << '\n';
}

}  // namespace

std::string metrics_text(const Cells& cells, const Names& names, const Describe& describe,
                         const ProcessFigures& figures, std::uint64_t pool_bytes,
                         const std::string& rank) {
  const ByLabels all = summed(cells, names, describe, rank);
  std::ostringstream out;
  out.precision(12);
  write_counts(out, all, "calls_total", "Messages of the threshold or more, and collectives.",
               &Sums::calls);
  write_counts(out, all, "bytes_total", "Their bytes, as the program has them.", &Sums::bytes);
  write_counts(out, all, "wire_bytes_total", "Their bytes, as sent.", &Sums::wire_bytes);
  write_seconds(out, all, "predicted_seconds_total",
                "What the plan foresaw of thinwire_seconds_total.", &Sums::predicted_nanoseconds);
  write_seconds(out, all, "seconds_total",
                "Encoding of messages, and compressed collectives as a whole.", &Sums::nanoseconds);
  const std::string own = "{rank=" + escaped(rank) + "} ";
  const auto figure = [&](const char* name, const char* type, const char* help, double value) {
    begin(out, name, type, help);
    out << "thinwire_" << name << own << value << '\n';
  };
  const auto count = [&](const char* name, const char* help, std::uint64_t value) {
    figure(name, "counter", help, static_cast<double>(value));
  };
  count("below_threshold_total", "Messages below the threshold.", figures.below_threshold);
  count("decoded_total", "Messages that were decoded.", figures.decoded);
  figure("decode_seconds_total", "counter", "Decoding of messages.",
         1e-9 * static_cast<double>(figures.decode_nanoseconds));
  count("damaged_total", "Messages that could not be decoded.", figures.damaged);
  count("without_memory_total", "Messages that went raw for lack of memory.",
        figures.without_memory);
  count("device_failures_total", "Refusals of a GPU or its driver.", figures.device_failures);
  figure("pool_bytes", "gauge", "Scratch memory that the library holds, idle or in use.",
         static_cast<double>(pool_bytes));
  return out.str();
}

}  // namespace thinwire::shim
