import {
  onScopeDispose,
  provide,
  readonly,
  ref,
  shallowRef,
  type InjectionKey,
  type Ref,
} from "vue";
import { readStored, writeStored } from "../browser/stored-value.js";
import { injectRequired } from "../injection.js";
import { keyTargetOf } from "./key-target.js";
import { Shortcuts, type Shortcut, type ShortcutGroup } from "./shortcuts.js";

/** Keys that may repeat while they are held down. */
const MAY_REPEAT = new Set(["j", "k", "ArrowDown", "ArrowUp"]);
const storageKey = "single-key-shortcuts";

interface ShortcutSettings {
  /** The shortcuts of the current page. */
  readonly list: Readonly<Ref<readonly Shortcut[]>>;
  /** Whether shortcuts without Control or Command are enabled. */
  readonly areSingleKeysOn: Readonly<Ref<boolean>>;
  readonly setSingleKeys: (areOn: boolean) => void;
}

interface ShortcutRegistry extends ShortcutSettings {
  /** @returns removes the shortcut */
  readonly add: (shortcut: Shortcut) => () => void;
}

const key: InjectionKey<ShortcutRegistry> = Symbol("shortcuts");

/** Listens for the shortcuts of all components; for the root component. */
export function provideShortcuts(): void {
  const shortcuts = new Shortcuts();
  const list = shallowRef<readonly Shortcut[]>([]);
  const areSingleKeysOn = ref(readStored(storageKey) !== "off");
  shortcuts.areSingleKeysOn = areSingleKeysOn.value;
  const events = new AbortController();
  const { signal } = events;
  document.addEventListener(
    "keydown",
    (event) => {
      pressed(shortcuts, event);
    },
    { signal },
  );
  onScopeDispose(() => {
    events.abort();
  });
  provide(key, {
    list,
    areSingleKeysOn: readonly(areSingleKeysOn),
    setSingleKeys(areOn) {
      areSingleKeysOn.value = shortcuts.areSingleKeysOn = areOn;
      writeStored(storageKey, areOn ? null : "off");
    },
    add(shortcut) {
      const remove = shortcuts.add(shortcut);
      list.value = shortcuts.list;
      return () => {
        remove();
        list.value = shortcuts.list;
      };
    },
  });
}

/**
 * A shortcut until the scope ends, listed in the help. It is ignored in text
 * fields and while a console has the focus.
 * @param keys such as `x`, `g v`, `Mod+k` (Control or Command)
 * @param description its description
 * @param run false: not possible now, another shortcut may use the keys
 */
export function useShortcut(
  keys: string,
  description: () => string,
  run: () => unknown,
  group?: ShortcutGroup,
): void {
  const remove = injectRequired(key).add({ keys, description, run, group });
  onScopeDispose(remove);
}

/** All shortcuts, for the help and the settings. */
export function useShortcuts(): ShortcutSettings {
  return injectRequired(key);
}

function pressed(shortcuts: Shortcuts, event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.repeat && !MAY_REPEAT.has(event.key)) return;
  const isShortcut = shortcuts.press({
    key: event.key,
    isCommand: event.ctrlKey || event.metaKey,
    isAlt: event.altKey,
    target: keyTargetOf(event.target),
    time: event.timeStamp,
  });
  if (isShortcut) event.preventDefault();
}
