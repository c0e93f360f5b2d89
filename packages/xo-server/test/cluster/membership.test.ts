import type { ClusterServer } from "@xo-server/store";
import t from "tap";
import { Membership } from "../../src/cluster/membership.js";
import { FakeClock } from "../fake-clock.js";

const SILENT_MS = 5_000;

function serverOf(
  name: string,
  state: Partial<ClusterServer> = {},
): ClusterServer {
  return {
    name,
    instance: `1 ${name}`,
    origin: name,
    url: "",
    version: "1.0.0",
    startedAt: 0,
    seenAt: 0,
    silentMs: 0,
    address: undefined,
    fingerprint: undefined,
    leavingAt: undefined,
    ...state,
  };
}

t.test(
  "the log names servers that start, stop, leave or are lost",
  async (t) => {
    let servers = [serverOf("ada"), serverOf("bob")];
    const lines: string[] = [];
    const log = (level: string) => (line: string) => {
      lines.push(`${level}: ${line}`);
    };
    const membership = new Membership({
      store: {
        join: async () => undefined,
        heartbeat: async () => true,
        leave: async () => true,
        delete: async () => undefined,
        list: async () => servers,
      },
      self: servers[0]!,
      isShared: true,
      silentMs: SILENT_MS,
      isRunning: () => false,
      clock: new FakeClock(),
      logger: { info: log("info"), warn: log("warn"), error: log("error") },
    });
    const linesOf = async (...others: readonly ClusterServer[]) => {
      servers = [serverOf("ada"), ...others];
      await membership.refresh();
      return lines.splice(0);
    };
    await membership.join();
    t.same(lines.splice(0), ["info: server bob is running"]);
    const bob = serverOf("bob");
    t.same(await linesOf(bob), []);
    t.same(await linesOf({ ...bob, silentMs: 7_200 }), [
      "warn: server bob is lost: no heartbeat for 7 s",
    ]);
    t.same(await linesOf({ ...bob, silentMs: 8_200 }), [], "once");
    t.same(await linesOf(bob, serverOf("cleo")), [
      "info: server bob is running",
      "info: server cleo is running",
    ]);
    t.same(await linesOf({ ...bob, leavingAt: 1 }), [
      "info: server bob is handing over its leases",
      "info: server cleo has stopped",
    ]);
    t.same(await linesOf(), []);
    await membership.stop();
  },
);
