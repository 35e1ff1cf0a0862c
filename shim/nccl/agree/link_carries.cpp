// Reading and writing of a connection.
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "agree/link.h"

namespace thinwire::nccl::agree {
namespace {

constexpr std::size_t kReadBytes = 64U << 10;
// An empty buffer that has grown beyond this, for a table, is given back.
constexpr std::size_t kKeptBytes = 1U << 20;
// A link with much to read lets the others have their turn.
constexpr int kReadsATurn = 16;

}  // namespace

// Room for the next read; for a stranger no more than its greeting needs.
std::span<std::byte> Link::room() {
  const bool is_stranger = most() == kMostGreeting;
  const std::size_t wanted = is_stranger ? kMostGreeting + kLengthBytes + sizeof(Tag) : kReadBytes;
  if (in_begin_ == in_end_) {
    in_begin_ = in_end_ = 0;
    if (in_.size() > kKeptBytes) in_ = {};
  } else if (in_.size() - in_end_ < wanted) {
    std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= std::exchange(in_begin_, 0);
  }
  if (in_.size() - in_end_ < wanted) in_.resize(std::max(in_end_ + wanted, 2 * in_end_));
  return std::span(in_).subspan(in_end_);
}

void Link::read_some() {
  for (int times = 0; times < kReadsATurn && socket_; ++times) {
    const std::span<std::byte> to = room();
    const ssize_t got = ::recv(socket_.fd(), to.data(), to.size(), 0);
    if (got > 0) {
      in_end_ += static_cast<std::size_t>(got);
      take_messages();
    } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      return;
    } else {
      end(got == 0 ? "the connection was closed" : std::strerror(errno));
    }
  }
}

void Link::take_messages() {
  while (socket_ && in_end_ - in_begin_ >= kLengthBytes) {
    const ByteView there = ByteView(in_).subspan(in_begin_, in_end_ - in_begin_);
    std::uint32_t length = 0;
    std::memcpy(&length, there.data(), sizeof length);
    if (length > most()) return end("what came is too long");
    const std::size_t message = kLengthBytes + length;
    const std::size_t whole = message + (seal_in_ ? sizeof(Tag) : 0);
    if (there.size() < whole) return;
    if (seal_in_) {
      Tag tag;
      std::memcpy(tag.data(), there.data() + message, sizeof tag);
      if (!seal_in_->fits(there.first(message), tag)) return end("what came is not authentic");
    }
    in_begin_ += whole;
    take_one(there.first(message));
  }
}

void Link::take_one(ByteView message) {
  // Messages of another version after its greeting are for nobody.
  if (is_greeted_ && handshake_.introduction().head.version != kVersion) return;
  auto parsed = parse(message.subspan(kLengthBytes));
  if (!parsed) return end("what came cannot be read");
  if (!handshake_.is_done()) return shake_hands(*parsed);
  hand_on(std::move(*parsed));
}

void Link::shake_hands(const Message& message) {
  if (!handshake_.take(message)) return end("the other side does not know the secret");
  if (const auto answer = handshake_.answer()) say_first(*answer);
  if (handshake_.is_done()) {
    seal_in_.emplace(handshake_.key_in());
    seal_out_.emplace(handshake_.key_out());
    if (on_proven) on_proven();
    if (handshake_.introduction().head.version != kVersion) hand_on(Register{});
  }
  write();
}

// Hands a message on; a greeting gets the head that the connection began with.
void Link::hand_on(Message&& message) {
  is_greeted_ = true;
  const auto introduce = [this](auto& it) {
    if constexpr (requires { it.head; }) it.head = handshake_.introduction().head;
    if constexpr (requires { it.head, it.child_of; }) {
      it.child_of = handshake_.introduction().child_of;
    }
  };
  if (!handshake_.makes()) std::visit(introduce, message);
  const auto handler = on_message;  // it may be replaced meanwhile
  if (handler) handler(std::move(message));
}

void Link::say_first(const Message& message) {
  first_.push_back(std::make_shared<const Bytes>(pack(message)));
}

bool Link::can_write() const {
  if (writing_ || !first_.empty()) return true;
  return handshake_.is_done() && has_unsent();
}

void Link::begin_message() {
  writing_of_ = !first_.empty() ? kOfFirst : !controls_.empty() ? kOfControls : kOfOutbox;
  writing_ = writing_of_ == kOfFirst      ? first_.front()
             : writing_of_ == kOfControls ? controls_.front()
                                          : out_->next();
  written_ = tag_bytes_ = 0;
  if (writing_of_ == kOfFirst) return;
  tag_ = seal_out_->next(*writing_);
  tag_bytes_ = tag_.size();
}

// Writes what the socket takes of the message and its tag. False if it takes nothing: it is full,
// or has ended, which the next read finds out.
bool Link::write_rest() {
  const std::size_t of_message = std::min(written_, writing_->size());
  const std::size_t of_tag = written_ - of_message;
  const ByteView message = ByteView(*writing_).subspan(of_message);
  const ByteView tag = ByteView(tag_).first(tag_bytes_).subspan(of_tag);
  iovec both[2] = {{const_cast<std::byte*>(message.data()), message.size()},
                   {const_cast<std::byte*>(tag.data()), tag.size()}};
  msghdr what{};
  what.msg_iov = both;
  what.msg_iovlen = 2;
  const ssize_t put = ::sendmsg(socket_.fd(), &what, MSG_NOSIGNAL);
  if (put < 0) return false;
  written_ += static_cast<std::size_t>(put);
  return true;
}

void Link::written() {
  if (writing_of_ == kOfOutbox) {
    out_->written();
  } else {
    (writing_of_ == kOfFirst ? first_ : controls_).pop_front();
  }
  writing_.reset();
}

void Link::write_some() {
  while (socket_ && can_write()) {
    if (!writing_) begin_message();
    if (!write_rest()) break;
    if (written_ == writing_->size() + tag_bytes_) written();
  }
  if (!socket_) return;
  if (dismissed_ && !has_unsent()) {
    stop_counting();
    ::shutdown(socket_.fd(), SHUT_WR);
  }
  watch_what_is_needed();
}

void Link::watch_what_is_needed() {
  const std::uint32_t wanted = EPOLLIN | (can_write() ? std::uint32_t{EPOLLOUT} : 0);
  if (wanted == events_) return;
  events_ = wanted;
  loop_.change(watched_, socket_.fd(), wanted);
}

}  // namespace thinwire::nccl::agree
