// The text of PMI-1, the protocol of MPICH's launchers: lines of "cmd=<name> <key>=<value> ...",
// each request answered by one line. Pure functions over text that nobody vouches for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thinwire::mpi::pmi {

// The value of `<key>=` in a line, up to the next space.
std::optional<std::string_view> field(std::string_view line, std::string_view key);

// Whether a line is the answer `command`, and no refusal (an rc other than 0).
bool answers(std::string_view line, std::string_view command);

// Whether a refusal says that there is no such key, and not that something else went wrong.
bool says_not_found(std::string_view line);

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
