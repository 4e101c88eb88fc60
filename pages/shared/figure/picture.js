// The picture of PCA: patients made from standard normals, and one private direction after another.
const EVERY = 150; // milliseconds between noises that play

// Return a trace as it is drawn. `map`: the rows of a 2 x 2 matrix that makes points of standard normals;
// `angles`: degrees, of which as many are drawn as `noises`.
function pictured(trace, normals, noises) {
  const { map, angles } = trace.meta ?? {};
  if (map) {
    const [x, y] = map.map(([a, b]) => normals[0].map((z, i) => a * z + b * normals[1][i]));
    return { ...trace, x, y };
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
