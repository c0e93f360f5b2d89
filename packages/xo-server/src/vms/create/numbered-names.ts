import { XoError } from "@xo-server/model";

/** One of several VMs that are created at once. */
export interface Numbered {
  readonly name: string;
  readonly index: number;
}

interface NameRequest {
  readonly names?: readonly string[] | undefined;
  readonly name_label?: string | undefined;
  readonly count?: number | undefined;
  readonly firstIndex?: number | undefined;
}

/**
 * `{name}`, `{index}`, `{index:03}`; but not `{{name}}`, which is Jinja's syntax in
 * configurations for cloud-init.
 */
const PLACE = /(?<!\{)\{(?:(name)|index(?::0([1-9]))?)\}(?!\})/g;
const INDEX = /(?<!\{)\{index(?::0[1-9])?\}(?!\})/;

/** Characters that may take the place of the placeholders of one VM: otherwise a short text with a long name fills the memory. */
const MAX_FILLED = 1024 * 1024;

/** Replaces the placeholders in the texts of one VM. */
export class Placeholders {
  readonly #name: string;
  readonly #index: number;
  #filled = 0;

  constructor({ name, index }: Numbered) {
    this.#name = name;
    this.#index = index;
  }

  /** @throws XoError INVALID_PARAMETERS: the result is too long */
  fillIn(text: string): string {
    return text.replace(PLACE, (_, isName?: string, width = "1") => {
      const filled =
        isName === undefined
          ? String(this.#index).padStart(Number(width), "0")
          : this.#name;
      this.#filled += filled.length;
      if (this.#filled > MAX_FILLED)
        throw invalid(
          `the placeholders of a VM are replaced with more than ${MAX_FILLED} characters`,
        );
      return filled;
    });
  }

  /**
   * Replaces the placeholders in all strings of a value, at any depth; names of members are kept.
   * @throws XoError INVALID_PARAMETERS: the result is too long
   */
  fillInAll<T>(value: T): T {
    if (typeof value === "string") return this.fillIn(value) as T;
    if (Array.isArray(value))
      return value.map((member: unknown) => this.fillInAll(member)) as T;
    if (typeof value !== "object" || value === null) return value;
    const members = Object.entries(value) as [string, unknown][];
    return Object.fromEntries(
      members.map(([key, member]) => [key, this.fillInAll(member)]),
    ) as T;
  }
}

/**
 * Names from a list, or from a pattern such as `web-{index:02}`. A pattern without
 * a placeholder gets the number at its end.
 * @throws XoError INVALID_PARAMETERS
 */
export function numberedNames(request: NameRequest): Numbered[] {
  const { names, name_label, count = names?.length, firstIndex = 1 } = request;
  if (count === undefined) throw invalid("neither names nor a count");
  if (names !== undefined && names.length !== count)
    throw invalid(`${names.length} names for ${count} VMs`);
  if (names === undefined && name_label === undefined)
    throw invalid("neither names nor name_label");
  const pattern = INDEX.test(name_label ?? "")
    ? name_label!
    : `${name_label} {index}`;
  const all = Array.from({ length: count }, (_, i) => {
    const index = firstIndex + i;
    const place = new Placeholders({ name: "", index });
    return { index, name: names?.[i] ?? place.fillIn(pattern) };
  });
  if (new Set(all.map(({ name }) => name)).size < count)
    throw invalid("duplicate name");
  return all;
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
