// The text of PMI-1, the protocol of MPICH's launchers: lines of "cmd=<name> <key>=<value> ...",
// each request answered by one line. Pure functions over text that nobody vouches for.
#pragma once

#include <chrono>
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

// The descriptor over which a process speaks PMI-1 with its launcher. It belongs to the MPI, which
// speaks over it too, so nothing here reads more than the answer to its own request.

class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}

  // Sets how long an answer may take; after that the other side is taken not to speak PMI-1, and
  // the channel is broken. With zero there is no limit, as in the MPI itself: an answer that comes
  // too late would be read by the MPI.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

  // Sends a request and returns the line of its answer, both without the newline. Nothing if bytes
  // of another dialogue are still unread, in which case nothing was sent, or if the channel is
  // broken. Not from two threads at the same time.
  std::optional<std::string> ask(std::string_view request);

  // True after a failure: no request is sent any more.
  bool broken() const { return broken_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool is_quiet();
  bool send_line(std::string line, Clock::time_point deadline);
  std::optional<std::string> receive_line(Clock::time_point deadline);
  bool wait_for(short events, Clock::time_point deadline);

  int descriptor_;
  std::chrono::milliseconds patience_{0};
  bool broken_ = false;
};

}  // namespace thinwire::mpi::pmi
