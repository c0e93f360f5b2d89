/** An element without its namespaces: names and attributes have no prefix. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text between its tags, without that of its children. */
  readonly text: string;
}

/** The first child of this name. */
export function childOf(
  element: XmlElement | undefined,
  name: string,
): XmlElement | undefined {
  return element?.children.find((child) => child.name === name);
}

/** Children with this name, in document order; none of a missing element. */
export function childrenOf(
  element: XmlElement | undefined,
  name: string,
): XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

/** The element that a path of names leads to. */
export function elementAt(
  element: XmlElement | undefined,
  ...path: readonly string[]
): XmlElement | undefined {
  let found = element;
  for (const name of path) found = childOf(found, name);
  return found;
}

/** The text of the element that a path of names leads to, without spaces around it; empty: there is none. */
export function textAt(
  element: XmlElement | undefined,
  ...path: readonly string[]
): string {
  return elementAt(element, ...path)?.text.trim() ?? "";
}
