// Matrices are multiplied by rows, a thread for each half; a latch lets all begin together and another tells when all are
// done. The racy twin gives both threads one row too many. C++20.
#include <array>
#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

constexpr size_t N = 4;

using Matrix = std::array<std::array<int, N>, N>;

static Matrix identity() {
    Matrix matrix{};
    for (size_t i = 0; i < N; i++)
        matrix[i][i] = 1;
    return matrix;
}

static Matrix numbers() {
    Matrix matrix{};
    int next = 0;
    for (auto &row : matrix)
        for (int &cell : row)
            cell = next++;
    return matrix;
}

class Product {
public:
    Product(const Matrix &left, const Matrix &right) : left_(left), right_(right) {}

    const Matrix &compute() {
        std::vector<std::jthread> threads;
        for (size_t half = 0; half < 2; half++)
            threads.emplace_back([this, half] { rows(half * N / 2, (half + 1) * N / 2); });
        begin_.count_down();
        done_.wait();
        return result_;
    }

private:
    void rows(size_t from, size_t to) {
        begin_.wait();
#ifdef RACY
        to = to < N ? to + 1 : to;
#endif
        for (size_t i = from; i < to; i++)
            for (size_t j = 0; j < N; j++) {
                int sum = 0;
                for (size_t k = 0; k < N; k++)
                    sum += left_[i][k] * right_[k][j];
                result_[i][j] = sum; // RACE!
            }
        done_.count_down();
    }

    const Matrix &left_;
    const Matrix &right_;
    Matrix result_{};
    std::latch begin_{1};
    std::latch done_{2};
};

int main() {
    const Matrix left = numbers(), right = identity();
    Product product(left, right);
    return product.compute() == left ? 0 : 1;
}
