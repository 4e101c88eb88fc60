// The picture of PCA: patients made from standard normals, and the private directions of one release after another,
// which differ by their noise alone.
const EVERY = 150; // milliseconds between noises that play
const PLAYED = "dppca noises played";

// Return a trace as it is drawn. `map`: two rows of weights that make points of the numbers in `base`, around
// `at`, as squares of half side `dot` where there is one; `angles`: degrees, of which as many are drawn as `noises`.
function pictured(trace, base, noises) {
  const { map, at = [0, 0], dot, angles } = trace.meta ?? {};
  if (map) {
    const [x, y] = map.map((weights, i) => {
      const sums = new Array(base[0].length).fill(at[i]);
      weights.forEach((weight, j) => weight && base[j].forEach((value, point) => (sums[point] += weight * value)));
      return sums;
    });
    if (!dot) return { ...trace, x, y };
    const square = (at, corners) => [...corners.map((corner) => at + corner * dot), null];
    const squares = { x: x.flatMap((at) => square(at, [-1, 1, 1, -1])), y: y.flatMap((at) => square(at, [-1, -1, 1, 1])) };
    return { ...trace, ...squares };
  }
  if (!angles) return trace;
  const lines = (way) => angles.slice(0, noises).flatMap((angle) => {
    const end = way((angle * Math.PI) / 180);
    return [-end, end, null];
  });
  return { ...trace, x: lines(Math.cos), y: lines(Math.sin) };
}

// Fan out the directions of other noises by the button; where reduced motion is preferred each press shows one.
class Noises {
  constructor(view, button) {
    this.view = view;
    this.button = button;
    this.shown = 0;
    button.addEventListener("click", () => this.play());
  }

  get all() {
    const { data, index } = this.view;
    const patch = data.noises && data.frames[index]?.traces[data.noises.trace];
    return patch?.meta?.angles.length ?? 0;
  }

  play() {
    if (this.playing) return this.rest();
    if (this.shown >= this.all) this.shown = 0;
    this.next();
    if (!still.matches) this.playing = setInterval(() => this.next(), EVERY);
  }

  next() {
    this.shown += 1;
    if (this.shown >= this.all || !this.view.root.isConnected) this.rest();
    this.view.soon();
  }

  // On a first visit they play once by themselves, unless less motion is preferred.
  first() {
    if (!this.all || still.matches) return;
    try {
      if (localStorage.getItem(PLAYED)) return;
      localStorage.setItem(PLAYED, "once");
    } catch {
      return; // a browser that keeps nothing would play at every visit
    }
    this.play();
  }

  rest() {
    clearInterval(this.playing);
    this.playing = null;
  }

  clear() {
    this.rest();
    this.shown = 0;
  }

  words() {
    this.button.hidden = !this.all;
    const idle = still.matches ? "Next noise" : `Play ${this.all} noises`;
    this.button.textContent = this.playing ? `${this.shown} of ${this.all}` : idle;
  }

  get legend() {
    return this.shown && this.all ? [this.view.data.noises.legend] : [];
  }
}
