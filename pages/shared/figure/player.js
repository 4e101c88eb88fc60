// Play one figure: Plotly.react keeps zoom and hover, and scrubbing through its frames needs no server.
// A figure is Plotly's traces and layout, and "frames", of which each holds what one epsilon (or one round) changes in
// some traces. "scene" identifies all settings but the frame, and "version" counts the runs in the figure. Ghosts are
// the traces of the setting before, drawn dotted where "ghost" is true. place() and themed() are those of layout.js.
// Whoever shows the figure is its host: `library` promises Plotly. On a page of the dashboard (chart.js) `ahead` fetches
// other figures, and `lives` says that the first figure ends with the window. A file (report.js) has neither.
const STEP = 700; // milliseconds between frames that play
const PICTURE = { width: 1120, height: 630, scale: 20 / 7 }; // of a saved figure: a PNG is 3200 x 1800 or more
const PICTURE_FONT = "Arial, Helvetica, sans-serif"; // a picture is drawn outside of the page, without its font
const INK = "#111111";
const REST = 200; // milliseconds without a new frame, after which all is drawn again and the server is told
const STALE = 3000; // milliseconds in which the server may still answer for the previous setting
// A figure for a projector has its size in shares of the window: `fits.height`, and `fits.type` for the font.
function fitted(layout) {
  const fits = layout.meta?.fits;
  if (!fits) return layout;
  const size = Math.min(Math.max(fits.type * innerWidth, 13), 44);
  if (innerWidth < 640) return { ...layout, height: Math.max(0.37 * innerHeight, 300), font: { size } }; // telephone
  return { ...layout, height: Math.max(fits.height * innerHeight, 340), font: { size } };
}

const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const UNDRAWN = "The chart library did not load. Reload the page to see the chart.";
const unset = (text) => text === undefined || text === null || text === "";

class View {
  constructor(root, host) {
    this.root = root;
    this.host = host;
    this.chart = root.querySelector(".chart");
    this.undrawn = root.querySelector(".undrawn");
    this.slider = root.querySelector("input");
    this.paper = null; // the width in pixels at which it is drawn to be printed
    this.scrubbed = null; // the epsilon being looked at, when it is not the page's own
    this.asked = []; // the indexes that the server was sent and has not answered yet, in order
    this.waiting = false;
    this.ahead = host.ahead?.(this);
    this.slider.addEventListener("input", () => {
      if (!this.data.words[this.slider.value]) return this.words(); // the frame has not arrived yet
      this.rest();
      this.scrubbed = Number(this.slider.value);
      this.until = performance.now() + STALE;
      this.soon();
    });
    this.slider.addEventListener("change", () => {
      const { index } = this;
      clearTimeout(this.setting); // arrow keys that follow each other are one move
      this.setting = setTimeout(() => {
        if (!this.use || (index === this.data.active && !this.asked.length)) return;
        this.asked.push(index);
        this.use(index);
      }, REST);
    });
    this.resizer = new ResizeObserver(() => {
      if (this.data && !this.paper && Math.abs(this.chart.clientWidth - this.width) > 4) this.soon();
    });
    this.resizer.observe(this.chart);
    window.addEventListener("resize", () => {
      if (this.data && this.root.isConnected && (this.data.layout.meta?.fits || this.first)) this.soon();
    });
    this.second = root.querySelector(".second");
    this.second.querySelector("input").addEventListener("input", () => this.name());
    this.second.querySelector("input").addEventListener("change", ({ target }) => this.move?.(Number(target.value)));
    this.player = root.querySelector(".scrub .play");
    this.player.addEventListener("click", () => this.play());
    this.noises = new Noises(this, root.querySelector(".noises"));
    still.addEventListener("change", () => this.rest());
    this.moved = 0; // how often keys have moved the axes
    keyboard(this.chart, (ranges) => {
      this.ranges = ranges;
      this.moved += 1;
      this.draw();
    });
    root.addEventListener("dppca-save", ({ detail }) => this.save(detail));
  }

  get index() {
    return this.scrubbed ?? this.data.active;
  }

