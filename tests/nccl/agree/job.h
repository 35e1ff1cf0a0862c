// Ranks of a communicator as threads of a test, each with a helper of its own as if it were a
// process.
#pragma once

#include <netinet/in.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "agree/agree.h"

namespace job {

using namespace std::chrono_literals;
using namespace thinwire::nccl::agree;

using Id = std::array<std::byte, kIdBytes>;

// As NCCL leaves it: 8 bytes, then a sockaddr of the loopback.
inline Id bare_id(int family = AF_INET) {
  Id id{};
  id[0] = std::byte{7};
  if (family == AF_INET) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::memcpy(&id[8], &address, sizeof address);
  } else {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    std::memcpy(&id[8], &address, sizeof address);
  }
  return id;
}

template <typename Holds>
bool eventually(Holds holds, std::chrono::milliseconds time = 20s) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(200us);
  }
  return true;
}

inline bool reaches(const CommunicatorRef& comm, State state) {
  return eventually([&] { return comm->membership().state == state && comm->state() == state; });
}

struct Rank {
  int rank = 0;
  std::unique_ptr<Helper> helper;
  CommunicatorRef comm;
};

class Job {
 public:
  // `of`: how many ranks the communicator has, if others play some of them; `hosts`: by what
  // each rank's host is known; `domains`: the NVLink domain of each.
  explicit Job(int ranks, Options options = {}, int of = 0,
               const std::vector<std::uint64_t>& hosts = {},
               const std::vector<std::uint64_t>& domains = {})
      : ranks_(of == 0 ? ranks : of), domains_(domains) {
    domains_.resize(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      if (!hosts.empty()) options.host = hosts[static_cast<std::size_t>(rank)];
      all.push_back({rank, std::make_unique<Helper>(options), nullptr});
    }
  }

  // In order: a helper waits a little for ranks that have not closed.
  ~Job() {
    for (Rank& each : all) each.comm.reset();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // The id is made by `maker`'s helper.
  Id make_id(int maker = 0) {
    Id id = bare_id();
    all[maker].helper->stamp(id);
    return id;
  }
  void open(int rank, const Id& id, const Terms& terms = {{"codec", "lorenzo"}}) {
    all[rank].comm = all[rank].helper->open(id, rank, ranks_, terms, {}, domain_of(rank));
  }
  void open_all(int maker = 0) {
    const Id id = make_id(maker);
    for (Rank& each : all) open(each.rank, id);
  }
  std::uint64_t domain_of(int rank) const { return domains_[static_cast<std::size_t>(rank)]; }
  bool all_reach(State state) {
    for (Rank& each : all) {
      if (each.comm && !reaches(each.comm, state)) return false;
    }
    return true;
  }
  // Each on a thread of its own.
  void run(const std::function<void(Rank&)>& work) {
    std::vector<std::thread> threads;
    for (Rank& each : all) threads.emplace_back([&] { work(each); });
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<Rank> all;

 private:
  int ranks_;
  std::vector<std::uint64_t> domains_;
};

}  // namespace job
