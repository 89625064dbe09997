// A line of text that forms out of noise, once, when the page is opened.

const NOISE = "田口日目回由甲申品区囲国図困固ロカ力ニ二ー一";
const STEPS = 14;
const PAUSE = 70; // milliseconds

/** Let the text of an element settle. Nothing moves for those who do not want it to. */
export function settle(element) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const text = [...element.textContent];
  const when = text.map(() => 1 + Math.floor(Math.random() * STEPS));
  element.setAttribute("aria-label", element.textContent);
  let step = 0;
  const draw = () => {
    step++;
    if (step > STEPS || element.dataset.settled) {
      if (!element.dataset.settled) element.textContent = text.join("");
      element.removeAttribute("aria-label");
      return;
    }
    element.replaceChildren(
      ...text.map((character, i) => {
        if (when[i] <= step || character === " ") return character;
        const noise = document.createElement("span");
        noise.className = "noise";
        noise.textContent = NOISE[Math.floor(Math.random() * NOISE.length)];
        return noise;
      }),
    );
    setTimeout(draw, PAUSE);
  };
  draw();
}
