import type { Messages } from "../locale/messages.js";
import type { ActivityEntry, Related } from "./entry.js";

/** A sentence with objects in it, to be shown as links. */
type SentencePart = string | Related;

/** The sentence for an event: of its forms the one for which all mentioned objects are known. */
export function partsOf(
  entry: ActivityEntry,
  text: Messages["activity"],
): readonly SentencePart[] {
  const { objectId, type, name, from, to, of, was, by } = entry;
  const values: Readonly<Record<string, SentencePart | undefined>> = {
    object: { id: objectId, type, name },
    from,
    to,
    of,
    was,
  };
  const sentence: Readonly<Record<string, string>> = text.sentences;
  const template =
    [`${entry.kind}.${from && to ? "both" : "known"}`, `${entry.kind}.known`]
      .map((key) => sentence[key])
      .find((one) => one !== undefined && isKnown(one, values)) ??
    sentence[entry.kind] ??
    "{object}";
  const parts = split(template, values);
  return by === undefined
    ? parts
    : [...parts, ...split(text.by, { user: by.userName })];
}

function isKnown(
  template: string,
  values: Readonly<Record<string, SentencePart | undefined>>,
): boolean {
  return [...template.matchAll(/\{(\w+)\}/g)].every(
    ([, name]) => values[name!] !== undefined,
  );
}

function split(
  template: string,
  values: Readonly<Record<string, SentencePart | undefined>>,
): SentencePart[] {
  return template
    .split(/(\{\w+\})/)
    .filter((piece) => piece !== "")
    .map((piece) => {
      const name = /^\{(\w+)\}$/.exec(piece)?.[1];
      return name === undefined ? piece : (values[name] ?? "");
    });
}
