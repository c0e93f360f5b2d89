/** Where the focus is when a key is pressed. */
export type KeyTarget = "page" | "control" | "field" | "dialog" | "console";

/** A key press with its modifiers. */
export interface Press {
  /** As in KeyboardEvent.key. */
  readonly key: string;
  /** Control or Command. */
  readonly isCommand: boolean;
  readonly isAlt: boolean;
  readonly target: KeyTarget;
  /** Time of the key press, in ms. */
  readonly time: number;
}

export interface Shortcut {
  /** A key (`j`, `?`, `Enter`), keys one after another (`g v`), or with Control or Command (`Mod+k`). */
  readonly keys: string;
  /** Its description in the help. */
  readonly description: () => string;
  /** A part of the help; default: `page`. */
  readonly group?: ShortcutGroup | undefined;
  /** Returns false if the shortcut does not apply now: another one may use the keys. */
  readonly run: () => unknown;
}

export const shortcutGroups = ["page", "everywhere", "go"] as const;
export type ShortcutGroup = (typeof shortcutGroups)[number];

/** The first key of a sequence was pressed. */
const SEQUENCE_MS = 1_500;

/**
 * All active shortcuts. Of those with the same keys, the last registered one comes
 * first: that of a dialog before that of its page.
 */
export class Shortcuts {
  readonly #list: Shortcut[] = [];
  /** Keys pressed so far of a sequence. */
  #begun: { readonly keys: string; readonly time: number } | undefined;
  /** False: shortcuts without Control or Command are disabled (WCAG 2.1.4). */
  areSingleKeysOn = true;

  /** @returns removes the shortcut */
  add(shortcut: Shortcut): () => void {
    this.#list.unshift(shortcut);
    return () => {
      const at = this.#list.indexOf(shortcut);
      if (at >= 0) this.#list.splice(at, 1);
    };
  }

  /**
   * In the order of their registration; of those with the same keys only the one that
   * would run.
   */
  get list(): readonly Shortcut[] {
    const byKeys = new Map<string, Shortcut>();
    for (const one of this.#list)
      if (!byKeys.has(one.keys)) byKeys.set(one.keys, one);
    return [...byKeys.values()].reverse();
  }

  /** @returns whether it was a shortcut, so that the browser must ignore it */
  press(press: Press): boolean {
    const begun = this.#begun;
    this.#begun = undefined;
    if (!this.#mayFire(press)) return false;
    const keys = nameOf(press);
    if (begun !== undefined && press.time - begun.time < SEQUENCE_MS)
      if (this.#run(`${begun.keys} ${keys}`)) return true;
    if (this.#run(keys)) return true;
    const isBeginning = this.#list.some((one) =>
      one.keys.startsWith(`${keys} `),
    );
    if (isBeginning) this.#begun = { keys, time: press.time };
    return isBeginning;
  }

  #mayFire({ key, isCommand, isAlt, target }: Press): boolean {
    if (isAlt || target === "console") return false;
    // A letter with Control is never text input.
    if (isCommand) return true;
    if (!this.areSingleKeysOn || target === "field" || target === "dialog")
      return false;
    return target === "page" || (key !== "Enter" && key !== " ");
  }

  #run(keys: string): boolean {
    for (const one of this.#list)
      if (one.keys === keys && one.run() !== false) return true;
    return false;
  }
}

function nameOf({ key, isCommand }: Press): string {
  return isCommand ? `Mod+${key.toLowerCase()}` : key;
}
