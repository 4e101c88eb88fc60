// Fill the screen while the page is presented. Esc, and leaving the full screen by any way, end that.
const states = new WeakMap();

function listen(button) {
  const state = {};
  const leave = () => button.isConnected && state.on && !document.fullscreenElement && state.tell(false);
  document.addEventListener("fullscreenchange", leave);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && leave());
  button.addEventListener("click", () => {
    if (state.on && document.fullscreenElement) document.exitFullscreen();
    // A browser may refuse: then the page fills the window alone.
    else if (!state.on) document.documentElement.requestFullscreen?.().catch(() => {});
    state.tell(!state.on);
  });
  return state;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button");
  if (!states.has(button)) states.set(button, listen(button));
  Object.assign(states.get(button), { on: data.on, tell: (on) => setTriggerValue("present", on) });
  button.textContent = data.on ? "Leave" : "Present";
  button.title = data.on ? "Esc leaves, F11 fills the screen" : "Fills the screen; arrow keys go on, Esc leaves";
}
