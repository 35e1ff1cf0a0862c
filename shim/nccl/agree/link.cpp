#include "agree/link.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace thinwire::nccl::agree {
namespace {

constexpr std::size_t kReadBytes = 64U << 10;
// An empty buffer that has grown beyond this, for a table, is given back.
constexpr std::size_t kKeptBytes = 1U << 20;
// A link with much to read lets the others have their turn.
constexpr int kReadsATurn = 16;

}  // namespace

Link::Link(Loop& loop, Socket socket, bool connecting)
    : loop_(loop), socket_(std::move(socket)), connecting_(connecting) {
  if (!connecting) tune(socket_);
  events_ = connecting ? EPOLLOUT : EPOLLIN;
  watched_ = loop_.watch(socket_.fd(), events_, [this](std::uint32_t events) { ready(events); });
}

Link::~Link() { close(); }

void Link::close() {
  if (!socket_) return;
  loop_.unwatch(watched_, socket_.fd());
  socket_.close();
  controls_.clear();
  own_.clear();
  writing_.reset();
  stop_counting();
}

void Link::stop_counting() {
  if (std::exchange(counts_, false)) --loop_.unfinished;
}

void Link::send(const Message& message) {
  if (!socket_) return;
  out_->put(std::make_shared<const Bytes>(pack(message)));
  write();
}

void Link::send_part(SharedBytes packed) {
  if (!socket_) return;
  out_->put_part(std::move(packed));
  write();
}

void Link::send_control(const Message& message) {
  if (!socket_) return;
  controls_.push_back(std::make_shared<const Bytes>(pack(message)));
  write();
}

void Link::use(Outbox& out) {
  out_ = &out;
  write();
}

void Link::write() {
  if (socket_ && !connecting_) write_some();
}

void Link::dismiss(Loop& loop, std::unique_ptr<Link> link) {
  if (!link) return;
  if (link->out_ != &link->own_) {
    link->own_ = std::move(*link->out_);
    link->own_.stop_keeping();
    link->out_ = &link->own_;
  }
  if (!link->socket_ || (link->connecting_ && !link->has_unsent())) {
    link->close();
    loop.bury(std::move(link));
    return;
  }
  std::shared_ptr<Link> kept = std::move(link);
  // Closing at once could take from the other side what it has not read yet.
  kept->dismissed_ = true;
  const Loop::TimerId timer = loop.after(kExitTime, [kept] { kept->close(); });
  kept->on_connected = nullptr;
  kept->on_message = [](Message&&) {};
  kept->on_ended = [&loop, timer, weak = std::weak_ptr(kept)](const std::string&) {
    if (const auto self = weak.lock()) loop.bury(self);
    loop.cancel(timer);
  };
  if (kept->has_unsent()) {
    kept->counts_ = true;
    ++loop.unfinished;
  } else {
    ::shutdown(kept->socket_.fd(), SHUT_WR);
  }
}

void Link::end(const std::string& why) {
  close();
  const auto tell = std::exchange(on_ended, nullptr);
  if (tell) tell(why);
}

bool Link::finish_connecting() {
  error_ = connect_error(socket_);
  if (error_ != 0) {
    end(std::strerror(error_));
    return false;
  }
  connecting_ = false;
  tune(socket_);
  if (on_connected) on_connected();
  return static_cast<bool>(socket_);
}

void Link::ready(std::uint32_t events) {
  if (connecting_ && !finish_connecting()) return;
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_some();
  if (socket_) write_some();
}

// For a stranger no more than its greeting.
std::span<std::byte> Link::room() {
  const std::size_t wanted = most_ == kMostGreeting ? kMostGreeting + kLengthBytes : kReadBytes;
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
    if (length > most_) return end("what came is too long");
    if (there.size() - kLengthBytes < length) return;
    auto message = parse(there.subspan(kLengthBytes, length));
    if (!message) return end("what came cannot be read");
    in_begin_ += kLengthBytes + length;
    const auto handler = on_message;  // it may be replaced meanwhile
    if (handler) handler(std::move(*message));
  }
}

void Link::write_some() {
  while (socket_) {
    if (!writing_) {
      if (!has_unsent()) break;
      is_control_ = !controls_.empty();
      writing_ = is_control_ ? controls_.front() : out_->next();
      written_ = 0;
    }
    const ssize_t put = ::send(socket_.fd(), writing_->data() + written_,
                               writing_->size() - written_, MSG_NOSIGNAL);
    if (put < 0) break;  // there is no room, or the end will be read
    written_ += static_cast<std::size_t>(put);
    if (written_ < writing_->size()) continue;
    if (is_control_) {
      controls_.pop_front();
    } else {
      out_->written();
    }
    writing_.reset();
  }
  if (!socket_) return;
  if (dismissed_ && !has_unsent()) {
    stop_counting();
    ::shutdown(socket_.fd(), SHUT_WR);
  }
  watch_what_is_needed();
}

void Link::watch_what_is_needed() {
  const std::uint32_t wanted = EPOLLIN | (has_unsent() ? std::uint32_t{EPOLLOUT} : 0);
  if (wanted == events_) return;
  events_ = wanted;
  loop_.change(watched_, socket_.fd(), wanted);
}

}  // namespace thinwire::nccl::agree
