// Expressions are parsed into trees and evaluated by two threads, with a memo of values that they share. The racy twin looks a
// value up before it takes the lock.
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace text {

enum class Kind { Number, Name, Operator, Open, Close, Comma, End };

struct Token {
    Kind kind = Kind::End;
    std::string_view text;
    size_t at = 0;
};

class Error : public std::runtime_error {
public:
    Error(const std::string &what, size_t at) : std::runtime_error(what), at_(at) {}
    size_t at() const { return at_; }

private:
    size_t at_;
};

class Tokens {
public:
    explicit Tokens(std::string_view source) : source_(source) { advance(); }

    const Token &peek() const { return current_; }

    Token take() {
        Token taken = current_;
        advance();
        return taken;
    }

    bool take_if(Kind kind, std::string_view text = {}) {
        if (current_.kind != kind || (!text.empty() && current_.text != text))
            return false;
        advance();
        return true;
    }

private:
    void advance() {
        while (at_ < source_.size() && std::isspace(static_cast<unsigned char>(source_[at_])))
            at_++;
        size_t start = at_;
        if (start == source_.size()) {
            current_ = Token{Kind::End, {}, start};
            return;
        }
        unsigned char first = static_cast<unsigned char>(source_[start]);
        if (std::isdigit(first)) {
            skip([](unsigned char c) { return std::isdigit(c) || c == '.'; });
            current_ = Token{Kind::Number, source_.substr(start, at_ - start), start};
        } else if (std::isalpha(first)) {
            skip([](unsigned char c) { return std::isalnum(c) || c == '_'; });
            current_ = Token{Kind::Name, source_.substr(start, at_ - start), start};
        } else {
            at_++;
            current_ = Token{kind_of(first, start), source_.substr(start, 1), start};
        }
    }

    template <class Predicate> void skip(Predicate belongs) {
        while (at_ < source_.size() && belongs(static_cast<unsigned char>(source_[at_])))
            at_++;
    }

    static Kind kind_of(unsigned char c, size_t at) {
        switch (c) {
        case '(':
            return Kind::Open;
        case ')':
            return Kind::Close;
        case ',':
            return Kind::Comma;
        case '+':
        case '-':
        case '*':
        case '/':
            return Kind::Operator;
        default:
            throw Error("a character that begins nothing", at);
        }
    }

    std::string_view source_;
    size_t at_ = 0;
    Token current_;
};

} // namespace text

namespace tree {

struct Node;
using Child = std::unique_ptr<Node>;

struct Number {
    double value;
};

struct Variable {
    std::string name;
};

struct Binary {
    char op;
    Child left, right;
};

struct Call {
    std::string function;
    std::vector<Child> arguments;
};

struct Node {
    std::variant<Number, Variable, Binary, Call> what;
};

template <class Part> Child make(Part part) { return std::make_unique<Node>(Node{std::move(part)}); }

// Grammar: sum = product {(+|-) product}; product = atom {(*|/) atom}; atom = number | name | name(sum, ...) | (sum) | -atom.
class Parser {
public:
    explicit Parser(std::string_view source) : tokens_(source) {}

    Child parse() {
        Child whole = sum();
        if (tokens_.peek().kind != text::Kind::End)
            throw text::Error("something after the end", tokens_.peek().at);
        return whole;
    }

private:
    Child sum() {
        Child left = product();
        while (true) {
            if (tokens_.take_if(text::Kind::Operator, "+"))
                left = make(Binary{'+', std::move(left), product()});
            else if (tokens_.take_if(text::Kind::Operator, "-"))
                left = make(Binary{'-', std::move(left), product()});
            else
                return left;
        }
    }

    Child product() {
        Child left = atom();
        while (true) {
            if (tokens_.take_if(text::Kind::Operator, "*"))
                left = make(Binary{'*', std::move(left), atom()});
            else if (tokens_.take_if(text::Kind::Operator, "/"))
                left = make(Binary{'/', std::move(left), atom()});
            else
                return left;
        }
    }

    Child atom() {
        text::Token token = tokens_.take();
        switch (token.kind) {
        case text::Kind::Number:
            return make(Number{number(token.text)});
        case text::Kind::Name:
            return name(token);
        case text::Kind::Open: {
            Child inner = sum();
            close(token.at);
            return inner;
        }
        case text::Kind::Operator:
            if (token.text == "-")
                return make(Binary{'-', make(Number{0}), atom()});
            [[fallthrough]];
        default:
            throw text::Error("no value", token.at);
        }
    }

