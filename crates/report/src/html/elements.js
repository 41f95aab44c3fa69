// Elements of the page, and the words for places and events.
/** An element with attributes and children; text stays text. */
function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
function svg(name, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
/** A file's name, perhaps with its line, that may be broken after slashes. */
function path(text) {
  const parts = document.createDocumentFragment();
  text.split(/(?<=\/)/).forEach((part, i) => parts.append(...(i ? [el('wbr'), part] : [part])));
  return parts;
}
const spot = (place) => (place.file ? `${place.file}:${place.line}` : 'unknown place');
/** What an event did, with what it found and left in memory. */
const told = ({ what, value }) => {
  const known = value ? [value.old, value.new].filter((text) => text !== undefined) : [];
  return known.length === 2 ? `${what}: ${known[0]} → ${known[1]}` : known.length ? `${what} (${known[0]})` : what;
};
/** A name as a shell takes it. */
const quoted = (name) => (/^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
const plural = (n, one) => `${n} ${one}${n === 1 ? '' : 's'}`;

const isForeign = (place) => /^(\/usr\/(include|lib|local\/include)\/|<openmp>)/.test(place.file || '');
