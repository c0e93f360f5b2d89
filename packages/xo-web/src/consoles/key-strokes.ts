/** A key of the US layout, which guests get. */
interface KeyStroke {
  /** X11 keysym. */
  readonly keysym: number;
  /** Position as in KeyboardEvent.code; null: not on this layout. */
  readonly code: string | null;
  readonly shift: boolean;
}

const RETURN = { keysym: 0xff0d, code: "Enter", shift: false };
const TAB = { keysym: 0xff09, code: "Tab", shift: false };

/** Characters of keys without and with Shift. */
const PLACES: Readonly<Record<string, string>> = {
  Backquote: "`~",
  Digit1: "1!",
  Digit2: "2@",
  Digit3: "3#",
  Digit4: "4$",
  Digit5: "5%",
  Digit6: "6^",
  Digit7: "7&",
  Digit8: "8*",
  Digit9: "9(",
  Digit0: "0)",
  Minus: "-_",
  Equal: "=+",
  BracketLeft: "[{",
  BracketRight: "]}",
  Backslash: "\\|",
  Semicolon: ";:",
  Quote: "'\"",
  Comma: ",<",
  Period: ".>",
  Slash: "/?",
  Space: "  ",
};

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

const strokes = new Map<string, KeyStroke>();
for (const [code, [plain, shifted]] of [
  ...Object.entries(PLACES),
  ...[...LETTERS].map((letter): [string, string] => [
    `Key${letter.toUpperCase()}`,
    letter + letter.toUpperCase(),
  ]),
]) {
  if (shifted !== plain) add(code, shifted!, true);
  add(code, plain!, false);
}

function add(code: string, character: string, shift: boolean): void {
  const keysym = character.codePointAt(0)!;
  strokes.set(character, { keysym, code, shift });
}

/**
 * The keys that type a text: Xen guests have no shared clipboard.
 * Characters that the layout lacks are sent as keysyms; whether the guest
 * supports them is unknown. All kinds of line ends are one Return.
 */
export function toKeyStrokes(text: string): KeyStroke[] {
  return [...text.replace(/\r\n?/g, "\n")].flatMap((character) => {
    if (character === "\n") return [RETURN];
    if (character === "\t") return [TAB];
    const codePoint = character.codePointAt(0)!;
    // Other control characters are not typed: no key was meant by them.
    if (codePoint < 0x20 || codePoint === 0x7f) return [];
    return [strokes.get(character) ?? unknown(codePoint)];
  });
}

/** Keysyms of Latin 1 are its code points; those of others are offset Unicode. */
function unknown(codePoint: number): KeyStroke {
  const keysym = codePoint < 0x100 ? codePoint : 0x01000000 + codePoint;
  return { keysym, code: null, shift: false };
}
