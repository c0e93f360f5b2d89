import { XoError } from "@xo-server/model";
import t from "tap";
import { Type } from "typebox";
import { defineOperation } from "../src/operations/operation.js";
import { FakeClient } from "./fake-client.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const context = {
  permission: "guest",
  client: new FakeClient(),
  address: "192.0.2.7",
} as const;

/** A server that has not begun to connect its pools; `connect` begins. */
function setUp() {
  let isConnected = false;
  const calls: string[] = [];
  let connect: () => void = () => undefined;
  const connecting = new Promise<void>((resolve) => {
    connect = () => {
      isConnected = true;
      resolve();
    };
  });
  const declare = (
    name: string,
    options: { readonly changes: boolean; readonly needsPool: boolean },
  ) =>
    defineOperation({
      name,
      summary: "Does it.",
      params: Type.Object({ id: Type.String() }),
      result: Type.Boolean(),
      permission: "guest",
      changes: options.changes,
      handler: () => {
        calls.push(name);
        if (options.needsPool && !isConnected)
          throw new XoError("NOT_CONNECTED", { pool: "p" });
        return true;
      },
    });
  const dispatcher = createTestDispatcher(
    [
      declare("vm.show", { changes: false, needsPool: false }),
      declare("vm.ask", { changes: false, needsPool: true }),
      declare("vm.change", { changes: true, needsPool: true }),
    ],
    {
      untilConnecting: () => (isConnected ? undefined : connecting),
    },
  );
  const call = (name: string) => dispatcher.call(name, { id: "p-1" }, context);
  return { call, calls, connect };
}

t.test(
  "a read of the mirror does not wait for pools that are not connected yet",
  async (t) => {
    const { call, calls } = setUp();
    t.equal(await call("vm.show"), true);
    t.same(calls, ["vm.show"]);
  },
);

t.test(
  "a read that needs its pool is repeated when the pool is connected",
  async (t) => {
    const { call, calls, connect } = setUp();
    const answer = call("vm.ask");
    connect();
    t.equal(await answer, true);
    t.same(calls, ["vm.ask", "vm.ask"]);
  },
);

t.test("a change waits for its pool and is carried out once", async (t) => {
  const { call, calls, connect } = setUp();
  const answer = call("vm.change");
  await new Promise((resolve) => setImmediate(resolve));
  t.same(calls, []);
  connect();
  t.equal(await answer, true);
  t.same(calls, ["vm.change"]);
});
