// A rank's side of registration: it comes to the registrar, again if it must, and is told. A
// part of a communicator comes over that one's tree, if it can.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agree/link.h"

namespace thinwire::nccl::agree {

class Registration {
 public:
  struct Told {
    std::function<void(const std::string& why)> raw;
    // The registrar's word, which all ranks hear.
    std::function<void(const std::string& why)> decided_raw;
    // The same: the registrar gives no answer.
    std::function<void(const std::string& why)> unanswered;
    std::function<void(const Table&)> all_ranks;  // rank 0 alone
    std::function<void(const std::string& why)> waits;
    // Says where this rank listens, for connections to the host of `local`; nothing: it cannot.
    std::function<std::optional<Address>(const Address& local)> listens;
    // Sends a greeting over a connection of its own.
    std::function<void(const Address& to, Message greeting)> say;
    // A line up the tree: the terms, or why the part's ranks cannot be connected. False: that is no
    // way any more. Null: there is none.
    std::function<bool(bool failed, const std::string& text)> up;
  };

  struct Times {
    std::chrono::milliseconds registrar;  // until the registrar answers
    std::chrono::milliseconds all;        // until the ranks are connected to each other
  };
  Registration(Loop& loop, const Address& registrar, Register message, const Times& times,
               Told told);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  // The registrar's word, if it has come another way than by this rank's connection.
  void take(Message&& message);
  // The tree is no way any more: what was said on it may be lost.
  void lose_tree();
  // The ranks cannot be connected: the registrar tells all.
  void tell_failed(const std::string& why);

 private:
  void go_up();
  void begin_connecting();
  void connect();
  void again(const std::string& why);
  void greet();
  void answered();
  void wait_for_registrar();
  void wait_for_all();
  void give_up();
  void drop_link();

  Loop& loop_;
  const Address registrar_;
  Register message_;
  const Told told_;
  std::unique_ptr<Link> link_;
  const Times times_;
  Loop::TimerId silence_{};         // of the registrar
  Loop::TimerId patience_{};        // with all ranks
  bool is_overdue_ = false;         // the registrar's answer
  bool is_answered_ = false;        // on this connection
  bool was_ever_answered_ = false;  // on some connection
  std::string last_end_;            // of a connection, and why
  bool by_tree_ = false;
  Loop::TimerId retry_{};
  std::chrono::milliseconds delay_ = kFirstRetry;
};

}  // namespace thinwire::nccl::agree
