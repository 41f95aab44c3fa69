// A system of actors: each has a mailbox and a thread that owns its state; messages are variants. The racy twin lets the
// accountant read a teller's sum instead of asking for it.
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>

namespace actors {

template <class Message> class Mailbox {
public:
    void put(Message message) {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            messages_.push_back(std::move(message));
        }
        arrived_.notify_one();
    }

    Message take() {
        std::unique_lock<std::mutex> guard(mutex_);
        arrived_.wait(guard, [this] { return !messages_.empty(); });
        Message message = std::move(messages_.front());
        messages_.pop_front();
        return message;
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<Message> messages_;
};

/// A thread with a mailbox; what derives from it handles one message after the other until one says that it was the last.
template <class Message> class Actor {
public:
    virtual ~Actor() = default;
    void send(Message message) { mailbox_.put(std::move(message)); }
    void start() {
        thread_ = std::thread([this] {
            while (handle(mailbox_.take())) {
            }
        });
    }
    void join() { thread_.join(); }

protected:
    virtual bool handle(Message message) = 0;

private:
    Mailbox<Message> mailbox_;
    std::thread thread_;
};

} // namespace actors

struct Deposit {
    std::string account;
    int amount;
};

struct Ask {
    std::promise<int> *answer;
};

struct Stop {};

using ToTeller = std::variant<Deposit, Ask, Stop>;

class Teller final : public actors::Actor<ToTeller> {
public:
    /// The sum of all accounts; only for the teller itself.
    int sum() const { return sum_; } // RACE!

protected:
    bool handle(ToTeller message) override {
        return std::visit([this](auto &&each) { return on(each); }, message);
    }

private:
    bool on(const Deposit &deposit) {
        accounts_[deposit.account] += deposit.amount;
        sum_ += deposit.amount; // RACE!
        return true;
    }
    bool on(const Ask &ask) {
        ask.answer->set_value(sum());
        return true;
    }
    bool on(const Stop &) { return false; }

    std::map<std::string, int> accounts_;
    int sum_ = 0;
};

class Accountant {
public:
    explicit Accountant(Teller &teller) : teller_(teller) {}

    int audit() {
#ifdef RACY
        return teller_.sum();
#else
        std::promise<int> promise;
        std::future<int> answer = promise.get_future();
        teller_.send(Ask{&promise});
        return answer.get();
#endif
    }

private:
    Teller &teller_;
};

int main() {
    Teller teller;
    teller.start();
    teller.send(Deposit{"rent", 30});
    Accountant accountant(teller);
    int seen = accountant.audit();
    teller.send(Stop{});
    teller.join();
    return seen == 30 || seen == 0 ? 0 : 1;
}
