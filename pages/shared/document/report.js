// Play a file's figures: as wide as the window on screen, as wide as an A4 page on paper.
const PAPER = 680; // CSS pixels between the margins of an A4 page
const ABREAST = 940; // the width of three panels side by side, which are shrunk to fit on paper
const IN_A_FILE = { library: () => Promise.resolve(window.Plotly) };

const views = [...document.querySelectorAll("figure")].map((figure) => {
  const view = new View(figure.querySelector(".dppca-live"), IN_A_FILE);
  view.show(JSON.parse(figure.querySelector("script").textContent));
  return view;
});

function print(now) {
  for (const view of views) {
    const { xaxis3, yaxis3, meta } = view.data.layout;
    const wide = now && xaxis3 && yaxis3 && !meta?.narrow;
    view.paper = now ? (wide ? ABREAST : PAPER) : null;
    view.chart.style.zoom = wide ? PAPER / ABREAST : "";
    view.draw(true);
  }
}

addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
