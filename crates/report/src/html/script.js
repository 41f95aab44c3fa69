const { report, files } = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const ROWS = 100; // table rows added at a time
const AROUND = 4; // source lines shown around a marked one

// One row per pair and one per other error: races, errors, then what is open or absent. Races inside the same calls of the
// library are one row, with the others one level down.
const pairs = [];
const inCalls = new Map();
for (const pair of report.pairs) {
  const item = { kind: 'pair', id: pair.id, verdict: pair.verdict, by: pair.by, variable: pair.variable,
    places: pair.accesses, value: pair, folded: [] };
  const isInside = pair.verdict === 'race' && pair.accesses.some((access) => access.inside || isForeign(access));
  const lines = isInside ? pair.accesses.map(spot).sort().join(' ') : null;
  if (lines && inCalls.has(lines)) { inCalls.get(lines).folded.push(item); continue; }
  if (lines) inCalls.set(lines, item);
  pairs.push(item);
}
const isRace = (item) => item.verdict === 'race';
const items = [
  ...pairs.filter(isRace),
  ...report.errors.map((error, i) => ({ kind: 'error', id: `E${i + 1}`, verdict: 'error', by: 'explore',
    variable: error.kind, places: error.waiting.length ? error.waiting.slice(0, 2) : [error], value: error, folded: [] })),
  ...pairs.filter((item) => !isRace(item)),
];
/** What can be searched for, made when it is. */
function wordsOf(item) {
  if (item.words === undefined) {
    const words = item.places.map((p) => `${spot(p)} ${p.function} ${p.kind || ''} ${p.thread || ''} ${(p.locks || []).join(' ')}`);
    item.words = [item.id, item.verdict, item.variable, item.value.reason || item.value.message, item.value.code || '', ...words]
      .join(' ').toLowerCase();
  }
  return item.words;
}
/** Fills a part of the overview when it is opened. */
function whenOpened(id, fill) {
  const details = byId(id);
  const once = () => { if (details.open && fill) { fill(); fill = null; } };
  details.addEventListener('toggle', once);
  once();
}

// Filters and the table.
const unlisted = Object.values(report.unlisted || {}).reduce((sum, n) => sum + n, 0);
const filter = { text: '', verdicts: new Set(), engine: '' };
let shown = items;
let rendered = 0;
let chosen = null;

for (const verdict of ['race', 'error', 'unknown', 'absent']) {
  const n = items.filter((item) => item.verdict === verdict).length;
  if (n === 0) continue;
  const button = el('button', { type: 'button', 'aria-pressed': 'false', 'data-verdict': verdict }, `${verdict} ${n}`);
  button.addEventListener('click', () => {
    if (!filter.verdicts.delete(verdict)) filter.verdicts.add(verdict);
    button.setAttribute('aria-pressed', String(filter.verdicts.has(verdict)));
    refresh();
  });
  byId('verdicts').append(button, ' ');
}
for (const engine of [...new Set(items.map((item) => item.by))].sort()) {
  byId('engine').append(el('option', { value: engine }, engine));
}
byId('filters').addEventListener('submit', (event) => event.preventDefault());
byId('text').addEventListener('input', () => { filter.text = byId('text').value.toLowerCase(); refresh(); });
byId('engine').addEventListener('change', () => { filter.engine = byId('engine').value; refresh(); });
byId('more').addEventListener('click', addRows);

