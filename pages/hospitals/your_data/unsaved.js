// Asks before the page is left while something paid was not downloaded, and brings it back after a reload.
const ANSWERED_MS = 20_000;
// sessionStorage: of this tab and its copies alone, and kept when it is reloaded.
const KEY = "dppca-your-data";
const ARMED = "dppca-your-data-armed"; // whether something paid is not downloaded: a new server cannot know

function remember(armed) {
  try {
    sessionStorage.setItem(ARMED, String(armed));
  } catch {
    // storage is switched off
  }
}

// A page at rest asks nothing of its server: one that was started anew meanwhile has to hear of it.
function watch(state) {
  const app = document.querySelector("[data-testid=stApp]");
  let lost = false;
  const look = () => {
    const here = app.dataset.testConnectionState === "CONNECTED";
    if (here && lost) state.ask();
    lost = !here;
  };
  if (app) new MutationObserver(look).observe(app, { attributeFilter: ["data-test-connection-state"] });
}

function guard() {
  if (window.dppcaUnsaved) return window.dppcaUnsaved;
  const state = { armed: false, clicked: -Infinity, table: false, turn: "" };
  window.addEventListener("beforeunload", (event) => {
    if (!state.armed) return;
    event.preventDefault();
    event.returnValue = true; // for browsers that ask only if this is set
  });
  // The server answers some time after this click: a reload meanwhile would lose what is paid.
  const confirm = '[class*="st-key-own-confirm-"]';
  const clicked = (event) => {
    if (!event.target.closest?.(confirm)) return;
    Object.assign(state, { armed: true, clicked: performance.now() });
    remember(true);
  };
  document.addEventListener("click", clicked, true);
  watch(state);
  window.dppcaUnsaved = state;
  return state;
}

export default function ({ data, setTriggerValue }) {
  const state = guard();
  state.ask = () => {
    try {
      const token = sessionStorage.getItem(KEY);
      const armed = sessionStorage.getItem(ARMED) === "true";
      if (token) setTriggerValue("claim", { token, armed, table: state.table });
    } catch {
      // storage is switched off
    }
  };
  if (state.turn === data.turn) return; // drawn again by the browser alone
  state.turn = data.turn;
  // An answer that was on its way when the button was clicked does not know of the click.
  if (data.armed) state.clicked = -Infinity;
  state.armed = data.armed || performance.now() - state.clicked < ANSWERED_MS;
  let former = null;
  let armed = false;
  try {
    former = sessionStorage.getItem(KEY);
    armed = sessionStorage.getItem(ARMED) === "true";
    if (data.keep) sessionStorage.setItem(KEY, data.token);
  } catch {
    return; // storage is switched off: nothing can be brought back
  }
  if (data.keep || former === data.token) remember(state.armed);
  else if (data.copied) remember(false); // it is for the other tab to remember
  // Claim until the server has heard it: a newer run may end the one that would, and a new server has heard none.
  if (former && former !== data.token && former !== data.heard)
    setTriggerValue("claim", { token: former, armed, table: state.table });
  else state.table = data.table; // of this document: a new session after a lost connection has none
}
