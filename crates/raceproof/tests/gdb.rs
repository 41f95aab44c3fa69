//! A witness under a debugger.

mod common;

use common::Folder;

#[test]
fn gdb_stops_before_the_second_access() {
    let folder = Folder::new();
    assert_eq!(folder.raceproof(&["explore", "same_line.c"]).status, 1);
    let witness = "raceproof-witnesses/same_line-P1.rpw";
    let batch = ["replay", witness, "--gdb", "--", "-batch", "-ex", "echo state:", "-ex", "backtrace"];
    let run = folder.raceproof(&batch);
    assert!(run.stdout.contains("pay"), "stdout:\n{}\nstderr:\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("same_line.c:11"), "stdout:\n{}\nstderr:\n{}", run.stdout, run.stderr);
}

/// The race is only there with this input, which the debugged program has to get, too.
#[test]
fn gdb_gives_the_program_its_input() {
    const SOURCE: &str = "#include <pthread.h>\n#include <stdio.h>\nint x;\n\
        void *pay(void *arg) { x = 1; return arg; }\n\
        int main(int argc, char **argv) {\n    pthread_t t;\n    int n = 0;\n\
        \x20   if (scanf(\"%d\", &n) != 1 || n != 42 || argc != 2)\n        return 9;\n\
        \x20   pthread_create(&t, 0, pay, 0);\n    x = 2;\n    pthread_join(t, 0);\n}\n";
    let folder = Folder::new();
    std::fs::write(folder.path().join("asks.c"), SOURCE).unwrap();
    std::fs::write(folder.path().join("input.txt"), "42\n").unwrap();
    assert_eq!(folder.raceproof(&["explore", "asks.c", "--stdin", "input.txt", "--", "it's one"]).status, 1);
    let witness = "raceproof-witnesses/asks-P1.rpw";
    let run = folder.raceproof(&["replay", witness, "--gdb", "--", "-batch", "-ex", "backtrace"]);
    assert!(run.stdout.contains("asks.c:4") || run.stdout.contains("asks.c:11"), "{}\n{}", run.stdout, run.stderr);
}

/// Runs commands of gdb on the first race of a program, up to right before its second access.
fn session(folder: &Folder, program: &str, commands: &[&str]) -> String {
    assert_eq!(folder.raceproof(&["explore", program]).status, 1);
    let witness = format!("raceproof-witnesses/{}-P1.rpw", program.split('.').next().unwrap());
    let mut arguments = vec!["replay", &witness, "--gdb", "--", "-batch"];
    for command in commands {
        arguments.extend(["-ex", *command]);
    }
    let run = folder.raceproof(&arguments);
    assert!(!run.stderr.contains("Traceback"), "{}", run.stderr);
    run.stdout + &run.stderr
}

/// The parts of a text between these lines, each as often as it is wanted.
fn after<'t>(text: &'t str, mark: &str) -> &'t str {
    text.split_once(mark).unwrap_or_else(|| panic!("`{mark}` is not in\n{text}")).1
}

/// Two threads with locals of their own and a lock that one of them holds.
const TWO: &str = "#include <pthread.h>\n\
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    static int x = 5;\n\
    static void careful(int amount) {\n    pthread_mutex_lock(&m);\n    x = x + amount;\n    pthread_mutex_unlock(&m);\n}\n\
    static void careless(int amount) {\n    x = amount;\n}\n\
    static void *one(void *arg) {\n    careful(3);\n    return arg;\n}\n\
    static void *two(void *arg) {\n    careless(70);\n    return arg;\n}\n\
    int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, one, 0);\n    pthread_create(&b, 0, two, 0);\n\
    \x20   pthread_join(a, 0);\n    pthread_join(b, 0);\n    return 0;\n}\n";

