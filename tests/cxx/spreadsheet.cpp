// A spreadsheet whose cells are computed by two threads: a cell is computed when those it uses are done, which an atomic state
// says. The racy twin publishes a value with a relaxed store.
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sheet {

struct Reference {
    size_t column, row;

    static Reference parse(const std::string &name) {
        if (name.size() != 2 || name[0] < 'A' || name[0] > 'B' || name[1] < '1' || name[1] > '2')
            throw std::invalid_argument(name);
        return Reference{static_cast<size_t>(name[0] - 'A'), static_cast<size_t>(name[1] - '1')};
    }
};

class Sheet;

/// What a cell is computed from.
class Formula {
public:
    virtual ~Formula() = default;
    virtual std::vector<Reference> uses() const = 0;
    virtual double value(const Sheet &sheet) const = 0;
};

class Constant final : public Formula {
public:
    explicit Constant(double value) : value_(value) {}
    std::vector<Reference> uses() const override { return {}; }
    double value(const Sheet &) const override { return value_; }

private:
    double value_;
};

class Sum final : public Formula {
public:
    explicit Sum(std::vector<Reference> terms) : terms_(std::move(terms)) {}
    std::vector<Reference> uses() const override { return terms_; }
    double value(const Sheet &sheet) const override;

private:
    std::vector<Reference> terms_;
};

enum class State { Waiting, Claimed, Done };

struct Cell {
    std::unique_ptr<Formula> formula;
    std::atomic<State> state{State::Waiting};
    double value = 0;
};

class Sheet {
public:
    static constexpr size_t COLUMNS = 2, ROWS = 2;

    void set(const std::string &name, std::unique_ptr<Formula> formula) {
        at(Reference::parse(name)).formula = std::move(formula);
    }

    double value(Reference reference) const {
        return at(reference).value; // RACE!
    }

    double value(const std::string &name) const { return value(Reference::parse(name)); }

    /// Computes the cells that are ready and that nobody else has claimed, from the given one on.
    void compute(size_t first) {
        for (size_t i = 0; i < COLUMNS * ROWS; i++) {
            size_t number = (first + i) % (COLUMNS * ROWS);
            Cell &cell = cells_[number];
            if (!cell.formula || !is_ready(*cell.formula))
                continue;
            State expected = State::Waiting;
            if (!cell.state.compare_exchange_strong(expected, State::Claimed, std::memory_order_relaxed))
                continue;
            cell.value = cell.formula->value(*this); // RACE!
#ifdef RACY
            cell.state.store(State::Done, std::memory_order_relaxed);
#else
            cell.state.store(State::Done, std::memory_order_release);
#endif
        }
    }

    /// Whether every cell with a formula has its value; for a thread that is alone.
    bool is_complete() const {
        for (const Cell &cell : cells_)
            if (cell.formula && cell.state.load(std::memory_order_acquire) != State::Done)
                return false;
        return true;
    }

private:
    Cell &at(Reference reference) { return cells_[reference.row * COLUMNS + reference.column]; }
    const Cell &at(Reference reference) const { return cells_[reference.row * COLUMNS + reference.column]; }

    bool is_ready(const Formula &formula) const {
        for (Reference used : formula.uses())
            if (at(used).state.load(std::memory_order_acquire) != State::Done)
                return false;
        return true;
    }

    std::array<Cell, COLUMNS * ROWS> cells_;
};

double Sum::value(const Sheet &sheet) const {
    double sum = 0;
    for (Reference term : terms_)
        sum += sheet.value(term);
    return sum;
}

std::unique_ptr<Formula> sum(const std::vector<std::string> &names) {
    std::vector<Reference> terms;
    for (const std::string &name : names)
        terms.push_back(Reference::parse(name));
    return std::make_unique<Sum>(std::move(terms));
}

} // namespace sheet

int main() {
    sheet::Sheet table;
    table.set("A1", std::make_unique<sheet::Constant>(2));
    table.set("A2", sheet::sum({"A1", "A1"}));
    bool rejected = false;
    try {
        table.set("C7", nullptr);
    } catch (const std::invalid_argument &) {
        rejected = true;
    }
    std::thread other([&] { table.compute(2); });
    table.compute(0);
    other.join();
    while (!table.is_complete())
        table.compute(0);
    return rejected && table.value("A2") == 4 ? 0 : 1;
}
