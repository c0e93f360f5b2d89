import { onScopeDispose } from "vue";
import { keyTargetOf } from "../../keyboard/key-target.js";
import { useShortcut, useShortcuts } from "../../keyboard/use-shortcut.js";
import { useInitialLocale } from "../../locale/use-locale.js";
import { isTyping, type RowCommand } from "./row-keys.js";

interface ListShortcuts {
  /** @returns false: not possible now */
  readonly perform: (command: RowCommand) => boolean;
  readonly toFilter: () => void;
}

/** The shortcuts of a list with a page of its own, listed in the help. */
export function useListShortcuts({ perform, toFilter }: ListShortcuts): void {
  const { text } = useInitialLocale();
  const description = (name: keyof typeof text.value.lists.keys) => () =>
    text.value.lists.keys[name];

  useShortcut("/", description("filter"), toFilter);
  const { areSingleKeysOn } = useShortcuts();
  // Listens in the capture phase: before the shortcuts of all pages.
  const first = (event: KeyboardEvent) => {
    const target = keyTargetOf(event.target);
    const isFree = target === "page" || target === "control";
    if (event.key !== "/" || !isFree || !areSingleKeysOn.value) return;
    event.preventDefault();
    toFilter();
  };
  document.addEventListener("keydown", first, { capture: true });
  onScopeDispose(() => {
    document.removeEventListener("keydown", first, { capture: true });
  });
  useShortcut("j", description("next"), () =>
    perform({ kind: "move", by: 1, isRange: false }),
  );
  useShortcut("k", description("previous"), () =>
    perform({ kind: "move", by: -1, isRange: false }),
  );
  useShortcut("x", description("select"), () => perform({ kind: "choose" }));
  useShortcut("J", description("range"), () =>
    perform({ kind: "move", by: 1, isRange: true }),
  );
  useShortcut("K", description("rangeUp"), () =>
    perform({ kind: "move", by: -1, isRange: true }),
  );
  useShortcut("o", description("peek"), () => perform({ kind: "peek" }));
  useShortcut("Enter", description("open"), () => perform({ kind: "open" }));
  // In a text field Ctrl+A selects the text.
  useShortcut(
    "Mod+a",
    description("all"),
    () => !isTyping(document.activeElement) && perform({ kind: "all" }),
  );
}