    Child name(const text::Token &token) {
        std::string name(token.text);
        if (!tokens_.take_if(text::Kind::Open))
            return make(Variable{std::move(name)});
        Call call{std::move(name), {}};
        do
            call.arguments.push_back(sum());
        while (tokens_.take_if(text::Kind::Comma));
        close(token.at);
        return make(std::move(call));
    }

    void close(size_t opened) {
        if (!tokens_.take_if(text::Kind::Close))
            throw text::Error("a bracket that is not closed", opened);
    }

    static double number(std::string_view digits) {
        double value = 0, scale = 1;
        bool fraction = false;
        for (char c : digits) {
            if (c == '.') {
                fraction = true;
            } else {
                value = value * 10 + (c - '0');
                scale *= fraction ? 10 : 1;
            }
        }
        return value / scale;
    }

    text::Tokens tokens_;
};

} // namespace tree

namespace evaluation {

/// Values of names that were computed before, for all threads.
class Memo {
public:
    std::optional<double> find(const std::string &name) const {
#ifndef RACY
        std::lock_guard<std::mutex> guard(mutex_);
#endif
        auto found = values_.find(name); // RACE!
        if (found == values_.end())      // RACE!
            return std::nullopt;
        return found->second; // RACE!
    }

    void keep(const std::string &name, double value) {
        std::lock_guard<std::mutex> guard(mutex_);
        values_.emplace(name, value); // RACE!
    }

    size_t size() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return values_.size();
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, double> values_;
};

class Evaluator {
public:
    using Definitions = std::map<std::string, tree::Child>;

    Evaluator(const Definitions &definitions, Memo &memo) : definitions_(definitions), memo_(memo) {}

    double value(const tree::Node &node) const {
        return std::visit([this](const auto &part) { return of(part); }, node.what);
    }

private:
    double of(const tree::Number &number) const { return number.value; }

    double of(const tree::Variable &variable) const {
        if (auto known = memo_.find(variable.name))
            return *known;
        auto definition = definitions_.find(variable.name);
        if (definition == definitions_.end())
            throw std::out_of_range(variable.name);
        double result = value(*definition->second);
        memo_.keep(variable.name, result);
        return result;
    }

    double of(const tree::Binary &binary) const {
        double left = value(*binary.left), right = value(*binary.right);
        switch (binary.op) {
        case '+':
            return left + right;
        case '-':
            return left - right;
        case '*':
            return left * right;
        default:
            if (right == 0)
                throw std::domain_error("division by zero");
            return left / right;
        }
    }

    double of(const tree::Call &call) const {
        std::vector<double> values;
        values.reserve(call.arguments.size());
        for (const tree::Child &argument : call.arguments)
            values.push_back(value(*argument));
        if (call.function == "root" && values.size() == 1)
            return std::sqrt(values[0]);
        if (call.function == "larger" && values.size() == 2)
            return values[0] > values[1] ? values[0] : values[1];
        throw std::invalid_argument(call.function);
    }

    const Definitions &definitions_;
    Memo &memo_;
};

} // namespace evaluation

int main() {
    evaluation::Evaluator::Definitions definitions;
    definitions["side"] = tree::Parser("2 + 1").parse();
    definitions["area"] = tree::Parser("side * side").parse();
    evaluation::Memo memo;
    evaluation::Evaluator evaluator(definitions, memo);
    tree::Child first = tree::Parser("root(9) + larger(1, -2)").parse();
    tree::Child second = tree::Parser("4 * (side - 1)").parse();

    double results[2] = {0, 0};
    std::thread other([&] { results[1] = evaluator.value(*second); });
    tree::Child own = tree::Parser("side / 3").parse();
    results[0] = evaluator.value(*first) + evaluator.value(*own);
    other.join();

    bool rejected = false;
    try {
        tree::Parser("(1 + 2").parse();
    } catch (const text::Error &error) {
        rejected = error.at() == 0;
    }
    return results[0] == 5 && results[1] == 8 && rejected && memo.size() == 1 ? 0 : 1;
}