function refresh() {
  const words = filter.text.split(/\s+/).filter(Boolean);
  shown = items.filter((item) => (filter.verdicts.size === 0 || filter.verdicts.has(item.verdict))
    && (filter.engine === '' || item.by === filter.engine) && words.every((word) => wordsOf(item).includes(word)));
  byId('pairs').tBodies[0].replaceChildren();
  rendered = 0;
  addRows();
  byId('shown').textContent = `${shown.length} of ${items.length}${unlisted ? `, ${unlisted} more with --all-pairs` : ''}`;
}
function addRows() {
  const body = byId('pairs').tBodies[0];
  for (const item of shown.slice(rendered, rendered + ROWS)) body.append(row(item));
  rendered = Math.min(shown.length, rendered + ROWS);
  if (!body.querySelector('tr[tabindex="0"]') && body.rows.length) body.rows[0].tabIndex = 0;
  byId('more').hidden = rendered === shown.length;
  byId('more').textContent = `Show more (${shown.length - rendered} left)`;
}
function row(item) {
  const access = (place) => (place ? el('td', {}, place.kind && item.kind === 'pair' ? `${place.kind} ` : '', el('code', {}, path(spot(place)))) : el('td'));
  const tr = el('tr', { 'data-id': item.id, 'aria-selected': String(item === chosen), tabindex: item === chosen ? '0' : '-1' },
    el('td', {}, item.id, item.folded.length ? el('span', { class: 'dim' }, ` +${item.folded.length}`) : ''), el('td', { class: `v-${item.verdict}` }, item.verdict),
    el('td', {}, el('code', {}, item.variable)), access(item.places[0]), access(item.places[1]), el('td', {}, item.by));
  tr.addEventListener('click', () => choose(item));
  tr.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    choose(item);
    byId('detail').querySelector('h2').focus();
  });
  return tr;
}
function choose(item) {
  chosen = item;
  for (const tr of byId('pairs').tBodies[0].rows) {
    const isChosen = tr.dataset.id === item.id;
    if (tr.getAttribute('aria-selected') !== String(isChosen)) tr.setAttribute('aria-selected', String(isChosen));
    tr.tabIndex = isChosen ? 0 : -1;
  }
  showDetail(item);
  history.replaceState(null, '', `#${item.id}`);
}
function move(by) {
  const at = shown.indexOf(chosen);
  const next = shown[Math.max(0, Math.min(shown.length - 1, at < 0 ? 0 : at + by))];
  if (!next) return;
  while (shown.indexOf(next) >= rendered) addRows();
  choose(next);
  const tr = byId('pairs').querySelector(`tr[data-id="${next.id}"]`);
  if (!tr) return;
  tr.scrollIntoView({ block: 'nearest' });
  // The focus goes along, unless it is where the user types.
  if (document.activeElement.id !== 'text') tr.focus({ preventScroll: true });
}

// What is known of one item.
let timeline = null;
function showDetail(item) {
  const { value } = item;
  const parts = [];
  timeline = null;
  if (item.kind === 'pair') {
    const strength = { run: 'data race on', recording: 'data race, observed in a recorded run, on', prediction: 'predicted data race on' }[value.shown];
    const title = strength || { race: 'data race on', unknown: 'not known whether these race:', absent: 'cannot race:' }[item.verdict];
    parts.push(el('h2', { tabindex: '-1' }, `${item.id}: ${title} `, el('code', {}, value.variable)));
    parts.push(el('p', {}, value.reason, value.code ? el('span', { class: 'dim' }, ` (${value.code})`) : null));
    if (value.scope) parts.push(el('p', { class: 'dim' }, scopeText(value.scope)));
    if (value.settle) parts.push(el('p', {}, 'What would settle it: ', value.settle, '.'));
    parts.push(el('div', { class: 'accesses' }, ...value.accesses.map(accessCard)));
    if (item.folded.length) {
      const others = item.folded.map((other) => el('li', {}, `${other.id}: ${other.places.map((place) => `${place.kind} in ${place.inside || place.function}`).join(', ')}`));
      parts.push(el('details', {}, el('summary', {}, `${plural(item.folded.length, 'more pair')} of accesses inside the same calls race`), el('ul', {}, ...others)));
    }
    if (value.protection) {
      const { lock, held, places } = value.protection;
      parts.push(el('p', {}, el('code', {}, lock), ` is held at ${held} of the ${plural(places, 'place')} seen to touch it: hold it at the other too.`));
    }
  } else {
    parts.push(el('h2', { tabindex: '-1' }, `${item.id}: ${value.message}`), el('p', { class: 'dim' }, value.code));
    for (const w of value.waiting) {
      parts.push(el('p', {}, `thread ${w.thread} waits ${w.waits}`, w.locks.length ? `, holding ${w.locks.join(', ')}` : '', ' at ', el('code', {}, path(spot(w)))));
    }
  }
  if (value.witness) parts.push(el('code', { class: 'command' }, `raceproof replay ${quoted(value.witness)}`));
  const code = el('div', { id: 'source' });
  const source = el('div', {}, el('h3', {}, 'Source'), code);
  if (value.run) {
    timeline = new Timeline(value.run, () => showSource(code, item));
    parts.push(el('div', { class: 'beside' }, el('div', {}, el('h3', {}, 'The run'), timeline.controls, timeline.node), source));
  } else parts.push(source);
  byId('detail').replaceChildren(...parts);
  if (timeline) timeline.draw();
  showSource(code, item);
  if (timeline) timeline.start();
}
function scopeText(scope) {
  const inputs = scope.inputs === 'all' ? 'with any input' : 'with this input';
  const threads = scope.threads === 'any' ? 'and any number of threads' : '';
  return `Holds ${inputs} ${threads}`.trim() + '.';
}
/** The calls that led to a place, the innermost first. */
function calls(place) {
  const list = (frames) => el('ol', { class: 'calls', 'aria-label': 'called by' },
    ...frames.map((frame) => el('li', {}, el('code', {}, path(spot(frame))), ` in ${frame.function}`)));
  const stack = place.stack || [];
  const own = stack.filter((frame) => !isForeign(frame));
  const foreign = stack.filter(isForeign);
  const inside = foreign.length ? el('details', { class: 'dim' }, el('summary', {}, `${plural(foreign.length, 'call')} inside the library`), list(foreign)) : '';
  return own.length || foreign.length ? el('div', {}, own.length ? list(own) : '', inside) : '';
}
function accessCard(access) {
  const how = access.atomic ? 'atomic ' : '';
  const who = access.thread ? `thread ${access.thread}` : 'a thread';
  const maker = access.created && ([access.created, ...(access.created.stack || [])].find((place) => !isForeign(place)) || access.created);
  const created = maker
    ? el('div', { class: 'dim' }, `created by thread ${access.created.thread} in ${maker.function} at `, el('code', {}, path(spot(maker)))) : null;
  const locks = access.thread ? (access.locks.length ? `holding ${access.locks.join(', ')}` : 'holding no lock') : null;
  return el('div', { class: 'access' }, el('p', {}, `${who}: ${how}${access.kind}`),
    el('div', {}, el('code', {}, path(spot(access))), access.inside ? ` inside ${access.inside},` : '', ` in ${access.function}`, calls(access)), locks ? el('p', {}, locks) : null, created);
}

