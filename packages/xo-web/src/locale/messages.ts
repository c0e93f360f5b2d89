export type { InitialMessages, Messages, Plural } from "./en/messages.js";

/** Replaces `{name}` by its value; names without a value stay as they are. */
export function fill(
  template: string,
  values: Readonly<Record<string, string | number>>,
): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : placeholder,
  );
}
