//! Calls of `syscall` whose numbers are constants.

use program::Architecture;
use program::library::system_calls;
use program::library::threads::ThreadFunction;

use crate::ir::Value;

/// The thread function that a call of `syscall` is.
pub(crate) fn system_call(architecture: Architecture, call: Value<'_>) -> Option<&'static ThreadFunction> {
    call.called_function().filter(|function| function.is_declaration() && function.name() == "syscall")?;
    let number = call.argument(0)?.as_integer()?;
    system_calls::lookup(architecture, number, call.argument(2).and_then(Value::as_integer))
}
