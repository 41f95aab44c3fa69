// Transfers between three accounts lock all that they touch at once, and an audit locks them all; one account has a mutex of
// another kind. The racy twin's audit locks only the one that the transfer does not touch.
#include <mutex>
#include <thread>

template <class Mutex> struct Account {
    Mutex mutex;
    int balance = 10;
};

static Account<std::mutex> checking, savings;
static Account<std::recursive_mutex> credit;

template <class From, class To> static void transfer(From &from, To &to, int amount) {
    std::scoped_lock guard(from.mutex, to.mutex);
    from.balance -= amount; // RACE!
    to.balance += amount; // RACE!
}

static int audit() {
#ifdef RACY
    std::scoped_lock guard(checking.mutex);
#else
    std::scoped_lock guard(savings.mutex, checking.mutex, credit.mutex);
#endif
    return checking.balance + savings.balance + credit.balance; // RACE!
}

int main() {
    std::thread other([] { transfer(savings, credit, 1); });
    int sum = audit();
    other.join();
    return sum == 30 ? 0 : 1;
}
