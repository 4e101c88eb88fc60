"use strict";
// The lesson: what is shown and asked comes from the JSON in the page, which the numerical core has made.
const lesson = JSON.parse(document.getElementById("lesson").textContent);
const SVG = "http://www.w3.org/2000/svg";
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"; // of codes: nothing that reads like something else
const INTRO_MS = 1800; // in which a picture appears
const still = matchMedia("(prefers-reduced-motion: reduce)");
const $ = (id) => document.getElementById(id);

/** Return a new element; children: elements and texts. */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** Add a shape to a picture and return it. */
function shape(parent, tag, attributes = {}, text = "") {
  const node = document.createElementNS(SVG, tag);
  set(node, attributes);
  if (text) node.textContent = text;
  parent.append(node);
  return node;
}

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const scale = (low, high, from, to) => (value) => from + (clamp(value, low, high) - low) / (high - low) * (to - from);

// ---- What was answered: kept in this tab alone, so that a reload loses nothing ----

const fresh = () => ({
  draw: 0,
  at: 0,
  tag: Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => ALPHABET[byte % 32]).join(""),
  answers: lesson.screens.map(() => ({ predicted: null, value: "", tries: 0, solved: false, says: "" })),
});
let state = fresh();
try {
  state = { ...state, ...JSON.parse(sessionStorage.getItem(lesson.key)) };
} catch { /* a browser that keeps nothing starts again */ }

function keep() {
  try {
    sessionStorage.setItem(lesson.key, JSON.stringify(state));
  } catch { /* the page itself still has it */ }
}

// ---- Pictures: each has a setup, which returns a function that draws a frame, shown up to `part` of 1 ----

let width = 640, height = 400;

function axis(svg, x, y, ticks, label) {
  shape(svg, "line", { x1: x(ticks[0]), x2: x(ticks.at(-1)), y1: y, y2: y, class: "axis" });
  for (const tick of ticks) shape(svg, "text", { x: x(tick), y: y + 18, class: "tick" }, String(tick));
  shape(svg, "text", { x: width / 2, y: y + 38, class: "middle" }, label);
}

