// What is one press of a slider away, fetched while a visitor looks: then a press is answered before the server
// is asked. The server's own answer follows, and draws the same.
// Milliseconds after which it is asked for what has been measured by then, until that is all.
const ASK = [500, 700, 1500, 2000, 3000, 5000, 8000];

class Near {
  constructor(view) {
    this.view = view;
  }

  // Of the setting that the server has sent last; `link` restores it. None: nothing is measured ahead.
  of(link) {
    if (link === this.link) return;
    this.link = link;
    this.found = null;
    clearTimeout(this.timer);
    if (link !== undefined) this.ask(0, 0);
  }

  ask(time, known) {
    if (time === ASK.length) return;
    this.timer = setTimeout(async () => {
      const { link } = this;
      const answer = await fetch(`/ahead?${link}&known=${known}`).catch(() => null);
      const found = answer?.status === 200 ? await answer.json() : null;
      if (link !== this.link || !this.view.root.isConnected) return;
      if (found) {
        this.found = found;
        this.watch();
      }
      if (!this.found || this.found.known < this.found.all) this.ask(time + 1, found?.known ?? known);
    }, ASK[time]);
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

  // Only what a visitor moves: another slider may give way to it.
  moved(input) {
    if (!this.found || input !== document.activeElement) return;
    const names = input.closest("[class*=st-key-]")?.classList ?? [];
    const control = [...names].find((name) => name.startsWith("st-key-"))?.slice("st-key-".length);
    const option = Number(input.value); // its place among the slider's options
    const figure = this.found.near[control]?.[option];
    if (figure) this.view.ahead(figure);
    else if (this.found.here[control] === option) this.view.back();
  }
}

