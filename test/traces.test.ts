import t from "tap";
import { ApiSession, PASSWORD } from "./api-session.js";
import { attributesOf, Collector } from "./collector.js";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";
import { StatusPage } from "./status-page.js";

t.comment("timeout=240000");

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CLIENT_SPAN = "b7ad6b7169203331";
interface Started {
  readonly taskId: string;
}

const sampled = `00-${TRACE}-${CLIENT_SPAN}-01`;

t.test(
  "a request is a trace from the operation to the XAPI task",
  async (t) => {
    const collector = await Collector.start(t);
    const [pool] = await simulate(t);
    const cwd = t.testdir({
      "config.yaml": [
        `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
        `telemetry: { url: "${collector.url}" }`,
      ].join("\n"),
    });
    const server = new RunningProgram(
      t,
      "xo-server",
      ["start", "--host", "127.0.0.1", "--port", "0"],
      { cwd, env: { XO_ADMIN_PASSWORD: PASSWORD } },
    );
    const url = await server.find(/Web server listening on (http:\S+)/);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    const api = await ApiSession.open(t, url);
    const token = (await api.request("token.create", {})) as string;
    const send = async (path: string, traceparent: string, method = "GET") => {
      const response = await fetch(`${url}/rest/v0/${path}`, {
        method,
        headers: { cookie: `authenticationToken=${token}`, traceparent },
      });
      t.ok(response.ok, `${path}: HTTP status ${response.status}`);
      const body = await response.text();
      return body === "" ? undefined : (JSON.parse(body) as unknown);
    };
    const vms = "vms?filter=power_state:Running&fields=id&limit=1";
    const [vm] = (await send(vms, "")) as [{ id: string }];
    const reboot = `vms/${vm.id}/actions/hard_reboot`;
    for (const traceparent of [sampled, sampled.replace(/01$/, "00")]) {
      const { taskId } = (await send(reboot, traceparent, "POST")) as Started;
      await send(`tasks/${taskId}?wait=true`, "");
    }
    const metrics = await (await fetch(`${url}/metrics`)).text();
    t.match(metrics, /^xo_trace_spans_dropped_total 0$/m);
    t.equal(await server.stop(), 0, "and sends at its end what is queued");

    const ours = collector.spans.filter(({ traceId }) => traceId === TRACE);
    const roots = ours.filter(
      ({ parentSpanId }) => parentSpanId === CLIENT_SPAN,
    );
    t.equal(roots.length, 1, "one of two: the other was not sampled");
    const root = roots[0]!;
    t.match(root, { name: "vm.restart", kind: 2, status: {} });
    t.match(attributesOf(root), {
      "rpc.method": "vm.restart",
      "xo.task.id": /\S/,
    });
    const calls = collector.childrenOf(root);
    const call = calls.find(({ name }) => name.startsWith("XAPI Async."))!;
    t.match(call, { name: "XAPI Async.VM.hard_reboot", kind: 3 });
    t.match(attributesOf(call)["xapi.task"], /^OpaqueRef:/);
    t.ok(BigInt(call.startTimeUnixNano) <= BigInt(call.endTimeUnixNano));

    const names = collector.spans.map(({ name }) => name);
    t.ok(names.includes("token.create"), "calls of the WebSocket too");
    t.notOk(collector.received.includes(token), "no secrets");
    t.notOk(collector.received.includes(PASSWORD));
  },
);
