// capabilities: any text that a launcher may hand over as another rank's capabilities.
#include "fuzz/all_targets.h"
#include "shim/mpi/job/capabilities.h"

namespace thinwire::fuzz {

void run_capabilities(const Target&, ByteView input) {
  const auto capabilities = mpi::Capabilities::parse(text_of(input));
  // Capabilities that list no codec are read where codecs that no number names are left out; nobody
  // writes it.
  if (!capabilities || capabilities->codecs.empty()) return;
  const auto again = mpi::Capabilities::parse(capabilities->text());
  THINWIRE_FUZZ_CHECK(again.has_value());
  THINWIRE_FUZZ_CHECK(again->format_version == capabilities->format_version);
  THINWIRE_FUZZ_CHECK(again->inspect_threshold == capabilities->inspect_threshold);
  THINWIRE_FUZZ_CHECK(again->sends_compressed == capabilities->sends_compressed);
  THINWIRE_FUZZ_CHECK(again->sends_same_node == capabilities->sends_same_node);
  THINWIRE_FUZZ_CHECK(again->reports == capabilities->reports);
  THINWIRE_FUZZ_CHECK(again->codecs == capabilities->codecs);
}

std::vector<Bytes> capabilities_seeds(const Target&) {
  mpi::Capabilities capabilities;
  capabilities.format_version = 3;
  capabilities.inspect_threshold = UINT64_MAX;
  capabilities.sends_compressed = capabilities.reports = true;
  capabilities.codecs = {0, 1, 65535};
  std::vector<Bytes> seeds;
  for (const std::string& text :
       {capabilities.text(), capabilities.text() + " more", std::string("0 19 1 1 1 0,1,2"),
        std::string("1 19"), std::string("0 19 2 0 0 1"), std::string("0 19 1 1 1 x,,4"),
        std::string("99999999999 18446744073709551616 0 0 0 0"), std::string("-1 -1 1 0 1 7")}) {
    seeds.push_back(bytes_of(text));
  }
  return seeds;
}

}  // namespace thinwire::fuzz
