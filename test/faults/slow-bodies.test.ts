import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { startStorageBench, type StorageBench } from "../storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

const MiB = 2 ** 20;

interface Slow {
  readonly method: string;
  /** Of the URL, from the root of the server. */
  readonly path: string;
  readonly body: Buffer;
  /** Bytes at the beginning that are sent one at a time; default: all. */
  readonly slowBytes?: number;
  /** Bytes after which the client closes the connection; default: never. */
  readonly cutAt?: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends the body byte by byte, each in a TCP segment of its own.
 * @returns status and body of the response; status 0: the connection was closed without one
 */
async function sendSlowly(
  { port, hostname }: URL,
  { method, path, body, headers, slowBytes, cutAt }: Slow,
): Promise<{ readonly status: number; readonly text: string }> {
  const socket = connect({ host: hostname, port: Number(port) });
  socket.setNoDelay(true);
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => {
      resolve();
    });
  });
  let received = "";
  socket.on("error", () => undefined);
  socket.on("data", (bytes: Buffer) => (received += bytes.toString("latin1")));
  const all = { host: "x", connection: "close", ...headers };
  const lines = Object.entries({ ...all, "content-length": body.length });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n`);
  // The server reads the head on its own.
  await pause(5);
  const end = Math.min(slowBytes ?? body.length, cutAt ?? body.length);
  for (let at = 0; at < end && !socket.destroyed; at++) {
    socket.write(body.subarray(at, at + 1));
    await pause(1);
  }
  if (cutAt === undefined) socket.write(body.subarray(end));
  else socket.destroy();
  await closed;
  const [, status = "0"] = /^HTTP\/1\.1 (\d+)/.exec(received) ?? [];
  return { status: Number(status), text: received };
}

async function setUp(t: Test) {
  const bench = await startStorageBench(t);
  const url = new URL(bench.url);
  const { cookie } = bench.admin;
  return {
    ...bench,
    slowly: (request: Omit<Slow, "headers">, type: string) =>
      sendSlowly(url, {
        ...request,
        headers: { cookie, "content-type": type },
      }),
    /** Fails the test if the event loop of the server does not turn. */
    checkAlive: async (after: string) => {
      const signal = AbortSignal.timeout(30_000);
      const { status } = await bench.admin.fetch("/ping", { signal });
      t.equal(status, 200, `the server answers after ${after}`);
    },
  };
}

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly requestBody?: { readonly content: object } }>
      >
    >
  >;
}

/** Routes with a body, by its content type. */
async function routesOf({ admin }: Pick<StorageBench, "admin">) {
  const answer = await admin.fetch("/docs/swagger.json");
  const { paths } = (await answer.json()) as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== "get")
      .map(([method, { requestBody }]) => ({
        method: method.toUpperCase(),
        path,
        type: Object.keys(requestBody?.content ?? {})[0] ?? "",
      })),
  );
}

t.test("bodies of all routes that arrive byte by byte", LIMIT, async (t) => {
  const bench = await setUp(t);
  const { admin, list, slowly, checkAlive, url } = bench;
  const routes = await routesOf(bench);
  const octets = "application/octet-stream";
  const [sr] = await list("srs", "SR_type:nfs");
  const [pool] = await list("pools");
  const raw = Buffer.alloc(MiB, 7);
  const created = await admin.fetch(
    `/srs/${sr!.id}/vdis?raw&name_label=first`,
    {
      method: "POST",
      body: raw,
    },
  );
  const { id } = (await created.json()) as { id: string };
  const read = async (path: string) =>
    Buffer.from(await (await admin.fetch(path)).arrayBuffer());
  const vhd = await read(`/vdis/${id}.vhd`);
  const [vm] = await list("vms", "power_state:Halted");
  const xva = await read(`/vms/${vm!.id}.xva?compress=gzip`);

  /** Uploads by the route of the API; each is sent whole, cut, and as a file of another kind. */
  const uploads: [route: string, path: string, body: Buffer][] = [
    ["POST /pools/{id}/vms", `/pools/${pool!.id}/vms?sr=${sr!.id}`, xva],
    ["POST /srs/{id}/vdis", `/srs/${sr!.id}/vdis?name_label=slow`, vhd],
    ["PUT /vdis/{id}.{format}", `/vdis/${id}.vhd`, vhd],
  ];

  t.test("JSON", async (t) => {
    const body = Buffer.from('{"unknown": [1, 2]}');
    let tried = 0;
    for (const { method, path, type } of routes) {
      // Its token is used by the other requests.
      if (type === octets || path === "/auth/logout") continue;
      const absent = `/rest/v0${path.replace(/\{\w+\}/g, "absent")}`;
      const json = "application/json";
      const whole = slowly({ method, path: absent, body }, json);
      const cut = slowly({ method, path: absent, body, cutAt: 9 }, json);
      const { status, text } = await whole;
      await cut;
      if (status === 0 || status >= 500)
        t.fail(`${method} ${path}: ${status} ${text}`);
      tried++;
    }
    t.ok(tried > 100, `${tried} routes`);
    await checkAlive("all routes");
  });

  t.test("uploads by REST", async (t) => {
    const names = routes
      .filter(({ type }) => type === octets)
      .map(({ method, path }) => `${method} ${path}`);
    t.strictSame(
      uploads.map(([route]) => route).toSorted(),
      names.toSorted(),
      "every route with an upload is tried here",
    );
    for (const [route, path, body] of uploads) {
      const [method = ""] = route.split(" ");
      const request = { method, path: `/rest/v0${path}`, slowBytes: 600 };
      const { status, text } = await slowly({ ...request, body }, octets);
      t.match(status, /^20[14]$/, `${route}: ${text.slice(0, 300)}`);
      const other = Buffer.alloc(4096, 1);
      const wrong = await slowly({ ...request, body: other }, octets);
      t.equal(wrong.status, 422, `${route}: ${wrong.text}`);
      for (const cutAt of [0, 5, 300]) {
        await slowly({ ...request, body, cutAt }, octets);
        await checkAlive(`${route} that ended after ${cutAt} bytes`);
      }
      const short = Buffer.alloc(10, 1);
      const { status: refused } = await slowly(
        { ...request, body: short },
        octets,
      );
      t.equal(refused, 422, `${route} with 10 bytes`);
    }
  });

  t.test("uploads by one-time paths", async (t) => {
    const offer = async (method: string, params: object) => {
      const { $sendTo } = await admin.request<{ $sendTo: string }>(
        method,
        params,
      );
      return { method: "POST", path: new URL($sendTo, url).pathname };
    };
    const disk = { name: "slow", sr: sr!.id };
    const config = Buffer.alloc(4096, 1);
    const cases: [method: string, params: object, body: Buffer][] = [
      ["vm.import", { sr: sr!.id }, xva],
      ["pool.importVm", { id: pool!.id, sr: sr!.id }, xva],
      ["disk.import", { ...disk, type: "vhd" }, vhd],
      ["disk.import", { ...disk, type: "raw" }, raw],
      ["sr.importVdi", { id: sr!.id, name_label: "slow" }, vhd],
      ["disk.importContent", { id, format: "vhd" }, vhd],
      ["disk.importContent", { id, format: "raw" }, raw],
      ["xo.importConfig", { passphrase: "long enough" }, config],
      ["host.installSupplementalPack", { host: pool!.master }, config],
      ["pool.installSupplementalPack", { pool: pool!.id }, config],
    ];
    /** What is sent is not an export, and no update, as the pool says. */
    const refused = new Map([
      ["xo.importConfig", /not an exported configuration/],
      ["host.installSupplementalPack", /INVALID_UPDATE/],
      ["pool.installSupplementalPack", /INVALID_UPDATE/],
    ]);
    const methods = new Set(cases.map(([method]) => method));
    const all = await admin.request<Record<string, { description?: string }>>(
      "system.getMethodsInfo",
    );
    const takesUpload = /path of the upload|\$sendTo/;
    for (const [name, { description = "" }] of Object.entries(all))
      if (takesUpload.test(description))
        t.ok(methods.has(name), `${name} is tried here`);
    for (const [method, params, body] of cases) {
      const whole = { ...(await offer(method, params)), slowBytes: 600, body };
      const { status, text } = await slowly(whole, octets);
      const reason = refused.get(method);
      const expected = reason === undefined ? 200 : 422;
      t.equal(status, expected, `${method}: ${text.slice(-300)}`);
      if (reason !== undefined) t.match(text, reason);
      for (const cutAt of [0, 5, 300]) {
        const cut = { ...(await offer(method, params)), body, cutAt };
        await slowly(cut, octets);
        await checkAlive(`${method} that ended after ${cutAt} bytes`);
      }
    }
  });
});
