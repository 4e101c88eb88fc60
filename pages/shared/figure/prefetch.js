// Fetch the figures one press of a slider away while a visitor looks, so that a press is answered at once. The
// server's own answer follows, and draws the same. The address /ahead answers with "near" (figures by slider and by
// the index of its option), "here" (each slider's index now), "known" (how many figures) and "all" (how many at last).
// Milliseconds between requests, until all figures have arrived.
const PAUSES = [500, 700, 1500, 2000, 3000, 5000, 8000];

class Prefetch {
  constructor(view) {
    this.view = view;
  }

  // Fetch what is one press away from the setting of this link; undefined where nothing is prefetched.
  begin(link) {
    if (link === this.link) return;
    this.link = link;
    this.figures = null;
    clearTimeout(this.timer);
    if (link !== undefined) this.ask(0, 0);
  }

  ask(time, known) {
    if (time === PAUSES.length) return;
    this.timer = setTimeout(async () => {
      const { link } = this;
      const answer = await fetch(`${this.view.server}/ahead?${link}&known=${known}`).catch(() => null);
      const figures = answer?.status === 200 ? await answer.json() : null;
      if (link !== this.link || !this.view.root.isConnected) return;
      if (figures) {
        this.figures = figures;
        this.watch();
      }
      const all = this.figures && this.figures.known >= this.figures.all;
      if (!all) this.ask(time + 1, figures?.known ?? known);
    }, PAUSES[time]);
  }

  watch() {
    const bar = document.querySelector("[data-testid=stSidebar]");
    if (!bar || bar === this.watched) return;
    this.watched = bar;
    this.watcher?.disconnect();
    this.watcher = new MutationObserver((changes) => {
      if (!this.view.root.isConnected) return this.watcher.disconnect();
      changes.forEach(({ target }) => this.moved(target));
    });
    this.watcher.observe(bar, { attributes: true, subtree: true, attributeFilter: ["value"] });
  }

  // React only to the slider that the visitor moves: others may change with it.
  moved(input) {
    if (!this.figures || input !== document.activeElement) return;
    const names = input.closest("[class*=st-key-]")?.classList ?? [];
    const control = [...names].find((name) => name.startsWith("st-key-"))?.slice("st-key-".length)
      .replace(/-\d+$/, ""); // the edition of its widget
    const option = Number(input.value); // its index among the slider's options
    const figure = this.figures.near[control]?.[option];
    if (figure) this.view.preview(figure);
    else if (this.figures.here[control] === option) this.view.restore();
  }
}

