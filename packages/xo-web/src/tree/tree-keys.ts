import type { Outline } from "./outline.js";

/** Effect of a key: move to another line, or an action on the current one. */
type TreeMove = number | "toggle" | "enter";

/**
 * The keyboard of a tree (ARIA patterns): arrows up and down move by line,
 * right expands or enters, left collapses or leaves.
 * @param page number of visible lines
 * @returns undefined for a key without a function
 */
export function treeMove(
  key: string,
  outline: Outline,
  { line, page }: { readonly line: number; readonly page: number },
): TreeMove | undefined {
  const last = outline.length - 1;
  const within = (requested: number) => Math.max(0, Math.min(requested, last));
  switch (key) {
    case "ArrowDown":
      return within(line + 1);
    case "ArrowUp":
      return within(line - 1);
    case "PageDown":
      return within(line + page);
    case "PageUp":
      return within(line - page);
    case "Home":
      return 0;
    case "End":
      return last;
    case "ArrowRight":
      return inwards(outline, line);
    case "ArrowLeft":
      return outwards(outline, line);
    case "Enter":
      return "enter";
    case " ":
      return opening(outline, line) === undefined ? "enter" : "toggle";
    default:
      return undefined;
  }
}

function inwards(outline: Outline, line: number): TreeMove {
  const isOpen = opening(outline, line);
  if (isOpen === undefined) return line;
  return isOpen ? line + 1 : "toggle";
}

function outwards(outline: Outline, line: number): TreeMove {
  if (opening(outline, line) === true) return "toggle";
  return Math.max(outline.parentOf(line), 0);
}

/** Undefined: the line cannot be expanded or collapsed. */
function opening(outline: Outline, line: number): boolean | undefined {
  const found = outline.at(line);
  if (found?.kind !== "node" || found.node.kind === "found") return undefined;
  return found.node.isOpen;
}
