// Elements made of tags, attributes and children. Text is always text: nothing is parsed as HTML.
const SVG = "http://www.w3.org/2000/svg";

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child);
  }
  return element;
}

export function replace(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

/** Reads a text to users of a screen reader. */
export function announce(text) {
  document.getElementById("announce").textContent = text;
}

/** Calls `run` once, `wait` milliseconds after the last call. */
export function debounced(wait, run) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), wait);
  };
}

/** A row of tabs and the panel below. `tabs` are [id, label, make]; `chosen` is called with the id of the new one. */
export function tabbed(tabs, first, chosen) {
  const panel = h("div", { class: "panel", role: "tabpanel", id: "panel", tabindex: "0" });
  const buttons = tabs.map(([id, label]) =>
    h("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": "panel", onclick: () => show(id, true) }, label));
  const list = h("div", { class: "tabs", role: "tablist", onkeydown: move }, buttons);
  function show(id, isChoice) {
    const at = Math.max(0, tabs.findIndex((tab) => tab[0] === id));
    buttons.forEach((button, index) => {
      button.setAttribute("aria-selected", String(index === at));
      button.tabIndex = index === at ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", buttons[at].id);
    replace(panel, tabs[at][2]());
    if (isChoice) chosen(tabs[at][0]);
  }
  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = buttons.findIndex((button) => button.tabIndex === 0);
    const next = (at + step + buttons.length) % buttons.length;
    show(tabs[next][0], true);
    buttons[next].focus();
    event.preventDefault();
  }
  show(first);
  return [list, panel];
}

/** A button that copies a text. */
export function copyButton(text) {
  const button = h("button", { type: "button", class: "copy", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  } }, "Copy");
  return button;
}
