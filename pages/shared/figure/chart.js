// Show a figure on a page of the dashboard, as Streamlit's component: component.py sends its data.
let loading;
function plotly(server) {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  loading ??= new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${server}/assets/plotly.min.js`;
    script.onload = script.onerror = () => {
      script.remove();
      loading = undefined; // so that the next drawing tries again where it did not load
      done(window.Plotly);
    };
    document.head.append(script);
  });
  return loading;
}

const HOST = { library: plotly, ahead: (view) => new Prefetch(view), lives: true };
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".dppca-live");
  if (!views.has(root)) views.set(root, new View(root, HOST));
  views.get(root).update(
    data,
    (index) => setTriggerValue("use", index),
    (point) => setTriggerValue("pick", point),
    (index) => setTriggerValue("move", index),
  );
}
