// launcher: any line that a launcher may answer, and any mapping of ranks to nodes. capabilities:
// any text that it may hand over as another rank's capabilities.
#include <algorithm>

#include "fuzz/all_targets.h"
#include "fuzz/input.h"
#include "shim/mpi/job/capabilities.h"
#include "shim/mpi/job/pmi_wire.h"

namespace thinwire::fuzz {
namespace {

namespace pmi = mpi::pmi;

constexpr int kMostRanks = 64;

// A field lies inside its line, after its key, and has no space in it.
void check_field(std::string_view line, std::string_view key) {
  const auto value = pmi::field(line, key);
  if (!value) return;
  THINWIRE_FUZZ_CHECK(value->find(' ') == std::string_view::npos);
  THINWIRE_FUZZ_CHECK(line.find(std::string(key) + "=" + std::string(*value)) !=
                      std::string_view::npos);
}

// Being beside each other is mutual, and every rank is beside itself.
void check_mapping(std::string_view text, int size, int rank) {
  const auto mapping = pmi::parse_mapping(text);
  if (!mapping) return;
  const std::vector<int> beside = pmi::ranks_beside(*mapping, rank, size);
  THINWIRE_FUZZ_CHECK(std::is_sorted(beside.begin(), beside.end()));
  THINWIRE_FUZZ_CHECK(std::binary_search(beside.begin(), beside.end(), rank));
  for (const int other : beside) {
    THINWIRE_FUZZ_CHECK(other >= 0 && other < size);
    THINWIRE_FUZZ_CHECK(pmi::ranks_beside(*mapping, other, size) == beside);
  }
}

// A relay hands on what a request's length says, and no more than it has.
void check_requests(std::string_view text) {
  while (const std::size_t length = pmi::request_length(text)) {
    THINWIRE_FUZZ_CHECK(length <= text.size());
    if (pmi::exchange_of(text.substr(0, length)) == pmi::Protocol::kPmi1) {
      THINWIRE_FUZZ_CHECK(text.starts_with("cmd=") || text.find(" cmd=") < length);
    }
    text.remove_prefix(length);
  }
}

}  // namespace

// The first byte is how many ranks there are, the second one of them; text follows.
void run_launcher(const Target&, ByteView input) {
  Reader reader(input);
  const int size = 1 + reader.take<std::uint8_t>() % kMostRanks;
  const int rank = reader.take<std::uint8_t>() % size;
  const std::string text = text_of(reader.rest());
  for (const char* key : {"cmd", "rc", "value", "kvsname", "", "="}) check_field(text, key);
  if (pmi::answers(text, "get_result")) {
    THINWIRE_FUZZ_CHECK(pmi::field(text, "cmd") == std::string_view("get_result"));
  }
  check_requests(text);
  for (const auto protocol : {pmi::Protocol::kPmi1, pmi::Protocol::kPmi2}) {
    THINWIRE_FUZZ_CHECK(pmi::name_in(protocol, text).size() <= text.size());
  }
  if (pmi::is_word(text)) {
    const std::string word = pmi::as_word(pmi::from_word(text));
    THINWIRE_FUZZ_CHECK(word == text && pmi::is_word(word));
  }
  check_mapping(text, size, rank);
  if (const auto value = pmi::field(text, "value")) check_mapping(*value, size, rank);
}

std::vector<Bytes> launcher_seeds(const Target&) {
  std::vector<Bytes> seeds;
  for (const char* text : {"(vector,(0,2,1))",
                           "(vector,(0,1,4),(1,2,3))",
                           "(vector,0,1,1)",
                           "(vector,[(0,2,1),3]x2)",
                           "(vector,(2147483647,2147483647,2147483647))",
                           "(vector)",
                           "(vector,(0,0,1))",
                           "(vector,[0]x2147483647)",
                           "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))",
                           "cmd=get_result rc=-1 msg=key_not_found value=unknown",
                           "cmd=maxes kvsname_max=256",
                           "cmd=my_kvsname kvsname=kvs_17_0",
                           "cmd=get_result rc=0 value=0_19_1_1_1_0,1,2",
                           "cmd= rc",
                           "value==x",
                           "  cmd=a",
                           "cmd=init pmi_version=1\ncmd=barrier_in\n",
                           "14    cmd=kvs-fence;    13cmd=finalize;",
                           "cmd=job-getid-response rc=0 jobid=21.0 ",
                           "cmd=kvs-get-response rc=0 found=FALSE "}) {
    Bytes seed = {std::byte{7}, std::byte{3}};
    const Bytes bytes = bytes_of(text);
    seed.insert(seed.end(), bytes.begin(), bytes.end());
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

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