  get first() {
    return this.host.lives && document.querySelector(".dppca-live") === this.root;
  }

  // Return the pixels from the top of the page to the chart.
  get top() {
    const page = this.root.closest("[data-testid=stMain]");
    return Math.round(this.chart.getBoundingClientRect().top + (page?.scrollTop ?? 0));
  }

  // The first figure of a page ends with the window, so that its axes and its legend are in sight with the sliders.
  within(layout) {
    if (!this.first || layout.meta?.fits || this.width < (layout.meta?.rows === undefined ? 640 : 820)) return layout;
    const room = innerHeight - this.top - this.root.querySelector(".under").offsetHeight - 12;
    const height = Math.max(Math.min(layout.height ?? 450, room), layout.meta?.least ?? 240);
    this.chart.style.minHeight = `${height}px`; // at once: the library may still be loading
    const { t, b } = { t: 8, b: 48, ...layout.margin }, { legend } = layout;
    if (!(legend?.y < 0) || layout.showlegend === false) return { ...layout, height };
    const plot = Math.max(height - t - b - this.legend, 40); // the legend stands below ticks and axis title
    return { ...layout, height, legend: { ...legend, y: -b / plot } };
  }

  // Return the height of the legend that the library draws, as far as that is known.
  get legend() {
    return Math.ceil(this.chart.querySelector("g.legend")?.getBoundingClientRect().height ?? 40);
  }

  // Play the frames, from the first when the last is on screen; a second press pauses. Where reduced motion
  // is preferred each press shows one frame.
  play() {
    if (this.playing) return this.rest();
    const last = this.data.frames.length - 1;
    if (this.index === last) this.scrubbed = 0;
    else if (still.matches) this.scrubbed = this.index + 1;
    this.soon();
    if (still.matches) return;
    this.player.textContent = "Pause";
    this.playing = setInterval(() => {
      if (!this.root.isConnected || this.index >= last) return this.rest();
      this.scrubbed = this.index + 1;
      this.soon();
    }, STEP);
  }

  rest() {
    clearInterval(this.playing);
    this.playing = null;
    this.player.textContent = still.matches ? "Next" : "Play";
  }

  update(data, use, pick, move) {
    const before = this.data;
    const [server, order] = data.order;
    if (before && before.order[0] === server && order < before.order[1]) return; // an older message came late
    this.use = data.uses ? use : undefined;
    this.pick = pick;
    this.move = move;
    if (this.replaced && data.scene === this.replaced.data.scene && performance.now() < this.replaced.until) return;
    this.replaced = null;
    this.answered(data.active);
    this.root.dataset.answered = `${data.scene}:${data.active}`;
    this.ahead?.begin(data.near);
    this.show(data);
  }

  // Forget the moves that the server has answered; a setting that none of them asked for overtakes all.
  answered(active) {
    const { asked } = this;
    if (active === asked.at(-1)) this.asked = [];
    else if (active !== this.data?.active) this.asked = asked.slice(asked.indexOf(active) + 1 || asked.length);
  }

  // Show a prefetched figure of the slider's new setting until the server answers.
  preview(figure) {
    this.replaced ??= { data: this.data, held: this.held, until: performance.now() + STALE };
    this.show({ ...figure, order: this.data.order });
  }

  // Undo preview(): the slider is back at its setting.
  restore() {
    if (!this.replaced) return;
    const { data, held } = this.replaced;
    this.replaced = null;
    this.show(data);
    this.held = held;
  }

  show(data) {
    const before = this.data;
    if (before && (before.scene !== data.scene || before.active !== data.active)) {
      this.held = this.settled;
      // The answer to a move takes back none that was made since.
      const moved = this.scrubbed !== data.active && (this.asked.length || performance.now() < this.until);
      if (!moved || !data.words?.[this.scrubbed]) this.scrubbed = null;
      this.rest();
    }
    if (before?.scene !== data.scene) this.noises.clear();
    this.data = data;
    this.server = data.server ?? this.server;
    if (data.key) this.root.dataset.figure = data.key; // figures that were prefetched come without
    this.base = data.base ?? this.base; // figures that were prefetched come without
    this.follow(data.follow);
    if (this.stamp() !== this.stamped) this.soon(!this.replaced);
  }