/** Lines around both accesses, and the one of the step that is looked at. */
function showSource(node, item) {
  const marks = new Map();
  const mark = (file, line, kind) => {
    if (!file || !line) return;
    if (!marks.has(file)) marks.set(file, new Map());
    const lines = marks.get(file);
    if (lines.get(line) !== 'mark') lines.set(line, kind);
  };
  item.places.forEach((place) => mark(place.file, place.line, 'mark'));
  const now = timeline && timeline.current();
  if (now) mark(now.file, now.line, 'step');
  const parts = [];
  for (const [file, lines] of marks) {
    const text = files[file];
    parts.push(el('p', { class: 'code dim' }, path(file)));
    if (text === undefined) { parts.push(el('p', { class: 'hint' }, 'The source was not there when this page was made.')); continue; }
    const all = text.split('\n');
    const pre = el('pre', { tabindex: '0', role: 'group', 'aria-label': `Source of ${file}` });
    let last = 0;
    for (let n = 1; n <= all.length; n += 1) {
      if (![...lines.keys()].some((line) => Math.abs(line - n) <= AROUND)) continue;
      if (last && n > last + 1) pre.append(el('span', { class: 'row dim' }, '⋮'));
      last = n;
      const classes = ['row'];
      if (lines.get(n) === 'mark') classes.push('mark');
      if (now && now.file === file && now.line === n) classes.push('now');
      pre.append(el('span', { class: classes.join(' '), 'data-line': n }, el('span', { class: 'number' }, String(n)), all[n - 1] || ' '));
    }
    parts.push(pre);
  }
  node.replaceChildren(...parts);
  const line = node.querySelector('.row.now');
  if (line) {
    const { offsetTop: top, offsetHeight } = line;
    if (top < node.scrollTop || top + offsetHeight > node.scrollTop + node.clientHeight) node.scrollTop = top - node.clientHeight / 2;
  }
}

