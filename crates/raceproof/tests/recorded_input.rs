//! What clients outside say to a program is recorded with it: a replay plays it again, so that races of servers are
//! confirmed when the clients are gone.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, Run};
use serde_json::Value;

/// How long a recorder may take until its program listens: it is built first.
const START: Duration = Duration::from_secs(60);

fn folder() -> Folder {
    Folder::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers"))
}

/// A recording that is ended when its owner is gone.
struct Server(Child);

impl Server {
    /// Starts to record the server. It is ended three seconds after it was started, when its clients are long gone.
    fn record(folder: &Folder, flags: &[&str], at: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.current_dir(folder.path()).args(["record", "sums.c", "-o", "t.rpt", "--run-time=3"]).args(flags);
        command.args(["--", at]).stdin(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    fn ended(mut self) {
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

/// Connects as soon as somebody listens.
fn connect<C>(to: impl Fn() -> std::io::Result<C>) -> C {
    let start = Instant::now();
    loop {
        match to() {
            Ok(connection) => return connection,
            Err(error) if start.elapsed() > START => panic!("nobody listens: {error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Two clients at once, each with two requests.
fn talk<C: Read + Write>(connect: impl Fn() -> C, requests: [&str; 2]) {
    let mut clients = [connect(), connect()];
    for _ in 0..2 {
        clients.iter_mut().zip(requests).for_each(|(client, request)| client.write_all(request.as_bytes()).unwrap());
        for client in &mut clients {
            let mut answer = [0; 3];
            client.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"ok\n");
        }
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Records the server while clients make these requests.
fn record(folder: &Folder, flags: &[&str], requests: [&str; 2]) {
    let port = free_port();
    let server = Server::record(folder, flags, &port.to_string());
    talk(|| connect(|| TcpStream::connect(("127.0.0.1", port))), requests);
    server.ended();
}

fn predict(folder: &Folder) -> (i32, Value) {
    let Run { status, stdout, stderr } = folder.raceproof(&["predict", "t.rpt", "--json", "--time=20"]);
    (status, serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}")))
}

fn races(document: &Value) -> Vec<&Value> {
    document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race").collect()
}

/// The racy server's race is confirmed, and replays.
fn is_confirmed(folder: &Folder) {
    let (status, document) = predict(folder);
    assert_eq!(status, 1, "{document}");
    let races = races(&document);
    assert!(!races.is_empty());
    for race in races {
        assert_eq!(
            (&race["variable"], &race["confirmed"], &race["shown"]),
            (&"sum".into(), &true.into(), &"run".into())
        );
        let Some(witness) = race["witness"].as_str() else { continue };
        let Run { status, stdout, stderr } = folder.raceproof(&["replay", witness]);
        assert_eq!(status, 1, "{stdout}{stderr}");
        assert!(stdout.contains("replayed exactly"), "{stdout}");
    }
}

#[test]
fn races_of_a_server_are_confirmed_without_its_clients() {
    let folder = folder();
    record(&folder, &["--cflags=-DRACY"], ["+one", "+two"]);
    is_confirmed(&folder);
    // The recording is a script for every command.
    let args = ["explore", "sums.c", "--cflags=-DRACY", "--peer=t.rpt", "--max-executions=20", "--time=20", "--"];
    let port = recorded_port(&folder.path().join("t.rpt"));
    let Run { status, stdout, stderr } = folder.raceproof(&[&args[..], &[&port]].concat());
    assert_eq!(status, 1, "{stdout}{stderr}");
}

/// The port at which the clients of a recording connected.
fn recorded_port(trace: &Path) -> String {
    let connections = files::input::connections(trace).unwrap();
    assert_eq!(connections.len(), 2);
    let own = &connections[0].own;
    u16::from_be_bytes([own[2], own[3]]).to_string()
}

#[test]
fn clients_of_a_server_in_the_file_system_are_played_too() {
    let folder = folder();
    let socket = folder.path().join("socket");
    let server = Server::record(&folder, &["--cflags=-DRACY"], socket.to_str().unwrap());
    talk(|| connect(|| UnixStream::connect(&socket)), ["+one", "+two"]);
    server.ended();
    std::fs::remove_file(&socket).unwrap();
    is_confirmed(&folder);
}

#[test]
fn a_server_without_a_race_has_none_with_its_clients() {
    let folder = folder();
    record(&folder, &[], ["+one", "+two"]);
    let (status, document) = predict(&folder);
    assert_eq!((status, races(&document).len()), (3, 0), "{document}");
}

#[test]
fn what_clients_say_decides_what_is_shown() {
    let folder = folder();
    // One of the two never adds anything.
    record(&folder, &["--cflags=-DRACY"], ["+one", "two"]);
    let (status, document) = predict(&folder);
    assert_eq!((status, races(&document).len()), (3, 0), "{document}");
}