const pictures = {
  count(svg, { limit, axis: ticks, labels }) {
    const x = scale(ticks[0], ticks.at(-1), 20, width - 20);
    const rows = ["patient", "another"].map((who, row) => {
      const top = 20 + row * (height - 64) / 2;
      shape(svg, "text", { x: 20, y: top, class: who }, labels[row]);
      return Array.from({ length: lesson.releases }, (_, i) =>
        shape(svg, "circle", { r: 5.5, cy: top + 16 + (i % 10) * 11, class: who }));
    });
    shape(svg, "line", { x1: x(limit), x2: x(limit), y1: 30, y2: height - 60, class: "limit" });
    axis(svg, x, height - 50, ticks, labels[2]);
    return ({ having, lacking }, part) => [having, lacking].forEach((values, row) => values.forEach((value, i) => {
      const right = row === 0 ? value > limit : value <= limit;
      set(rows[row][i], {
        cx: x(value), "data-right": right, visibility: i < part * values.length ? "visible" : "hidden",
      });
    }));
  },

  mean(svg, { edges, most, truth, ticks, labels }) {
    const x = scale(edges[0], edges.at(-1), 20, width - 20), y = scale(0, most, 0, height - 170);
    const floor = height - 50, wide = x(edges[1]) - x(edges[0]) - 2;
    const bars = edges.slice(1).map((_, i) => shape(svg, "rect", { x: x(edges[i]) + 1, width: wide, class: "bar" }));
    const dots = Array.from({ length: lesson.releases }, (_, i) =>
      shape(svg, "circle", { r: 6, cy: 34 + (i % 4) * 15, class: "private" }));
    shape(svg, "line", { x1: x(truth), x2: x(truth), y1: 24, y2: floor, class: "free" });
    shape(svg, "text", { x: x(truth), y: 16, class: "middle free" }, labels[0]);
    const cap = shape(svg, "line", { y1: 100, y2: floor, class: "limit" });
    const capped = shape(svg, "text", { y: 116, class: "middle" }, labels[1]);
    axis(svg, x, floor, ticks, labels[2]);
    return ({ bars: counts, means, cap: at }, part) => {
      counts.forEach((count, i) => set(bars[i], { y: floor - y(count), height: y(count) }));
      means.forEach((value, i) =>
        set(dots[i], { cx: x(value), visibility: i < part * means.length ? "visible" : "hidden" }));
      set(cap, { x1: x(at), x2: x(at) });
      set(capped, { x: clamp(x(at), 40, width - 40) });
    };
  },

  points(svg, { labels, reach }) {
    svg.setAttribute("role", "group");
    const unit = (height - 60) / (2 * reach), middle = [width / 2, (height - 30) / 2];
    const place = ([x, y]) => [middle[0] + unit * x, middle[1] - unit * y];
    shape(svg, "text", { x: width / 2, y: height - 8, class: "middle" }, labels[0]);
    shape(svg, "text", { x: 14, y: middle[1], class: "middle", transform: `rotate(-90 14 ${middle[1]})` }, labels[1]);
    const drawn = { guess: shape(svg, "line", { class: "guessed" }), line: shape(svg, "line", { class: "free" }) };
    const rest = lesson.screens[2].draws[state.draw].points;
    const shadows = rest.map(() => shape(svg, "line", { class: "shadow" }));
    const dots = rest.map((_, i) => shape(svg, "circle", {
      r: 11, tabindex: 0, role: "button", "aria-roledescription": "point that can be moved", class: "point", "data-i": i,
    }));
    let points = rest.map((point) => [...point]);
    let after = () => {}, held = null;
    const move = (i, to) => {
      points[i] = to.map((value) => clamp(value, -reach, reach));
      draw({}, 1);
      after();
    };
    dots.forEach((dot, i) => {
      dot.addEventListener("pointerdown", (event) => { held = i; dot.setPointerCapture(event.pointerId); });
      dot.addEventListener("pointerup", () => { held = null; });
      dot.addEventListener("pointermove", (event) => {
        if (held !== i) return;
        const box = svg.getBoundingClientRect(), zoom = width / box.width;
        const at = [(event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom];
        move(i, [(at[0] - middle[0]) / unit, (middle[1] - at[1]) / unit]);
      });
      dot.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: [-0.2, 0], ArrowRight: [0.2, 0], ArrowUp: [0, 0.2], ArrowDown: [0, -0.2] }[event.key];
        if (!step) return;
        event.preventDefault();
        move(i, [points[i][0] + step[0], points[i][1] + step[1]]);
      });
    });
    const along = (centre, degrees, line) => {
      const turn = degrees * Math.PI / 180;
      const ends = [-reach, reach].map((far) => place([centre[0] + far * Math.cos(turn), centre[1] + far * Math.sin(turn)]));
      set(line, { x1: ends[0][0], y1: ends[0][1], x2: ends[1][0], y2: ends[1][1] });
    };
    function draw({ guess }, part) {
      const { centre, degrees, kept } = component(points);
      const open = state.answers[2].predicted !== null;
      draw.guess = guess ?? draw.guess ?? Number(state.answers[2].value);
      const line = open ? degrees : draw.guess;
      drawn.line.style.visibility = open ? "visible" : "hidden";
      along(centre, degrees, drawn.line);
      along(centre, draw.guess, drawn.guess);
      const turn = line * Math.PI / 180;
      points.forEach((point, i) => {
        const [x, y] = place(point);
        const far = (point[0] - centre[0]) * Math.cos(turn) + (point[1] - centre[1]) * Math.sin(turn);
        const foot = place([centre[0] + far * Math.cos(turn), centre[1] + far * Math.sin(turn)]);
        set(dots[i], {
          cx: x, cy: y, "aria-label": `Patient ${i + 1} at ${point[0].toFixed(1)}, ${point[1].toFixed(1)}`,
          visibility: i < part * points.length ? "visible" : "hidden",
        });
        set(shadows[i], { x1: x, y1: y, x2: foot[0], y2: foot[1], visibility: part === 1 ? "visible" : "hidden" });
      });
      Object.assign(draw, { degrees, kept });
    }
    draw.onmove = (handler) => { after = handler; };
    draw.moved = () => points.filter((point, i) => Math.hypot(point[0] - rest[i][0], point[1] - rest[i][1]) > 0.05).length;
    draw.reset = () => { points = rest.map((point) => [...point]); };
    return draw;
  },

  angle(svg, { patients, labels }) {
    const middle = [width / 2, (height - 20) / 2], reach = middle[1] - 12, unit = reach / 2.6;
    const dots = patients.map(() => shape(svg, "circle", { r: 3.2, class: "cloud" }));
    const lines = Array.from({ length: lesson.releases }, () => shape(svg, "line", { class: "private thin" }));
    shape(svg, "line", { x1: middle[0] - reach * 1.25, x2: middle[0] + reach * 1.25, y1: middle[1], y2: middle[1], class: "true" });
    shape(svg, "text", { x: width - 8, y: middle[1] - 8, class: "end true" }, labels[0]);
    shape(svg, "text", { x: width - 8, y: 20, class: "end private" }, labels[1]);
    shape(svg, "text", { x: width / 2, y: height - 6, class: "middle" }, labels[2]);
    return ({ angles, across }, part) => {
      dots.forEach((dot, i) => set(dot, {
        cx: middle[0] + unit * patients[i][0], cy: middle[1] - unit * across * patients[i][1],
      }));
      angles.forEach((degrees, i) => {
        const turn = degrees * Math.PI / 180, dx = reach * Math.cos(turn), dy = reach * Math.sin(turn);
        set(lines[i], {
          x1: middle[0] - dx, y1: middle[1] + dy, x2: middle[0] + dx, y2: middle[1] - dy,
          visibility: i < part * angles.length ? "visible" : "hidden",
        });
      });
    };
  },

  ways(svg, { bars, guess, labels }) {
    const x = scale(0, 100, 10, width - 84), gap = (height - 70) / bars.length;
    const tracks = shape(svg, "g"), drawn = bars.map(({ label, look }, i) => {
      const top = 10 + i * gap;
      shape(svg, "text", { x: 10, y: top + 14 }, label);
      shape(tracks, "rect", { x: 10, y: top + 20, width: x(100) - 10, height: gap - 34, class: "track" });
      const bar = shape(svg, "rect", { x: 10, y: top + 20, height: gap - 34, class: look });
      const mark = shape(svg, "path", { class: "published", visibility: "hidden" });
      const number = shape(svg, "text", { y: top + 20 + (gap - 34) / 2 + 5 });
      return { bar, mark, number, y: top + 20 + (gap - 34) / 2 };
    });
    shape(svg, "line", { x1: x(guess), x2: x(guess), y1: 28, y2: height - 55, class: "guess" });
    axis(svg, x, height - 48, [0, 25, 50, 75, 100], labels[0]);
    return ({ shares, texts, published }, part) => drawn.forEach(({ bar, mark, number, y }, i) => {
      const end = x(shares[i] * part);
      set(bar, { width: Math.max(end - 10, 0) });
      set(number, { x: end + 6 });
      number.textContent = part === 1 ? texts[i] : "";
      if (published[i] === null) return;
      const at = x(published[i]);
      set(mark, { d: `M${at} ${y - 11}l8 11l-8 11l-8 -11z`, visibility: part === 1 ? "visible" : "hidden" });
    });
  },
};

