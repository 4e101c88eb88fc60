// Asks before the page is left while something paid was not downloaded, and brings it back after a reload.
const KEY = "dppca-your-data"; // sessionStorage: of this tab alone, and kept when it is reloaded

function guard() {
  if (window.dppcaUnsaved) return window.dppcaUnsaved;
  const state = { armed: false, turn: "", claimed: "" };
  window.addEventListener("beforeunload", (event) => {
    if (!state.armed) return;
    event.preventDefault();
    event.returnValue = true; // for browsers that ask only if this is set
  });
  // The server answers up to a second after this click: a reload meanwhile would lose what is paid.
  const confirm = '[class*="st-key-own-confirm-"]';
  const clicked = (event) => {
    if (event.target.closest?.(confirm)) state.armed = true;
  };
  document.addEventListener("click", clicked, true);
  window.dppcaUnsaved = state;
  return state;
}

export default function ({ data, setTriggerValue }) {
  const state = guard();
  if (state.turn === data.turn) return; // drawn again by the browser alone
  state.turn = data.turn;
  state.armed = data.armed;
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
