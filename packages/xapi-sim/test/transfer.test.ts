import { existsSync, readFileSync, readdirSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import t from "tap";
import { xxh64 } from "../src/transfer/xxh64.js";
import { readOva } from "../src/transfer/ova.js";
import {
  readTar,
  tarEnd,
  tarHeader,
  tarPadding,
  type TarFile,
} from "../src/transfer/tar.js";
import { startServer, toAnswer, type TestServer } from "./transfer-client.js";

interface Task {
  readonly status: string;
  readonly error_info: string[];
  readonly result: string;
  readonly progress: number;
}

const ZERO = "00000000-0000-0000-0000-000000000000";

async function files(archive: Buffer): Promise<readonly TarFile[]> {
  const found = [];
  for await (const file of readTar(chunksOf(archive), 2 ** 24))
    found.push(file);
  return found;
}

/** As a network would cut it. */
async function* chunksOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 10_007)
    yield bytes.subarray(at, at + 10_007);
}

async function newVm(
  server: TestServer,
): Promise<{ ref: string; uuid: string }> {
  const [template] = (await server.call(
    "VM.get_by_name_label",
    "Debian Bookworm 12",
  )) as [string];
  const ref = (await server.call("VM.clone", template, "to export")) as string;
  await server.call("VM.provision", ref);
  return { ref, uuid: (await server.call("VM.get_uuid", ref)) as string };
}

function archive(name: string, content: string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([
    tarHeader(name, bytes.length, 0),
    bytes,
    tarPadding(bytes.length),
    tarEnd,
  ]);
}

