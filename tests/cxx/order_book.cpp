// A book of orders: buyers and sellers are matched by price and time, trades are reported to listeners, and figures are kept.
// The racy twin updates the figures after it has given the lock back.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace market {

enum class Side { Buy, Sell };

using Price = std::int64_t;
using Amount = std::int64_t;
using OrderId = std::uint32_t;

struct Order {
    OrderId id;
    Side side;
    Price price;
    Amount amount;
};

struct Trade {
    OrderId taker, maker;
    Price price;
    Amount amount;
};

/// Orders of one side at one price, the oldest first.
class Level {
public:
    void add(const Order &order) {
        orders_.push_back(order);
        total_ += order.amount;
    }

    bool empty() const { return orders_.empty(); }
    Amount total() const { return total_; }

    /// Takes as much as there is, at most `wanted`; reports each trade.
    template <class Report> Amount take(Amount wanted, Report report) {
        Amount taken = 0;
        while (taken < wanted && !orders_.empty()) {
            Order &oldest = orders_.front();
            Amount part = std::min(wanted - taken, oldest.amount);
            report(oldest, part);
            oldest.amount -= part;
            taken += part;
            if (oldest.amount == 0)
                orders_.pop_front();
        }
        total_ -= taken;
        return taken;
    }

    bool remove(OrderId id) {
        auto found = std::find_if(orders_.begin(), orders_.end(), [&](const Order &order) { return order.id == id; });
        if (found == orders_.end())
            return false;
        total_ -= found->amount;
        orders_.erase(found);
        return true;
    }

private:
    std::deque<Order> orders_;
    Amount total_ = 0;
};

/// One side of the book; the best price is the first.
template <class Compare> class Half {
public:
    void add(const Order &order) { levels_[order.price].add(order); }

    std::optional<Price> best() const {
        if (levels_.empty())
            return std::nullopt;
        return levels_.begin()->first;
    }

    template <class Report> Amount match(const Order &order, Report report) {
        Amount left = order.amount;
        while (left > 0 && !levels_.empty()) {
            auto level = levels_.begin();
            if (Compare()(order.price, level->first))
                break;
            left -= level->second.take(left, report);
            if (level->second.empty())
                levels_.erase(level);
        }
        return left;
    }

    bool remove(OrderId id, Price price) {
        auto level = levels_.find(price);
        if (level == levels_.end() || !level->second.remove(id))
            return false;
        if (level->second.empty())
            levels_.erase(level);
        return true;
    }

    Amount depth() const {
        return std::accumulate(levels_.begin(), levels_.end(), Amount(0),
                               [](Amount sum, const auto &level) { return sum + level.second.total(); });
    }

private:
    std::map<Price, Level, Compare> levels_;
};

struct Figures {
    unsigned orders = 0;
    unsigned trades = 0;
    Amount volume = 0;
};

class Book {
public:
    using Listener = std::function<void(const Trade &)>;

    void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

    /// Matches an order; what is left of it stays in the book.
    std::vector<Trade> submit(const Order &order) {
        std::vector<Trade> trades;
        {
            std::lock_guard<std::mutex> guard(mutex_);
            auto report = [&](const Order &maker, Amount amount) {
                trades.push_back(Trade{order.id, maker.id, maker.price, amount});
            };
            Order rest = order;
            if (order.side == Side::Buy) {
                rest.amount = sellers_.match(order, report);
                if (rest.amount > 0)
                    buyers_.add(rest);
            } else {
                rest.amount = buyers_.match(order, report);
                if (rest.amount > 0)
                    sellers_.add(rest);
            }
#ifndef RACY
            count(trades);
#endif
        }
#ifdef RACY
        count(trades);
#endif
        for (const Trade &trade : trades)
            for (const Listener &listener : listeners_)
                listener(trade);
        return trades;
    }

    bool cancel(OrderId id, Side side, Price price) {
        std::lock_guard<std::mutex> guard(mutex_);
        return side == Side::Buy ? buyers_.remove(id, price) : sellers_.remove(id, price);
    }

    std::optional<Price> spread() const {
        std::lock_guard<std::mutex> guard(mutex_);
        auto bid = buyers_.best(), ask = sellers_.best();
        if (!bid || !ask)
            return std::nullopt;
        return *ask - *bid;
    }

    Amount depth() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return buyers_.depth() + sellers_.depth();
    }

    Figures figures() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return figures_;
    }

private:
    void count(const std::vector<Trade> &trades) {
        figures_.orders++; // RACE!
        for (const Trade &trade : trades) {
            figures_.trades++;               // RACE!
            figures_.volume += trade.amount; // RACE!
        }
    }

    mutable std::mutex mutex_;
    Half<std::greater<Price>> buyers_;
    Half<std::less<Price>> sellers_;
    Figures figures_;
    std::vector<Listener> listeners_;
};

} // namespace market

int main() {
    market::Book book;
    std::mutex mutex;
    market::Amount heard = 0;
    book.listen([&](const market::Trade &trade) {
        std::lock_guard<std::mutex> guard(mutex);
        heard += trade.amount;
    });
    book.submit({1, market::Side::Sell, 102, 5});
    book.submit({2, market::Side::Sell, 101, 3});
    book.submit({3, market::Side::Buy, 99, 4});
    bool cancelled = book.cancel(3, market::Side::Buy, 99);

    std::thread buyer([&] { book.submit({4, market::Side::Buy, 101, 2}); });
    book.submit({5, market::Side::Sell, 103, 1});
    buyer.join();

    market::Figures figures = book.figures();
    bool matched = figures.trades == 1 && figures.volume == 2 && figures.orders == 5 && heard == 2;
    return cancelled && matched && book.depth() == 7 && !book.spread() ? 0 : 1;
}
