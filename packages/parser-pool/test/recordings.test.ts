import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { parseLenient } from "@xo-server/model";
import {
  createParserPool,
  type ParserPool,
  type XmlParser,
} from "../src/index.js";
import { feed, type Fed, type FeedOptions } from "./support/feed.js";

/** Recorded from a real XAPI; next to the repository, not part of it. */
const folder = fileURLToPath(
  new URL("../../../../../shared/xapi/recordings/", import.meta.url),
);
const skip = existsSync(`${folder}index.json`)
  ? false
  : "no recordings beside the repository";

interface Recording {
  readonly id: string;
  readonly method: string;
  readonly endpoint: string;
  readonly status_line: string;
  readonly body_end: string;
  readonly response: string;
}

/** Answers that are deliberately invalid XML or JSON. */
const ILL_FORMED = new Set(["331", "334", "335", "879"]);

function recordings(): Recording[] {
  const all = JSON.parse(
    readFileSync(`${folder}index.json`, "utf8"),
  ) as Recording[];
  return all.filter(
    ({ id, status_line, body_end, method }) =>
      status_line.includes(" 200 ") &&
      body_end === "content-length" &&
      typeof method === "string" &&
      !ILL_FORMED.has(id.slice(0, 3)),
  );
}

interface Response {
  readonly type: string;
  readonly body: Buffer;
}

function responseOf({ response }: Recording): Response {
  const bytes = readFileSync(folder + response);
  const end = bytes.indexOf("\r\n\r\n");
  const head = bytes.subarray(0, end).toString("latin1");
  const type = /^content-type: *([^\r]*)/im.exec(head)?.[1] ?? "";
  return { type, body: bytes.subarray(end + 4) };
}

/** The request of a recording; undefined: not an RPC call. */
function requestOf(
  { method }: Recording,
  { type }: Response,
): FeedOptions | undefined {
  const encoding =
    type === "application/json"
      ? "json-rpc"
      : type === "text/xml"
        ? "xml-rpc"
        : undefined;
  if (encoding === undefined) return undefined;
  const [className = "", message] = method.split(".");
  if (method === "event.from")
    return { encoding, shape: "events", className: "" };
  if (message === "get_all_records")
    return { encoding, shape: "records", className };
  return { encoding, shape: "value", className: "" };
}

/** Decodes a JSON answer independently. */
function oracle(body: Buffer): { result?: unknown; error?: unknown } {
  return parseLenient(body.toString()) as { result?: unknown; error?: unknown };
}

const sorted = ({ records }: Fed) =>
  records
    .map(({ ref, record }) => [ref, record] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));

t.test(
  "every recorded JSON answer is decoded as by JSON.parse",
  { skip },
  async (t) => {
    const pool = createParserPool({ place: "main" });
    t.teardown(() => pool.close());
    let count = 0;
    for (const recording of recordings()) {
      const response = responseOf(recording);
      const request = requestOf(recording, response);
      if (request?.encoding !== "json-rpc") continue;
      count++;
      await agreesWithOracle(t, pool, { recording, response, request });
    }
    t.comment(`${count} answers`);
    t.ok(count > 300);
  },
);

async function agreesWithOracle(
  t: Test,
  pool: ParserPool,
  {
    recording,
    response,
    request,
  }: { recording: Recording; response: Response; request: FeedOptions },
): Promise<void> {
  const { result, error } = oracle(response.body);
  const fed = await feed(pool, response.body, { ...request, chunk: () => 333 });
  if (fed.answer.outcome === "failure") {
    const { message, data } = Array.isArray(error)
      ? { message: error[0] as unknown, data: error.slice(1) as unknown[] }
      : (error as { message: unknown; data: unknown[] });
    t.same(fed.answer.error, [message, ...data], recording.id);
  } else if (request.shape === "records") {
    const requested = Object.entries(result as object);
    t.same(
      fed.records.map(({ ref, record }) => [ref, record]),
      requested,
      recording.id,
    );
  } else if (request.shape === "events") {
    const { events, token, valid_ref_counts } = result as {
      events: { ref: string; operation: string; snapshot?: unknown }[];
      token: string;
      valid_ref_counts: object;
    };
    t.same(
      fed.records.map(({ ref, operation, record }) => ({
        ref,
        operation,
        record,
      })),
      events.map(({ ref, operation, snapshot }) => ({
        ref,
        operation,
        record: snapshot,
      })),
      recording.id,
    );
    t.equal(fed.answer.token, token);
    t.equal(
      fed.answer.validRefCounts?.size,
      Object.keys(valid_ref_counts).length,
    );
  } else t.same(fed.answer.value, result, recording.id);
}

for (const xml of ["reader", "xmlrpc", "expat"] satisfies XmlParser[]) {
  t.test(
    `recorded XML responses equal JSON ones, by ${xml}`,
    { skip },
    async (t) => {
      const pool = createParserPool({ place: "main", xml });
      t.teardown(() => pool.close());
      const json = await jsonAnswers(pool);
      let read = 0;
      let compared = 0;
      for (const recording of recordings()) {
        const response = responseOf(recording);
        const request = requestOf(recording, response);
        if (request?.encoding !== "xml-rpc") continue;
        const fed = await feed(pool, response.body, {
          ...request,
          // Current hosts answer plain XML-RPC at /json.
          encoding: recording.endpoint === "/json" ? "json-in-xml" : "xml-rpc",
          chunk: () => 777,
        });
        t.equal(fed.answer.encoding, "xml-rpc", recording.id);
        read++;
        for (const other of json.get(callOf(recording)) ?? []) {
          t.same(comparable(fed), comparable(other), recording.id);
          compared++;
        }
      }
      t.comment(`${read} answers read, ${compared} compared`);
      t.ok(compared >= 45);
    },
  );
}

/** The call that was recorded in several formats: `091-records-VM-xml` and `093-records-VM-json2` are of one. */
function callOf({ id }: Recording): string {
  return id
    .replace(/^\d+-/, "")
    .replace(/-(xml|xmlRPC2|xmljson|json1|json2)$/, "");
}

/** Listings and first answers of event.from, recorded in the same state of the database. */
async function jsonAnswers(
  pool: ParserPool,
): Promise<ReadonlyMap<string, readonly Fed[]>> {
  const answers = new Map<string, Fed[]>();
  for (const recording of recordings()) {
    const response = responseOf(recording);
    const request = requestOf(recording, response);
    const call = callOf(recording);
    const isState = request?.shape === "records" || /event-first/.test(call);
    if (request?.encoding !== "json-rpc" || !isState) continue;
    const fed = await feed(pool, response.body, request);
    if (fed.answer.outcome === "success")
      answers.set(call, [...(answers.get(call) ?? []), fed]);
  }
  return answers;
}

/** Records in a fixed order, without what XML-RPC loses and what changes with every call. */
function comparable(fed: Fed): unknown {
  return sorted(fed).map(withoutFloats);
}

/** XML-RPC has only 16 digits of a float, and XML parsers convert CR to LF. */
function withoutFloats(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, member: unknown) => {
      if (typeof member === "bigint") return String(member);
      if (typeof member === "string") return member.replaceAll("\r", "\n");
      return typeof member === "number" && !Number.isInteger(member)
        ? member.toPrecision(12)
        : member;
    }),
  );
}