/** Return the line along which points spread most: its centre, its angle in degrees, the share that it keeps. */
function component(points) {
  const n = points.length;
  const centre = [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / n);
  let xx = 0, xy = 0, yy = 0;
  for (const [x, y] of points) {
    xx += (x - centre[0]) ** 2;
    xy += (x - centre[0]) * (y - centre[1]);
    yy += (y - centre[1]) ** 2;
  }
  const degrees = (Math.atan2(2 * xy, xx - yy) * 90 / Math.PI + 180) % 180;
  const spread = Math.hypot(xx - yy, 2 * xy);
  return { centre, degrees, kept: (xx + yy + spread) / (2 * (xx + yy)) };
}

/** Return by how many degrees two lines differ, from 0 to 90. */
function between(one, other) {
  const turn = Math.abs(one - other) % 180;
  return Math.min(turn, 180 - turn);
}

// ---- One screen: predict, move, explain ----

let picture = null, way = 0, position = 0, timer = 0;

const here = () => lesson.screens[state.at];
const answer = () => state.answers[state.at];
const drawn = () => here().draws[state.draw];

/** Draw the frame at the slider's position, up to `part` of 1, and say what it shows. */
function show(part = 1) {
  if (here().key === "points") {
    picture({}, part);
    const { line, turned } = here().says;
    const words = (sentence, ...numbers) => numbers.reduce((text, number) => text.replace("#", number.toFixed(0)), sentence);
    say(answer().predicted === null ? line : words(turned, picture.degrees, 100 * picture.kept));
    return;
  }
  const frame = drawn().frames[way][position];
  picture(frame, part);
  say(frame.says);
}

