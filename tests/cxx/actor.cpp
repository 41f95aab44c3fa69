// An actor owns its state; others send messages.
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

class Account {
public:
    Account() : thread_([this] { run(); }) {}
    ~Account() { thread_.join(); }
    void send(int amount) {
        std::lock_guard<std::mutex> guard(mutex_);
        messages_.push(amount);
        arrived_.notify_one();
    }
    int peek() const { return balance_; } // RACE!

private:
    void run() {
        for (;;) {
            int amount;
            {
                std::unique_lock<std::mutex> guard(mutex_);
                arrived_.wait(guard, [this] { return !messages_.empty(); });
                amount = messages_.front();
                messages_.pop();
            }
            if (amount == 0)
                return;
            balance_ += amount; // RACE!
        }
    }
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::queue<int> messages_;
    int balance_ = 0;
    std::thread thread_;
};

int main() {
    Account account;
    account.send(5);
#ifdef RACY
    (void)account.peek();
#endif
    account.send(0);
    return 0;
}
