# Commands for a run of raceproof under gdb. Its threads are coroutines on one thread of the system: gdb sees the one that
# runs, and these commands show the others, and other points of the run.
#
# What is known of the run is in `gdb-story.json` beside this file; `gdb-run` is the memory in which the program finds its
# schedule. `LAYOUT` says where.

import json
import os
import struct

import gdb

FOLDER = os.path.dirname(os.path.abspath(__file__))
MEMORY = os.path.join(FOLDER, "gdb-run")


class Run:
    """The run as it was recorded: all events in order, and what is told of them."""

    def __init__(self):
        with open(os.path.join(FOLDER, "gdb-story.json"), encoding="utf-8") as file:
            story = json.load(file)
        self.order = [tuple(event) for event in story["order"]]
        self.threads = story["run"]["threads"]
        self.told = {event["step"]: event for event in story["run"]["events"] if event["step"] < len(self.order)}
        self.steps = {event: step for step, event in enumerate(self.order)}
        # What threads stand before when the run ends.
        ends = [event for event in story["run"]["events"] if self.order and event["step"] >= len(self.order)]
        self.ends = {event["thread"]: event["what"] for event in ends}
        # What the next start of the program finds: first the schedule that gdb was started with.
        with open(MEMORY, "rb") as file:
            self.header = bytearray(file.read(LAYOUT["segments"]))
            (count,) = struct.unpack_from("<I", self.header, LAYOUT["count"])
            self.segments = file.read(8 * count)

    def plan(self, segments):
        """Lets the next start stop after these segments."""
        self.segments = b"".join(struct.pack("<II", *segment) for segment in segments)
        struct.pack_into("<I", self.header, LAYOUT["count"], len(segments))
        struct.pack_into("<I", self.header, LAYOUT["trap"], 1)

    def write(self):
        """Makes the memory as a program that starts wants it."""
        with open(MEMORY, "r+b") as file:
            file.write(self.header)
            file.seek(LAYOUT["segments"])
            file.write(self.segments)

    def path(self, number):
        return self.threads[number]["thread"] if number < len(self.threads) else str(number)

    def number(self, path):
        for number, thread in enumerate(self.threads):
            if thread["thread"] == path:
                return number
        known = ", ".join(thread["thread"] for thread in self.threads)
        raise gdb.GdbError(f"there is no thread {path}; the run has {known}")

    def tell_next(self, number, position):
        """What a thread does next."""
        step = self.steps.get((number, position))
        return self.tell(step) if step is not None else self.ends.get(number, "executes nothing more in this run")

    def tell(self, step):
        """What an event does and where."""
        event = self.told.get(step)
        if event is None:
            return "goes on"
        value = event.get("value", {})
        known = [value[name] for name in ("old", "new") if name in value]
        what = event["what"]
        if known:
            what += f": {known[0]} -> {known[1]}" if len(known) == 2 else f" ({known[0]})"
        place = f" at {event['file']}:{event['line']}" if event.get("file") and event.get("line") else ""
        return what + place


RUN = Run()


def ask(function, *arguments):
    """Calls a function of the runtime in the stopped program."""
    types = ", ".join("unsigned int" for _ in arguments) or "void"
    values = ", ".join(str(argument) for argument in arguments)
    try:
        return int(gdb.parse_and_eval(f"((unsigned long (*)({types})){function})({values})")) & (2**64 - 1)
    except gdb.error as error:
        raise gdb.GdbError(f"the program is not in a run: {error}")


def is_alive():
    return gdb.selected_inferior().pid != 0


class Selected:
    """Another thread than the one that runs, whose registers gdb sees meanwhile."""

    own = None
    thread = None


def architecture():
    return gdb.selected_inferior().architecture().name()


def saved_registers(context):
    """The registers of a suspended thread, from its stack."""

    def words(count):
        memory = gdb.selected_inferior().read_memory(context, 8 * count)
        return struct.unpack(f"<{count}Q", bytes(memory))

    if architecture() == "aarch64":
        saved = words(22)
        registers = {f"x{19 + i}": saved[i] for i in range(12)}
        registers.update(pc=saved[11], sp=context + 176)
        return registers
    _, r15, r14, r13, r12, rbx, rbp, rip = words(8)
    return dict(r15=r15, r14=r14, r13=r13, r12=r12, rbx=rbx, rbp=rbp, rip=rip, rsp=context + 64)


