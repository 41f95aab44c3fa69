//! The search's end of a connection to a target.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, Instant};

use archives::runtime_archive;
use exec::{Backend, Config, Output, Processor, RunMode, RunSummary, Target};
use files::hash;
use model::Schedule;
use wire::Record;

use crate::error::Error;
use crate::message::{Answer, Connection, Demand, Hello, RunAnswer, RunDemand, SummaryFields, VERSION, records_of};

/// How long a target may take to accept a connection, and to answer anything; a run has its time limit besides.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// How long to try to reach a target again that was lost.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(60);
/// Pauses between attempts to reach it.
const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(20), Duration::from_millis(100), Duration::from_secs(1)];
/// How often the connection may be lost over one request, at least and at most.
const LEAST_LOSSES: usize = 10;
const MOST_LOSSES: usize = 100;

/// A machine with a target, found at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// As the user spelled it, with a port.
    address: String,
    hello: Hello,
}

impl Machine {
    /// Finds the target at an address.
    ///
    /// # Errors
    /// When there is none, or one of another version.
    pub fn find(address: &str) -> Result<Self, exec::Error> {
        let address = crate::with_port(address);
        let (hello, _) = connect(&address).map_err(|trouble| trouble.at_start(&address))?;
        Ok(Self { address, hello })
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its architecture.
    pub fn architecture(&self) -> &str {
        &self.hello.architecture
    }

    /// The static library that programs for it are linked with.
    ///
    /// # Errors
    /// When the target does not send it.
    pub fn runtime(&self) -> Result<Vec<u8>, exec::Error> {
        if hash(runtime_archive()) == self.hello.runtime {
            return Ok(runtime_archive().to_owned());
        }
        let ask = || {
            let (_, mut connection) = connect(&self.address)?;
            match exchange(&mut connection, &Demand::Runtime, &[])? {
                (Answer::Runtime, runtime) if hash(&runtime) == self.hello.runtime => Ok(runtime),
                _ => Err(self.garbled()),
            }
        };
        persist(&self.address, ask)
    }

    fn garbled(&self) -> Trouble {
        Trouble::of(Error::AtTarget { address: self.address.clone(), message: "its answer makes no sense".into() })
    }
}

/// Why there is no answer.
enum Trouble {
    /// The connection is lost.
    Lost(io::Error),
    /// It would be the same again.
    Final(exec::Error),
}

impl Trouble {
    fn of(error: Error) -> Self {
        Self::Final(error.into())
    }

