//! The net of a graph of threads, with the question whether a pair can be side by side.

use std::collections::{BTreeMap, BTreeSet};

use model::{Pair, SiteId};
use petri::{Initial, Marking, Net, PlaceId, Transition, TransitionId};
use program::{Program, naming};

use facts::invocations::ProgramPoint;

use crate::flow::{Arcs, Edge, Graph, Known, Node, NodeInfo, Resource};

/// A net with the edges its transitions stand for.
pub(crate) struct JobNet {
    pub(crate) net: Net,
    /// By transition: the edge, where a thread moves.
    edges: Vec<Option<usize>>,
}

impl JobNet {
    /// The edge a transition stands for.
    pub(crate) fn edge(&self, transition: TransitionId) -> Option<usize> {
        self.edges[transition.index()]
    }
}

/// Builds the net; its targets are two tracked threads, one before an access of each site.
pub(crate) fn build(known: &Known<'_>, graph: &Graph, pair: Pair) -> JobNet {
    let mut b = Builder { known, net: Net::default(), edges: Vec::new(), resources: BTreeMap::new() };
    for (number, node) in graph.nodes.iter().enumerate() {
        let name = place_name(known.program, node, number);
        b.place(name, 0);
    }
    let all = graph.edges.iter().map(|e| &e.arcs).chain(graph.main.iter().map(|(_, arcs)| arcs));
    for arcs in all {
        let wanted = arcs.takes.iter().map(|(r, _)| *r).chain(arcs.needs.iter().copied());
        wanted.for_each(|resource| b.want(resource));
    }
    let start = b.place("start".to_owned(), 1);
    for (node, arcs) in &graph.main {
        let from = BTreeMap::from([(start, 1)]);
        b.transition("main".to_owned(), from, arcs, [*node], None);
    }
    for (number, edge) in graph.edges.iter().enumerate() {
        let name = transition_name(known.program, graph, edge);
        let from = BTreeMap::from([(node_place(edge.from), 1)]);
        b.transition(name, from, &edge.arcs, edge.to.into_iter().chain(edge.starts), Some(number));
    }
    b.open_barriers();
    let [one, other] = pair.sites();
    let at = |site: SiteId| {
        let is_there = move |n: &NodeInfo| n.accesses && n.tracked && n.site == Some(site);
        graph.nodes.iter().enumerate().filter(move |(_, n)| is_there(n)).map(|(node, _)| node_place(node))
    };
    let targets: BTreeSet<Marking> =
        at(one).flat_map(|a| at(other).map(move |b| Marking::new([(a, 1), (b, 1)]))).collect();
    b.net.targets = targets.into_iter().collect();
    JobNet { net: b.net, edges: b.edges }
}

fn node_place(node: Node) -> PlaceId {
    PlaceId(node as u32)
}

struct Builder<'a> {
    known: &'a Known<'a>,
    net: Net,
    edges: Vec<Option<usize>>,
    /// Places of resources that some edge waits for; others do not matter.
    resources: BTreeMap<Resource, PlaceId>,
}