def set_registers(registers):
    # The frame that is selected says whose registers are set.
    gdb.newest_frame().select()
    # The last changes the frame.
    for name in sorted(registers, key=lambda name: name in ("pc", "rip", "sp", "rsp")):
        gdb.execute(f"set ${name} = {registers[name]}", to_string=True)
    gdb.newest_frame().select()


def restore():
    """Back to the thread that runs, which gdb goes on with."""
    if Selected.own is not None and is_alive():
        set_registers(Selected.own)
    Selected.own = Selected.thread = None


def select(number):
    restore()
    context = ask("__rp_debug_context", number)
    if number != ask("__rp_debug_current"):
        if context == 0:
            ended = ask("__rp_debug_threads") > number
            raise gdb.GdbError(f"thread {RUN.path(number)} " + ("has ended" if ended else "has not been created yet"))
        if ask("__rp_debug_position", number) == 0:
            raise gdb.GdbError(f"thread {RUN.path(number)} has not started yet")
        registers = saved_registers(context)
        gdb.newest_frame().select()
        Selected.own = {name: int(gdb.parse_and_eval(f"(unsigned long)${name}")) for name in registers}
        Selected.thread = number
        set_registers(registers)
    select_own_code()


def has_source(frame):
    place = frame.find_sal()
    return place.symtab is not None and place.line > 0 and not (frame.name() or "").startswith("__rp_")


def is_own_code(frame):
    """Whether a frame is of the user's own code, and not of a header of the system."""
    if not has_source(frame):
        return False
    file = os.path.normpath(frame.find_sal().symtab.fullname())
    return not file.startswith(("/usr/include/", "/usr/lib/", "/usr/local/include/"))


def select_own_code():
    """Selects the innermost frame of the user's own, else with source; whether there is one."""
    for is_it in (is_own_code, has_source):
        frame = gdb.newest_frame()
        while frame is not None:
            if is_it(frame):
                frame.select()
                return True
            frame = frame.older()
    return False


def positions():
    return [ask("__rp_debug_position", number) for number in range(ask("__rp_debug_threads"))]


def current_step():
    """How many events the run has executed."""
    return sum(positions())


def quietly(command):
    gdb.execute(command, to_string=True)


def show_place():
    thread = Selected.thread if Selected.thread is not None else ask("__rp_debug_current")
    what = RUN.tell_next(thread, ask("__rp_debug_position", thread))
    of = f" of {len(RUN.order) - 1}" if RUN.order else ""
    print(f"event {current_step()}{of}; next, thread {RUN.path(thread)} {what}")
    if select_own_code():
        gdb.execute("frame")


def go_to(step):
    """Runs the program again up to right before an event."""
    if not RUN.order:
        raise gdb.GdbError("the run is too long to go to an event of it")
    if step < 0 or step >= len(RUN.order):
        raise gdb.GdbError(f"the run has the events 0 to {len(RUN.order) - 1}")
    thread, position = RUN.order[step]
    segments = []
    for number, at in RUN.order[:step] + [(thread, position - 1)]:
        if segments and segments[-1][0] == number:
            segments[-1][1] = at + 1
        else:
            segments.append([number, at + 1])
    if len(segments) > LAYOUT["capacity"]:
        raise gdb.GdbError("there are too many thread switches before that event")
    RUN.plan(segments)
    begin()


def begin():
    restore()
    if is_alive():
        quietly("kill")
    quietly("run")
    if not is_alive():
        raise gdb.GdbError("the program has ended before that event")
    show_place()


def steppable(step, by):
    """The next event in a direction that a thread stops before: not its start."""
    while 0 <= step < len(RUN.order) and RUN.order[step][1] == 0:
        step += by
    return step


def stay_in_own_code(command):
    """Does `next` or `step` from the user's own code to the user's own code."""
    restore()
    if not is_alive():
        raise gdb.GdbError("the program is not being run")
    leave_runtime()
    if is_alive():
        gdb.execute(command)
    if is_alive():
        leave_runtime()
        if gdb.selected_frame().is_valid() and not is_own_code(gdb.newest_frame()) and select_own_code():
            gdb.execute("frame")


