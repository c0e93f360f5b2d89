import type { Format } from "./format.js";
import { jsonInXml } from "./json-in-xml.js";
import { jsonRpc } from "./json-rpc.js";
import { xmlExpat } from "./xml-expat.js";
import { xmlReader } from "./xml-reader.js";
import { xmlXmlrpc } from "./xml-xmlrpc.js";
import { rrd, xport } from "./xport.js";

export type FormatName =
  | "json-rpc"
  | `xml-${"reader" | "expat" | "xmlrpc"}`
  | `json-in-xml-${"reader" | "expat" | "xmlrpc"}`
  | "xport"
  | "rrd";

/** All formats, by name. */
export const formats = {
  "json-rpc": jsonRpc,
  "xml-reader": xmlReader,
  "xml-expat": xmlExpat,
  "xml-xmlrpc": xmlXmlrpc,
  "json-in-xml-reader": jsonInXml(xmlReader),
  "json-in-xml-expat": jsonInXml(xmlExpat),
  "json-in-xml-xmlrpc": jsonInXml(xmlXmlrpc),
  xport,
  rrd,
} as const satisfies Readonly<Record<FormatName, Format>>;
