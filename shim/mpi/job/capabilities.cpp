#include "shim/mpi/job/capabilities.h"

#include <cctype>
#include <charconv>
#include <cstring>

namespace thinwire::mpi {
namespace {

constexpr char kNone[] = "-";

bool stays_in_a_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) ||
         std::strchr(".,:+-", letter) != nullptr;
}

std::string as_word(const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string word;
  for (const char letter : text) {
    if (stays_in_a_word(letter)) {
      word += letter;
      continue;
    }
    const auto byte = static_cast<unsigned char>(letter);
    word += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return word;
}

std::string from_word(const std::string& word) {
  std::string text;
  for (std::size_t at = 0; at < word.size(); ++at) {
    unsigned byte = 0;
    const char* first = word.data() + at + 1;
    if (word[at] == '%' && at + 2 < word.size() &&
        std::from_chars(first, first + 2, byte, 16).ptr == first + 2) {
      text += static_cast<char>(byte);
      at += 2;
    } else {
      text += word[at];
    }
  }
  return text;
}

}  // namespace

std::string Capabilities::text() const {
  std::ostringstream out;
  out << format_version << ' ' << inspect_threshold << ' ' << sends_compressed << ' '
      << sends_same_node << ' ' << reports << ' ';
  for (std::size_t at = 0; at < codecs.size(); ++at) out << (at == 0 ? "" : ",") << codecs[at];
  out << ' ' << (collectives.empty() ? kNone : as_word(collectives));
  if (!node_cards.empty()) out << ' ' << node_cards;
  return out.str();
}

std::optional<Capabilities> Capabilities::parse(const std::string& text) {
  Capabilities capabilities;
  std::string codecs, collectives;
  std::istringstream in(text);
  // A later version may add words; it must keep these in place.
  if (!(in >> capabilities.format_version >> capabilities.inspect_threshold >>
        capabilities.sends_compressed >> capabilities.sends_same_node >> capabilities.reports >>
        codecs)) {
    return std::nullopt;
  }
  capabilities.codecs = read_list<std::uint32_t>(codecs);
  // An earlier version had no such word.
  if (in >> collectives && collectives != kNone) capabilities.collectives = from_word(collectives);
  in >> capabilities.node_cards;
  return capabilities;
}

}  // namespace thinwire::mpi
