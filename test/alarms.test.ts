import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { signIn } from "./signed-in.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");

interface Notification {
  readonly event: string;
  readonly total: number;
  readonly rule: { readonly name: string };
  readonly alarms: readonly {
    readonly objectId: string;
    readonly value?: number;
  }[];
}

t.test(
  "measurements of hosts and changes of VMs raise alarms",
  LIMIT,
  async (t) => {
    const notifications: Notification[] = [];
    const waiting = new Set<() => void>();
    const sink = createServer((request, answer) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        notifications.push(JSON.parse(text) as Notification);
        answer.writeHead(204).end();
        for (const wake of waiting) wake();
      });
    });
    await new Promise<void>((resolve) => sink.listen(0, "127.0.0.1", resolve));
    t.teardown(() => sink.close());
    const { port } = sink.address() as AddressInfo;
    const find = async (name: string, event: string): Promise<Notification> => {
      for (;;) {
        const found = notifications.find(
          (one) => one.rule.name === name && one.event === event,
        );
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
    };

    const size = ["--hosts", "2", "--vms", "6", "--members", "1"];
    const { request, read, act } = await signIn(t, ...size);
    const targets = [{ kind: "web-hook", url: `http://127.0.0.1:${port}/` }];
    const create = async (name: string, on: object) => {
      const body = JSON.stringify({ name, on, targets, forSeconds: 0 });
      const created = await request("/alarm-rules", { method: "POST", body });
      t.equal(created.status, 201, await created.text());
    };
    await create("memory", {
      kind: "statistic",
      type: "VM",
      filter: "power_state:Running",
      metric: "now.memory",
      comparison: ">",
      threshold: 1024,
    });
    const memory = await find("memory", "raised");
    t.ok(memory.alarms.every(({ value }) => value! > 1024));
    // A host that has been measured: hosts are polled one after the other.
    const vm = { id: memory.alarms[0]!.objectId };
    const filter = `id:/^${vm.id}$/ power_state:Halted`;
    await create("halted", { kind: "object", type: "VM", filter });
    const ended = await act(`/vms/${vm.id}/actions/hard_shutdown`);
    t.equal(ended.status, "success");
    const halted = await find("halted", "raised");
    t.match(halted, { total: 1, alarms: [{ objectId: vm.id }] });
    const open = (await read("/raised-alarms?fields=*&open=true")) as {
      ruleName: string;
      objectId: string;
    }[];
    t.ok(open.some(({ ruleName }) => ruleName === "halted"));
    t.match(await find("memory", "ended"), { alarms: [{ objectId: vm.id }] });
    await act(`/vms/${vm.id}/actions/start`);
    t.match(await find("halted", "ended"), { total: 1 });
    t.same(await read("/alarms"), [], "those of pools are another collection");
  },
);
