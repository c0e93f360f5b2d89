import t from "tap";
import { RunningProgram } from "./running-program.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const PASSWORD = "correct horse battery";

interface Vm {
  readonly id: string;
  readonly power_state: string;
}

t.test("a VM is found, started and followed over REST", LIMIT, async (t) => {
  const server = new RunningProgram(
    t,
    "xo-server",
    ["start", "--demo", "C", "--host", "127.0.0.1", "--port", "0"],
    { env: { XO_ADMIN_PASSWORD: PASSWORD } },
  );
  const url = await server.find(/Web server listening on (http:\S+)/);
  const page = await StatusPage.open(t, url);
  await page.until(({ pools }) => pools["c"]?.state === "watching");
  const request = (path: string, init?: RequestInit) =>
    fetch(`${url}/rest/v0${path}`, init);
  const read = async (path: string) =>
    (await (await request(path)).json()) as Vm[];

  const all = await read("/vms?fields=*");
  const hrefs = await (await request("/vms?ndjson=true")).text();
  t.equal(hrefs.trimEnd().split("\n").length, all.length);
  const halted = await read("/vms?filter=power_state:halted&fields=id");
  t.equal(
    halted.length,
    all.filter(({ power_state }) => power_state === "Halted").length,
  );
  const { id } = halted[0]!;

  const login = await fetch(`${url}/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: PASSWORD }),
  });
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
  const headers = { cookie, "content-type": "application/json" };
  const abort = new AbortController();
  t.teardown(() => {
    abort.abort();
  });
  const events = await request("/events", { headers, signal: abort.signal });
  const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
  let received = "";
  const until = async (text: RegExp) => {
    for (let found; ; received += (await reader.read()).value ?? "")
      if ((found = text.exec(received)) !== null) return found;
  };
  const [, stream] = await until(/"id":"([^"]+)"/);
  const subscription = { collection: "VM", fields: ["id", "power_state"] };
  const subscribed = await request(`/events/${stream}/subscriptions`, {
    method: "POST",
    headers,
    body: JSON.stringify(subscription),
  });
  t.equal(subscribed.status, 201);

  const started = await request(`/vms/${id}/actions/start`, {
    method: "POST",
    headers,
  });
  t.equal(started.status, 202);
  const { taskId } = (await started.json()) as { taskId: string };
  const task = await request(`/tasks/${taskId}?wait=true`, { headers });
  t.match(await task.json(), { status: "success" });
  await until(new RegExp(`"id":"${id}","power_state":"Running"`));
  t.match(await (await request(`/vms/${id}`)).json(), {
    power_state: "Running",
  });

  const refused = await request(`/vms/${id}/actions/start`, { method: "POST" });
  t.equal(refused.status, 401, "the demo's guests only look");
  t.equal(await server.stop("SIGTERM"), 0);
});
