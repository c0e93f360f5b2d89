import t from "tap";
import { createParserPool, type Place } from "../src/index.js";
import { decodingContract } from "./support/decoding-contract.js";

const places: Place[] = ["worker", "main"];
const subjects = [
  { encoding: "json1", wire: "json-rpc", xml: "reader" },
  { encoding: "json2", wire: "json-rpc", xml: "reader" },
  { encoding: "xml", wire: "xml-rpc", xml: "reader" },
  { encoding: "xml", wire: "xml-rpc", xml: "xmlrpc" },
  { encoding: "json-in-xml", wire: "json-in-xml", xml: "reader" },
  { encoding: "json-in-xml", wire: "json-in-xml", xml: "xmlrpc" },
] as const;

for (const place of places) {
  for (const { encoding, wire, xml } of subjects) {
    t.test(`${encoding} by ${xml}, place ${place}`, (t) =>
      decodingContract(t, {
        encoding,
        wire,
        createPool: (options) => createParserPool({ ...options, place, xml }),
      }),
    );
  }
}
