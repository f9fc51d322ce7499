// Small helpers: elements without markup in strings, and the line at the top that shows errors.

export const by = (id) => document.getElementById(id);

/** Make an element; `has` holds attributes, properties that begin with a dot, and listeners as on… */
export function el(name, has = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(has)) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("aria-")) made.setAttribute(key, String(value));
    else if (value === false) continue;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key.startsWith(".")) made[key.slice(1)] = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...inside.flat().filter((each) => each !== null && each !== undefined && each !== false));
  return made;
}

/** Say one line at the top of the page; an empty one takes it away. */
export function say(text, calm = false) {
  const line = by("message");
  line.hidden = !text;
  line.textContent = text || "";
  line.classList.toggle("calm", calm);
}

export const many = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

/** Put a text into the clipboard, and say so on the button for a moment. */
export async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it and copy";
  }
  setTimeout(() => (button.textContent = before), 1600);
}

export function statusMark(status) {
  const shown = status || "none";
  return el("span", { class: `status s${status ? String(status)[0] : 0}` }, String(shown));
}
