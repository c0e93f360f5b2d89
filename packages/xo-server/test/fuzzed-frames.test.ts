import t from "tap";
import { startTestServer, type TestClient } from "./test-server.js";

const SEED = 20_261_121;

/** Numbers that look random and are the same in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // The lower bits of these repeat soon.
    return (state >>> 8) % below;
  };
}

const random = seeded(SEED);
const oneOf = <T>(choices: readonly T[]): T => choices[random(choices.length)]!;

const methods = [
  "xo.getAllObjects",
  "session.signIn",
  "session.getUser",
  "token.create",
  "vm.start",
  "tag.add",
  "query.open",
  "query.page",
  "status.subscribe",
  "all.subscribe",
  "system.getMethodsInfo",
  "__proto__",
  "",
];

function randomValue(depth = 0): unknown {
  const scalars = [null, true, 0, -1, 1e308, "", "é", "\u0000", "__proto__"];
  if (depth > 3 || random(2) === 0) return oneOf(scalars);
  if (random(2) === 0)
    return Array.from({ length: random(4) }, () => randomValue(depth + 1));
  const keys = ["id", "filter", "type", "limit", "params", "__proto__", "$or"];
  return JSON.parse(
    `{${[oneOf(keys), "email", "fields"]
      .map((key) => `${JSON.stringify(key)}:${text(randomValue(depth + 1))}`)
      .join(",")}}`,
  );
}

const text = (value: unknown) => JSON.stringify(value) ?? "null";

function randomMessage(): string {
  const message = {
    jsonrpc: oneOf<unknown>(["2.0", "2.0", "2.0", "1.0", 2, undefined]),
    id: oneOf<unknown>([0, 1, "x", null, undefined, {}, [], 1.5]),
    method: oneOf<unknown>([...methods, 1, null, {}]),
    params: randomValue(),
  };
  return random(5) === 0 ? text([message, randomValue()]) : text(message);
}

/** A damaged message. */
function randomFrame(): Buffer {
  const bytes = Buffer.from(randomMessage());
  if (random(3) === 0)
    for (let i = 0; i <= random(4); i++)
      bytes[random(bytes.length)] = random(128);
  const part =
    random(5) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
  // A damaged character would end the connection, and all frames after it.
  return Buffer.from(part.toString());
}

const stillAnswers = async (client: TestClient) =>
  (await client.call("system.getServerVersion")).result;

t.test("no message breaks the server or the connection", async (t) => {
  t.comment(`seed ${SEED}`);
  const { connect, lines } = await startTestServer(
    t,
    "http: { maxMessagesPerSecond: 100000 }",
  );
  for (const signedIn of [false, true]) {
    const client = await connect();
    if (signedIn) await client.signIn();
    for (let i = 0; i < 500; i++)
      client.socket.send(randomFrame(), { binary: false });
    client.socket.send(
      '{"jsonrpc":"2.0","id":999,"method":"system.getVersion"}',
    );
    // Answered after the messages before it were read.
    await client.find(({ id }) => id === 999);
    t.type(await stillAnswers(await connect()), "string");
    for (const { error } of client.messages)
      t.not(error?.code, -32603, "nothing is unexpected");
  }
  t.notMatch(lines.join(""), /failed|TypeError/);
});

t.test("deep nesting is answered, not crashed upon", async (t) => {
  const { connect } = await startTestServer(t);
  const client = await connect();
  for (const depth of [1_000, 100_000]) {
    const deep = "[".repeat(depth) + "]".repeat(depth);
    client.socket.send(deep);
    client.socket.send(
      `{"jsonrpc":"2.0","id":"d","method":"xo.getAllObjects","params":{"filter":${deep}}}`,
    );
  }
  t.type(await stillAnswers(client), "string");
});

t.test("text that is not UTF-8 closes the connection only", async (t) => {
  const { connect } = await startTestServer(t);
  const client = await connect();
  client.socket.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false });
  t.equal(await client.closed, 1007);
  t.type(await stillAnswers(await connect()), "string");
});