function put(path: string, { session, exchange }: TestServer, body: Buffer) {
  const head = `PUT ${path}${path.includes("?") ? "&" : "?"}session_id=${session} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
  return exchange([head, body]);
}

t.test(
  "an export is a tar with ova.xml first, then the disks in pieces with checksums",
  async (t) => {
    const server = await startServer();
    t.teardown(() => server.pool.stop());
    const { uuid } = await newVm(server);
    const answer = await server.get(`/export?uuid=${uuid}`);
    t.equal(answer.status, "HTTP/1.0 200 OK");
    t.equal(answer.headers.get("content-type"), "application/octet-stream");
    t.equal(answer.headers.has("content-length"), false);
    const [ova, piece, sum] = await files(answer.body);
    t.equal(ova!.name, "ova.xml");
    t.match(
      ova!.content!.toString(),
      /^<value><struct><member><name>version<\/name>/,
    );
    t.match(piece!.name, /^Ref:\d+\/00000000$/);
    t.equal(piece!.size, 2 ** 20);
    t.equal(sum!.name, `${piece!.name}.xxhash`);
    t.equal(sum!.content!.toString(), xxh64(piece!.content!));
    const task = (await server.call(
      "task.get_record",
      answer.headers.get("task-id"),
    )) as Task;
    t.equal(task.status, "success");
    const packed = await server.get(
      `/export?uuid=${uuid}&use_compression=gzip`,
    );
    t.strictSame(
      gunzipSync(packed.body),
      answer.body,
      "the same again, packed",
    );
  },
);

t.test("an exported VM can be imported", async (t) => {
  const server = await startServer();
  t.teardown(() => server.pool.stop());
  const { ref, uuid } = await newVm(server);
  const exported = await server.get(
    `/export?uuid=${uuid}&use_compression=true`,
  );
  const task = (await server.call("task.create", "import", "")) as string;
  const answer = await put(`/import?task_id=${task}`, server, exported.body);
  t.match(answer.status, "200 OK");
  const { status, result } = (await server.call(
    "task.get_record",
    task,
  )) as Task;
  t.equal(status, "success");
  const [, copy] =
    /^<value><array><data><value>(OpaqueRef:[^<]+)<\/value><\/data><\/array><\/value>$/.exec(
      result,
    )!;
  const before = (await server.call("VM.get_record", ref)) as Record<
    string,
    unknown
  >;
  const after = (await server.call("VM.get_record", copy)) as Record<
    string,
    unknown
  >;
  for (const name of [
    "name_label",
    "memory_static_max",
    "platform",
    "HVM_boot_params",
    "other_config",
  ])
    t.strictSame(after[name], before[name], name);
  t.not(after["uuid"], before["uuid"]);
  t.equal(
    (after["VBDs"] as string[]).length,
    (before["VBDs"] as string[]).length,
  );
});

t.test(
  "metadata has a length; the recorded one is read like the simulator's",
  async (t) => {
    const server = await startServer();
    t.teardown(() => server.pool.stop());
    const { uuid } = await newVm(server);
    const answer = await server.get(`/export_metadata?uuid=${uuid}`);
    t.equal(Number(answer.headers.get("content-length")), answer.body.length);
    const recordings = new URL(
      "../../../../../shared/xapi/recordings/",
      import.meta.url,
    );
    if (!existsSync(recordings))
      return t.comment("the recordings are not here");
    const name = readdirSync(recordings).find(
      (file) => file.startsWith("499-") && file.endsWith(".response"),
    )!;
    const recorded = toAnswer(readFileSync(new URL(name, recordings)));
    t.strictSame([...answer.headers.keys()], [...recorded.headers.keys()]);
    const [ova] = await files(recorded.body);
    const [vm] = readOva(ova!.content!.toString());
    t.match(vm, {
      className: "VM",
      id: "Ref:0",
      record: { name_label: "a template", memory_static_max: 1000 },
    });
  },
);

t.test(
  "a failed export: 500 to the client, the reason in the task, dressed as a denial",
  async (t) => {
    const server = await startServer();
    t.teardown(() => server.pool.stop());
    const task = (await server.call("task.create", "my export", "")) as string;
    const answer = await server.get(`/export?uuid=${ZERO}&task_id=${task}`);
    t.equal(answer.status, "HTTP/1.1 500 Internal Error");
    t.match(answer.body.toString(), `UUID_INVALID: [ VM; ${ZERO} ]`);
    const { status, error_info } = (await server.call(
      "task.get_record",
      task,
    )) as Task;
    t.equal(status, "failure");
    t.strictSame(error_info, [
      "RBAC_PERMISSION_DENIED",
      "http/get_export",
      `UUID_INVALID: [ VM; ${ZERO} ]`,
    ]);
    t.match((await server.get("/export")).body.toString(), "Not_found");
    t.equal(
      (await server.get("/export?ref=OpaqueRef:x")).head,
      "",
      "a bad reference: the connection just ends",
    );
  },
);

t.test(
  "a failed import shows in the task only: 200 went out before",
  async (t) => {
    const server = await startServer();
    t.teardown(() => server.pool.stop());
    const task = (await server.call("task.create", "import", "")) as string;
    const answer = await put(
      `/import?task_id=${task}`,
      server,
      archive("readme.txt", "nothing"),
    );
    t.match(answer.status, "200 OK");
    const { status, error_info } = (await server.call(
      "task.get_record",
      task,
    )) as Task;
    t.equal(status, "failure");
    t.match(error_info[2], "IMPORT_ERROR_PREMATURE_EOF");
  },
);

t.test(
  "a disk is exported raw and as VHD, the same bytes each time",
  async (t) => {
    const server = await startServer();
    t.teardown(() => server.pool.stop());
    const [sr] = (await server.call("SR.get_by_name_label", "NFS 1")) as [
      string,
    ];
    const size = 5 * 2 ** 20;
    const body = Buffer.alloc(size, 1);
    const task = (await server.call("task.create", "import", "")) as string;
    t.match(
      (await put(`/import_raw_vdi?sr_id=${sr}&task_id=${task}`, server, body))
        .status,
      "200 OK",
    );
    const { result } = (await server.call("task.get_record", task)) as Task;
    const [, vdi] = /^<value>(OpaqueRef:.*)<\/value>$/.exec(result)!;
    t.equal(await server.call("VDI.get_virtual_size", vdi), size);
    t.match(
      (await put(`/import_raw_vdi?vdi=${vdi}`, server, body)).status,
      "200 OK",
    );
    const raw = await server.get(`/export_raw_vdi?vdi=${vdi}`);
    t.equal(raw.body.length, size);
    const again = await server.get(`/export_raw_vdi?vdi=${vdi}&format=raw`);
    t.ok(again.body.equals(raw.body));
    const vhd = await server.get(`/export_raw_vdi?vdi=${vdi}&format=vhd`);
    t.equal(vhd.headers.get("content-type"), "application/vhd");
    t.equal(vhd.body.toString("latin1", 0, 8), "conectix");
    t.equal(vhd.body.toString("latin1", 512, 520), "cxsparse");
    t.strictSame(
      vhd.body.subarray(-512),
      vhd.body.subarray(0, 512),
      "the footer is at both ends",
    );
    const block = vhd.body.readUInt32BE(512 + 1024) * 512;
    t.ok(
      vhd.body
        .subarray(block + 512, block + 512 + 2 ** 21)
        .equals(raw.body.subarray(0, 2 ** 21)),
    );
  },
);

t.test("odd requests for disks are answered as recorded", async (t) => {
  const server = await startServer();
  t.teardown(() => server.pool.stop());
  const bad = await server.get(
    `/export_raw_vdi?vdi=OpaqueRef:${ZERO}&format=raw`,
  );
  t.equal(bad.status, "HTTP/1.1 500 Internal Error");
  t.match(
    bad.body.toString(),
    `Db_exn.Read_missing_uuid(&quot;VDI&quot;, &quot;&quot;, &quot;OpaqueRef:${ZERO}&quot;)`,
  );
  const missing = await put("/import_raw_vdi", server, Buffer.alloc(0));
  t.equal(
    missing.head,
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nCache-Control: no-cache, no-store",
  );
  const chunked = await server.exchange(
    `PUT /import?session_id=${server.session} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  );
  t.match(chunked.status, / 403 /);
  t.match((await server.get("/blob")).status, / 400 /);
});

t.test(
  "the database is dumped as XML, and the audit log is text",
  async (t) => {
    const server = await startServer();
    t.teardown(() => server.pool.stop());
    const dump = (await server.get("/pool/xmldbdump")).body.toString();
    t.match(
      dump,
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<database><manifest><pair key="schema_major_vsn" value="5"\/>/,
    );
    t.match(
      dump,
      /<table name="VM"><row ref="OpaqueRef:[^"]+" __ctime="\d+" __mtime="\d+" _ref="OpaqueRef:/,
    );
    t.match(dump, /<\/database>$/);
    t.equal(
      (await server.get("/audit_log")).headers.get("content-type"),
      "text/plain",
    );
  },
);
