// Capabilities that a rank publishes before MPI_Init, and others read when they first talk to it.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace thinwire::mpi {

// A rank without capabilities runs without this library: nothing compressed may reach it.
struct Capabilities {
  std::uint32_t format_version = 0;
  std::uint64_t inspect_threshold = 0;  // it continuations every receive of at least so many bytes
  bool sends_compressed = false;        // it may send compressed messages to other nodes
  bool sends_same_node = false;         // and to its own node too
  bool reports = false;                 // it takes part in the exit report
  std::vector<std::uint32_t> codecs;    // ids it can decode
  std::string collectives{};  // its settings of collectives; "" where it has none compressed
  std::string node_cards{};   // where NodeCards of its node may be; "": nowhere

  std::string text() const;
  static std::optional<Capabilities> parse(const std::string& text);
};

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Numbers with commas between them; what is none is left out.
template <typename Number>
std::vector<Number> read_list(const std::string& text) {
  std::vector<Number> numbers;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    Number number{};
    if (read_number(item, number)) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace thinwire::mpi