/// All threads are listed and can be selected with their stacks, wherever the program stands; it goes on as if they had not been.
#[test]
fn both_racing_stacks_are_shown() {
    let folder = Folder::empty();
    std::fs::write(folder.path().join("two.c"), TWO).unwrap();
    let text = session(
        &folder,
        "two.c",
        &[
            "echo THREADS\\n",
            "raceproof threads",
            "echo FIRST\\n",
            "raceproof thread 0.1",
            "bt",
            "echo SECOND\\n",
            "raceproof thread 0.2",
            "bt",
            "echo MAIN\\n",
            "raceproof thread 0",
            "bt",
            "echo WRONG\\n",
            "continue",
        ],
    );
    let threads = after(&text, "THREADS\n");
    let lines: Vec<&str> = threads.lines().take(3).collect();
    assert!(lines[0].starts_with("  thread 0 (main) next joins thread 0.1 at two.c:"), "{text}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("* thread 0.")).count(), 1, "{text}");
    assert!(lines.iter().any(|line| line.contains("(one)") && line.contains("holding m")), "{text}");
    let part = |from: &str, to: &str| after(&text, from).split(to).next().unwrap().to_owned();
    let (one, two) = (part("FIRST\n", "SECOND\n"), part("SECOND\n", "MAIN\n"));
    assert!(one.contains("in careful (amount=") && one.contains(" in one "), "{one}");
    assert!(two.contains("in careless (amount=") && two.contains(" in two "), "{two}");
    assert!(!one.contains("careless") && !two.contains("careful"), "{text}");
    let main = part("MAIN\n", "WRONG\n");
    assert!(main.contains(" in pthread_join ") && main.contains(" in main "), "{main}");
    assert!(after(&text, "WRONG\n").contains("exited normally"), "selecting changes nothing of the run: {text}");
}

/// The run steps back event by event, shows the values of the time, and goes to any event.
#[test]
fn gdb_steps_back() {
    let folder = Folder::empty();
    std::fs::write(folder.path().join("two.c"), TWO).unwrap();
    let commands = [
        "print x",
        "raceproof forward",
        "print x",
        "raceproof back",
        "print x",
        "raceproof back 2",
        "raceproof goto 4",
        "run",
        "echo AGAIN\\n",
        "raceproof threads",
        "echo END\\n",
        "raceproof goto 99",
        "raceproof goto x",
        "raceproof thread 9",
        "raceproof thread",
        "raceproof back 99",
    ];
    let text = session(&folder, "two.c", &commands);
    let events: Vec<u32> =
        text.lines().filter_map(|line| line.strip_prefix("event ")?.split(' ').next()?.parse().ok()).collect();
    let [first, forward, back, again, goto] = events[..] else { panic!("{events:?}\n{text}") };
    assert_eq!((forward, back, again), (first + 1, first, first - 2), "{text}");
    // The first event of a thread is its start, before which it does not stop.
    assert!(goto == 4 || goto == 5, "{text}");
    let printed: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix('$')?.split_once(" = ").map(|printed| printed.1)).collect();
    assert_eq!(printed, ["5", "70", "5"], "{text}");
    let again = after(&text, "AGAIN\n");
    assert!(again.lines().take(3).any(|line| line.starts_with("* thread 0.")), "`run` comes to the same place: {text}");
    assert!(text.contains("; next, thread 0.2 writes `x`: 5 -> 70 at two.c:10"), "{text}");
    for wrong in [
        "the run has the events 0 to ",
        "usage: raceproof goto NUMBER",
        "there is no thread 9; the run has 0, 0.1, 0.2",
        "usage: raceproof thread NAME",
        "the run begins here",
    ] {
        assert!(text.contains(wrong), "{wrong}\n{text}");
    }
}

/// Findings other than races; threads that have not started, or stand where the run ends.
#[test]
fn gdb_shows_where_other_runs_end() {
    let folder = Folder::new();
    for (program, finding) in [("deadlock.c", "deadlock-E1"), ("crash.c", "crash-E1")] {
        assert_eq!(folder.raceproof(&["explore", program]).status, 1);
        let witness = format!("raceproof-witnesses/{finding}.rpw");
        let commands = [
            "raceproof threads",
            "raceproof thread 0.1",
            "raceproof back",
            "raceproof goto 3",
            "continue",
            "raceproof threads",
        ];
        let mut arguments = vec!["replay", &witness, "--gdb", "--", "-batch"];
        arguments.extend(commands.iter().flat_map(|command| ["-ex", *command]));
        let run = folder.raceproof(&arguments);
        let text = run.stdout + &run.stderr;
        assert!(!text.contains("Traceback") && !text.contains("Error occurred in Python"), "{text}");
        match program {
            "deadlock.c" => assert!(text.contains("  thread 0.1 (one) next waits to lock `"), "{text}"),
            _ => assert!(
                text.contains("Segmentation fault") && text.contains("thread 0.1 has not started yet"),
                "{text}"
            ),
        }
        assert!(text.contains("the program is not in a run") || text.contains("Segmentation fault"), "{text}");
    }
}

/// From line to line of the user's own code, though every access goes through the runtime.
#[test]
fn gdb_stays_in_the_users_code() {
    let folder = Folder::empty();
    std::fs::write(folder.path().join("two.c"), TWO).unwrap();
    let text = session(
        &folder,
        "two.c",
        &["raceproof goto 4", "echo NEXT\\n", "raceproof next", "raceproof next", "raceproof next", "frame"],
    );
    let next = after(&text, "NEXT\n");
    assert!(next.lines().all(|line| !line.contains("runtime::") && !line.contains("__rp_")), "{text}");
    assert!(next.contains("    x = x + amount;") || next.contains("    x = amount;"), "{text}");
}
