import type { Messages } from "../locale/messages.js";

interface Advice {
  readonly title: string;
  readonly todo: string;
}

/** Explanation of an error and advice, by its code. */
export function adviceFor(code: string, messages: Messages): Advice {
  const { advice } = messages;
  return Object.hasOwn(advice, code)
    ? advice[code as keyof typeof advice]
    : advice.fallback;
}
