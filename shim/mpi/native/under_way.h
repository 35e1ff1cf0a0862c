// Calls of the program's that are under way in this thread and hold something. An error handler of
// the program's may leave a call by longjmp(), which runs no destructor: so what these hold is put
// in order before the handler runs (decision 0084).
#pragma once

namespace thinwire::mpi {

// Lies in the frame of the call, whose class says what to put in order.
class UnderWay {
 public:
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 protected:
  UnderWay() = default;
  ~UnderWay() { end(); }

  // From here on it is put in order before a handler runs, once. No lock may be held between the
  // two: what is put in order takes them.
  void begin();
  void end() {
    if (from_ == nullptr) return;
    *from_ = next_;
    if (next_ != nullptr) next_->from_ = from_;
    from_ = nullptr;
  }

  // A handler is about to run, of which nobody knows whether it returns. If it does, the call goes
  // on. Raises nothing. `error`: the one that the handler is told.
  virtual void before_handler(int error) = 0;

 private:
  friend void put_in_order(int error);
  UnderWay* next_ = nullptr;
  UnderWay** from_ = nullptr;  // the pointer to this; user-level threads may end it in another one
};

// Before a handler of the program's runs for `error`.
void put_in_order(int error);

// Whether this thread is in put_in_order(): nothing that may raise an error is begun there.
bool is_putting_in_order();

}  // namespace thinwire::mpi
