// Ask the figure of this key, which is somewhere else on the page, to save itself.
export default function ({ data, parentElement }) {
  for (const button of parentElement.querySelectorAll(".dppca-save button")) {
    const detail = { format: button.value, filename: data.filename, title: data.title };
    button.onclick = () => {
      const figure = document.querySelector(`[data-figure="${CSS.escape(data.figure)}"]`);
      figure?.dispatchEvent(new CustomEvent("dppca-save", { detail }));
    };
  }
}
