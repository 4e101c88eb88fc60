// Runs in the head of each page, before anything is drawn.
(() => {
  const { classList } = document.documentElement;

  // After a connection broke within a run, or runs followed each other fast, Streamlit may lack messages and draw
  // nothing any more. A reload restores the screen from the link. Here, since that can happen before any figure.
  // A page just chosen in the menu may not be in the address yet: its link is kept, and the settings before it.
  let settings = location.search, chosen = "";
  addEventListener("click", ({ target }) => {
    settings = location.search || settings;
    chosen = target.closest?.("a[data-testid^=stTopNav], a[data-testid=stSidebarNavLink]")?.pathname ?? "";
    if (chosen) setTimeout(closeDrawer);
  }, true);
  addEventListener("popstate", () => { chosen = ""; });
  addEventListener("error", ({ message }) => {
    if (!message?.includes("delta path")) return;
    location.replace((chosen || location.pathname) + (location.search || settings));
  });

  // Streamlit leaves a telephone's drawer open over the page when one is chosen in it, and after a reload. It has no
  // setting for that, so press its button.
  const closeDrawer = () => {
    const open = matchMedia("(max-width: 767px)").matches && "[data-testid=stSidebar][data-collapsed=false] ";
    if (open) document.querySelector(`${open} [data-testid=stSidebarCollapseButton] button`)?.click();
  };

  // Streamlit keeps the choice of light or dark for each address; here one choice holds for all pages.
  for (const name of ["getItem", "setItem", "removeItem"]) {
    const plain = Storage.prototype[name];
    Storage.prototype[name] = function (key, ...rest) {
      return plain.call(this, String(key).replace(/^(stActiveTheme-).*(-v\d+)$/, "$1/$2"), ...rest);
    };
  }
  // A browser may keep nothing for a site: then the system decides, and steps come back.
  const kept = (key) => { try { return localStorage.getItem(key) ?? ""; } catch { return ""; } };
  const keep = (key, value) => { try { localStorage.setItem(key, value); } catch { /* closed until the next load */ } };
  const theme = kept("stActiveTheme-/-v2");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches ? !/Light/.test(theme) : /Dark/.test(theme);
  classList.toggle("dark-at-first", dark);

  // The page's shape stands until its first figure does, so that nothing jumps; then the page as a whole.
  const PATIENCE = 6000; // milliseconds
  classList.add("unready");
  const ready = () => {
    const app = document.querySelector("[data-testid=stApp]");
    const figure = document.querySelector(".dppca-live");
    const ran = app?.dataset.testScriptState === "notRunning" && !document.querySelector("[data-testid=stSkeleton]");
    const awaited = document.querySelector("#first-paint aside"); // a page of sliders has a figure, if not at once
    const opening = document.querySelector("[class*=st-key-introduction-]"); // its text may come after the figure
    if (opening?.offsetParent && !opening.offsetHeight && !ran) return false; // a hidden one has no parent
    if (figure) return figure.dataset.drawn || "undrawn" in figure.dataset;
    return ran && !awaited && document.querySelector("[data-testid=stMain] h1");
  };
  const timer = setInterval(() => {
    if (!ready() && performance.now() < PATIENCE) return;
    clearInterval(timer);
    closeDrawer();
    classList.remove("unready");
    document.getElementById("first-paint")?.remove();
  }, 30);

  // A page's three steps stand in place of its introduction in one load, until they are closed or over.
  const CLOSED = "dppca steps closed";
  const closed = new Set(kept(CLOSED).split(" ").filter((page) => /^\w+$/.test(page)));
  const shown = new Set(closed); // closed as of the next load
  const style = document.head.appendChild(document.createElement("style"));
  const hide = () => {
    style.textContent = [...closed].map((page) =>
      `body .st-key-introduction-${page} > :first-child { display: none }
      body .st-key-introduction-${page} > :not(:first-child) { display: flex }`).join("\n");
  };
  hide();
  const close = (page) => {
    keep(CLOSED, [...shown.add(page)].join(" "));
    closed.add(page);
    hide();
    dispatchEvent(new Event("resize")); // the first figure takes the room
  };
  document.addEventListener("click", ({ target }) => {
    const page = target.closest?.("[data-closes]")?.dataset.closes;
    if (!page) return;
    close(page);
    document.querySelector("[data-testid=stMain]")?.focus(); // where the keyboard goes on
  });

  // What Streamlit draws later: three steps that are shown, and numbers, which stay with their % and =.
  const look = (node) => {
    const { closes: page, over } = node.querySelector?.("[data-closes]")?.dataset ?? {};
    if (over !== undefined && !closed.has(page)) close(page);
    else if (page && !shown.has(page)) keep(CLOSED, [...shown.add(page)].join(" "));
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let text = node.nodeType === Node.TEXT_NODE ? node : texts.nextNode(); text; text = texts.nextNode()) {
      if (!/\d %| = [\u2212\d]/.test(text.data)) continue;
      text.data = text.data.replace(/(\d) %/g, "$1\u00a0%").replace(/ = (?=[\u2212\d])/g, "\u00a0=\u00a0");
    }
  };
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      if (target.closest?.("svg") || target.parentElement?.closest("svg")) continue; // a figure wraps by itself
      for (const node of addedNodes.length ? addedNodes : [target]) look(node);
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
})();
