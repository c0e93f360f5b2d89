import type { Format } from "./format.js";
import { jsonRpc } from "./json-rpc.js";
import { xmlReader } from "./xml-reader.js";

export type FormatName = "json-rpc" | "xml-reader";

/** The format of that name; a promise where it has to be loaded first. */
export function loadFormat(name: FormatName): Format | Promise<Format> {
  switch (name) {
    case "json-rpc":
      return jsonRpc;
    case "xml-reader":
      return xmlReader;
  }
}
