import { once } from "node:events";
import { WebSocket } from "ws";
import { ADMIN_PASSWORD, startFuzzedServer } from "../fuzzed-server.js";

const { port, defects } = await startFuzzedServer();

/** Nouns whose operations neither connect to other machines nor write files. */
const NOUNS = new Set([
  "acl",
  "activity",
  "alarm",
  "alarmRule",
  "audit",
  "balancer",
  "bulk",
  "cloudConfig",
  "customField",
  "folder",
  "group",
  "ipPool",
  "job",
  "jobRun",
  "object",
  "operation",
  "placement",
  "placementRule",
  "privilege",
  "query",
  "resourceSet",
  "role",
  "schedule",
  "system",
  "tag",
  "task",
  "token",
  "vm",
  "vdi",
  "network",
  "host",
  "xo",
]);
/** These read or write files or replace the configuration. */
const SKIPPED = new Set(["xo.importConfig", "xo.exportConfig"]);

interface Answer {
  readonly id?: number;
  readonly error?: { readonly code: number; readonly message: string };
}

let client = await open();
let lastId = 0;

async function open(): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/`);
  // The close of the connection is handled.
  socket.on("error", () => undefined);
  await once(socket, "open");
  const params = { email: "admin", password: ADMIN_PASSWORD };
  socket.send(
    JSON.stringify({
      jsonrpc: "2.0",
      id: -1,
      method: "session.signIn",
      params,
    }),
  );
  await once(socket, "message");
  return socket;
}

/** @param params JSON */
function call(method: string, params: string): Promise<Answer | undefined> {
  const socket = client;
  const id = ++lastId;
  return new Promise((resolve) => {
    const end = (answer?: Answer) => {
      socket.off("message", onMessage).off("close", onClose);
      resolve(answer);
    };
    const onClose = () => end();
    const onMessage = (data: Buffer) => {
      const answer = JSON.parse(data.toString()) as Answer;
      if (answer.id === id) end(answer);
    };
    socket.on("message", onMessage).on("close", onClose);
    const name = JSON.stringify(method);
    socket.send(
      `{"jsonrpc":"2.0","id":${id},"method":${name},"params":${params}}`,
    );
  });
}

const filter =
  'name_label:/a.b/ (tags:x|!power_state:Running) memory:>1GiB "y"';
export const seeds = [
  [
    "query.page",
    { type: "VM", filter, sort: [{ by: "name_label" }], limit: 3 },
  ],
  ["query.count", { type: "VM", search: "a b", details: true }],
  ["query.open", { name: "q", type: "host", offset: 0, limit: 2 }],
  ["query.columns", { type: "VM", paths: ["name_label", "memory.size"] }],
  ["query.group", { type: "VM", by: "power_state" }],
  ["xo.getAllObjects", { filter: { type: "VM", x: [1] }, limit: 2 }],
  ["role.create", { name: "r", description: "d" }],
  ["group.create", { name: "g" }],
  ["tag.set", { id: "t", color: "#ff0000" }],
  [
    "schedule.create",
    { jobId: "j", cron: "*/5 1-3 * * 1,2", timezone: "Europe/Berlin" },
  ],
  ["job.create", { job: { type: "call", name: "n", key: "k" } }],
  [
    "alarmRule.create",
    { name: "a", on: { kind: "host", filter: "a:b" }, severity: "info" },
  ],
  [
    "resourceSet.create",
    { name: "s", subjects: [], objects: [], limits: { cpus: 1 } },
  ],
  [
    "ipPool.create",
    { name: "p", addresses: ["10.0.0.1-10.0.0.9", "2001:db8::/120"] },
  ],
  ["cloudConfig.create", { name: "c", template: "{name} {index:02}" }],
  ["audit.getRecords", { filter: "subject:userName:ada", limit: 2 }],
  ["placement.whatIf", { changes: [], cpu: "1", memory: "2" }],
  ["placementRule.create", { name: "r", kind: "together", filter: "a" }],
  [
    "bulk.run",
    { method: "vm.start", filter: "power_state:Halted", params: {} },
  ],
  ["folder.set", { id: "x", folder: "a/b" }],
  ["customField.add", { id: "x", name: "n", value: "v" }],
  [
    "vm.createMultiple",
    { template: "t", name_label: "w-{index:02}", count: 3 },
  ],
  ["task.list", { text: "a", limit: 1 }],
  ["token.create", { expiresIn: "1 hour" }],
].map((one) => JSON.stringify(one));

/** JSON, and nothing after it that would change the message. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** `["noun.verb",` and JSON of the parameters; other texts are not sent, `requests` has them. */
export async function run(input: Buffer): Promise<void> {
  const [whole, method = "", params = ""] =
    /^\["([\w.]{1,64})",(.*)\]$/s.exec(input.toString()) ?? [];
  if (whole === undefined || SKIPPED.has(method)) return;
  if (!NOUNS.has(method.split(".")[0]!) || !isJson(params)) return;
  if (client.readyState !== WebSocket.OPEN) client = await open();
  const answer = await call(method, params);
  if (/internal error/i.test(answer?.error?.message ?? ""))
    throw new Error(`internal error of ${method}`);
  if (defects.length > 0)
    throw new Error(`logged as an error: ${defects.splice(0).join("")}`);
}
