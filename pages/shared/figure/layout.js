// Place panels and set their colours, for the live figure (chart.js) and for reports (report.js). layout.meta has what
// Plotly does not: the panels' "titles", the height of the third panel in "rows", whether the first is a "picture", and
// what is "narrow" on a telephone. A figure without "rows" has its panels placed already.
const MARGIN = { l: 58, r: 16, t: 30, b: 48 };
const METHOD_LABELS = 196; // pixels for the names of the third panel
const GAP = 30;
const ROW = 19; // pixels for each method in the third panel
const BETWEEN = 90; // pixels between panels one under the other
const LEAST_ROW = 15; // pixels for each of them in a low window
const HEIGHT = 460; // pixels of panels side by side

// Place panels side by side where there is room, else one below the other. Domains are shares of the plot area.
function place(layout, width) {
  const panels = ["", "2", "3"].filter((n) => layout["xaxis" + n] && layout["yaxis" + n]);
  const titles = layout.meta?.titles ?? [];
  const annotations = [];
  const title = (i, x, y) =>
    titles[i] &&
    annotations.push({
      text: `<b>${titles[i]}</b>`, xref: "paper", yref: "paper", x, y, xanchor: "left", yanchor: "bottom",
      showarrow: false, font: { size: 13 },
    });
  if (layout.meta?.narrow) return width < 640 ? { ...layout, ...layout.meta.narrow } : layout;
  if (layout.meta?.rows === undefined) return { margin: { l: width < 500 ? 96 : 150, r: 10, t: 10, b: 44 }, ...layout };
  const margin = layout.meta.picture ? { ...MARGIN, l: 8 } : MARGIN;
  const gap = layout.meta.picture ? GAP + MARGIN.l - 8 : GAP;
  const inner = width - margin.l - margin.r;
  const placed = { ...layout, margin };
  if (width >= 820) {
    const last = panels.length - 1;
    const before = panels[last] === "3" ? METHOD_LABELS : gap; // the last panel
    const each = (inner - gap * (last - 1) - before) / panels.length / inner;
    panels.forEach((n, i) => {
      const start = i === last ? 1 - each : i * (each + gap / inner);
      placed["xaxis" + n] = { ...layout["xaxis" + n], domain: [start, Math.min(start + each, 1)] };
      placed["yaxis" + n] = { ...layout["yaxis" + n], domain: [0, 1] };
      title(i, n === "3" ? start - (METHOD_LABELS - 20) / inner : start, 1.02);
    });
    placed.height = Math.max(HEIGHT, ROW * layout.meta.rows + MARGIN.t + MARGIN.b);
    placed.meta = { ...layout.meta, least: Math.max(240, LEAST_ROW * layout.meta.rows + MARGIN.t + MARGIN.b) };
  } else {
    const heights = panels.map((n) => (n === "3" ? ROW * layout.meta.rows : 290));
    const total = heights.reduce((sum, each) => sum + each, BETWEEN * (panels.length - 1));
    placed.height = total + MARGIN.t + MARGIN.b;
    if (!layout.meta.picture) placed.yaxis2 = { ...layout.yaxis2, showticklabels: true };
    placed.margin = { ...MARGIN, l: layout.meta.left ?? 50, r: 8 };
    let top = 1;
    panels.forEach((n, i) => {
      const deep = heights[i] / total;
      const start = n === "3" ? (METHOD_LABELS - 40) / (width - 58) : 0;
      placed["xaxis" + n] = { ...layout["xaxis" + n], domain: [start, 1] };
      placed["yaxis" + n] = { ...placed["yaxis" + n], domain: [Math.max(top - deep, 0), top] };
      title(i, 0, top + 4 / total);
      top -= deep + BETWEEN / total;
    });
  }
  placed.annotations = annotations;
  return placed;
}

function themed(layout, root) {
  const style = getComputedStyle(root);
  const grid = "rgba(128,140,150,0.22)";
  const out = {
    ...layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", uirevision: "keep",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: "rgba(128,140,150,0.8)", activecolor: style.color },
    font: { color: style.color, family: style.fontFamily, size: layout.font?.size ?? 12 },
  };
  for (const key of Object.keys(layout)) {
    if (/^[xy]axis/.test(key)) {
      out[key] = { gridcolor: grid, linecolor: grid, zerolinecolor: grid, ...layout[key] };
    }
  }
  return out;
}
