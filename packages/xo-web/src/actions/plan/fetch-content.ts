import { isObject, type Json } from "@xo-server/kit";

/** Has the browser fetch what the server offers at `$getFrom`: it shows the progress itself. */
export function fetchContent(answer: Json): void {
  const path = isObject(answer) ? answer["$getFrom"] : undefined;
  if (typeof path !== "string") return;
  const link = document.createElement("a");
  link.href = path;
  link.download = "";
  link.click();
}
