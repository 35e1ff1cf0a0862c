// A compressed Allreduce between processes, over a transport that the program brings: here a socket
// between each two of them. All that the library asks for is to begin a message, to begin a
// receive, and to say which are complete; and to fail when a peer has gone, for it would wait else.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <deque>
#include <memory>
#include <thinwire/thinwire.hpp>
#include <vector>

namespace {

constexpr int kRanks = 3;
using Sockets = std::array<int, kRanks>;  // one rank's, by peer; -1 for itself

// A message on its way: eight bytes with its length, then the bytes.
struct Message {
  std::uint64_t request;
  std::byte* data;
  std::uint64_t bytes;  // of a receive: its capacity, then what came
  std::uint64_t header;
  std::uint64_t moved = 0;  // header included
};

class SocketTransport final : public thinwire::Transport {
 public:
  SocketTransport(int rank, const Sockets& sockets) : rank_(rank), sockets_(sockets) {}

  std::int32_t rank() const override { return rank_; }
  std::int32_t ranks() const override { return kRanks; }

  std::uint64_t send(std::int32_t peer, std::span<const std::byte> data) override {
    auto* const bytes = const_cast<std::byte*>(data.data());  // only ever read
    sends_[peer].push_back({++last_, bytes, data.size(), data.size()});
    return last_;
  }

  std::uint64_t receive(std::int32_t peer, std::span<std::byte> into) override {
    receives_[peer].push_back({++last_, into.data(), into.size(), 0});
    return last_;
  }

  void test(std::span<const std::uint64_t> requests, std::vector<Arrival>& done) override {
    for (int peer = 0; peer < kRanks; ++peer) {
      // Without MSG_NOSIGNAL a peer that has gone would end the process instead of the collective.
      progress(sockets_[peer], sends_[peer], [](int socket, std::byte* from, std::size_t left) {
        return ::send(socket, from, left, MSG_NOSIGNAL);
      });
      progress(sockets_[peer], receives_[peer], [](int socket, std::byte* to, std::size_t left) {
        return ::recv(socket, to, left, 0);
      });
    }
    for (std::uint32_t place = 0; place < requests.size(); ++place) {
      const auto found = std::ranges::find(complete_, requests[place], &Message::request);
      if (found == complete_.end()) continue;
      done.push_back({place, found->bytes});
      complete_.erase(found);
    }
  }

 private:
  // Moves what the socket takes or has; messages to or from one peer follow each other.
  template <class Move>
  void progress(int socket, std::deque<Message>& queue, Move move) {
    while (!queue.empty()) {
      Message& front = queue.front();
      const bool in_header = front.moved < sizeof front.header;
      auto* const from = in_header ? reinterpret_cast<std::byte*>(&front.header) + front.moved
                                   : front.data + (front.moved - sizeof front.header);
      const std::uint64_t left = (in_header ? 0 : front.header) + sizeof front.header - front.moved;
      const ssize_t moved = left == 0 ? 0 : move(socket, from, left);
      if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (moved < 0 || (moved == 0 && left != 0)) {
        throw thinwire::Error(TW_INTERNAL, "a peer has gone");
      }
      front.moved += static_cast<std::uint64_t>(moved);
      if (front.moved < sizeof front.header) return;
      if (front.header > front.bytes) throw thinwire::Error(TW_TOO_SMALL, "a longer message came");
      if (front.moved == sizeof front.header + front.header) {
        front.bytes = front.header;
        complete_.push_back(front);
        queue.pop_front();
      }
    }
  }

  const int rank_;
  const Sockets sockets_;
  std::uint64_t last_ = 0;
  std::array<std::deque<Message>, kRanks> sends_, receives_;
  std::vector<Message> complete_;
};

// A socket ends for its peer when the last process that has it lets go: each keeps its own alone.
void close_all_but(int rank, const std::array<Sockets, kRanks>& sockets) {
  for (int other = 0; other < kRanks; ++other) {
    for (const int socket : sockets[other]) {
      if (other != rank && socket >= 0) close(socket);
    }
  }
}

// One process: the sum over all ranks, within 1e-4 of the exact one.
int work(int rank, const Sockets& sockets) {
  std::vector<float> mine(1 << 18), total(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    mine[i] = static_cast<float>(rank + 1) * std::sin(static_cast<float>(i) / 500);
  }
  const thinwire::Codec codec("szp:allreduce-abs=1e-4");
  thinwire::Communicator communicator(
      thinwire::table_of(std::make_unique<SocketTransport>(rank, sockets)), {.codec = &codec});
  const tw_collective_report report = communicator.allreduce(mine, total);

  double error = 0;
  for (std::size_t i = 0; i < total.size(); ++i) {
    double exact = 0;
    for (int other = 0; other < kRanks; ++other) {
      exact += static_cast<float>(other + 1) * std::sin(static_cast<float>(i) / 500);
    }
    error = std::max(error, std::abs(total[i] - exact));
  }
  std::printf("rank %d sent %llu bytes for %llu, largest error %.2g\n", rank,
              static_cast<unsigned long long>(report.wire_bytes),
              static_cast<unsigned long long>(report.raw_bytes), error);
  // The exact sum above is of rounded products, hence a little more than the bound.
  return report.reason == TW_COMPRESS && error <= 1.1e-4 ? 0 : 1;
}

}  // namespace

int main() {
  std::array<Sockets, kRanks> sockets;
  for (Sockets& row : sockets) row.fill(-1);
  for (int low = 0; low < kRanks; ++low) {
    for (int high = low + 1; high < kRanks; ++high) {
      int ends[2];
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) return 1;
      sockets[low][high] = ends[0];
      sockets[high][low] = ends[1];
    }
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    if (fork() != 0) continue;
    close_all_but(rank, sockets);
    try {
      const int status = work(rank, sockets[rank]);
      std::fflush(stdout);
      _exit(status);
    } catch (const std::exception& failed) {
      std::fprintf(stderr, "rank %d: %s\n", rank, failed.what());
      _exit(1);
    }
  }
  close_all_but(-1, sockets);
  bool good = true;
  for (int rank = 0; rank < kRanks; ++rank) {
    int status = 0;
    good = wait(&status) > 0 && status == 0 && good;
  }
  return good ? 0 : 1;
}
