import { isObject, type Json } from "@xo-server/kit";

/**
 * Makes the browser download the content that the server offers at `$getFrom`; the
 * browser shows the progress.
 */
export function fetchContent(answer: Json): void {
  const path = isObject(answer) ? answer["$getFrom"] : undefined;
  if (typeof path !== "string") return;
  const link = document.createElement("a");
  link.href = path;
  link.download = "";
  link.click();
}
