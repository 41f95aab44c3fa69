// Transfers lock both accounts.
#include <mutex>
#include <thread>

struct Account {
    std::mutex mutex;
    int balance = 10;
};

static Account left, right;

static void transfer(Account &from, Account &to, int amount) {
#ifdef RACY
    std::lock_guard<std::mutex> guard(from.mutex);
#else
    std::scoped_lock guard(from.mutex, to.mutex);
#endif
    from.balance -= amount; // RACE!
    to.balance += amount; // RACE!
}

int main() {
    std::thread other([] { transfer(left, right, 1); });
    transfer(right, left, 2);
    other.join();
    return left.balance + right.balance <= 23 ? 0 : 1;
}