impl Builder<'_> {
    fn place(&mut self, name: String, tokens: u32) -> PlaceId {
        let place = PlaceId(self.net.places.len() as u32);
        self.net.places.push(name);
        self.net.initial.push(Initial { low: tokens, high: Some(tokens) });
        place
    }

    fn want(&mut self, resource: Resource) {
        if self.resources.contains_key(&resource) {
            return;
        }
        let (program, known) = (self.known.program, self.known.synchronisation);
        let named = |key| plain(naming::without_insides(&facts::objects::name(program, key, 1)));
        let (name, tokens) = match resource {
            Resource::Lock(key) => {
                let shared = known.is_shared(self.known.objects, key);
                (format!("lock:{}", named(key)), if shared { 2 } else { 1 })
            }
            Resource::Semaphore(key) => {
                (format!("semaphore:{}", named(key)), known.semaphores.get(&key).copied().unwrap_or(0))
            }
            Resource::Arrived(key) => (format!("arrived:{}", named(key)), 0),
            Resource::Open(key) => {
                self.want(Resource::Arrived(key));
                (format!("open:{}", named(key)), 0)
            }
            Resource::Fresh(key) => (format!("fresh:{}", named(key)), 1),
            Resource::Done(key) => (format!("done:{}", named(key)), 0),
            Resource::Ended(place) => (format!("ended:{}", self.created(place)), 0),
            Resource::Idle(place) => {
                (format!("idle:{}", self.created(place)), known.joins.counted(place).unwrap_or_default())
            }
            Resource::Flag(key, value) => {
                let initial = self.known.flags.get(key).is_some_and(|flag| value == Some(flag.initial));
                let shown = value.map_or_else(|| "?".to_owned(), |n| n.to_string());
                (format!("flag:{}={shown}", named(key)), u32::from(initial))
            }
            Resource::Unwritten(key) => (format!("unwritten:{}", named(key)), 1),
            Resource::Overwritten(key) => (format!("overwritten:{}", named(key)), 0),
            Resource::Written(key, value) => {
                let shown = value.map_or_else(|| "?".to_owned(), |n| n.to_string());
                (format!("written:{}={shown}", named(key)), 0)
            }
            Resource::Trackers => ("trackers".to_owned(), 2),
        };
        let place = self.place(name, tokens);
        self.resources.insert(resource, place);
    }

    /// `worker:case.c:12`: the thread function and where its thread is created.
    fn created(&self, (function, block, index): ProgramPoint) -> String {
        let program = self.known.program;
        let mut jobs = self.known.invocations.at((function, block, index)).map(|i| i.callee);
        let job = jobs.next().map_or_else(String::new, |job| plain(&program.functions[job].name));
        let statement = &program.functions[function].blocks[block].statements[index];
        job + &line(program, statement.site)
    }

    fn transition(
        &mut self,
        name: String,
        mut consumed: BTreeMap<PlaceId, u32>,
        arcs: &Arcs,
        to: impl IntoIterator<Item = Node>,
        edge: Option<usize>,
    ) {
        let mut produced: BTreeMap<PlaceId, u32> = BTreeMap::new();
        let add = |map: &mut BTreeMap<PlaceId, u32>, place: PlaceId, n: u32| *map.entry(place).or_default() += n;
        to.into_iter().for_each(|node| add(&mut produced, node_place(node), 1));
        let place = |resource: &Resource| self.resources.get(resource).copied();
        for (resource, n) in &arcs.takes {
            place(resource).into_iter().for_each(|p| add(&mut consumed, p, *n));
        }
        for resource in &arcs.needs {
            place(resource).into_iter().for_each(|p| {
                add(&mut consumed, p, 1);
                add(&mut produced, p, 1);
            });
        }
        for (resource, n) in &arcs.gives {
            place(resource).into_iter().for_each(|p| add(&mut produced, p, *n));
        }
        self.net.transitions.push(Transition::with_arcs(name, &consumed, &produced));
        self.edges.push(edge);
    }

    /// When as many have arrived as a barrier waits for, as many may leave.
    fn open_barriers(&mut self) {
        for (key, count) in &self.known.synchronisation.barriers {
            let place = |resource| self.resources.get(&resource).copied();
            let (Some(arrived), Some(open)) = (place(Resource::Arrived(*key)), place(Resource::Open(*key))) else {
                continue;
            };
            let name = format!("{} opens", self.net.places[open.index()]);
            let (from, to) = (BTreeMap::from([(arrived, *count)]), BTreeMap::from([(open, *count)]));
            self.net.transitions.push(Transition::with_arcs(name, &from, &to));
            self.edges.push(None);
        }
    }
}

/// A name without spaces, as certificates need.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).collect()
}

/// `:case.c:12`, if it is known.
fn line(program: &Program, site: Option<SiteId>) -> String {
    let location = site.and_then(|site| program.sites[site].location);
    location.map(|l| format!(":{}:{}", plain(&program.files[l.file]), l.line)).unwrap_or_default()
}

/// `worker:case.c:12#7`: thread function, source line, number.
fn place_name(program: &Program, node: &NodeInfo, number: Node) -> String {
    let job = plain(&program.functions[node.job].name);
    let line = line(program, node.site);
    let tracked = if node.tracked { "" } else { "~" };
    format!("{job}{line}#{number}{tracked}")
}

fn transition_name(program: &Program, graph: &Graph, edge: &Edge) -> String {
    let job = &program.functions[graph.nodes[edge.from].job].name;
    let line = edge.site.and_then(|site| program.sites[site].location);
    line.map_or_else(|| job.clone(), |l| format!("{job} {}:{}", program.files[l.file], l.line))
}
