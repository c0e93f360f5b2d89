import { onScopeDispose, readonly, ref, shallowRef, type Ref } from "vue";
import { recall, remember } from "../ui/browser-memory.js";
import { placeOf } from "./press-place.js";
import { Shortcuts, type Shortcut, type ShortcutGroup } from "./shortcuts.js";

/** Held down, they go on. */
const MAY_REPEAT = new Set(["j", "k", "ArrowDown", "ArrowUp"]);

const key = "single-key-shortcuts";
const shortcuts = new Shortcuts();
const list = shallowRef<readonly Shortcut[]>([]);
const areSingleKeysOn = ref(recall(key) !== "off");
shortcuts.areSingleKeysOn = areSingleKeysOn.value;
let isListening = false;

/**
 * Keys that do something until the scope ends, and stand in the help till then.
 * They do nothing while somebody writes, or while a console has the focus.
 * @param keys such as `x`, `g v`, `Mod+k` (Control or Command)
 * @param words what it does
 * @param run false: not now, another may have the keys
 */
export function useShortcut(
  keys: string,
  words: () => string,
  run: () => unknown,
  group?: ShortcutGroup,
): void {
  listen();
  const remove = shortcuts.add({ keys, words, run, group });
  list.value = shortcuts.list;
  onScopeDispose(() => {
    remove();
    list.value = shortcuts.list;
  });
}

/** What holds now, and whether keys without Control or Command do. */
export function useShortcuts(): {
  readonly list: Readonly<Ref<readonly Shortcut[]>>;
  readonly areSingleKeysOn: Readonly<Ref<boolean>>;
  readonly setSingleKeys: (areOn: boolean) => void;
} {
  return {
    list,
    areSingleKeysOn: readonly(areSingleKeysOn),
    setSingleKeys(areOn) {
      areSingleKeysOn.value = shortcuts.areSingleKeysOn = areOn;
      remember(key, areOn ? null : "off");
    },
  };
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.repeat && !MAY_REPEAT.has(event.key)) return;
    const isShortcut = shortcuts.press({
      key: event.key,
      isCommand: event.ctrlKey || event.metaKey,
      isAlt: event.altKey,
      place: placeOf(event.target),
      time: event.timeStamp,
    });
    if (isShortcut) event.preventDefault();
  });
}
