// Heat spreads along a rod: each thread computes a part of the next step, a barrier ends the step and exchanges the two
// rods. The racy twin computes in place, so that neighbours read what is being written.
#include <array>
#include <barrier>
#include <cmath>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace heat {

constexpr size_t CELLS = 6;
constexpr int STEPS = 2;

using Rod = std::vector<double>;

struct Part {
    size_t from;
    size_t to;
};

class Simulation {
public:
    explicit Simulation(std::ptrdiff_t threads)
        : now_(CELLS, 0.0), next_(CELLS, 0.0), threads_(threads), sync_(threads, Exchange{this}) {
        now_.front() = next_.front() = 100.0;
    }

    void run() {
        std::vector<std::thread> threads;
        for (std::ptrdiff_t i = 1; i < threads_; i++)
            threads.emplace_back(&Simulation::compute, this, part(i));
        compute(part(0));
        for (std::thread &thread : threads)
            thread.join();
    }

    double sum() const {
        double sum = 0;
        for (double each : now_)
            sum += each;
        return sum;
    }

    int steps() const { return steps_; }

private:
    /// Runs in one thread, when all have arrived.
    struct Exchange {
        Simulation *simulation;
        void operator()() noexcept { simulation->exchange(); }
    };

    void exchange() noexcept {
        std::swap(now_, next_);
        steps_++;
    }

    Part part(std::ptrdiff_t i) const {
        const size_t inner = CELLS - 2, each = inner / static_cast<size_t>(threads_);
        const size_t from = 1 + static_cast<size_t>(i) * each;
        return {from, from + each};
    }

    void compute(Part part) {
        for (int step = 0; step < STEPS; step++) {
            for (size_t i = part.from; i < part.to; i++) {
#ifdef RACY
                now_[i] = (now_[i - 1] + 2 * now_[i] + now_[i + 1]) / 4; // RACE!
#else
                next_[i] = (now_[i - 1] + 2 * now_[i] + now_[i + 1]) / 4;
#endif
            }
            sync_.arrive_and_wait();
        }
    }

    Rod now_;
    Rod next_;
    std::ptrdiff_t threads_;
    int steps_ = 0;
    std::barrier<Exchange> sync_;
};

} // namespace heat

int main() {
    heat::Simulation simulation(2);
    simulation.run();
    return simulation.steps() == heat::STEPS && std::isfinite(simulation.sum()) ? 0 : 1;
}
