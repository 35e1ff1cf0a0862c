#include "shim/common/trace/metrics.h"

#include <map>
#include <sstream>

namespace thinwire::shim {
namespace {

using Histogram = std::array<std::uint64_t, kBuckets>;

struct Sums {
  std::uint64_t calls = 0, bytes = 0, wire_bytes = 0, predicted_nanoseconds = 0, nanoseconds = 0,
                raw_nanoseconds = 0, whole_nanoseconds = 0;
  Histogram sizes{}, times{}, predictions{};
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
  return "rank=" + escaped(rank) + ",operation=" + escaped(text.operation) +
         ",communicator=" + escaped(is_rest ? "" : names.at(key.name)) +
         ",place=" + escaped(text.place) + ",codec=" + escaped(text.codec) +
         ",raw=" + escaped(text.raw);
}

void add(const std::array<Counter, kBuckets>& more, Histogram& to) {
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) to[bucket] += more[bucket].read();
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
    sum.raw_nanoseconds += cell.raw_nanoseconds.read();
    sum.whole_nanoseconds += cell.whole_nanoseconds.read();
    add(cell.sizes, sum.sizes);
    add(cell.times, sum.times);
    add(cell.predictions, sum.predictions);
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
    out << "thinwire_" << name << '{' << labels << "} " << sums.*figure << '\n';
}

void write_seconds(std::ostringstream& out, const ByLabels& all, const char* name, const char* help,
                   std::uint64_t Sums::* figure) {
  begin(out, name, "counter", help);
  for (const auto& [labels, sums] : all)
    out << "thinwire_" << name << '{' << labels << "} " << 1e-9 * static_cast<double>(sums.*figure)
        << '\n';
}

// The bounds are the same at all times, as whoever reads series wants them: each second power of
// two from 2^10 on, less one, as Prometheus counts what is equal to a bound too.
constexpr std::size_t kFirstBound = 10, kLastBound = 34, kStep = 2;

void write_histogram(std::ostringstream& out, const ByLabels& all, const char* name,
                     const char* help, Histogram Sums::* figure, std::uint64_t Sums::* sum,
                     double unit) {
  begin(out, name, "histogram", help);
  for (const auto& [labels, sums] : all) {
    const std::string begins = "thinwire_" + std::string(name);
    std::uint64_t below = 0;
    std::size_t bucket = 0;
    for (std::size_t bound = kFirstBound; bound <= kLastBound; bound += kStep) {
      for (; bucket < bound; ++bucket) below += (sums.*figure)[bucket];
      const std::uint64_t most = (std::uint64_t{1} << bound) - 1;
      out << begins << "_bucket{" << labels << ",le=\"" << unit * static_cast<double>(most)
          << "\"} " << below << '\n';
    }
    for (; bucket < kBuckets; ++bucket) below += (sums.*figure)[bucket];
    out << begins << "_bucket{" << labels << ",le=\"+Inf\"} " << below << '\n'
        << begins << "_sum{" << labels << "} " << unit * static_cast<double>(sums.*sum) << '\n'
        << begins << "_count{" << labels << "} " << below << '\n';
  }
}

void write_histograms(std::ostringstream& out, const ByLabels& all) {
  write_histogram(out, all, "size_bytes", "Sizes of messages and collectives.", &Sums::sizes,
                  &Sums::bytes, 1);
  write_histogram(out, all, "time_seconds",
                  "What thinwire_seconds_total sums up: encoding, and compressed collectives.",
                  &Sums::times, &Sums::nanoseconds, 1e-9);
  write_histogram(out, all, "predicted_time_seconds", "What the plan foresaw of these.",
                  &Sums::predictions, &Sums::predicted_nanoseconds, 1e-9);
}

}  // namespace

std::string metrics_text(const Cells& cells, const Names& names, const Describe& describe,
                         const ProcessFigures& figures, const PoolBytes& pool,
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
  write_seconds(out, all, "raw_seconds_total",
                "What they would have taken raw: messages as predicted, collectives as timed.",
                &Sums::raw_nanoseconds);
  write_seconds(
      out, all, "took_seconds_total",
      "The same as they went. thinwire_raw_seconds_total less this: predicted of messages, "
      "saved of collectives.",
      &Sums::whole_nanoseconds);
  write_histograms(out, all);
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
         static_cast<double>(pool.now));
  figure("pool_peak_bytes", "gauge", "The most of it so far.", static_cast<double>(pool.peak));
  return out.str();
}

}  // namespace thinwire::shim
