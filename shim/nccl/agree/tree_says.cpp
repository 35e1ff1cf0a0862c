// Messages of a rank along the tree, and how it leaves it.
#include <algorithm>

#include "agree/tree.h"

namespace thinwire::nccl::agree {

void Tree::up(const Message& message) {
  if (parent_) parent_->send(message);
}

void Tree::down(const Message& message) {
  for (const Child& each : children_) {
    if (each.session) each.session->send(message);
  }
}

void Tree::around(int but, const Message& message) {
  if (but != kFromParent) up(message);
  for (int child = 0; child < children(); ++child) {
    if (child != but && children_[child].session) children_[child].session->send(message);
  }
}

void Tree::around(int but, const SharedBytes& packed) {
  if (but != kFromParent && parent_) parent_->send_part(packed);
  for (int child = 0; child < children(); ++child) {
    if (child != but && children_[child].session) children_[child].session->send_part(packed);
  }
}

Session* Tree::way_towards(int rank) const {
  Session* const next = is_below(rank_, rank)
                            ? children_[static_cast<std::size_t>(way_to(rank_, rank))].session.get()
                            : parent_.get();
  return next == nullptr || !next->can_send() ? nullptr : next;
}

bool Tree::towards(int rank, const SharedBytes& packed) {
  Session* const next = way_towards(rank);
  if (next != nullptr) next->send_part(packed);
  return next != nullptr;
}

bool Tree::towards(int rank, const Message& message) {
  Session* const next = way_towards(rank);
  if (next != nullptr) next->send(message);
  return next != nullptr;
}

bool Tree::has_unsent() const {
  const auto unsent = [](const std::unique_ptr<Session>& session) {
    return session && session->has_unsent();
  };
  return unsent(parent_) || std::ranges::any_of(children_, unsent, &Child::session);
}

void Tree::leave() {
  if (parent_) parent_->leave();
  for (const Child& each : children_) {
    if (each.session) each.session->leave();
  }
}

bool Tree::is_done() const {
  const auto done = [](const std::unique_ptr<Session>& session) {
    return !session || session->is_done();
  };
  return done(parent_) && std::ranges::all_of(children_, done, &Child::session);
}

void Tree::dismiss() {
  loop_.cancel(parent_timer_);
  if (parent_) parent_->dismiss();
  for (const Child& each : children_) {
    loop_.cancel(each.retry);
    if (each.session) each.session->dismiss();
  }
}

}  // namespace thinwire::nccl::agree
