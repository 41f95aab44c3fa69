// Accounts with a history each; a transfer locks both, in any order, by `std::scoped_lock`, and an audit locks all. The racy
// twin writes the history after the locks are given back.
#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace ledger {

struct Entry { // RACE!
    std::string text;
    long amount;
};

class Account {
public:
    explicit Account(long balance) : balance_(balance) {}

    std::mutex &mutex() { return mutex_; }
    long balance() const { return balance_; }

    void add(long amount) {
        if (balance_ + amount < 0)
            throw std::runtime_error("not enough");
        balance_ += amount;
    }

    void note(std::string text, long amount) {
        history_.push_back(Entry{std::move(text), amount}); // RACE!
        if (history_.size() > 4)                            // RACE!
            history_.pop_front();                           // RACE!
    }

    size_t entries() const { return history_.size(); }

private:
    std::mutex mutex_;
    long balance_;
    std::deque<Entry> history_;
};

class Bank {
public:
    Bank() : accounts_{Account(100), Account(50), Account(0)} {}

    bool transfer(size_t from, size_t to, long amount) {
        Account &one = accounts_.at(from), &other = accounts_.at(to);
        {
            std::scoped_lock guard(one.mutex(), other.mutex());
            try {
                one.add(-amount);
            } catch (const std::runtime_error &) {
                return false;
            }
            other.add(amount);
#ifndef RACY
            one.note("out", -amount);
            other.note("in", amount);
#endif
        }
#ifdef RACY
        one.note("out", -amount);
        other.note("in", amount);
#endif
        return true;
    }

    long audit() {
        std::scoped_lock guard(accounts_[0].mutex(), accounts_[1].mutex(), accounts_[2].mutex());
        long sum = 0;
        for (const Account &account : accounts_)
            sum += account.balance();
        return sum;
    }

    size_t entries(size_t account) { return accounts_.at(account).entries(); }

private:
    std::array<Account, 3> accounts_;
};

} // namespace ledger

static ledger::Bank bank;

int main() {
    std::thread other([] { bank.transfer(0, 1, 30); });
    bool moved = bank.transfer(1, 2, 40);
    other.join();
    return moved && bank.audit() == 150 && bank.entries(1) <= 2 ? 0 : 1;
}
