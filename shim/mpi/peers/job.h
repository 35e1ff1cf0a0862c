// What the launcher knows of the job: its name, which ranks share this node, and which ranks run
// this library. It is learnt through the launcher's PMIx server, without a message between ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace thinwire::mpi {

// What every rank publishes before MPI_Init and others read when they first talk to it. A rank
// without a card runs without this library: nothing compressed may reach it.
struct Card {
  std::uint32_t format_version = 0;
  std::uint64_t hook_threshold = 0;   // it hooks every receive of at least so many bytes
  bool sends_compressed = false;      // it may send compressed messages to other nodes
  bool sends_same_node = false;       // and to its own node too
  bool reports = false;               // it takes part in the exit report
  std::vector<std::uint32_t> codecs;  // ids it can decode

  std::string text() const;
  static std::optional<Card> parse(const std::string& text);
};

class Job {
 public:
  // Before the MPI starts: the MPI's own start-up exchange then carries the card. Without a
  // launcher, or with one that speaks no PMIx, nothing is published and no peer is ever proven.
  void publish(const Card& card);

  // After MPI_Init: the ranks on this node.
  void learn_locality();

  void leave();

  bool reachable() const { return reachable_; }
  const std::string& name() const { return name_; }
  bool on_this_node(int world_rank) const;
  int ranks_on_this_node() const { return static_cast<int>(local_.size()); }

  // The card of a rank of this job; one query to the launcher's local server.
  std::optional<Card> card_of(int world_rank) const;

 private:
  std::optional<std::string> query(std::uint32_t rank, const char* key) const;

  bool reachable_ = false;
  std::string name_;
  std::vector<int> local_;  // ascending
};

}  // namespace thinwire::mpi