function say(sentence) {
  $("says").textContent = sentence;
  $("picture").setAttribute("aria-label", sentence);
}

/** Let the picture appear within two seconds; at once for who prefers no motion. */
function appear() {
  cancelAnimationFrame(timer);
  if (still.matches) return show();
  const began = performance.now();
  const step = (now) => {
    const part = Math.min((now - began) / INTRO_MS, 1);
    show(part);
    if (part < 1) timer = requestAnimationFrame(step);
  };
  timer = requestAnimationFrame(step);
}

/** Return how wide a picture is drawn, before the page scales it: narrow ones have larger letters. */
const fitting = () => ($("figure").clientWidth < 560 ? 400 : 640);

/** Set the picture up anew: for another screen, draw or width. */
function drawAnew() {
  const svg = $("picture");
  width = fitting();
  height = width === 400 ? 330 : 400;
  svg.replaceChildren();
  set(svg, { viewBox: `0 0 ${width} ${height}`, role: "img" });
  picture = pictures[here().key](svg, { ...here().setup, ...drawn().setup });
  if (picture.onmove) picture.onmove(() => show());
}

function openScreen(at, focused = true) {
  cancelAnimationFrame(timer);
  state.at = at;
  keep();
  way = 0;
  const last = at === lesson.screens.length;
  $("end").hidden = !last;
  $("screen").hidden = last;
  for (const [i, button] of [...$("steps").querySelectorAll("button")].entries()) {
    button.toggleAttribute("aria-current", i === at);
    if (i === at) button.setAttribute("aria-current", "step");
    button.classList.toggle("done", i < state.answers.length && state.answers[i].solved);
  }
  scrollTo(0, 0);
  if (last) return showEnd();
  const screen = here();
  position = screen.ways[0]?.start ?? 0;
  $("title").textContent = `${at + 1}. ${screen.title}`;
  $("claim").textContent = screen.claim;
  $("story").replaceChildren(...screen.story.map((sentence) => make("p", {}, sentence)));
  fill();
  drawAnew();
  appear();
  if (focused) $("title").focus({ preventScroll: true });
}

/** Fill what is asked and told on this screen, as far as it has been answered. */
function fill() {
  const screen = here(), given = answer(), open = given.predicted !== null;
  $("seed").textContent = `Draw ${state.draw + 1} of ${lesson.draws.length} (seed ${lesson.draws[state.draw]}).` +
    (state.draw ? " Numbers in the text are those of draw 1." : "");
  $("predict").replaceChildren(...predictForm(screen.predict, given));
  $("move").hidden = !open;
  $("explain").hidden = !(given.solved || given.tries >= 3);
  if (!open) return;
  $("move").replaceChildren(...moveForm(screen, given));
  $("explain").replaceChildren(
    make("h3", {}, "Explain"),
    ...screen.explain.map((sentence) => make("p", {}, sentence)),
    make("details", {}, make("summary", {}, "The formula"), make("p", { class: "formula" }, screen.formula),
      make("p", {}, screen.terms)),
    make("button", { type: "button", class: "main", onclick: () => openScreen(state.at + 1) },
      state.at + 1 < lesson.screens.length ? "Next screen" : "To the end"),
  );
}

