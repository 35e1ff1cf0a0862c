#include "agree/link.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstring>

namespace thinwire::nccl::agree {

Link::Link(Loop& loop, Socket socket, const Introduction& as)
    : loop_(loop), socket_(std::move(socket)), connecting_(true), handshake_(as) {
  say_first(*handshake_.first());
  begin(EPOLLOUT);
}

Link::Link(Loop& loop, Socket socket, Handshake::Finder find)
    : loop_(loop), socket_(std::move(socket)), handshake_(std::move(find)) {
  tune(socket_);
  begin(EPOLLIN);
}

void Link::begin(std::uint32_t events) {
  events_ = events;
  watched_ = loop_.watch(socket_.fd(), events_, [this](std::uint32_t now) { ready(now); });
}

Link::~Link() { close(); }

void Link::close() {
  if (!socket_) return;
  loop_.unwatch(watched_, socket_.fd());
  socket_.close();
  first_.clear();
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
  if (!link->socket_ || (!link->handshake_.is_done() && !link->has_unsent())) {
    link->close();
    loop.bury(std::move(link));
    return;
  }
  std::shared_ptr<Link> kept = std::move(link);
  // Closing at once could take from the other side what it has not read yet.
  kept->dismissed_ = true;
  const Loop::TimerId timer = loop.after(kExitTime, [kept] { kept->close(); });
  kept->on_connected = kept->on_proven = nullptr;
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

}  // namespace thinwire::nccl::agree
