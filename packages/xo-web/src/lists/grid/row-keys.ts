/** Effect of a key on a list. `move`: by lines, `page`: by pages, `to`: to an end. */
export type RowCommand =
  | { readonly kind: "move"; readonly by: number; readonly isRange: boolean }
  | { readonly kind: "page"; readonly by: number }
  | { readonly kind: "to"; readonly end: "first" | "last" }
  | { readonly kind: "open" | "choose" | "all" | "peek" | "none" | "group" };

interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Undefined: the list ignores the key. */
export function commandOf(event: Key): RowCommand | undefined {
  const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
  const isRange = shiftKey || key === "J" || key === "K";
  if (altKey) return undefined;
  if (ctrlKey || metaKey)
    return key.toLowerCase() === "a" ? { kind: "all" } : undefined;
  switch (key) {
    case "j":
    case "J":
    case "ArrowDown":
      return { kind: "move", by: 1, isRange };
    case "k":
    case "K":
    case "ArrowUp":
      return { kind: "move", by: -1, isRange };
    case "PageDown":
      return { kind: "page", by: 1 };
    case "PageUp":
      return { kind: "page", by: -1 };
    case "Home":
      return { kind: "to", end: "first" };
    case "End":
      return { kind: "to", end: "last" };
    case "Enter":
      return { kind: "open" };
    case "x":
      return { kind: "choose" };
    case "o":
      return { kind: "peek" };
    case "ArrowRight":
    case "ArrowLeft":
      return { kind: "group" };
    case "Escape":
      return { kind: "none" };
    default:
      return undefined;
  }
}

/** Letters belong to the field or dialog that has the focus. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest(
      "input:not([type=checkbox]), textarea, select, [contenteditable], [role=dialog], [role=menu]",
    ) !== null
  );
}
