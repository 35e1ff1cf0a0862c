// Files of golden vectors, as tests/vectors/README.md has their lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "codec/spec.h"

namespace thinwire::codec::testing {

using Bytes = std::vector<std::byte>;

inline Bytes from_hex(const std::string& text) {
  Bytes bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
  return bytes;
}

inline std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::istringstream fields(text);
  for (std::string part; std::getline(fields, part, between);) parts.push_back(part);
  return parts;
}

struct GoldenCase {
  std::string spec;
  std::uint64_t parameter = 0;
  Chunk array;  // or one chunk, of this index
  bool is_chunk = false;
  Bytes values;
  std::vector<std::optional<Bytes>> payloads;  // none for one that would not be smaller
  std::optional<std::uint64_t> decoded;        // the FNV-1a, of what are not the values
};

inline Dtype golden_dtype(const std::string& name) {
  for (int code = 0; code < kDtypeCount; ++code) {
    if (name == dtype_name(static_cast<Dtype>(code))) return static_cast<Dtype>(code);
  }
  throw std::invalid_argument("no element type: " + name);
}

inline GoldenCase golden_case(std::istringstream& fields,
                              const std::map<std::string, Bytes>& periods) {
  std::string parameter, dtype, extents, period, place, payloads, decoded;
  GoldenCase found;
  fields >> found.spec >> parameter >> dtype >> extents >> period >> place >> payloads >> decoded;
  if (!fields) throw std::invalid_argument("a case that lacks fields");
  found.parameter = std::stoull(parameter, nullptr, 16);
  found.array = {golden_dtype(dtype), Shape{.rank = 0, .extent = {}}};
  Shape& shape = found.array.shape;
  for (const std::string& extent : parts_of(extents, 'x')) {
    shape.extent[static_cast<std::size_t>(shape.rank++)] = std::stoull(extent);
  }
  found.is_chunk = place != "array";
  if (found.is_chunk) found.array.index = std::stoull(place.substr(place.find('-') + 1));
  const Bytes& repeated = periods.at(period + " " + dtype);
  found.values.resize(found.array.raw_bytes());
  for (std::size_t at = 0; at < found.values.size(); ++at) {
    found.values[at] = repeated[at % repeated.size()];
  }
  for (const std::string& each : parts_of(payloads, ',')) {
    found.payloads.push_back(each == "raw" ? std::nullopt
                                           : std::optional(from_hex(each == "-" ? "" : each)));
  }
  if (decoded != "same") found.decoded = std::stoull(decoded, nullptr, 16);
  return found;
}

// Throws for a file that is cut short, or has lines of another kind.
inline std::vector<GoldenCase> golden_cases(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, Bytes> periods;
  std::vector<GoldenCase> cases;
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string what, name, dtype, hex;
    fields >> what;
    if (what == "period" && fields >> name >> dtype >> hex) {
      periods[name + " " + dtype] = from_hex(hex);
    } else if (what == "case") {
      cases.push_back(golden_case(fields, periods));
    } else if (what != "#" && !(what == "end" && fields >> count)) {
      throw std::invalid_argument(path + ": a line that begins with " + what);
    }
  }
  if (count == 0 || cases.size() != count) throw std::invalid_argument(path + ": cut short");
  return cases;
}

}  // namespace thinwire::codec::testing
