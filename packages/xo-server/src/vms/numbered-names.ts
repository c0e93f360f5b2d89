import { XoError } from "@xo-server/model";

/** One of several VMs that are created at once. */
export interface Numbered {
  readonly name: string;
  readonly index: number;
}

export interface NameRequest {
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

/** Replaces the placeholders of a text for one of the VMs. */
export function fillIn(text: string, { name, index }: Numbered): string {
  return text.replace(PLACE, (_, isName?: string, width = "1") =>
    isName === undefined ? String(index).padStart(Number(width), "0") : name,
  );
}

/** Replaces the placeholders in all strings of a value, at any depth; names of members are kept. */
export function fillInAll<T>(value: T, one: Numbered): T {
  if (typeof value === "string") return fillIn(value, one) as T;
  if (Array.isArray(value))
    return value.map((member: unknown) => fillInAll(member, one)) as T;
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value) as [string, unknown][];
  return Object.fromEntries(
    members.map(([key, member]) => [key, fillInAll(member, one)]),
  ) as T;
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
    return { index, name: names?.[i] ?? fillIn(pattern, { name: "", index }) };
  });
  if (new Set(all.map(({ name }) => name)).size < count)
    throw invalid("duplicate name");
  return all;
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
