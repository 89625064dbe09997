// What the page says, in both languages. The server writes all texts into the page, so that the
// language can be changed without losing a reading that is under way.

const texts = JSON.parse(document.body.dataset.texts);

export function language() {
  return document.documentElement.lang;
}

export function t(key, values = {}) {
  const text = texts[key]?.[language()] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** Say everything on the page in another language. */
export function setLanguage(code) {
  document.documentElement.lang = code;
  document.cookie = `lang=${code}; path=/; max-age=31536000; samesite=lax`;
  for (const element of document.querySelectorAll("[data-t]")) {
    element.dataset.settled = "yes"; // whatever was going on in it is over
    element.textContent = t(element.dataset.t, JSON.parse(element.dataset.tValues ?? "{}"));
  }
  for (const element of document.querySelectorAll("[data-t-label]")) {
    element.setAttribute("aria-label", t(element.dataset.tLabel));
  }
  for (const link of document.querySelectorAll(".languages a")) {
    if (link.lang === code) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  document.title = t("title");
}

/** Call `changed` in place of loading the page anew when a language is chosen. */
export function onLanguage(changed) {
  for (const link of document.querySelectorAll(".languages a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      setLanguage(link.lang);
      changed();
    });
  }
}
