// The text of PMI-1, the protocol of MPICH's launchers, lines of "cmd=<name> <key>=<value> ...",
// and of PMI-2, which Slurm's libraries speak: "cmd=<name>;<key>=<value>;..." after its length in
// six characters. Each request has one answer, of the same form; here both read as PMI-1's lines.
// Pure functions over text that nobody vouches for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thinwire::mpi::pmi {

enum class Protocol { kPmi1, kPmi2 };

// The value of `<key>=` in a line, up to the next space.
std::optional<std::string_view> field(std::string_view line, std::string_view key);

// Whether a line is the answer `command`, and no refusal (an rc other than 0, or nothing found).
bool answers(std::string_view line, std::string_view command);

// Whether a refusal says that there is no such key, and not that something else went wrong.
bool says_not_found(std::string_view line);

// The bytes of the first request in `text`, its newline included; 0 if it is not whole. One of
// PMI-2 has its length before it, in six characters. Of any other protocol, all.
std::size_t request_length(std::string_view text);

// Characters of a length in PMI-2, which begins in the first or is padded to the last.
inline constexpr std::size_t kDigits = 6;

// A length: a number with spaces before it or after it.
std::optional<std::size_t> read_length(std::string_view head);

// The protocol of a request that all ranks make, after which all know what each had put before;
// nothing for other requests.
std::optional<Protocol> exchange_of(std::string_view request);

// Requests about the job's attributes and its ranks' values, and the commands of their answers.
std::string name_request(Protocol protocol);
std::string mapping_request(Protocol protocol, const std::string& job);
std::string put_request(Protocol protocol, const std::string& job, const std::string& key,
                        const std::string& value);
std::string get_request(Protocol protocol, const std::string& job, const std::string& key);
std::string_view mapping_answer(Protocol protocol);
std::string_view put_answer(Protocol protocol);
std::string_view get_answer(Protocol protocol);

// The job's name in the answer to name_request(); empty if there is none.
std::string name_in(Protocol protocol, std::string_view answer);

// Whether `text` can stand as a key or a value.
bool is_word(std::string_view text);

// Values hold no spaces. Neither do capabilities hold the letter that stands for them.
std::string as_word(std::string text);
std::string from_word(std::string text);

// The job attribute PMI_process_mapping, "(vector,item,...)". An item is a block, "(first node,
// nodes,ranks per node)" or a node's number alone for one rank there, or blocks that come several
// times, "[block,...]xtimes". Ranks fill the nodes of each block in turn; after the last item the
// first comes again, as MPICH's launchers before 4.1 mean it.
struct NodeBlock {
  int first_node = 0;
  int nodes = 1;
  int ranks_per_node = 1;
};
struct NodePattern {
  std::vector<NodeBlock> blocks;
  int times = 1;
};
std::optional<std::vector<NodePattern>> parse_mapping(std::string_view text);

// The ranks that share the node of `rank`, ascending, itself among them.
std::vector<int> ranks_beside(const std::vector<NodePattern>& mapping, int rank, int size);

}  // namespace thinwire::mpi::pmi
