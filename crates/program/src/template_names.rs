//! Names of C++ templates as people write them: without the arguments that everybody leaves out.

/// Templates that are default arguments of others: `std::vector<int, std::allocator<int> >` is `std::vector<int>`.
const DEFAULTS: [&str; 8] = [
    "std::allocator<",
    "std::char_traits<",
    "std::less<",
    "std::equal_to<",
    "std::hash<",
    "std::default_delete<",
    "std::deque<",
    "std::vector<",
];

/// Templates whose last argument is a container that nobody names.
const ADAPTERS: [&str; 3] = ["std::queue", "std::stack", "std::priority_queue"];

/// Spellings of the implementation, and what people write.
const SPELLINGS: [(&str, &str); 9] = [
    ("std::__cxx11::", "std::"),
    ("std::__1::", "std::"),
    ("__gnu_cxx::new_allocator<", "std::allocator<"),
    ("std::__new_allocator<", "std::allocator<"),
    ("std::basic_string<char>", "std::string"),
    ("std::basic_string<wchar_t>", "std::wstring"),
    ("std::basic_string_view<char>", "std::string_view"),
    ("std::basic_ostream<char>", "std::ostream"),
    ("std::basic_istream<char>", "std::istream"),
];

/// A demangled name as people write it; the name itself if it is not understood.
pub fn shortened(name: &str) -> String {
    let mut short = lambdas(name);
    for (implementation, _) in &SPELLINGS[..2] {
        short = short.replace(implementation, "std::");
    }
    if !short.contains('<') {
        return short;
    }
    let mut rest = short.as_str();
    let Some(mut short) = sequence(&mut rest).filter(|_| rest.is_empty()) else { return name.to_owned() };
    for (implementation, people) in &SPELLINGS[2..] {
        short = short.replace(implementation, people);
    }
    short
}

/// A name with its lambdas as `lambda#1`: they are `$_0`, or `{lambda(int)#1}` in what several files share.
fn lambdas(name: &str) -> String {
    let mut short = String::new();
    let mut rest = name;
    while let Some(at) = rest.find(['$', '{']) {
        let (before, found) = rest.split_at(at);
        short.push_str(before);
        let numbered = found.strip_prefix("$_").map(|number| {
            let len = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
            (number[..len].parse().map(|number: u32| number + 1), &number[len..])
        });
        let named = found.strip_prefix("{lambda(").and_then(|lambda| {
            let (_, number) = lambda.split_once('#')?;
            let (number, after) = number.split_once('}')?;
            Some((number.parse(), after))
        });
        match numbered.or(named) {
            Some((Ok(number), after)) => {
                short.push_str(&format!("lambda#{number}"));
                rest = ["::operator() const", "::operator()"]
                    .iter()
                    .find_map(|call| after.strip_prefix(call))
                    .unwrap_or(after);
            }
            _ => {
                short.push_str(&found[..1]);
                rest = &found[1..];
            }
        }
    }
    short + rest
}

/// Copies up to a `,` or `>` that closes a list of arguments begun outside, or to the end; `None` if brackets do not match.
fn sequence(rest: &mut &str) -> Option<String> {
    let mut out = String::new();
    loop {
        if let Some(symbol) = rest.strip_prefix("operator") {
            let len = symbol.find(|c: char| !"<>=-!()[]&|+*/%^~".contains(c)).unwrap_or(symbol.len());
            // `operator<` may be followed by arguments of its own, as in `operator< <int>`; a blank comes before them.
            out.push_str(&rest[..8 + len]);
            *rest = &symbol[len..];
            continue;
        }
        match rest.chars().next() {
            None | Some(',' | '>') => return Some(out),
            Some('<') => {
                *rest = &rest[1..];
                let arguments = arguments(rest, &out)?;
                // Not so that `operator< <int>` becomes another operator.
                let template = Some(out.trim_end()).filter(|template| !template.ends_with('<')).unwrap_or(&out);
                out = format!("{template}<{}>", arguments.join(", "));
            }
            Some('(') => {
                *rest = &rest[1..];
                out.push('(');
                parameters(rest, &mut out)?;
            }
            Some(')') => return Some(out),
            Some(c) => {
                out.push(c);
                *rest = &rest[c.len_utf8()..];
            }
        }
    }
}

/// The arguments of the template that ends `template`, up to the closing bracket, without those that are usual.
fn arguments(rest: &mut &str, template: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    loop {
        *rest = rest.trim_start();
        all.push(sequence(rest)?.trim_end().to_owned());
        match rest.chars().next()? {
            ',' => *rest = &rest[1..],
            '>' => {
                *rest = &rest[1..];
                break;
            }
            _ => return None,
        }
    }
    let is_adapter = ADAPTERS.iter().any(|adapter| template.ends_with(adapter));
    let defaults = if is_adapter { &DEFAULTS[..] } else { &DEFAULTS[..6] };
    while all.len() > 1 && all.last().is_some_and(|last| defaults.iter().any(|default| last.starts_with(default))) {
        all.pop();
    }
    Some(all)
}

/// Copies parameters up to and with the closing bracket.
fn parameters(rest: &mut &str, out: &mut String) -> Option<()> {
    loop {
        out.push_str(&sequence(rest)?);
        match rest.chars().next()? {
            ',' => out.push(','),
            ')' => {
                out.push(')');
                *rest = &rest[1..];
                return Some(());
            }
            _ => return None,
        }
        *rest = &rest[1..];
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn usual_arguments_are_left_out() {
        for (long, short) in [
            ("main", "main"),
            ("std::vector<int, std::allocator<int> >::push_back", "std::vector<int>::push_back"),
            (
                "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, \
                 std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, \
                 std::allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> \
                 > const, int> > >::operator[]",
                "std::map<std::string, int>::operator[]",
            ),
            ("std::queue<int, std::deque<int, std::allocator<int> > >::pop", "std::queue<int>::pop"),
            ("__gnu_cxx::new_allocator<int>::allocate", "std::allocator<int>::allocate"),
            ("std::function<void ()>::operator()", "std::function<void ()>::operator()"),
            ("std::unique_ptr<A, std::default_delete<A> >::operator->", "std::unique_ptr<A>::operator->"),
            ("operator< <int>", "operator< <int>"),
            ("std::allocator<int>::allocate", "std::allocator<int>::allocate"),
            ("main::$_0::operator() const", "main::lambda#1"),
            (
                "Pool::submit<main::$_1>(main::$_1)::{lambda()#2}::operator() const",
                "Pool::submit<main::lambda#2>(main::lambda#2)::lambda#2",
            ),
            ("cost$x{1}", "cost$x{1}"),
            ("a<b", "a<b"),
            ("f<(int)3, g(char, int)>", "f<(int)3, g(char, int)>"),
        ] {
            assert_eq!(shortened(long), short);
        }
    }
}
