// Bytes of golden vector files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace thinwire::codec::testing {

inline std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace thinwire::codec::testing
