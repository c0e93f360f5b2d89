import { once } from "node:events";
import { connect } from "node:net";
import t, { type Test } from "tap";
import { Type } from "typebox";
import {
  defineOperation,
  type Operation,
} from "../src/operations/operation.js";
import { FakeClock } from "./fake-clock.js";
import { as, startRestServer, type RestServer } from "./rest-server.js";

const MIB = 2 ** 20;
/** More than the buffers of a loopback connection hold. */
const LARGE_BYTES = 24 * MIB;

/** An operation with a large result, and how often it was called. */
function createLarge(): { operation: Operation; begun: () => number } {
  let begun = 0;
  const operation = defineOperation({
    name: "thing.read",
    summary: "Returns a large text.",
    params: Type.Object({}),
    result: Type.Object({ text: Type.String() }),
    permission: "viewer",
    rest: { method: "get", path: "/large", operationId: "ReadLarge" },
    handler: () => {
      begun++;
      return { text: "x".repeat(LARGE_BYTES) };
    },
  });
  return { operation, begun: () => begun };
}

/** A client that requests the large text, and reads nothing before `read`. */
async function ask(t: Test, { host }: RestServer, user: string) {
  const [address, port] = host.split(":");
  const socket = connect(Number(port), address).pause();
  t.teardown(() => socket.destroy());
  await once(socket, "connect");
  socket.write(
    `GET /rest/v0/large HTTP/1.1\r\nhost: ${host}\r\ncookie: authenticationToken=${user}\r\nconnection: close\r\n\r\n`,
  );
  return {
    /** Reads to the end. @returns whether the response was complete */
    read: async (): Promise<boolean> => {
      let bytes = 0;
      socket.on("data", (part: Buffer) => (bytes += part.length));
      // The server may reset the connection.
      socket.on("error", () => undefined);
      socket.resume();
      if (!socket.closed) await once(socket, "close");
      return bytes > LARGE_BYTES;
    },
  };
}

t.test(
  "of responses that are not read, those of the user with the most bytes are closed beyond the limit",
  async (t) => {
    const clock = new FakeClock();
    const { operation, begun } = createLarge();
    const server = await startRestServer(t, {
      operations: [operation],
      users: { greedy: [], slow: [] },
      maxUnsentBytes: 60 * MIB,
      clock,
    });
    const clients = [];
    for (const user of ["slow", "greedy", "greedy", "greedy"]) {
      clients.push(await ask(t, server, user));
      // Another request is answered: so what the first one sends was written.
      while (begun() < clients.length) await server.get("/none", as("slow"));
    }
    clock.pass(1_000);
    const read = await Promise.all(clients.map((client) => client.read()));
    t.ok(read[0], "one response of another user is sent completely");
    t.same(read.slice(1).filter(Boolean), [true], "one of three is left");
    const closed = server.lines.filter((line) =>
      line.includes("responses are not being read"),
    );
    t.ok(closed.length > 0, "a warning is logged");
  },
);

t.test("responses within the limit stay open", async (t) => {
  const clock = new FakeClock();
  const { operation, begun } = createLarge();
  const server = await startRestServer(t, {
    operations: [operation],
    maxUnsentBytes: 60 * MIB,
    clock,
  });
  const clients = [
    await ask(t, server, "admin"),
    await ask(t, server, "admin"),
  ];
  while (begun() < 2) await server.get("/none", as("admin"));
  clock.pass(5_000);
  for (const client of clients) t.ok(await client.read());
});
