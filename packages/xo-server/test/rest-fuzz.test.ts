import { request } from "node:http";
import t from "tap";
import { FakeObjects } from "./fake-objects.js";
import { startRestServer } from "./rest-server.js";

const SEED = Number(process.env["SEED"] ?? 20261121);
const ROUNDS = 600;

/** Values that go wrong in programs. */
const ODD = [
  "",
  "true",
  "false",
  "1",
  "0",
  "-1",
  "1e9",
  "1e999",
  "NaN",
  "*",
  "%00",
  "%",
  "%ff",
  "%F0%9F%90%A7",
  "a,b",
  "__proto__",
  "constructor",
  "../../etc",
  "(",
  "!",
  "|(",
  "name_label:",
  "name_label:/(a+)+$/",
  "a:>1",
  ">1",
  "/[/",
  "'%22",
  "x".repeat(3000),
  ",".repeat(500),
  "(".repeat(500),
];
const NAMES = [
  "fields",
  "filter",
  "limit",
  "ndjson",
  "markdown",
  "otp",
  "__proto__",
  "x",
];
const PATHS = [
  "/vms",
  "/alarms",
  "/messages",
  "/vms/v",
  "/vms/v/vdis",
  "/vms/v/alarms",
  "/hosts/",
  "/ping",
  "/docs",
  "/things",
];

function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** As it is, without what fetch would put right. */
function call(host: string, path: string) {
  return new Promise<{ status: number; type: string; text: string }>(
    (resolve, reject) => {
      const [hostname, port] = host.split(":");
      request({ hostname, port, path: `/rest/v0${path}` }, (answer) => {
        let text = "";
        answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
        answer.on("error", reject);
        answer.on("end", () => {
          const type = answer.headers["content-type"] ?? "";
          resolve({ status: answer.statusCode!, type, text });
        });
      })
        .on("error", reject)
        .end();
    },
  );
}

t.test(
  "no query gets more out of it than an answer or a known error",
  async (t) => {
    t.comment(`SEED=${SEED}`);
    const random = createRandom(SEED);
    const pick = (from: readonly string[]) => from[random(from.length)]!;
    const objects = new FakeObjects([
      { id: "v", type: "VM", name_label: "aaaa", $VBDs: ["b"] },
      { id: "b", type: "VBD", VDI: "d" },
      { id: "d", type: "VDI" },
      {
        id: "m",
        type: "message",
        name: "ALARM",
        $object: "v",
        body: "value: 1",
      },
    ]);
    const { host, lines } = await startRestServer(t, { objects });
    for (let round = 0; round < ROUNDS; round++) {
      const query = Array.from(
        { length: random(4) },
        () => `${pick(NAMES)}=${pick(ODD)}`,
      ).join("&");
      const path = `${pick(PATHS)}?${query}`;
      const { status, type, text } = await call(host, path);
      const isKnown = [200, 400, 404, 422].includes(status);
      if (!isKnown) t.fail(`${status} ${path}: ${text}`);
      if (status === 200 && type.startsWith("application/json"))
        JSON.parse(text);
      if (status !== 200 && !("error" in (JSON.parse(text) as object)))
        t.fail(`${status} ${path}: ${text}`);
      if (/at .*\.[jt]s:\d/.test(text)) t.fail(`a stack: ${path}`);
    }
    t.same(
      lines.filter((line) => line.includes("failed")),
      [],
    );
  },
);