function predictForm(asked, given) {
  const open = given.predicted !== null;
  const send = (event) => {
    event.preventDefault();
    const value = new FormData(event.target).get("value");
    const outcome = judged(asked, value);
    if (outcome < 0) {
      $("predicted").textContent = asked.missing;
      return;
    }
    Object.assign(given, { predicted: outcome, value });
    keep();
    fill();
    show();
    $("predicted").focus({ preventScroll: true });
  };
  const inputs = asked.kind === "choice"
    ? asked.outcomes.map(({ label }, i) => make("label", { class: "choice" },
      make("input", { type: "radio", name: "value", value: i, disabled: open, checked: given.value === String(i) }), label))
    : [make("label", { class: "row" }, asked.label, make("input", {
      type: asked.kind === "line" ? "range" : "number", name: "value", min: asked.low, max: asked.high, step: "any",
      inputmode: "decimal", value: given.value || (asked.kind === "line" ? asked.low : ""), disabled: open, autocomplete: "off",
      ...(asked.kind === "line" ? { step: 1, oninput: (event) => picture({ guess: Number(event.target.value) }, 1) } : {}),
    }), asked.unit)];
  const says = open ? asked.outcomes[given.predicted] : null;
  return [
    make("h3", {}, "Predict"),
    make("form", { onsubmit: send, novalidate: true },
      make("fieldset", {}, make("legend", {}, asked.question), ...inputs),
      ...(open ? [] : [make("button", { class: "main" }, "This is my guess")])),
    make("p", { id: "predicted", role: "status", tabindex: -1, class: says ? verdict(says) : "" },
      says ? `${says.right ? "Right." : "Not so."} ${says.says}` : ""),
  ];
}

const verdict = ({ right }) => (right ? "right" : "wrong");

/** Return which outcome a prediction is, or -1 for none that can be read. */
function judged({ kind, outcomes, low, high }, value) {
  if (value === null || value.trim() === "") return -1;
  const number = Number(value.replace(",", "."));
  if (kind === "choice") return number;
  if (!(number >= low && number <= high)) return -1;
  if (kind === "line")
    return outcomes.findIndex(({ near, within }) => !near || between(number, drawn()[near]) <= within);
  return outcomes.findIndex(({ from, to }) => number >= from && number <= to);
}

function moveForm(screen, given) {
  const { task, ways } = screen;
  const slider = ways.length ? control(ways) : [];
  const check = () => {
    const outcome = screen.key === "points" ? turned(task) : drawn().answers[way][position];
    given.tries = Math.min(given.tries + 1, 9);
    given.solved ||= task.outcomes[outcome].right;
    given.says = `${task.outcomes[outcome].right ? "Right." : "Not yet."} ${task.outcomes[outcome].says}`;
    keep();
    fill();
    show();
    $("checked").focus({ preventScroll: true });
  };
  return [
    make("h3", {}, "Move"),
    ...slider,
    make("p", {}, task.question),
    make("div", { class: "buttons" },
      make("button", { type: "button", class: "main", id: "check", onclick: check }, task.button),
      ...(screen.key === "points" ? [make("button", { type: "button", onclick: () => { picture.reset(); show(); } }, "Put all back")] : [])),
    make("p", { id: "checked", role: "status", tabindex: -1, class: given.says ? (given.says.startsWith("Right") ? "right" : "wrong") : "" }, given.says),
  ];
}

/** Return the slider, and what it moves where that can be chosen. */
function control(ways) {
  const now = ways[way];
  const shown = make("output", {}, now.values[position]);
  const range = make("input", {
    type: "range", id: "slider", min: 0, max: now.values.length - 1, step: 1, value: position,
    "aria-valuetext": now.values[position],
    oninput: (event) => {
      cancelAnimationFrame(timer);
      position = Number(event.target.value);
      shown.textContent = now.values[position];
      event.target.setAttribute("aria-valuetext", now.values[position]);
      show();
    },
  });
  const choose = (i) => {
    way = i;
    position = ways[i].start;
    fill();
    show();
    $("slider").focus();
  };
  const chooser = make("fieldset", { class: "ways" }, make("legend", {}, "What moves"),
    ...ways.map(({ name }, i) => make("label", {}, make("input", {
      type: "radio", name: "way", value: i, checked: i === way, onchange: () => choose(i),
    }), name)));
  return [
    ...(ways.length > 1 ? [chooser] : []),
    make("label", { class: "slider" }, make("span", {}, now.label, " ", shown), range),
  ];
}

/** Return the outcome of the task of the screen with points: by how much the line turned, and by how many. */
function turned({ degrees }) {
  if (between(picture.degrees, drawn().component) < degrees) return 0;
  return picture.moved() > 1 ? 1 : 2;
}

// ---- The end: a code of what was answered, and the teacher's sum of codes ----

/** Return a letter that tells whether a code was copied whole. */
function checkLetter(text) {
  const sum = [...text].reduce((total, letter, i) => total + (i + 1) * letter.charCodeAt(0), 0);
  return ALPHABET[sum % 31];
}

