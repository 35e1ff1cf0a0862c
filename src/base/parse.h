// Numbers with units as users write them in the environment and on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thinwire {

// A plain decimal number, as in "8" or "1e-4". The whole text must be one number, and finite.
Result<double> parse_number(std::string_view text);

// The shortest text that reads back as the same number, as people write it: 1e-4, not 1e-04.
std::string number_text(double number);

// The whole text as decimal digits, without sign or space, as in "32". Nothing for any other text
// and for what 64 bits cannot hold: the caller knows what to call it.
std::optional<std::uint64_t> parse_whole_number(std::string_view text);

// Bytes: "65536", "64k", "64KiB", "1MiB", "2G". k, M, G are powers of 1024.
Result<std::uint64_t> parse_size(std::string_view text);

// Bytes per second of a link: "1gbit", "100mbit", "12.5gbit", "2.5GB/s". Powers of 1000;
// bit forms are divided by 8.
Result<double> parse_link_rate(std::string_view text);

}  // namespace thinwire
