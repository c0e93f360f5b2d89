import { onScopeDispose } from "vue";
import { placeOf } from "../keyboard/press-place.js";
import { useShortcut, useShortcuts } from "../keyboard/use-shortcut.js";
import { useLocale } from "../locale/use-locale.js";
import { isTyping, type RowCommand } from "./row-keys.js";

export interface ListShortcuts {
  /** @returns false: not possible now */
  readonly perform: (command: RowCommand) => boolean;
  readonly toFilter: () => void;
}

/** The shortcuts of a list with a page of its own, listed in the help. */
export function useListShortcuts({ perform, toFilter }: ListShortcuts): void {
  const { text } = useLocale();
  const words = (name: keyof typeof text.value.lists.keys) => () =>
    text.value.lists.keys[name];

  useShortcut("/", words("filter"), toFilter);
  const { areSingleKeysOn } = useShortcuts();
  // In the capture phase: before the shortcut / of all pages.
  const first = (event: KeyboardEvent) => {
    const place = placeOf(event.target);
    const isFree = place === "page" || place === "control";
    if (event.key !== "/" || !isFree || !areSingleKeysOn.value) return;
    event.preventDefault();
    toFilter();
  };
  document.addEventListener("keydown", first, { capture: true });
  onScopeDispose(() => {
    document.removeEventListener("keydown", first, { capture: true });
  });
  useShortcut("j", words("next"), () =>
    perform({ kind: "move", by: 1, isRange: false }),
  );
  useShortcut("k", words("previous"), () =>
    perform({ kind: "move", by: -1, isRange: false }),
  );
  useShortcut("x", words("select"), () => perform({ kind: "choose" }));
  useShortcut("J", words("range"), () =>
    perform({ kind: "move", by: 1, isRange: true }),
  );
  useShortcut("K", words("rangeUp"), () =>
    perform({ kind: "move", by: -1, isRange: true }),
  );
  useShortcut("o", words("peek"), () => perform({ kind: "peek" }));
  useShortcut("Enter", words("open"), () => perform({ kind: "open" }));
  // In a text field Ctrl+A selects the text.
  useShortcut(
    "Mod+a",
    words("all"),
    () => !isTyping(document.activeElement) && perform({ kind: "all" }),
  );
}