// The overview. Documents of earlier versions list absent pairs and do not count them.
const absent = report.absent || report.pairs.filter((pair) => pair.verdict === 'absent').map((pair) => ({ ...pair, pairs: 1 }));
byId('absent').hidden = absent.length === 0;
byId('absent').querySelector('summary').textContent = `What cannot race (${plural(absent.reduce((sum, group) => sum + group.pairs, 0), 'pair')})`;
whenOpened('absent', () => absent.slice(0, 500).forEach((group) => {
  byId('absent').querySelector('tbody').append(el('tr', {}, el('td', {}, el('code', {}, group.variable)), el('td', {}, String(group.pairs)),
    el('td', {}, group.reason), el('td', {}, group.by)));
}));
for (const engine of report.engines) {
  const races = report.pairs.filter((pair) => pair.by === engine.name && pair.verdict === 'race').length;
  const settled = absent.filter((group) => group.by === engine.name).reduce((sum, group) => sum + group.pairs, races);
  const why = engine.reason ? `${engine.coverage}: ${engine.reason}` : engine.coverage;
  byId('engines').tBodies[0].append(el('tr', {}, el('td', {}, `${engine.name} (${engine.reduction})`), el('td', {}, plural(settled, 'pair')),
    el('td', {}, String(engine.executions)), el('td', {}, String(engine.transitions)), el('td', {}, why), el('td', {}, `${(engine.time_ms / 1000).toFixed(2)} s`)));
}
const questions = new Map();
const ask = (settle, what) => questions.set(settle, [...(questions.get(settle) || []), what]);
report.unknowns.forEach((unknown) => ask(unknown.settle, unknown.file ? `${unknown.reason} (${spot(unknown)})` : unknown.reason));
report.pairs.filter((pair) => pair.verdict === 'unknown').forEach((pair) => ask(pair.settle || 'no engine can say', pair.id));
byId('open-questions').hidden = questions.size === 0;
byId('open-questions').open = questions.size > 0;
for (const [settle, what] of [...questions].slice(0, 100)) {
  const named = what.slice(0, 12).join(', ') + (what.length > 12 ? ` and ${what.length - 12} more` : '');
  byId('open-questions').querySelector('ul').append(el('li', {}, el('strong', {}, settle), ` - ${named}`));
}
whenOpened('all-threads', showThreads);
whenOpened('locks', showLocks);
function showThreads() {
  const threads = new Map();
  for (const { value } of items) for (const thread of (value.run ? value.run.threads : [])) threads.set(thread.thread, thread);
  const nodes = new Map();
  for (const [name, thread] of [...threads].sort(([a], [b]) => compare(a, b))) {
    const made = thread.created ? [' created at ', el('code', {}, path(spot(thread.created))), ` in ${thread.created.function}`] : [' the initial thread'];
    const children = el('ul');
    const parent = nodes.get(name.split('.').slice(0, -1).join('.')) || byId('threads');
    parent.append(el('li', {}, el('strong', {}, name), thread.function ? ` ${thread.function}` : '', el('span', { class: 'dim' }, ...made), children));
    nodes.set(name, children);
  }
  if (threads.size === 0) byId('threads').append(el('li', { class: 'hint' }, 'No run is part of this result.'));
}
function compare(a, b) { return a.localeCompare(b, undefined, { numeric: true }); }

function showLocks() {
  const places = new Map();
  for (const pair of report.pairs) {
    for (const access of pair.accesses) {
      if (!access.thread) continue;
      if (!places.has(pair.variable)) places.set(pair.variable, new Map());
      places.get(pair.variable).set(`${spot(access)}:${access.column} ${access.kind}`, access.locks);
    }
  }
  const locks = [...new Set([...places.values()].flatMap((sites) => [...sites.values()].flat()))].sort();
  byId('matrix').append(el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'variable'), el('th', { scope: 'col' }, 'places'), ...locks.slice(0, 40).map((lock) => el('th', { scope: 'col' }, lock)))));
  const body = el('tbody');
  for (const [variable, sites] of [...places].sort(([a], [b]) => compare(a, b)).slice(0, 300)) {
    const cells = locks.slice(0, 40).map((lock) => {
      const held = [...sites.values()].filter((names) => names.includes(lock)).length;
      const kind = held === 0 ? '' : held === sites.size ? 'all' : 'some';
      return el('td', { class: kind }, held === 0 ? '' : `${held}`);
    });
    body.append(el('tr', {}, el('td', {}, el('code', {}, variable)), el('td', {}, String(sites.size)), ...cells));
  }
  byId('matrix').append(body);
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.defaultPrevented) return;
  const typing = ['INPUT', 'SELECT', 'TEXTAREA'].includes(event.target.tagName);
  if (event.key === 'Escape' && typing) {
    if (event.target.value && event.target.id === 'text') {
      event.target.value = '';
      event.target.dispatchEvent(new Event('input'));
    } else event.target.blur();
    return;
  }
  if (typing && !(event.target.id === 'text' && (event.key === 'ArrowDown' || event.key === 'ArrowUp'))) return;
  const keys = {
    ArrowDown: () => move(1), ArrowUp: () => move(-1), '/': () => byId('text').focus(),
    ArrowRight: () => timeline && timeline.go(timeline.at + 1), ArrowLeft: () => timeline && timeline.go(timeline.at - 1),
    Home: () => timeline && timeline.go(0), End: () => timeline && timeline.go(timeline.events.length - 1),
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});

refresh();
const asked = items.find((item) => [item, ...item.folded].some(({ id }) => `#${id}` === location.hash));
if (asked || items.length) choose(asked || items[0]);