  // Identify what the data shows: an unchanged stamp needs no new drawing.
  stamp(index = this.index) {
    const { scene, version, complete, ghost } = this.data;
    const ink = getComputedStyle(this.root).color; // the theme may change with the time of day
    const top = this.first && this.top; // what stands above may have grown
    return JSON.stringify([scene, version, complete, index, ghost, ghost && this.data.active, ink, top]);
  }

  // The page's epsilon slider tells the server only when it is released. Its value, the index of the frame,
  // changes at once and all frames are here, so the figure follows without waiting.
  follow(control) {
    const input = control && document.querySelector(`[class*="st-key-${control}"] input[type=range]`);
    if (!input || input === this.followed) return;
    this.followed = input;
    this.follower?.disconnect();
    this.follower = new MutationObserver(() => {
      const index = Number(input.value);
      if (!this.data.words[index] || index === this.index) return;
      this.scrubbed = index;
      this.soon();
    });
    this.follower.observe(input, { attributes: true, attributeFilter: ["value"] });
  }

  // Return the chart library; undefined where it does not load, which is then said in the chart's place.
  async library() {
    const library = await this.host.library(this.server);
    this.root.toggleAttribute("data-undrawn", !library);
    this.undrawn.textContent = library ? "" : UNDRAWN;
    return library;
  }

  soon(now) {
    if (this.waiting && !now) return;
    this.waiting = true;
    const draw = () => {
      this.waiting = false;
      this.draw();
    };
    now ? draw() : requestAnimationFrame(draw);
  }

  traces(ink = getComputedStyle(this.root).color) {
    const patch = this.data.frames[this.index]?.traces ?? {};
    const traces = this.data.data.map((trace, i) => {
      const out = pictured({ ...trace, ...patch[i] }, this.base, this.noises.shown);
      if (out.meta === "text-colour") out.line = { ...out.line, color: ink, width: 1.5 };
      // Where type grows with the window, words within the chart have the size of all others.
      const size = this.data.layout.meta?.fits ? {} : { size: 14 };
      if (out.texttemplate) out.textfont = { ...size, ...out.textfont, color: ink };
      return out;
    });
    const ghosting = this.scrubbed === null ? this.held : this.settled;
    if (this.scrubbed === null) this.settled = traces.filter((trace) => trace.meta === "ghost");
    if (!this.data.ghost || !ghosting) return traces;
    const ghosts = ghosting.map((trace) => ({
      ...trace, name: `${trace.name}, before`, opacity: 0.55, meta: "held", error_x: undefined, hoverinfo: "skip",
      line: { color: ink, width: 1.5, dash: "dot" },
      marker: { ...trace.marker, color: "rgba(0,0,0,0)", line: { color: ink, width: 1.5 }, size: trace.xaxis === "x3" ? 11 : 5 },
    }));
    return [...ghosts, ...traces];
  }

  // Identify what frames share that may be drawn over each other; null where they may not.
  kind() {
    const { data } = this;
    if (data.ghost || this.scrubbed === null) return null;
    const { methods, axes } = data.frames[this.index] ?? {};
    return JSON.stringify([this.stamp(null), methods, axes, this.moved, this.chart.clientWidth]);
  }

  // While a slider is dragged only the traces of the frame are drawn; axes and legend stay until it rests.
  async sweep(library) {
    const { data } = this, began = this.index;
    const changed = [...new Set([this.whole.index, began].flatMap((at) => Object.keys(data.frames[at].traces)))];
    const traces = this.traces();
    const frame = { data: changed.map((i) => traces[i]), traces: changed.map(Number) };
    await library.animate(this.chart, frame, { mode: "immediate", transition: { duration: 0 }, frame: { duration: 0, redraw: false } });
    this.whole.index = began;
    this.root.dataset.drawn = `${data.scene}:${began}`;
    this.resting = setTimeout(() => this.draw(true), REST);
  }

