import { onScopeDispose } from "vue";
import { placeOf } from "../keyboard/press-place.js";
import { useShortcut, useShortcuts } from "../keyboard/use-shortcut.js";
import { useLocale } from "../locale/use-locale.js";
import { isTyping, type RowCommand } from "./row-keys.js";

export interface ListShortcuts {
  /** @returns false: not now */
  readonly obey: (command: RowCommand) => boolean;
  readonly toFilter: () => void;
}

/** The keys of a list that has a page of its own: they hold wherever nobody writes, and stand in the help. */
export function useListShortcuts({ obey, toFilter }: ListShortcuts): void {
  const { text } = useLocale();
  const words = (name: keyof typeof text.value.lists.keys) => () =>
    text.value.lists.keys[name];

  useShortcut("/", words("filter"), toFilter);
  const { areSingleKeysOn } = useShortcuts();
  // Before the palette, which has the same key and may come later than this page.
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
    obey({ kind: "move", by: 1, isRange: false }),
  );
  useShortcut("k", words("previous"), () =>
    obey({ kind: "move", by: -1, isRange: false }),
  );
  useShortcut("x", words("select"), () => obey({ kind: "choose" }));
  useShortcut("J", words("range"), () =>
    obey({ kind: "move", by: 1, isRange: true }),
  );
  useShortcut("K", words("rangeUp"), () =>
    obey({ kind: "move", by: -1, isRange: true }),
  );
  useShortcut("o", words("peek"), () => obey({ kind: "peek" }));
  useShortcut("Enter", words("open"), () => obey({ kind: "open" }));
  // In a field it is the field's.
  useShortcut(
    "Mod+a",
    words("all"),
    () => !isTyping(document.activeElement) && obey({ kind: "all" }),
  );
}
