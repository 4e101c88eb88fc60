// Asks before the page is left while something paid was not downloaded, and brings it back after a reload.
const ANSWERED_MS = 20_000;
const KEY = "dppca-your-data"; // sessionStorage: of this tab alone, and kept when it is reloaded

function guard() {
  if (window.dppcaUnsaved) return window.dppcaUnsaved;
  const state = { armed: false, clicked: -Infinity, turn: "", claimed: "" };
  window.addEventListener("beforeunload", (event) => {
    if (!state.armed) return;
    event.preventDefault();
    event.returnValue = true; // for browsers that ask only if this is set
  });
  // The server answers some time after this click: a reload meanwhile would lose what is paid.
  const confirm = '[class*="st-key-own-confirm-"]';
  const clicked = (event) => {
    if (event.target.closest?.(confirm)) Object.assign(state, { armed: true, clicked: performance.now() });
  };
  document.addEventListener("click", clicked, true);
  window.dppcaUnsaved = state;
  return state;
}

export default function ({ data, setTriggerValue }) {
  const state = guard();
  if (state.turn === data.turn) return; // drawn again by the browser alone
  state.turn = data.turn;
  // An answer that was on its way when the button was clicked does not know of the click.
  if (data.armed) state.clicked = -Infinity;
  state.armed = data.armed || performance.now() - state.clicked < ANSWERED_MS;
  let former = null;
  try {
    former = sessionStorage.getItem(KEY);
    if (data.keep) sessionStorage.setItem(KEY, data.token);
  } catch {
    return; // storage is switched off: nothing can be brought back
  }
  if (!former || former === data.token || former === state.claimed) return;
  state.claimed = former;
  setTriggerValue("claim", former);
}
