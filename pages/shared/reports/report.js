// Draw a report's charts: as wide as the window on screen, as wide as an A4 page on paper.
const PAPER = 680; // CSS pixels between the margins of an A4 page
const ABREAST = 880; // the width of three panels side by side, which are shrunk to fit on paper

const figures = [...document.querySelectorAll("figure")].map((figure) => ({
  chart: figure.querySelector(".chart"),
  ...JSON.parse(figure.querySelector("script").textContent),
}));
let printing = false;

function draw({ chart, data, layout }) {
  const wide = printing && layout.xaxis3 && layout.yaxis3 && !layout.meta?.narrow;
  const width = printing ? (wide ? ABREAST : PAPER) : chart.clientWidth;
  chart.style.zoom = wide ? PAPER / ABREAST : "";
  const placed = themed(place(layout, width), document.body);
  Plotly.react(chart, data, { ...placed, width }, { displayModeBar: false });
}

function print(now) {
  printing = now;
  figures.forEach(draw);
}

let width = 0;
new ResizeObserver(() => {
  if (printing || width === document.body.clientWidth) return;
  width = document.body.clientWidth;
  figures.forEach(draw);
}).observe(document.body);
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
