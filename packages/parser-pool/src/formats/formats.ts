import type { Format } from "./format.js";
import { jsonRpc } from "./json-rpc.js";

export type FormatName = "json-rpc";

/** The format of that name; a promise where it has to be loaded first. */
export function loadFormat(name: FormatName): Format | Promise<Format> {
  switch (name) {
    case "json-rpc":
      return jsonRpc;
  }
}
