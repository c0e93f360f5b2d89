import { fill, type Messages } from "../locale/messages.js";
import type { Reading } from "./reading.js";

/** Error message for an invalid filter, in the language of the page; undefined if it is valid. */
export function problemText(
  text: string,
  { error, isUnfinished }: Reading,
  messages: Messages["filters"],
): string | undefined {
  if (error === undefined) return undefined;
  const expected = expectedText(error.expected, messages);
  const { position } = error;
  if (isUnfinished) return fill(messages.errorAtEnd, { expected });
  const found = [...text.slice(position, position + 2)][0] ?? "";
  return fill(messages.error, { expected, found, position: position + 1 });
}

function expectedText(
  expected: string,
  { expected: texts }: Messages["filters"],
): string {
  const known: Readonly<Record<string, string>> = {
    "a term": texts.term,
    'a term or ")"': texts.termOrClose,
    '"("': texts.open,
    "a number": texts.number,
    "a closing quote": texts.quote,
    '"/" at the end of the expression': texts.slash,
    "a regular expression": texts.pattern,
  };
  return (Object.hasOwn(known, expected) && known[expected]) || expected;
}
