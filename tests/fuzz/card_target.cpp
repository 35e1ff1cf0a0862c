// card: any text that a launcher may hand over as another rank's card.
#include "fuzz/text_targets.h"
#include "fuzz/wire_target.h"
#include "peers/card.h"

namespace thinwire::fuzz {

void run_card(const Target&, ByteView input) {
  const auto card = mpi::Card::parse(text_of(input));
  // A card that lists no codec is read where codecs that no number names are left out; nobody
  // writes it.
  if (!card || card->codecs.empty()) return;
  const auto again = mpi::Card::parse(card->text());
  THINWIRE_FUZZ_CHECK(again.has_value());
  THINWIRE_FUZZ_CHECK(again->format_version == card->format_version);
  THINWIRE_FUZZ_CHECK(again->hook_threshold == card->hook_threshold);
  THINWIRE_FUZZ_CHECK(again->sends_compressed == card->sends_compressed);
  THINWIRE_FUZZ_CHECK(again->sends_same_node == card->sends_same_node);
  THINWIRE_FUZZ_CHECK(again->reports == card->reports);
  THINWIRE_FUZZ_CHECK(again->codecs == card->codecs);
}

std::vector<Bytes> card_seeds(const Target&) {
  mpi::Card card;
  card.format_version = 3;
  card.hook_threshold = UINT64_MAX;
  card.sends_compressed = card.reports = true;
  card.codecs = {0, 1, 65535};
  std::vector<Bytes> seeds;
  for (const std::string& text :
       {card.text(), card.text() + " more", std::string("0 19 1 1 1 0,1,2"), std::string("1 19"),
        std::string("0 19 2 0 0 1"), std::string("0 19 1 1 1 x,,4"),
        std::string("99999999999 18446744073709551616 0 0 0 0"), std::string("-1 -1 1 0 1 7")}) {
    seeds.push_back(bytes_of(text));
  }
  return seeds;
}

}  // namespace thinwire::fuzz