  async draw(whole) {
    this.words();
    this.stamped = this.stamp();
    const kind = this.kind();
    clearTimeout(this.resting);
    if (!whole && kind && kind === this.whole?.kind) return this.sweep(window.Plotly);
    this.width = this.paper ?? this.chart.clientWidth;
    this.within(place(this.data.layout, this.width));
    const library = await this.library();
    if (!library) {
      this.stamped = null; // the same data is tried again when it comes again
      return;
    }
    const { data, root } = this;
    const began = this.index;
    this.width = this.paper ?? this.chart.clientWidth;
    const guessed = this.legend;
    const layout = themed(this.within(fitted(place(data.layout, this.width))), root);
    const frame = data.frames[began];
    if (frame?.methods) layout.yaxis3.ticktext = frame.methods;
    for (const [name, axis] of Object.entries(frame?.axes ?? {})) layout[name] = { ...layout[name], ...axis };
    for (const name of this.moved ? free(layout) : []) {
      const whole = JSON.stringify(layout[name].range); // a zoom holds only for the data it was made on
      const zoomed = this.ranges[name];
      if (zoomed) zoomed.whole ??= whole;
      layout[name] = { ...layout[name], uirevision: this.moved };
      if (zoomed?.whole === whole) layout[name] = { ...layout[name], range: zoomed.range, autorange: false };
    }
    layout.width = this.width; // by itself the library keeps its first width when the window changes
    await library.react(this.chart, this.traces(), layout, { displayModeBar: false, responsive: false, showTips: false });
    if (this.first && Math.abs(this.legend - guessed) > 2) return this.draw();
    this.whole = { kind, index: began };
    if (data.picks && !this.picking) {
      this.picking = true;
      this.chart.on("plotly_click", ({ points: [point] }) => this.pick({ name: point.data.uid, x: point.x }));
    }
    root.dataset.drawn = `${data.scene}:${began}`;
    root.dataset.complete = String(data.complete);
    if (data.complete && this.host.lives) this.noises.first();
  }

