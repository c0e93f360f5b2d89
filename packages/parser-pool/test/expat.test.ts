import { createRequire } from "node:module";
import t from "tap";
import type { Logger } from "@xo-server/kit";
import { createParserPool } from "../src/index.js";
import { decodingContract } from "./support/decoding-contract.js";
import { encode } from "./support/encodings.js";
import { feed } from "./support/feed.js";

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve("node-expat");
    return true;
  } catch {
    return false;
  }
}

function recorder(): { logger: Logger; warnings: string[] } {
  const warnings: string[] = [];
  const nothing = () => undefined;
  const logger = {
    debug: nothing,
    info: nothing,
    warn: (message: string) => void warnings.push(message),
    error: nothing,
  };
  return { logger, warnings };
}

const body = encode("xml", {
  value: new Map([["OpaqueRef:1", new Map([["uuid", "x"]])]]),
});

/** Whether node-expat can be loaded; it may be installed without being built. */
async function works(): Promise<boolean> {
  const pool = createParserPool({
    place: "main",
    xml: "expat",
    xmlStrict: true,
  });
  const isThere = await feed(pool, body, { encoding: "xml-rpc" }).then(
    () => true,
    () => false,
  );
  await pool.close();
  return isThere;
}

const hasExpat = isInstalled() && (await works());
t.comment(
  `node-expat is ${hasExpat ? "here" : "not here: the reader takes its place"}`,
);

for (const [encoding, wire] of [
  ["xml", "xml-rpc"],
  ["json-in-xml", "json-in-xml"],
] as const)
  t.test(`${encoding} by expat`, (t) =>
    decodingContract(t, {
      encoding,
      wire,
      createPool: (options) =>
        createParserPool({ ...options, place: "main", xml: "expat" }),
    }),
  );

t.test(
  "worker threads use the reader instead of node-expat, which is logged once",
  async (t) => {
    const { logger, warnings } = recorder();
    const pool = createParserPool({ place: "worker", xml: "expat", logger });
    for (let i = 0; i < 3; i++) {
      const { records } = await feed(pool, body, { encoding: "xml-rpc" });
      t.same(
        records.map(({ record }) => record),
        [{ uuid: "x" }],
      );
    }
    t.same(warnings, [
      "node-expat is not available: XML is decoded by the built-in reader",
    ]);
    await pool.close();
  },
);

t.test(
  "without node-expat the reader is used, which is logged once",
  async (t) => {
    for (const place of ["worker", "main"] as const) {
      const { logger, warnings } = recorder();
      const pool = createParserPool({
        place,
        xml: "expat",
        expatModule: "no-such-module",
        logger,
      });
      for (let i = 0; i < 3; i++) {
        const { records } = await feed(pool, body, { encoding: "xml-rpc" });
        t.same(
          records.map(({ record }) => record),
          [{ uuid: "x" }],
        );
      }
      // A thread that has loaded Expat keeps it, whatever module name is configured later.
      if (place === "worker" || !hasExpat)
        t.same(warnings, [
          "node-expat is not available: XML is decoded by the built-in reader",
        ]);
      await pool.close();
    }
  },
);

t.test("with xmlStrict a missing Expat is an error", async (t) => {
  const pool = createParserPool({
    place: "worker",
    xml: "expat",
    xmlStrict: true,
    expatModule: "no-such-module",
  });
  t.teardown(() => pool.close());
  await t.rejects(feed(pool, body, { encoding: "xml-rpc" }), {
    code: "UNSUPPORTED",
    data: { what: "node-expat" },
  });
});

t.test(
  "Expat expands no entities of a document type declaration",
  async (t) => {
    const pool = createParserPool({ place: "main", xml: "expat" });
    t.teardown(() => pool.close());
    const bomb = Buffer.from(
      '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]><methodResponse><params><param><value>&b;</value></param></params></methodResponse>',
    );
    await t.rejects(feed(pool, bomb, { encoding: "xml-rpc", shape: "value" }), {
      code: "BAD_ANSWER",
    });
    const deep = encode("xml", { value: "x" })
      .toString()
      .replace(
        "<value>x</value>",
        `${"<value><array><data>".repeat(1e5)}${"</data></array></value>".repeat(1e5)}`,
      );
    await t.rejects(
      feed(pool, Buffer.from(deep), { encoding: "xml-rpc", shape: "value" }),
      { code: "ANSWER_TOO_DEEP" },
    );
  },
);
