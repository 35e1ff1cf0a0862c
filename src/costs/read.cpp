// The reader of tables. Each line is checked as if somebody had written it to do harm.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/parse.h"
#include "codec/spec.h"
#include "costs/costs.h"

namespace thinwire::costs {
namespace {

constexpr std::string_view kHeading = "thinwire-costs 1";
constexpr std::string_view kMachine = "machine: ";
constexpr std::string_view kVersion = "version: ";
constexpr std::string_view kAgain = "; `thinwire tune` measures again";
constexpr std::size_t kMostOfALine = 512;
constexpr std::size_t kFields = 7;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

std::string in_quotes(std::string_view text) {
  std::string made = "'";
  for (const char each : text.substr(0, 80)) made += each >= ' ' && each <= '~' ? each : '?';
  return made + "'";
}

class Lines {
 public:
  Lines(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  // Without its end; nothing after the last.
  std::optional<std::string_view> next() {
    if (rest_.empty()) return std::nullopt;
    ++number_;
    const auto end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    is_whole_ = end != std::string_view::npos;
    rest_.remove_prefix(is_whole_ ? end + 1 : rest_.size());
    return line;
  }

  bool is_whole() const { return is_whole_; }  // the last line had an end
  Status wrong(const std::string& what) const {
    return {StatusCode::kInvalidArgument,
            file_ + ":" + std::to_string(std::max(number_, 1)) + ": " + what};
  }

 private:
  std::string_view rest_;
  const std::string& file_;
  int number_ = 0;
  bool is_whole_ = false;
};

// The heading, and whose table it is.
Status check_head(Lines& lines, std::string_view machine, std::string_view version) {
  const auto heading = lines.next();
  if (!heading || *heading != kHeading) {
    return lines.wrong("this is no table of costs of a form that is known here" +
                       std::string(kAgain));
  }
  const auto own = lines.next();
  if (!own || !own->starts_with(kMachine)) return lines.wrong("here the machine is named");
  if (own->substr(kMachine.size()) != machine) {
    return lines.wrong("the table is of another machine, " +
                       in_quotes(own->substr(kMachine.size())) + ", and this is " +
                       in_quotes(machine) + std::string(kAgain));
  }
  const auto made = lines.next();
  if (!made || !made->starts_with(kVersion)) return lines.wrong("here the version is named");
  if (made->substr(kVersion.size()) != version) {
    return lines.wrong("the table is of Thinwire " + in_quotes(made->substr(kVersion.size())) +
                       ", and this is " + std::string(version) + std::string(kAgain));
  }
  return {};
}

// Words between single spaces; false if there are not as many.
bool split(std::string_view line, std::array<std::string_view, kFields>& words) {
  for (std::size_t at = 0; at < kFields; ++at) {
    const auto end = line.find(' ');
    if ((end == std::string_view::npos) != (at + 1 == kFields)) return false;
    words[at] = line.substr(0, end);
    if (words[at].empty()) return false;
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  return true;
}

std::optional<Dtype> dtype_of(std::string_view word) {
  for (int dtype = 0; dtype < kDtypeCount; ++dtype) {
    if (word == dtype_name(static_cast<Dtype>(dtype))) return static_cast<Dtype>(dtype);
  }
  return std::nullopt;
}

Result<Row> row_of(std::string_view line, const Lines& lines) {
  std::array<std::string_view, kFields> words;
  if (line.size() > kMostOfALine || !split(line, words)) {
    return lines.wrong("a line has a codec, a type, bytes, a place, two rates and a ratio");
  }
  Row row;
  const auto spec = codec::parse_spec(words[0]);
  if (!spec.ok() || spec->text() != words[0]) {
    return lines.wrong(in_quotes(words[0]) + " is no codec in its normal form");
  }
  row.codec = words[0];
  const auto dtype = dtype_of(words[1]);
  if (!dtype) return lines.wrong(in_quotes(words[1]) + " is no type");
  row.dtype = *dtype;
  const auto bytes = parse_whole_number(words[2]);
  if (!bytes || *bytes == 0 || *bytes > kMostBytes) {
    return lines.wrong(in_quotes(words[2]) + " is no number of bytes");
  }
  row.bytes = *bytes;
  if (words[3] != "host" && words[3] != "gpu") {
    return lines.wrong(in_quotes(words[3]) + " is neither host nor gpu");
  }
  row.place = words[3] == "host" ? Place::kHost : Place::kGpu;
  double* const numbers[] = {&row.cost.encode_bytes_per_second, &row.cost.decode_bytes_per_second,
                             &row.cost.ratio};
  for (std::size_t at = 0; at < 3; ++at) {
    const auto number = parse_number(words[4 + at]);
    // Numbers beyond these were measured nowhere, and a plan must not divide by them.
    if (!number.ok() || !(*number >= 1e-3 && *number <= 1e15)) {
      return lines.wrong(in_quotes(words[4 + at]) + " is no rate or ratio");
    }
    *numbers[at] = *number;
  }
  return row;
}

bool is_same(const Row& one, const Row& other) {
  return one.codec == other.codec && one.dtype == other.dtype && one.bytes == other.bytes &&
         one.place == other.place;
}

}  // namespace

Result<Table> Table::read(std::string_view text, const std::string& file, std::string_view machine,
                          std::string_view version) {
  Lines lines(text, file);
  if (Status status = check_head(lines, machine, version); !status.ok()) return status;
  Table made;
  while (const auto line = lines.next()) {
    if (line->starts_with("end ")) {
      if (parse_whole_number(line->substr(4)) != made.rows_.size() || !lines.is_whole()) {
        return lines.wrong("the last line does not count the rows before it" + std::string(kAgain));
      }
      if (lines.next()) return lines.wrong("nothing may follow the last line");
      return made;
    }
    auto row = row_of(*line, lines);
    if (!row.ok()) return row.status();
    if (std::ranges::any_of(made.rows_, [&](const Row& one) { return is_same(one, *row); })) {
      return lines.wrong("the same was measured before");
    }
    if (made.rows_.size() == kMostRows) return lines.wrong("more rows than a table has");
    made.rows_.push_back(std::move(*row));
  }
  return lines.wrong("the table is cut short: its last line is missing" + std::string(kAgain));
}

std::optional<plan::CodecCost> Table::find(std::string_view codec, Dtype dtype, std::uint64_t bytes,
                                           Place place) const {
  const auto away = [&](const Row& row) {
    return std::abs(std::log2(static_cast<double>(row.bytes)) -
                    std::log2(static_cast<double>(std::max<std::uint64_t>(bytes, 1))));
  };
  const Row* nearest = nullptr;
  for (const Row& row : rows_) {
    if (row.codec != codec || row.dtype != dtype || row.place != place) continue;
    if (nearest == nullptr || away(row) < away(*nearest)) nearest = &row;
  }
  return nearest == nullptr ? std::nullopt : std::optional(nearest->cost);
}

}  // namespace thinwire::costs
