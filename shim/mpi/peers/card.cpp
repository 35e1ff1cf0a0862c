#include "peers/card.h"

namespace thinwire::mpi {

std::string Card::text() const {
  std::ostringstream out;
  out << format_version << ' ' << hook_threshold << ' ' << sends_compressed << ' '
      << sends_same_node << ' ' << reports << ' ';
  for (std::size_t at = 0; at < codecs.size(); ++at) out << (at == 0 ? "" : ",") << codecs[at];
  return out.str();
}

std::optional<Card> Card::parse(const std::string& text) {
  Card card;
  std::string codecs;
  std::istringstream in(text);
  // A later version may add words; it must keep these in place.
  if (!(in >> card.format_version >> card.hook_threshold >> card.sends_compressed >>
        card.sends_same_node >> card.reports >> codecs)) {
    return std::nullopt;
  }
  card.codecs = read_list<std::uint32_t>(codecs);
  return card;
}

}  // namespace thinwire::mpi
