// Remembers whether this page had a table: after a lost connection the server may have a new session without it.
export default function ({ data, setTriggerValue }) {
  const page = (window.dppcaTable ??= { table: false });
  // Say it until the server has heard: a newer run of the page may end the one that would.
  if (page.table && page.session !== data.session && !data.table && !data.lost) setTriggerValue("lost", true);
  else Object.assign(page, data);
}