/** Return what was answered: the draw, four letters of this tab, two signs for each screen, a check. */
function code() {
  const signs = state.answers.map(({ predicted, tries, solved }) =>
    (predicted === null ? "-" : ALPHABET[predicted]) + (solved ? tries : tries ? "X" : "-"));
  const text = `${state.draw + 1}${state.tag}${signs.join("")}`;
  return text + checkLetter(text);
}

/** Return what a code says, or null where it is none. */
function decoded(text) {
  const clean = text.trim().toUpperCase();
  const parts = clean.match(/^([1-9])([A-Z2-9]{4})((?:[A-Z2-9-][1-9X-]){5})([A-Z2-9])$/);
  if (!parts || checkLetter(clean.slice(0, -1)) !== parts[4]) return null;
  const answers = parts[3].match(/../g).map(([predicted, tries], i) => ({
    predicted: predicted === "-" ? null : ALPHABET.indexOf(predicted), tries,
    known: predicted === "-" || ALPHABET.indexOf(predicted) < lesson.screens[i].predict.outcomes.length,
  }));
  return answers.every(({ known }) => known) ? { tag: parts[2], answers } : null;
}

function showEnd() {
  $("code").textContent = code();
  const rows = state.answers.map(({ predicted, tries, solved }, i) => {
    const { title, predict } = lesson.screens[i];
    const first = predicted === null ? "not answered" : predict.outcomes[predicted].right ? "right" : "not so";
    const moved = solved ? `right at try ${tries}` : tries ? "not yet" : "not tried";
    return make("tr", {}, make("th", { scope: "row" }, title), make("td", {}, first), make("td", {}, moved));
  });
  $("own").replaceChildren(...rows);
  $("end-title").focus({ preventScroll: true });
}

/** Add up the codes in the teacher's box: one code counts once. */
function addUp() {
  const words = $("codes").value.split(/\s+/).filter(Boolean);
  const read = words.map(decoded);
  const students = [...new Map(read.filter(Boolean).map((student) => [student.tag, student])).values()];
  const bad = words.filter((_, i) => !read[i]);
  $("sum-says").textContent = `${students.length} students.` + (bad.length ? ` Not read: ${bad.join(", ")}.` : "");
  $("sum").replaceChildren(...lesson.screens.map(({ title, predict }, i) => {
    const given = students.map(({ answers }) => answers[i]);
    const counts = predict.outcomes.map((outcome, j) =>
      [outcome, given.filter(({ predicted }) => predicted === j).length]);
    const right = counts.reduce((sum, [outcome, count]) => sum + (outcome.right ? count : 0), 0);
    const mistakes = counts.filter(([outcome, count]) => !outcome.right && count)
      .map(([outcome, count]) => `${outcome.label ?? outcome.name}: ${count}`).join("; ");
    const solved = given.filter(({ tries }) => /\d/.test(tries)).length;
    return make("tr", {}, make("th", { scope: "row" }, title), make("td", {}, String(right)),
      make("td", {}, mistakes || "none"), make("td", {}, String(solved)));
  }));
}

async function copyCode() {
  try {
    await navigator.clipboard.writeText(code());
    $("copied").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren($("code"));
    $("copied").textContent = "It is marked: copy it with your device's own menu.";
  }
}

// ---- Begin ----

$("steps").append(...[...lesson.screens.map(({ title }) => title), "The end"].map((title, i) =>
  make("li", {}, make("button", { type: "button", "aria-label": title, title, onclick: () => openScreen(i) },
    i < lesson.screens.length ? String(i + 1) : "End"))));
$("new-draw").addEventListener("click", () => {
  state.draw = (state.draw + 1) % lesson.draws.length;
  keep();
  fill();
  drawAnew();
  appear();
});
$("again").addEventListener("click", () => {
  state = { ...fresh(), draw: state.draw };
  openScreen(0);
});
$("copy").addEventListener("click", copyCode);
$("add-up").addEventListener("click", addUp);
addEventListener("resize", () => { // also where a telephone's address bar comes and goes: points stay where they were put
  if (state.at === lesson.screens.length || fitting() === width) return;
  drawAnew();
  show();
});
openScreen(state.at, false);