def leave_runtime():
    """Lets the running thread go on until it is in code of the user's own."""
    while is_alive() and not is_own_code(gdb.newest_frame()):
        if not select_own_code():
            # The thread ends: what runs next is another one.
            return
        inner = gdb.selected_frame().newer()
        inner.select()
        quietly("finish")


class Raceproof(gdb.Command):
    """Commands for the run of a witness: its threads are one to gdb, and raceproof tells them apart."""

    def __init__(self):
        super().__init__("raceproof", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE, True)


class Begin(gdb.Command):
    """Start the run again and stop where it stopped last."""

    def __init__(self):
        super().__init__("raceproof begin", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        begin()


class Threads(gdb.Command):
    """List all threads of the run: what each does next, where, and which locks it holds."""

    def __init__(self):
        super().__init__("raceproof threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        current = ask("__rp_debug_current")
        selected = current if Selected.thread is None else Selected.thread
        for number, position in enumerate(positions()):
            step = RUN.steps.get((number, position))
            if number != current and ask("__rp_debug_context", number) == 0:
                state = "has ended"
            else:
                locks = RUN.told.get(step, {}).get("locks", [])
                held = f", holding {', '.join(locks)}" if locks else ""
                state = f"next {RUN.tell_next(number, position)}{held}"
            function = RUN.threads[number]["function"] if number < len(RUN.threads) else ""
            mark = "*" if number == selected else " "
            print(f"{mark} thread {RUN.path(number)}{f' ({function})' if function else ''} {state}")


class Thread(gdb.Command):
    """Select a thread of the run by its name, as in `raceproof thread 0.1`.
Then `backtrace`, `up` and `info locals` are its own. Whatever runs the program goes on with the thread that was running."""

    def __init__(self):
        super().__init__("raceproof thread", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        names = gdb.string_to_argv(argument)
        if len(names) != 1:
            raise gdb.GdbError("usage: raceproof thread NAME; see `raceproof threads`")
        select(RUN.number(names[0]))
        show_place()


class Next(gdb.Command):
    """As `next`, from a line of the user's own code to another."""

    def __init__(self):
        super().__init__("raceproof next", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        stay_in_own_code("next")


class Step(gdb.Command):
    """As `step`, from a line of the user's own code to another."""

    def __init__(self):
        super().__init__("raceproof step", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        stay_in_own_code("step")


class Goto(gdb.Command):
    """Run the program again and stop right before an event, by its number."""

    def __init__(self):
        super().__init__("raceproof goto", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        if not argument.strip().isdigit():
            raise gdb.GdbError("usage: raceproof goto NUMBER")
        go_to(steppable(int(argument), 1))


class Back(gdb.Command):
    """Go back by one event, or by as many as are named: the program runs again up to there."""

    def __init__(self):
        super().__init__("raceproof back", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        count = argument.strip() or "1"
        if not count.isdigit():
            raise gdb.GdbError("usage: raceproof back [COUNT]")
        restore()
        at = current_step() if is_alive() else len(RUN.order)
        step = steppable(at - int(count), -1)
        if step < 0:
            raise gdb.GdbError("the run begins here")
        go_to(step)


class Forward(gdb.Command):
    """Go on by one event, or by as many as are named, of whichever thread they are."""

    def __init__(self):
        super().__init__("raceproof forward", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        count = argument.strip() or "1"
        if not count.isdigit():
            raise gdb.GdbError("usage: raceproof forward [COUNT]")
        restore()
        go_to(steppable(current_step() + int(count), 1))


for command in (Raceproof, Begin, Threads, Thread, Next, Step, Goto, Back, Forward):
    command()

gdb.execute("set confirm off")
gdb.execute("define hook-run\npython restore(); RUN.write()\nend")
# Whatever runs the program goes on with the thread that was running.
for running in ("continue", "step", "next", "stepi", "nexti", "finish", "until", "advance", "jump", "detach"):
    gdb.execute(f"define hook-{running}\npython restore()\nend")