  // Save the figure as seen, as a picture on white paper with its title and its legend.
  async save({ format, filename, title }) {
    const library = await this.library();
    if (!library) return;
    const { data, chart } = this;
    const layout = themed(place(data.layout, PICTURE.width), this.root);
    for (const name of Object.keys(layout).filter((name) => /^[xy]axis/.test(name))) {
      const { autorange, range } = chart.layout[name] ?? {};
      if (range && !autorange) layout[name] = { ...layout[name], range: [...range] }; // a zoom is kept
    }
    const methods = data.frames[this.index]?.methods;
    if (methods) Object.assign(layout.yaxis3, { ticktext: methods, tickfont: { size: 10.5 } }); // beside a panel
    const keys = [...(data.legend ?? []), ...this.noises.legend].map(([name, color, dash, kind]) => {
      const symbol = { point: "circle", cross: "x", band: "square", square: "square" }[kind];
      const marks = symbol ? { mode: "markers", marker: { color, symbol, size: 10 } } : { mode: "lines" };
      return { type: "scatter", x: [null], y: [null], name, showlegend: true, line: { color, dash, width: 2 }, ...marks };
    });
    if (keys.length) {
      Object.assign(layout, { showlegend: true, legend: { orientation: "h", traceorder: "normal", x: 0, y: -0.12, yanchor: "top" } });
    }
    const height = Math.max(layout.height ?? 0, PICTURE.height);
    const font = { ...layout.font, color: INK, family: PICTURE_FONT };
    const margin = { ...layout.margin, t: (layout.margin?.t ?? 20) + 40 };
    const heading = { text: title, x: 0, xref: "paper", xanchor: "left", y: 1, yref: "container", yanchor: "top" };
    heading.pad = { t: 12 };
    heading.font = { size: 18 };
    Object.assign(layout, { font, margin, height, title: heading, paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff" });
    const scale = format === "png" ? PICTURE.scale : 1;
    const picture = { data: [...this.traces(INK), ...keys], layout };
    const href = await library.toImage(picture, { format, scale, width: PICTURE.width, height });
    // A link outside of the document: a click inside would be one beside the open menu, and close it.
    Object.assign(document.createElement("a"), { href, download: `${filename}.${format}` }).click();
  }

  // Write the option at which the page's second slider of a telephone stands.
  name() {
    const input = this.second.querySelector("input"), option = this.data.second.options[input.value];
    input.setAttribute("aria-valuetext", option);
    this.second.querySelector("output").textContent = option;
  }

  words() {
    const { data, root } = this;
    this.second.hidden = !data.second;
    if (data.second && !this.second.matches(":focus-within:active")) {
      const [label, input] = this.second.children;
      label.textContent = data.second.label;
      input.max = data.second.options.length - 1;
      input.value = data.second.at;
      input.setAttribute("aria-label", data.second.label);
      this.name();
    }
    const words = data.words?.[this.index];
    this.chart.setAttribute("aria-label", words?.alt_text ?? words?.sentence ?? data.alt_text);
    root.querySelector(".scrub").hidden = !words;
    root.querySelector(".tiles").hidden = !words || !data.tiles.length;
    this.noises.words();
    if (!words) return;
    this.slider.max = data.words.length - 1;
    this.slider.value = this.index;
    const at = words.at ?? `ε = ${words.epsilon}`;
    this.slider.setAttribute("aria-valuetext", at);
    this.slider.setAttribute("aria-label", data.scrub);
    this.player.hidden = !data.play;
    if (!this.playing) this.rest();
    const ends = data.ends ?? ["strict", "loose"];
    root.querySelectorAll(".scrub small").forEach((end, i) => (end.textContent = ends[i]));
    const write = (name, text) => {
      const element = root.querySelector(name);
      element.hidden = unset(text);
      if (element.textContent !== text) element.textContent = text ?? "";
    };
    // Screen readers read the sentence when nothing changes any more, not at every frame or measured run.
    const rests = data.complete && !this.playing;
    root.querySelector(".sentence").setAttribute("aria-live", rests ? "polite" : "off");
    write(".sentence", words.sentence);
    write(".scrub span", data.scrub);
    write(".odds", words.odds);
    write(".notes", words.notes);
    write(".theorem", words.theorem);
    write(".printed", words.printed);
    write(".progress", data.progress);
    write("output", at);
    // While a slider is dragged only what differs is built again.
    const changed = (name, value) => {
      const text = JSON.stringify(value);
      const differs = this.written?.[name] !== text;
      this.written = { ...this.written, [name]: text };
      return differs;
    };
    const tiles = root.querySelector(".tiles");
    if (changed("tiles", [data.tiles, words.tiles])) tiles.replaceChildren(
      ...data.tiles.map((label, i) => {
        const tile = document.createElement("div");
        const parts = [["dt", "", label], ["dd", "", words.tiles[i][0]], ["dd", "more", words.tiles[i][1]]];
        tile.append(
          ...parts.map(([tag, className, textContent]) =>
            Object.assign(document.createElement(tag), { className, textContent }),
          ),
        );
        return tile;
      }),
    );
    const legend = root.querySelector(".legend");
    const entries = [...data.legend, ...this.noises.legend];
    if (changed("legend", entries)) legend.replaceChildren(
      ...entries.map(([label, colour, dash, kind]) => {
        const item = document.createElement("span");
        const mark = document.createElement("i");
        mark.className = kind;
        mark.style.setProperty("--mark", colour);
        if (kind === "line") mark.style.background = stroke(dash);
        item.append(mark, label);
        return item;
      }),
    );
  }
}

// Lengths of strokes and gaps of a line 2 px wide, as Plotly draws them.
const DASHES = {
  dot: [2, 2],
  dash: [6, 6],
  longdash: [10, 10],
  dashdot: [6, 2, 2, 2],
  longdashdot: [10, 4, 2, 4],
};

function stroke(dash) {
  if (!(dash in DASHES)) return "var(--mark)";
  let at = 0;
  const stops = DASHES[dash].map(
    (length, i) => `${i % 2 ? "transparent" : "var(--mark)"} ${at}px ${(at += length)}px`,
  );
  return `repeating-linear-gradient(to right, ${stops})`;
}
