// Operate a chart by keys when it has the focus: zoom, pan, reset, and the legend, whose entries are numbered
// from 1 in reading order.
const KEYS = "+ and − zoom, arrows move, 0 shows all, 1 to 9 show or hide a line of the legend";
const ZOOM = 0.7; // of the span, for each press
const PAN = 0.15;
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function free(layout) {
  return Object.keys(layout).filter(
    (key) => /^[xy]axis\d*$/.test(key) && !layout[key].fixedrange && layout[key].visible !== false,
  );
}

// Send a mouse event to the legend's entry on screen, so that Plotly keeps its groups and its state.
function toggle(chart, place) {
  const entry = chart.querySelectorAll(".legend .legendtoggle")[place];
  const box = entry?.getBoundingClientRect();
  const at = box && { bubbles: true, clientX: box.left + 4, clientY: box.top + 4, button: 0 };
  for (const kind of at ? ["mousedown", "mouseup"] : []) entry.dispatchEvent(new MouseEvent(kind, at));
  return Boolean(entry);
}

// Return the ranges after this key, by axis; null for another key, {} to show all.
function ranges(chart, key) {
  const full = chart._fullLayout;
  const [right, up] = MOVES[key] ?? [0, 0];
  const zoom = { "+": ZOOM, "=": ZOOM, "-": 1 / ZOOM, "−": 1 / ZOOM }[key] ?? 1;
  if (key === "0") return {};
  if (zoom === 1 && !MOVES[key]) return null;
  if (!free(full).length) return null;
  const changed = {};
  for (const name of free(full)) {
    const [low, high] = full[name].range;
    const middle = (low + high) / 2 + (name[0] === "x" ? right : up) * PAN * (high - low);
    const half = ((high - low) * zoom) / 2;
    changed[name] = { range: [middle - half, middle + half] };
  }
  return changed;
}

// Call `move` with the ranges after each key that changes them.
function keyboard(chart, move) {
  chart.setAttribute("aria-keyshortcuts", "+ - 0 ArrowLeft ArrowRight ArrowUp ArrowDown");
  chart.dataset.keys = KEYS;
  // Plotly keeps the browser from moving the focus, so keys would still move the slider that had it.
  chart.addEventListener("pointerdown", () => chart.focus({ preventScroll: true }));
  chart.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !chart._fullLayout) return;
    const changed = ranges(chart, event.key);
    if (changed) move(changed);
    if (changed || (/^[1-9]$/.test(event.key) && toggle(chart, Number(event.key) - 1))) event.preventDefault();
  });
}

