//! Programs with known numbers of classes.

#[path = "threads.rs"]
pub(crate) mod threads;

use threads::threads;

/// Readers and one writer.
pub(crate) fn readers(count: usize) -> String {
    let mut bodies = vec!["%v = load 4 seq_cst, @x".to_owned(); count];
    bodies.push("store 4 seq_cst, @x, 1".to_owned());
    threads("global x: 4\n", &bodies)
}

/// Writer `i` sets `a[i]` to `a[i - 1] + 1`; the reader looks for the last zero.
pub(crate) fn last_zero(writers: usize) -> String {
    let reader = format!(
        "goto look\nlook:\n%i = phi [entry: {writers}, down: %j]\n%p = offset @a, %i, 4, 0\n\
         %v = load 4 seq_cst, %p\nbranch %v, down, end\ndown:\n%j = sub 32 %i, 1\ngoto look\nend:"
    );
    let writer = |i: usize| {
        let (from, to) = (4 * (i - 1), 4 * i);
        format!("%v = load 4 seq_cst, @a+{from}\n%w = add 32 %v, 1\nstore 4 seq_cst, @a+{to}, %w")
    };
    let mut bodies = vec![reader];
    bodies.extend((1..=writers).map(writer));
    threads(&format!("global a: {}\n", 4 * (writers + 1)), &bodies)
}
