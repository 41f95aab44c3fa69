// A sum over a tree: each half is computed by a thread of its own as long as it is large, and shared futures hand partial
// sums to several who wait. The racy twin adds partial sums to a common one.
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace tree {

constexpr size_t SMALL = 2;

template <class T, class Add> T reduce(std::span<const T> values, T zero, Add add) {
    if (values.size() <= SMALL) {
        T sum = zero;
        for (const T &value : values)
            sum = add(sum, value);
        return sum;
    }
    const size_t half = values.size() / 2;
    T left = zero;
    std::thread thread([&] { left = reduce(values.first(half), zero, add); });
    T right = reduce(values.subspan(half), zero, add);
    thread.join();
    return add(left, right);
}

} // namespace tree

class Partial {
public:
    Partial() : result_(promise_.get_future().share()) {}
    void set(int value) { promise_.set_value(value); }
    std::shared_future<int> result() const { return result_; }

private:
    std::promise<int> promise_;
    std::shared_future<int> result_;
};

static int common;

static void add_up(std::shared_future<int> one, int weight) {
#ifdef RACY
    common += weight * one.get(); // RACE!
#else
    static std::mutex mutex;
    int value = one.get();
    std::lock_guard<std::mutex> guard(mutex);
    common += weight * value;
#endif
}

int main() {
    const std::vector<int> values{1, 2, 3, 4};
    Partial sum;
    std::thread one(add_up, sum.result(), 1);
    sum.set(tree::reduce<int>(values, 0, std::plus<int>()));
    add_up(sum.result(), 10);
    one.join();
    return common <= 110 ? 0 : 1;
}
