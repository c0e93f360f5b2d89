import type { KeyTarget } from "./shortcuts.js";

/** Types of inputs without text. */
const NO_TEXT = /^(checkbox|radio|button|submit|reset|file|range|color|image)$/;

/** How an element handles a key. An element that handles all keys itself has `data-own-keys`. */
export function keyTargetOf(target: EventTarget | null): KeyTarget {
  if (!(target instanceof Element)) return "page";
  if (target.closest("canvas, .xterm, [data-own-keys]")) return "console";
  if (isField(target)) return "field";
  if (
    target.closest(
      '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]',
    )
  )
    return "dialog";
  return target.closest("a[href], button, summary, input, [role='tab']")
    ? "control"
    : "page";
}

function isField(target: Element): boolean {
  if (target instanceof HTMLInputElement) return !NO_TEXT.test(target.type);
  return (
    target.closest(
      'textarea, select, [contenteditable=""], [contenteditable="true"], [role="textbox"], [role="combobox"], [role="searchbox"]',
    ) !== null
  );
}
