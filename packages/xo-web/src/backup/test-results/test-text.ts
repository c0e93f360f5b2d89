import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import type { RestoreTest } from "../archive.js";

/** Text of what reported after which time; empty if nothing did. */
export function answerText(
  { method, bootMs }: Pick<RestoreTest, "method" | "bootMs">,
  {
    texts,
    formats,
  }: {
    readonly texts: Messages["backup"]["tests"];
    readonly formats: Formats;
  },
): string {
  if (bootMs === undefined) return "";
  return fill(texts.answers[method ?? "tools"], {
    span: formats.span(bootMs),
  });
}
