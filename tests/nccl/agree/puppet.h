// A rank that a test plays by hand, over plain sockets: it says what it likes and stops where it
// likes.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "agree/handshake.h"
#include "agree/job.h"
#include "agree/secrets.h"
#include "agree/unique_id.h"

namespace job {

class Wire {
 public:
  explicit Wire(int fd = -1) : fd_(fd) {}
  ~Wire() { end(); }
  Wire(Wire&& other) noexcept { *this = std::move(other); }
  Wire& operator=(Wire&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(shut_, other.shut_);
    std::swap(in_, other.in_);
    std::swap(out_, other.out_);
    std::swap(in_seal_, other.in_seal_);
    return *this;
  }

  // A stranger's: nothing has been said.
  static Wire to(const Address& address) {
    sockaddr_storage where{};
    const socklen_t length = to_sockaddr(address, where);
    Wire made(::socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(made.fd_, reinterpret_cast<sockaddr*>(&where), length) != 0) made.end();
    return made;
  }

  // A rank's: both sides have shown that they know the secret, or it is shut.
  static Wire to(const Address& address, const Introduction& as) {
    Wire made = to(address);
    made.shake_hands(Handshake(as));
    return made;
  }
  // As the side that was connected to.
  void be_found(const Secret& secret) {
    shake_hands(Handshake([&](const Hello&) { return Introduction{{kVersion, secret}, {}}; }));
  }
  void shake_hands(Handshake with) {
    if (const auto hello = with.first()) say(*hello);
    while (!with.is_done()) {
      const auto heard = hear();
      if (!heard || !with.take(*heard)) return;
      if (const auto answer = with.answer()) say(*answer);
    }
    out_.emplace(with.key_out());
    in_seal_.emplace(with.key_in());
  }

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  void end() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // All that is said goes there too.
  void record(Bytes* to) { recorded_ = to; }
  void say_bytes(ByteView bytes) const {
    if (recorded_ != nullptr) recorded_->insert(recorded_->end(), bytes.begin(), bytes.end());
    (void)!::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // With its tag, after there is one.
  Bytes sealed(const Message& message) {
    Bytes bytes = pack(message);
    if (!out_) return bytes;
    const Tag tag = out_->next(bytes);
    bytes.insert(bytes.end(), tag.begin(), tag.end());
    return bytes;
  }
  void say(const Message& message) { say_bytes(sealed(message)); }

  // The next message; nothing after the other side has ended it, or after 5 s.
  std::optional<Message> hear() {
    for (;;) {
      std::uint32_t length = 0;
      if (in_.size() >= sizeof length) {
        std::memcpy(&length, in_.data(), sizeof length);
        const std::size_t message = sizeof length + length;
        const std::size_t whole = message + (in_seal_ ? sizeof(Tag) : 0);
        if (in_.size() >= whole) {
          heard_.assign(in_.begin(), in_.begin() + whole);
          in_.erase(in_.begin(), in_.begin() + whole);
          if (in_seal_ && !is_authentic(message)) return std::nullopt;
          return parse(ByteView(heard_).subspan(sizeof length, length));
        }
      }
      if (!more()) return std::nullopt;
    }
  }
  template <typename Kind>
  std::optional<Kind> hear_a() {
    while (auto message = hear()) {
      if (auto* found = std::get_if<Kind>(&*message)) return *found;
    }
    return std::nullopt;
  }
  // The Ask of a round; on the way there it says that it can be heard.
  std::optional<Ask> hear_a_round() {
    auto ask = hear_a<Ask>();
    while (ask && ask->looks) {
      say(Limit{ask->key, ask->round, 0});
      ask = hear_a<Ask>();
    }
    return ask;
  }
  // Nothing came, and the other side has ended it.
  bool is_shut() {
    while (more()) {
    }
    return in_.empty() && shut_;
  }

 private:
  bool is_authentic(std::size_t message) {
    Tag tag;
    std::memcpy(tag.data(), heard_.data() + message, sizeof tag);
    const bool fits = in_seal_->fits(ByteView(heard_).first(message), tag);
    EXPECT_TRUE(fits);
    return fits;
  }
  bool more() {
    pollfd watched{fd_, POLLIN, 0};
    if (fd_ < 0 || ::poll(&watched, 1, 8000) <= 0) return false;
    std::byte bytes[4096];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    shut_ = got <= 0;
    if (got > 0) in_.insert(in_.end(), bytes, bytes + got);
    return got > 0;
  }

  int fd_ = -1;
  bool shut_ = false;
  Bytes in_, heard_;
  Bytes* recorded_ = nullptr;
  std::optional<Seal> out_, in_seal_;
};

// The last of `ranks` ranks: a leaf of the tree.
class Puppet {
 public:
  // `host`: of 127.0.0.0; what is not 1 counts as another machine's.
  Puppet(const Id& id, int ranks, std::uint32_t host = 1) : stamp_(*read_stamp(id)), ranks_(ranks) {
    at_.sin_family = AF_INET;
    at_.sin_addr.s_addr = htonl((INADDR_LOOPBACK & 0xFFFFFF00U) | host);
    listen();
    registrar = come();
  }
  // Listens at the address at which it listened before, if it did.
  void listen() {
    listening_ = Wire(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(listening_.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    EXPECT_EQ(::bind(listening_.fd(), reinterpret_cast<sockaddr*>(&at_), sizeof at_), 0);
    (void)::listen(listening_.fd(), 8);
    socklen_t length = sizeof at_;
    ::getsockname(listening_.fd(), reinterpret_cast<sockaddr*>(&at_), &length);
    listens_ = *address_of(std::as_bytes(std::span(&at_, 1)));
  }
  void stop_listening() { listening_.end(); }
  // To the process that the last of the ranks would register with.
  Wire come() const { return Wire::to(stamp_.registrar, as(ranks_)); }

  Head head(int number) const {
    return {kVersion, stamp_.secret, static_cast<std::uint32_t>(ranks_ - 1),
            static_cast<std::uint32_t>(number)};
  }
  Introduction as(int number) const { return {head(number), std::nullopt}; }
  Register registration(const std::string& terms = "codec=lorenzo\n") const {
    return {{}, listens_, std::nullopt, 0, 0, terms};
  }
  // None after 10 s.
  Wire accept() const {
    Wire made = accept_as_a_stranger();
    made.be_found(stamp_.secret);
    return made;
  }
  Wire accept_as_a_stranger() const {
    pollfd watched{listening_.fd(), POLLIN, 0};
    if (::poll(&watched, 1, 10'000) <= 0) return Wire();
    return Wire(::accept(listening_.fd(), nullptr, nullptr));
  }
  // Takes part until the tree is ready.
  void join() {
    registrar.say(registration());
    parent = accept();
    ASSERT_TRUE(parent.hear_a<Table>());
    parent.say(Up{true, ""});
    const auto ready = parent.hear_a<Ready>();
    ASSERT_TRUE(ready);
    addresses_ = ready->addresses;
  }
  // After it has joined.
  const Address& address_of_rank(int rank) const {
    return addresses_.at(static_cast<std::size_t>(rank));
  }

  // As if its process had ended: nobody listens any more.
  void die() {
    listening_.end();
    parent.end();
    registrar.end();
  }

  const Stamp& stamp() const { return stamp_; }

  Wire registrar;
  Wire parent;

 private:
  Stamp stamp_;
  int ranks_;
  sockaddr_in at_{};
  Wire listening_;
  Address listens_;
  std::vector<Address> addresses_;
};

}  // namespace job
