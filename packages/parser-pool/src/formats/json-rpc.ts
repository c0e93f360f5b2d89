import type { Format } from "./format.js";
import { JsonSplitter } from "./json-splitter.js";

/** JSON-RPC 1.0 and 2.0. */
export const jsonRpc: Format = (input, classes) =>
  new JsonSplitter(input, classes, "json-rpc").split();
