import { EventEmitter } from "node:events";
import { XoError } from "@xo-server/model";
import t from "tap";
import type { WebSocket } from "ws";
import type { OpenedConsole } from "../src/consoles/consoles.js";
import { createFakeAudit } from "./fake-audit.js";
import { FakeConsoles, failing, limits, personWith } from "./fake-consoles.js";

const operator = personWith("op", "read", "operate");
const never = new AbortController().signal;
const ofVm = { id: "vm", kind: "rfb", context: operator } as const;

/** As much of a WebSocket as a console needs. */
class FakeSocket extends EventEmitter {
  readonly bufferedAmount = 0;
  readonly closes: [number, string][] = [];
  close(code: number, reason: string): void {
    this.closes.push([code, reason]);
    this.emit("close", code);
  }
  resume(): void {
    // It was not paused.
  }
  terminate(): void {
    this.emit("close", 1006);
  }
}

function attach(opened: OpenedConsole): FakeSocket {
  const socket = new FakeSocket();
  opened.attach(socket as unknown as WebSocket);
  return socket;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

t.test("it connects to the host of the console", async (t) => {
  const fake = new FakeConsoles();
  await fake.consoles.open(ofVm, never);
  t.same(fake.asked, [{ host: "192.0.2.2", ref: "c2" }]);
  t.same(fake.entries, ["console.open"]);
});

t.test(
  "only addresses of a pool's own hosts are accepted from it",
  async (t) => {
    for (const host of [
      "198.51.100.7",
      "192.0.2.2:9000",
      "localhost",
      "[::1]",
    ]) {
      const fake = new FakeConsoles();
      const { console } = fake.records;
      console!["c2"]!["location"] = `https://${host}/console?ref=c2`;
      await t.rejects(fake.consoles.open(ofVm, never), { code: "BAD_ANSWER" });
      t.same(fake.asked, [], host);
    }
  },
);

t.test("without an address in it, it is that of the VM's host", async (t) => {
  const fake = new FakeConsoles();
  fake.records["console"]!["c2"]!["location"] = "https:///console?ref=c2";
  await fake.consoles.open(ofVm, never);
  t.same(fake.asked, [{ host: "192.0.2.2", ref: "c2" }]);
});

t.test(
  "a VM that was just migrated is looked up again a few times",
  async (t) => {
    const fake = new FakeConsoles();
    fake.records["VM"]!["vm"]!["resident_on"] = "h1";
    fake.answer = ({ host }) =>
      host === "192.0.2.1" && fake.asked.length > 2
        ? undefined
        : failing("HTTP_STATUS", 500);
    const opening = fake.consoles.open(ofVm, never);
    await settled();
    fake.clock.pass(500);
    await opening;
    t.same(
      fake.asked.map(({ host }) => host),
      ["192.0.2.2", "192.0.2.1", "192.0.2.2", "192.0.2.1"],
    );

    const gone = new FakeConsoles();
    gone.answer = () => failing("HTTP_STATUS", 500);
    const refused = t.rejects(gone.consoles.open(ofVm, never), {
      code: "HTTP_STATUS",
    });
    for (const ms of [500, 1_000, 2_000]) {
      await settled();
      gone.clock.pass(ms);
    }
    await refused;
    t.equal(gone.asked.length, 4);
    t.same(gone.entries, ["console.open HTTP_STATUS"]);
  },
);

t.test(
  "errors that a retry would not change are reported immediately",
  async (t) => {
    const fake = new FakeConsoles();
    fake.answer = () => failing("HTTP_STATUS", 503);
    await t.rejects(fake.consoles.open(ofVm, never), { code: "HTTP_STATUS" });
    t.equal(fake.asked.length, 1);
  },
);

t.test("a host that does not answer is abandoned", async (t) => {
  const fake = new FakeConsoles();
  let isAborted = false;
  fake.answer = () =>
    new Promise((_, reject) => {
      fake.clock.setTimeout(() => {
        isAborted = true;
        reject(new XoError("ABORTED", { what: "it" }));
      }, limits.connectTimeoutMs);
    });
  const refused = t.rejects(fake.consoles.open(ofVm, never), {
    code: "CONNECTION_TIMEOUT",
  });
  await settled();
  fake.clock.pass(limits.connectTimeoutMs);
  await refused;
  t.ok(isAborted);
  t.equal(fake.clock.waiting, 0);
});

t.test(
  "a control domain is its host, and needs more than to operate",
  async (t) => {
    const fake = new FakeConsoles();
    const ofHost = { id: "h1", kind: "vt100" } as const;
    await t.rejects(
      fake.consoles.open({ ...ofHost, context: operator }, never),
      {
        code: "FORBIDDEN",
        data: { missingPrivileges: [{ action: "administrate:console" }] },
      },
    );
    const context = personWith("root", "read", "administrate");
    await fake.consoles.open({ ...ofHost, context }, never);
    t.same(fake.asked, [{ host: "192.0.2.1", ref: "c0" }]);
  },
);

t.test(
  "refused calls of users are audited; those of anonymous clients are not",
  async (t) => {
    const fake = new FakeConsoles();
    const cases = [
      [personWith("viewer", "read"), "vm", "FORBIDDEN"],
      [personWith("blind"), "vm", "NO_SUCH_OBJECT"],
      [operator, "off", "VM_BAD_POWER_STATE"],
      [operator, "nothing", "NO_SUCH_OBJECT"],
    ] as const;
    for (const [context, id, code] of cases) {
      const request = { id, kind: "rfb", context } as const;
      await t.rejects(fake.consoles.open(request, never), { code });
      t.equal(fake.entries.at(-1), `console.open ${code}`);
    }
    const nobody = { ...operator, user: undefined };
    await t.rejects(fake.consoles.open({ ...ofVm, context: nobody }, never), {
      code: "UNAUTHORIZED",
    });
    t.equal(fake.audited.length, cases.length);
    t.equal(fake.consoles.figures.refused, cases.length + 1);
    t.same(fake.asked, []);
  },
);

t.test("limits: per object, per user, in all", async (t) => {
  const fake = new FakeConsoles();
  const open = (name: string, id = "vm") =>
    fake.consoles.open(
      { id, kind: "vt100", context: personWith(name, "*") },
      never,
    );
  const full = { code: "TOO_MANY_REQUESTS" };
  const [first] = [await open("a"), await open("a")];
  await t.rejects(open("b"), full, "of the VM");
  await open("a", "h1");
  await t.rejects(open("a", "h1"), full, "of the user");
  first.drop();
  await open("c");
  await open("d", "h1");
  t.same(fake.hits, ["consoles_of_object", "consoles_of_user"]);
  const small = new FakeConsoles({ config: { ...limits, maxSessions: 1 } });
  await small.consoles.open(ofVm, never);
  await t.rejects(small.consoles.open(ofVm, never), full, "in all");
  t.same(small.hits, ["consoles"]);
});

t.test("a session that could not be opened uses no slot", async (t) => {
  const fake = new FakeConsoles({ config: { ...limits, maxSessions: 1 } });
  fake.answer = () => failing("HTTP_STATUS", 503);
  await t.rejects(fake.consoles.open(ofVm, never), { code: "HTTP_STATUS" });
  fake.answer = () => undefined;
  await fake.consoles.open(ofVm, never);
  t.equal(fake.asked.length, 2);
});

t.test(
  "a console ends if its client disconnects while it is opened",
  async (t) => {
    const fake = new FakeConsoles();
    const gone = new AbortController();
    const opened = await fake.consoles.open(ofVm, gone.signal);
    opened.drop();
    await settled();
    t.ok(fake.streams[0]!.destroyed);
    t.same(fake.entries, ["console.open", "console.close"]);
    t.match(fake.audited[1], {
      params: { reason: "the client has disconnected", bytesToClient: 0 },
    });
  },
);

t.test("it ends with the session, at the next check", async (t) => {
  const fake = new FakeConsoles();
  const context = personWith("leaver", "read", "operate");
  const socket = attach(await fake.consoles.open({ ...ofVm, context }, never));
  context.session.isOver = true;
  fake.clock.pass(limits.pingMs);
  t.same(socket.closes, [[1008, "session expired"]]);
  await settled();
  t.same(fake.entries, ["console.open", "console.close"]);
  t.match(fake.audited[1], { params: { reason: "session expired" } });
});

t.test(
  "it ends when the VM does not run, though its host does not answer",
  async (t) => {
    const fake = new FakeConsoles();
    const socket = attach(await fake.consoles.open(ofVm, never));
    fake.records["VM"]!["vm"]!["power_state"] = "Halted";
    fake.clock.pass(limits.pingMs);
    t.match(socket.closes, [[1008, /halted/]]);
  },
);

t.test("it ends with its pool", async (t) => {
  const fake = new FakeConsoles();
  const socket = attach(await fake.consoles.open(ofVm, never));
  fake.setState("backing-off");
  t.same(socket.closes, [], "the host may still be there");
  fake.setState("stopped");
  t.match(socket.closes, [[1008, /disconnected/]]);
});

t.test("a stop ends all runs, and waits until that is recorded", async (t) => {
  const written: string[] = [];
  const fake = new FakeConsoles({
    audit: createFakeAudit({
      check: () => undefined,
      write: async ({ operation }) => {
        await settled();
        await settled();
        written.push(operation.name);
      },
    }),
  });
  const sockets = [
    attach(await fake.consoles.open(ofVm, never)),
    attach(await fake.consoles.open(ofVm, never)),
  ];
  t.equal(fake.consoles.figures.open, 2);
  await fake.consoles.stop();
  for (const { closes } of sockets)
    t.same(closes, [[1001, "the server is stopping"]]);
  t.equal(written.filter((name) => name === "console.close").length, 2);
  t.equal(fake.consoles.figures.open, 0);
  t.equal(fake.clock.waiting, 0);
});

t.test("nothing starts that cannot be recorded", async (t) => {
  const fake = new FakeConsoles({
    audit: createFakeAudit({
      check: () => {
        throw new XoError("STORE_UNAVAILABLE", { reason: "away" });
      },
      write: async () => undefined,
    }),
  });
  await t.rejects(fake.consoles.open(ofVm, never), {
    code: "STORE_UNAVAILABLE",
  });
  t.same(fake.asked, []);
});

t.test("it reports which pools could be opened", async (t) => {
  const { consoles } = new FakeConsoles();
  t.same(consoles.describe("vm", operator), {
    id: "vm",
    type: "VM",
    name_label: "the vm",
    kinds: ["rfb", "vt100"],
  });
});
