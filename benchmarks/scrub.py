"""Time the front page's scrub in headless Chromium: from the input event to the drawn frame.

    python -m benchmarks.scrub [--port PORT] [--link QUERY]

Of a server that runs. Beside the time on the clock it prints the page's own time on the CPU for each frame,
which depends little on what else the machine does, and how many requests the drag sent.
"""

import argparse
import os

import numpy as np

from scripts.started import PLAYED, chromium

FRAMES = 60
TARGET_MS = 60.0  # of nine in ten frames
SETTLED_MS = 12_000  # until what the page measures beside is complete
# Moves the slider through its frames, each once the one before is drawn, and returns their milliseconds.
DRAG = """async (frames) => {
  const root = document.querySelector('.dppca-live'), slider = root.querySelector('.scrub input');
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const resources = () => performance.getEntriesByType('resource');
  const before = resources().length, times = [];
  for (let i = 0; i < frames; i++) {
    const value = String(i % (Number(slider.max) + 1)), drawn = root.dataset.drawn;
    if (slider.value === value) continue;
    const began = performance.now();
    slider.value = value;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    while (root.dataset.drawn === drawn) await new Promise(requestAnimationFrame);
    times.push(performance.now() - began);
    await pause(30);
  }
  return { times, requests: resources().length - before };
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--link", default="")
    asked = parser.parse_args()
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(PLAYED)
        page.goto(f"http://127.0.0.1:{asked.port}/?{asked.link}", timeout=120_000)
        page.wait_for_selector(".dppca-live[data-drawn]", timeout=240_000)
        page.wait_for_timeout(SETTLED_MS)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

        def busy() -> float:
            metrics = session.send("Performance.getMetrics")["metrics"]
            return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))

        began = busy()
        result = page.evaluate(DRAG, FRAMES)
        times = np.array(result["times"])
        cpu = 1000 * (busy() - began) / len(times)
    middle, most = np.quantile(times, [0.5, 0.9])
    print(f"{len(times)} frames: median {middle:.0f} ms, p90 {most:.0f} ms (target {TARGET_MS:.0f} ms)")
    print(f"CPU of the page {cpu:.0f} ms a frame; {result['requests']} requests")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
