//! The static engine on the annotated programs under `tests/static`: it misses no race, and warns seldom where there is
//! none. Programs that it still warns about without a cause are listed by name, and have to be taken off the list when it
//! no longer does.
#![allow(clippy::print_stderr, reason = "prints its figures")]

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::Value;
use testkit::annotations::{Annotations, Lines, Mark, twin};

use common::Run;
use common::annotated::{for_each_program, items};

/// Of the race-free lines, at least this share is without a warning.
const PRECISION: f64 = 0.90;

/// Programs with race-free lines that are warned about today.
const FIXME: [&str; 64] = [
    "fixme_atomic_claim_index",
    "fixme_atomic_publication",
    "fixme_atomic_reference_count",
    "fixme_atomic_spin_lock",
    "fixme_barrier_phases",
    "fixme_barrier_serial_thread",
    "fixme_barrier_two_phases_in_loop",
    "fixme_barrier_with_main",
    "fixme_condvar_data_handed_over",
    "fixme_condvar_wait_wrapper",
    "fixme_driver_container_of_work",
    "fixme_driver_rcu_list",
    "fixme_escape_return_value",
    "fixme_format_across_calls",
    "fixme_handle_given_to_joiner",
    "fixme_handle_object_moved",
    "fixme_handle_object_swapped",
    "fixme_handle_sorted",
    "fixme_handle_two_rows_mixed",
    "fixme_heap_after_unlinking",
    "fixme_heap_before_publication",
    "fixme_heap_buffer_in_object",
    "fixme_heap_free_after_unlinking",
    "fixme_held_across_join",
    "fixme_join_by_counter",
    "fixme_join_by_flag",
    "fixme_join_by_semaphore",
    "fixme_jump_from_handler_while_waiting",
    "fixme_lock_pointer_replaced",
    "fixme_mhp_conditional_create",
    "fixme_mhp_create_twice_in_function",
    "fixme_mhp_join_then_create",
    "fixme_mhp_main_exits_thread",
    "fixme_mhp_thread_exit_early",
    "fixme_missing_gets_pointer",
    "fixme_missing_one_of_many",
    "fixme_must_alias_out_parameter",
    "fixme_must_alias_reassigned_between",
    "fixme_nondet_number_of_threads",
    "fixme_once_double_checked",
    "fixme_per_object_lock_hand_over_hand",
    "fixme_per_object_lock_heap_connections",
    "fixme_per_object_lock_two_objects",
    "fixme_publication_fences",
    "fixme_publication_order_at_run_time",
    "fixme_rwlock_mode_by_wrapper",
    "fixme_semaphore_ping_pong",
    "fixme_semaphore_readers_count",
    "fixme_semaphore_readers_writer",
    "fixme_semaphore_signal_sent_again",
    "fixme_shared_static_local",
    "fixme_slot_by_argument",
    "fixme_slot_counter_in_nested_loops",
    "fixme_slot_id_in_struct",
    "fixme_slot_ranges",
    "fixme_thread_local_pointer_escapes",
    "fixme_types_alike",
    "fixme_types_bytes",
    "fixme_types_freed_with_more",
    "fixme_types_trailing_array",
    "fixme_types_union",
    "fixme_types_variable",
    "fixme_wrapper_conditional_lock",
    "fixme_wrapper_returns_with_lock",
];

/// The options a program names in a comment `// raceproof static …`.
fn options(source: &str) -> Vec<String> {
    let named = source.lines().find_map(|line| line.strip_prefix("// raceproof static "));
    named.map(|options| options.split_whitespace().map(str::to_owned).collect()).unwrap_or_default()
}

/// `static --json` in the program's folder, with the options that the program names.
fn run(program: &Path, source: &str, racy: bool) -> Result<Value, String> {
    let (folder, name) = (program.parent().ok_or("no folder")?, program.file_name().ok_or("no name")?);
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.arg("static").arg(name).arg("--json").args(racy.then_some("--cflags=-DRACY"));
    command.args(options(source)).current_dir(folder).stdin(Stdio::null());
    let run = Run::of(command.output().map_err(|e| e.to_string())?);
    serde_json::from_str(&run.stdout).map_err(|e| format!("no document ({e}), status {}: {}", run.status, run.stderr))
}

/// What the engine says of one twin: race-free lines, and those of them that it warns about. A missed race is an error.
fn judge(program: &Path, source: &str, racy: bool) -> Result<(Lines, Lines), String> {
    let document = run(program, source, racy)?;
    let warned: Lines = items(&document, "pairs")
        .iter()
        .filter(|pair| pair["verdict"] != "absent")
        .flat_map(|pair| items(pair, "accesses"))
        .filter_map(|access| access["line"].as_u64())
        .map(|line| line as u32)
        .collect();
    let annotations = Annotations::parse(&twin(source, racy));
    let (races, mut free) = (annotations.lines(Mark::Race), annotations.lines(Mark::NoRace));
    if racy {
        let missed = &races - &warned;
        if !missed.is_empty() {
            return Err(format!("races on lines {missed:?} are missed"));
        }
    } else {
        free.extend(races);
    }
    let wrong = &free & &warned;
    Ok((free, wrong))
}

#[test]
fn no_race_is_missed_and_warnings_are_few() {
    let (counts, warned) = (Mutex::new((0, 0)), Mutex::new(BTreeSet::new()));
    for folder in ["static", "static/drivers", "static/missing"] {
        for_each_program(folder, |program| {
            let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
            let name = program.file_stem().and_then(|n| n.to_str()).ok_or("no name")?;
            for racy in [false, true] {
                let (free, wrong) = judge(program, &source, racy)?;
                let mut counts = counts.lock().map_err(|e| e.to_string())?;
                counts.0 += free.len();
                counts.1 += wrong.len();
                if !wrong.is_empty() {
                    warned.lock().map_err(|e| e.to_string())?.insert(format!("fixme_{name}"));
                }
            }
            Ok(())
        });
    }
    let (free, wrong) = counts.into_inner().expect("no panic");
    let precision = (free - wrong) as f64 / free as f64;
    eprintln!("{} of {free} race-free lines without a warning: {:.1} %", free - wrong, 100.0 * precision);

    assert!(precision >= PRECISION, "{precision}");
    let (warned, listed) = (warned.into_inner().expect("no panic"), FIXME.map(str::to_owned).into());
    let (new, gone): (Vec<_>, Vec<_>) = (warned.difference(&listed).collect(), listed.difference(&warned).collect());
    assert!(new.is_empty() && gone.is_empty(), "warned about although not listed: {new:?}; listed but clean: {gone:?}");
}
