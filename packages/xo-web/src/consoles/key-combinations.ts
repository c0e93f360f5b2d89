/** X11 keysym and KeyboardEvent.code. */
type Key = readonly [keysym: number, code: string];

const CTRL: Key = [0xffe3, "ControlLeft"];
const ALT: Key = [0xffe9, "AltLeft"];
const WIN: Key = [0xffeb, "MetaLeft"];
const SHIFT: Key = [0xffe1, "ShiftLeft"];

/** Names of keys in a language. */
export type KeyName =
  | "ctrl"
  | "alt"
  | "shift"
  | "win"
  | "esc"
  | "tab"
  | "backspace"
  | "sysRq";

interface KeyCombination {
  readonly id: string;
  /** Its keys; those that are not a KeyName are the same in all languages. */
  readonly names: readonly string[];
  readonly keys: readonly Key[];
}

const letter = (name: string): Key => [
  name.toLowerCase().charCodeAt(0),
  `Key${name}`,
];
const terminal = (n: number): KeyCombination => ({
  id: `terminal${n}`,
  names: ["ctrl", "alt", `F${n}`],
  keys: [CTRL, ALT, [0xffbd + n, `F${n}`]],
});

/** Key combinations that browsers and systems intercept. */
export const keyCombinations: readonly KeyCombination[] = [
  { id: "esc", names: ["esc"], keys: [[0xff1b, "Escape"]] },
  { id: "altTab", names: ["alt", "tab"], keys: [ALT, [0xff09, "Tab"]] },
  { id: "altF4", names: ["alt", "F4"], keys: [ALT, [0xffc1, "F4"]] },
  { id: "ctrlW", names: ["ctrl", "W"], keys: [CTRL, letter("W")] },
  {
    id: "ctrlShiftEsc",
    names: ["ctrl", "shift", "esc"],
    keys: [CTRL, SHIFT, [0xff1b, "Escape"]],
  },
  {
    id: "ctrlAltBackspace",
    names: ["ctrl", "alt", "backspace"],
    keys: [CTRL, ALT, [0xff08, "Backspace"]],
  },
  { id: "win", names: ["win"], keys: [WIN] },
  { id: "winR", names: ["win", "R"], keys: [WIN, letter("R")] },
  { id: "winL", names: ["win", "L"], keys: [WIN, letter("L")] },
  {
    id: "sysRq",
    names: ["alt", "sysRq"],
    keys: [ALT, [0xff15, "PrintScreen"]],
  },
  ...[1, 2, 3, 7].map(terminal),
];

/** Presses the keys in order and releases them in reverse order. */
export function pressAll(
  keys: readonly Key[],
  sendKey: (keysym: number, code: string, down: boolean) => void,
): void {
  for (const key of keys) sendKey(...key, true);
  for (const key of keys.toReversed()) sendKey(...key, false);
}