    /// As an error, of a target that is not known to be there.
    fn at_start(self, address: &str) -> exec::Error {
        match self {
            Self::Lost(source) => Error::NoTarget { address: address.to_owned(), source }.into(),
            Self::Final(error) => error,
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

/// Connects and finds out what is there.
fn connect(address: &str) -> Result<(Hello, Connection), Trouble> {
    let stranger = || Trouble::of(Error::NotATarget { address: address.to_owned() });
    let mut stream = Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    for address in address.to_socket_addrs()? {
        stream = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT);
        if stream.is_ok() {
            break;
        }
    }
    let mut connection = Connection::new(stream?)?;
    connection.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    connection.greet()?;
    let version = connection.greeting()?.ok_or_else(stranger)?;
    if version != VERSION {
        return Err(Trouble::of(Error::OtherTarget { address: address.to_owned(), theirs: version, ours: VERSION }));
    }
    match connection.receive()? {
        Some((Answer::Hello(hello), _)) => Ok((hello, connection)),
        Some(_) => Err(stranger()),
        None => Err(Trouble::Lost(io::ErrorKind::UnexpectedEof.into())),
    }
}

/// Asks and waits for the answer.
fn exchange(connection: &mut Connection, demand: &Demand, bytes: &[u8]) -> Result<(Answer, Vec<u8>), Trouble> {
    connection.send(demand, bytes)?;
    connection.receive()?.ok_or_else(|| Trouble::Lost(io::ErrorKind::UnexpectedEof.into()))
}

/// Tries until the connection lasts. Time alone does not end this: a machine that was suspended goes on.
fn persist<T>(address: &str, mut attempt: impl FnMut() -> Result<T, Trouble>) -> Result<T, exec::Error> {
    let lost = |source| exec::Error::from(Error::TargetLost { address: address.to_owned(), source });
    let mut first_loss = None;
    for losses in 1..=MOST_LOSSES {
        let source = match attempt() {
            Ok(done) => return Ok(done),
            Err(Trouble::Final(error)) => return Err(error),
            Err(Trouble::Lost(source)) => source,
        };
        let since = *first_loss.get_or_insert_with(Instant::now);
        if losses > LEAST_LOSSES && since.elapsed() > RECONNECT_TIMEOUT {
            return Err(lost(source));
        }
        std::thread::sleep(PAUSES.get(losses - 1).copied().unwrap_or(PAUSES[PAUSES.len() - 1]));
    }
    Err(lost(io::Error::new(
        io::ErrorKind::ConnectionAborted,
        "the connection dropped each time this request was sent",
    )))
}

/// Sends a program to the target at a machine, prepares to run it there and starts it.
///
/// # Errors
/// When the program cannot be read, or the target cannot be reached or cannot start it.
pub fn launch(machine: &Machine, program: &Path, config: Config) -> Result<Target, exec::Error> {
    let remote = Remote::launch(machine, program, &config)?;
    Ok(Target::new(Box::new(remote), program, config))
}

/// The program at a target.
struct Remote {
    machine: Machine,
    /// The executable, and its hash.
    program: Vec<u8>,
    hash: String,
    connection: Option<Connection>,
    /// Number of runs asked for.
    runs: u64,
    /// Of the last run on this connection.
    records: Vec<Record>,
    output: Output,
}

impl Remote {
    /// Sends the program to the target and starts it there.
    fn launch(machine: &Machine, program: &Path, config: &Config) -> Result<Self, exec::Error> {
        let bytes =
            std::fs::read(program).map_err(|source| exec::Error::Launch { program: program.to_owned(), source })?;
        let mut remote = Self {
            machine: machine.clone(),
            hash: hash(&bytes),
            program: bytes,
            connection: None,
            runs: 0,
            records: Vec::new(),
            output: Output::default(),
        };
        remote.connection = Some(persist(&machine.address, || remote.connected(config))?);
        Ok(remote)
    }

    /// A new connection on which the program can be run.
    fn connected(&self, config: &Config) -> Result<Connection, Trouble> {
        let (hello, mut connection) = connect(&self.machine.address)?;
        if hello.architecture != self.machine.hello.architecture {
            let message = format!("it was of architecture {}", self.machine.hello.architecture);
            return Err(Trouble::of(Error::AtTarget { address: self.machine.address.clone(), message }));
        }
        let (hash, config) = (|| self.hash.clone(), || config.clone());
        let demand = Demand::Program { hash: hash(), config: config() };
        let mut answer = exchange(&mut connection, &demand, &[])?.0;
        if matches!(answer, Answer::Wanted) {
            let demand = Demand::Upload { hash: hash(), config: config() };
            answer = exchange(&mut connection, &demand, &self.program)?.0;
        }
        match answer {
            Answer::Ready => Ok(connection),
            answer => Err(self.refused(answer)),
        }
    }

    /// The trouble that an answer tells of.
    fn refused(&self, answer: Answer) -> Trouble {
        match answer {
            Answer::Failed { message } => {
                Trouble::of(Error::AtTarget { address: self.machine.address.clone(), message })
            }
            _ => self.machine.garbled(),
        }
    }

    /// Asks for a run, on a new connection if there is none.
    fn try_run(&mut self, config: &Config, demand: &Demand) -> Result<(RunAnswer, Vec<u8>), Trouble> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                self.records.clear();
                self.connected(config)?
            }
        };
        connection.set_read_timeout(Some(config.time_limit.saturating_add(ANSWER_TIMEOUT)))?;
        match exchange(&mut connection, demand, &[])? {
            (Answer::Ran(answer), bytes) if answer.number == self.runs => {
                self.connection = Some(connection);
                Ok((answer, bytes))
            }
            (answer, _) => Err(self.refused(answer)),
        }
    }

    /// Takes over what an answer brought.
    fn take(&mut self, answer: &RunAnswer, bytes: &[u8]) -> Option<()> {
        self.records.truncate(usize::try_from(answer.same).ok().filter(|same| *same <= self.records.len())?);
        let (records, output) = bytes.split_at_checked(usize::try_from(answer.records).ok()?)?;
        let (stdout, stderr) = output.split_at_checked(usize::try_from(answer.stdout).ok()?)?;
        self.records.extend(records_of(records));
        self.output = Output { stdout: stdout.to_owned(), stderr: stderr.to_owned() };
        Some(())
    }
}

impl Backend for Remote {
    fn execute(
        &mut self,
        config: &Config,
        schedule: &Schedule,
        mode: RunMode,
    ) -> Result<Option<RunSummary>, exec::Error> {
        self.runs += 1;
        let demand = Demand::Run(RunDemand {
            number: self.runs,
            schedule: schedule.clone(),
            policy: mode.policy,
            stacks: mode.stacks,
            fresh: mode.fresh,
            max_steps: config.max_steps,
            time_limit: config.time_limit,
            quantum: config.quantum,
            environment: config.environment,
        });
        let address = self.machine.address.clone();
        let (answer, bytes) = persist(&address, || self.try_run(config, &demand))?;
        if self.take(&answer, &bytes).is_none() {
            return Err(self.machine.garbled().at_start(&self.machine.address));
        }
        Ok(answer.ran.map(SummaryFields::into))
    }

    fn records(&self, out: &mut Vec<Record>) -> Result<usize, exec::Error> {
        let same = out.iter().zip(&self.records).take_while(|(old, new)| old == new).count();
        out.truncate(same);
        out.extend(&self.records[same..]);
        Ok(same)
    }

    fn output(&self) -> Result<Output, exec::Error> {
        Ok(self.output.clone())
    }

    fn set_processor(&mut self, _processor: Option<Processor>) {
        // The processors there are not those here.
    }
}
