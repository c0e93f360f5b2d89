/** Maximum length of a list of shares or LUNs, in characters. */
const MAX_CHARACTERS = 1 << 20;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/**
 * Reads elements of this name from the XML of a storage driver, which contains
 * nothing but nested elements.
 * @param names our names of their members
 */
export function readRows(
  xml: string,
  element: string,
  names: Readonly<Record<string, string>>,
): Record<string, string>[] {
  const bounded = xml.slice(0, MAX_CHARACTERS);
  return [...split(bounded, element)].map((inner) =>
    Object.fromEntries(
      Object.entries(names).flatMap(([tag, name]) => {
        const [value] = split(inner, tag);
        return value === undefined ? [] : [[name, toText(value)]];
      }),
    ),
  );
}

/** The contents of each element of this name. */
function* split(xml: string, element: string): Generator<string> {
  const [open, close] = [`<${element}>`, `</${element}>`];
  for (let at = 0; ;) {
    const start = xml.indexOf(open, at);
    const end = start < 0 ? -1 : xml.indexOf(close, start);
    if (end < 0) return;
    yield xml.slice(start + open.length, end);
    at = end + close.length;
  }
}

function toText(xml: string): string {
  return xml
    .trim()
    .replace(/&(\w+);/g, (all, name: string) =>
      Object.hasOwn(ENTITIES, name) ? ENTITIES[name]! : all,
    );
}
