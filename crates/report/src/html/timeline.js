/** Lanes of threads, time downwards. */
class Timeline {
  constructor(run, changed) {
    this.events = run.events;
    this.changed = changed;
    this.at = 0;
    const seen = new Set(run.events.map((event) => event.thread));
    const others = run.threads.map((_, i) => i).filter((i) => seen.has(i) && !run.about.includes(i));
    this.lanes = [...others.filter((i) => i < Math.min(...run.about)), ...run.about, ...others.filter((i) => i >= Math.min(...run.about))];
    this.run = run;
    this.label = el('p', { id: 'step', 'aria-live': 'polite' });
    const button = (text, title, to) => {
      const b = el('button', { type: 'button', title, 'aria-label': title }, text);
      b.addEventListener('click', to);
      return b;
    };
    this.controls = el('div', { class: 'steps' }, button('←', 'Step back', () => this.go(this.at - 1)),
      button('→', 'Step forward', () => this.go(this.at + 1)),
      button('to the finding', 'Go to the finding', () => this.go(this.finding())));
    this.node = el('div', { class: 'timeline', id: 'timeline', tabindex: '0', role: 'group', 'aria-label': 'Timeline of threads: left and right step through it' });
    this.controls.append(this.label);
  }
  finding() {
    const at = this.events.findLastIndex((event) => event.marked);
    return at < 0 ? this.events.length - 1 : at;
  }
  start() { this.go(this.finding()); }
  current() { return this.events[this.at]; }
  draw() {
    const { events, lanes, run } = this;
    const row = 24; const top = 30; const left = 46;
    const room = (this.node.clientWidth - left - 24) / lanes.length;
    const width = Math.max(180, Math.min(260, room));
    // Both ends of a name say more than its middle.
    const fits = (text, room) => (text.length > room ? `${text.slice(0, Math.ceil(room / 2) - 1)}…${text.slice(-Math.floor(room / 2))}` : text);
    const letters = Math.floor((width - 36) / 7.9);
    const y = (i) => i * row + row / 2;
    const x = (thread) => left + lanes.indexOf(thread) * width + 22;
    const picture = svg('svg', { width: left + lanes.length * width + 10, height: events.length * row + 10, role: 'img', 'aria-label': `${plural(events.length, 'event')} of ${plural(lanes.length, 'thread')}` });
    const heads = svg('svg', { class: 'heads', 'aria-hidden': 'true', width: left + lanes.length * width + 10, height: top });
    this.cursor = svg('rect', { class: 'now', x: 0, width: left + lanes.length * width + 10, height: row, y: 0 });
    picture.append(this.cursor);
    const locks = [...new Set(events.flatMap((event) => event.locks || []))];
    for (const thread of lanes) {
      const mine = events.map((event, i) => [event, i]).filter(([event]) => event.thread === thread);
      const info = run.threads[thread];
      heads.append(svg('text', { x: x(thread) - 14, y: 18 }, fits(`thread ${info.thread} ${info.function ? `(${info.function})` : ''}`, letters + 2)));
      if (mine.length === 0) continue;
      picture.append(svg('line', { class: 'lane', x1: x(thread), x2: x(thread), y1: y(mine[0][1]), y2: y(mine[mine.length - 1][1]) }));
      locks.forEach((lock, k) => {
        let from = null;
        const close = (to) => {
          if (from === null) return;
          const hue = (k * 67 + 200) % 360;
          picture.append(svg('rect', { class: 'lock', x: x(thread) - 9 - 5 * (k % 3), width: 5, y: y(from) - row / 2, height: y(to) - y(from) + row,
            fill: `hsl(${hue} 65% 55%)`, opacity: 0.75 }, svg('title', {}, `${lock} is held`)));
          from = null;
        };
        let last = null;
        for (const [event, i] of mine) {
          const held = (event.locks || []).includes(lock);
          if (held && from === null) from = last === null ? i : last;
          if (!held && from !== null) close(last);
          last = i;
        }
        close(last);
      });
    }
    run.threads.forEach((info, thread) => {
      const born = events.findIndex((event) => event.thread === thread);
      const made = events.findIndex((event) => event.action === 'thread' && event.what === `creates thread ${info.thread}`);
      if (made >= 0 && born > made && lanes.includes(events[made].thread)) {
        const [a, b] = [x(events[made].thread), x(thread)];
        picture.append(svg('path', { class: 'spawn', d: `M${a} ${y(made)}V${y(made) + row / 2}H${b}V${y(born)}` }));
      }
    });
    events.forEach((event, i) => {
      const at = x(event.thread);
      const g = svg('g', { class: 'event', 'data-step': i });
      g.append(svg('title', {}, `${told(event)}${event.file ? ` at ${spot(event)}` : ''}`));
      g.append(svg('rect', { x: 0, y: y(i) - row / 2, width: left + lanes.length * width, height: row, opacity: 0 }));
      g.append(svg('text', { class: 'dim', x: 4, y: y(i) + 4 }, String(event.step)));
      if (event.deciding) g.append(svg('line', { class: 'switch', x1: 0, x2: left + lanes.length * width, y1: y(i) - row / 2, y2: y(i) - row / 2 }));
      if (event.action === 'lock' || event.action === 'unlock') {
        const d = event.action === 'lock' ? `M${at - 6} ${y(i) - 5}h12l-6 11z` : `M${at - 6} ${y(i) + 5}h12l-6 -11z`;
        g.append(svg('path', { class: 'mark', d }));
      } else if (event.action === 'read' || event.action === 'write') {
        g.append(svg('circle', { class: `mark ${event.action}`, cx: at, cy: y(i), r: 5 }));
      } else {
        g.append(svg('rect', { class: 'mark', x: at - 4, y: y(i) - 4, width: 8, height: 8 }));
      }
      if (event.marked) g.append(svg('circle', { class: 'ring', cx: at, cy: y(i), r: 9 }));
      const text = (event.line ? `${event.line}: ${told(event)}` : told(event)).replaceAll('`', '');
      g.append(svg('text', { class: event.marked ? 'race' : '', x: at + 14, y: y(i) + 4 }, fits(text, letters)));
      g.addEventListener('click', () => this.go(i));
      picture.append(g);
    });
    this.top = (i) => i * row;
    this.left = (thread) => x(thread) - 22;
    this.laneWidth = width;
    this.node.append(heads, picture);
  }
  go(to) {
    this.at = Math.max(0, Math.min(this.events.length - 1, to));
    const event = this.current();
    if (!event) return;
    this.cursor.setAttribute('y', this.top(this.at));
    this.label.textContent = `step ${event.step}: thread ${this.run.threads[event.thread].thread} ${told(event).replaceAll('`', '')}`;
    const y = this.top(this.at);
    const { scrollTop, clientHeight } = this.node;
    if (y < scrollTop + 40 || y > scrollTop + clientHeight - 60) this.node.scrollTop = y - clientHeight / 2;
    const [from, end] = [this.left(event.thread), this.left(event.thread) + this.laneWidth];
    if (from < this.node.scrollLeft || end > this.node.scrollLeft + this.node.clientWidth) this.node.scrollLeft = from - 46;
    this.changed();
  }
}
