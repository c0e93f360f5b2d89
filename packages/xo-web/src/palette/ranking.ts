/** How well a name matches the typed text: 0 is best. */
type Fit = 0 | 1 | 2 | 3 | 4;

const [EXACT, PREFIX, WORD, PART, OTHER] = [0, 1, 2, 3, 4] as const;

/** Exact name, prefix, prefix of a word, part of the name; OTHER: no match. */
export function fitOf(name: string, typed: string): Fit {
  const whole = name.toLowerCase();
  const requested = typed.trim().toLowerCase();
  if (whole === requested) return EXACT;
  if (whole.startsWith(requested)) return PREFIX;
  if (wordsOf(whole).some((word) => word.startsWith(requested))) return WORD;
  const parts = wordsOf(requested);
  if (parts.length > 1 && parts.every((part) => whole.includes(part)))
    return WORD;
  return whole.includes(requested) ? PART : OTHER;
}

interface Ranked {
  readonly name: string;
  /** Position of its type: pools before hosts before VMs. */
  readonly typeRank: number;
}

/** The best match first; equal matches by type, then by name (numeric). */
export function rank<T extends Ranked>(
  found: readonly T[],
  typed: string,
): readonly T[] {
  return found
    .map((one) => ({ one, fit: fitOf(one.name, typed) }))
    .sort(
      (a, b) =>
        a.fit - b.fit ||
        a.one.typeRank - b.one.typeRank ||
        byName.compare(a.one.name, b.one.name),
    )
    .map(({ one }) => one);
}

const byName = new Intl.Collator("en", { numeric: true });

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
}
