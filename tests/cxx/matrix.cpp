// Matrices are multiplied by rows, each half by a thread; a latch lets both begin together and another tells when both are
// done. The racy twin gives both threads one row too many. C++20.
#include <array>
#include <cstddef>
#include <latch>
#include <thread>

constexpr size_t N = 2;

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
        std::jthread other([this] { rows(N / 2, N); });
        rows(0, N / 2);
        done_.wait();
        return result_;
    }

private:
    void rows(size_t from, size_t to) {
        begin_.arrive_and_wait();
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
    std::latch begin_{2};
    std::latch done_{2};
};

int main() {
    const Matrix left = numbers(), right = identity();
    Product product(left, right);
    return product.compute() == left ? 0 : 1;
}
