import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import {
  startServer,
  type Answer,
  type TestServer,
} from "./transfer-client.js";

export const MiB = 2 ** 20;

export interface TaskRecord {
  readonly status: string;
  readonly result: string;
  readonly error_info: readonly string[];
}

/** A pool whose disks are written and read by its HTTP handlers. */
export interface DiskPool {
  readonly server: TestServer;
  readonly call: TestServer["call"];
  /** A new disk of zeros. @returns its reference */
  readonly createDisk: (bytes: number) => Promise<string>;
  /** GET /export_raw_vdi. */
  readonly read: (vdi: string, query?: string) => Promise<Buffer>;
  /** PUT of a body to a handler, with a task of its own. */
  readonly put: (path: string, body: Buffer) => Promise<TaskRecord>;
  /** GET of a handler, with a task of its own. */
  readonly get: (path: string) => Promise<Answer & { task: TaskRecord }>;
}

export async function startDiskPool(
  t: Test,
  options: Parameters<typeof startServer>[0] = {},
): Promise<DiskPool> {
  const server = await startServer(options);
  t.teardown(() => server.pool.stop());
  const { call, session, exchange } = server;
  const [sr] = (await call("SR.get_by_name_label", "NFS 1")) as [string];
  const withTask = async <T>(work: (query: string) => Promise<T>) => {
    const task = (await call("task.create", "t", "")) as string;
    const result = await work(`task_id=${task}&session_id=${session}`);
    const record = (await call("task.get_record", task)) as TaskRecord;
    return { result, record };
  };
  const join_ = (path: string) => (path.includes("?") ? "&" : "?");
  const get = async (path: string) => {
    const { result, record } = await withTask((query) =>
      exchange(
        `GET ${path}${join_(path)}${query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      ),
    );
    return { ...result, task: record };
  };
  return {
    server,
    call,
    get,
    createDisk: (bytes) =>
      call("VDI.create", {
        SR: sr,
        virtual_size: bytes,
        name_label: "d",
        type: "user",
        sharable: false,
        read_only: false,
        other_config: {},
      }) as Promise<string>,
    read: async (vdi, query = "") =>
      (await get(`/export_raw_vdi?vdi=${vdi}${query}`)).body,
    put: async (path, body) => {
      const { record } = await withTask((query) =>
        exchange([
          `PUT ${path}${join_(path)}${query} HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n`,
          body,
        ]).catch(() => undefined),
      );
      return record;
    },
  };
}

/** Bytes by seed, as random as a test needs. */
export function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  let word = seed * 2_654_435_761 + 1;
  for (let at = 0; at + 4 <= length; at += 4) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    bytes.writeInt32LE(word | 0, at);
  }
  return bytes;
}

/** A program's version, or undefined where it is not installed. */
export function versionOf(program: string): string | undefined {
  try {
    return execFileSync(program, ["--version"], { stdio: "pipe" }).toString();
  } catch {
    return undefined;
  }
}

/** What `qemu-img convert` makes of an image. */
export function toRaw(image: Buffer, format: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "xapi-sim-qemu-"));
  try {
    const [from, to] = [join(folder, "image"), join(folder, "raw")];
    writeFileSync(from, image);
    execFileSync("qemu-img", ["convert", "-f", format, "-O", "raw", from, to], {
      stdio: "pipe",
    });
    return readFileSync(to);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What `qemu-img convert` makes of raw bytes. */
export function fromRaw(raw: Buffer, format: string, options = ""): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "xapi-sim-qemu-"));
  try {
    const [from, to] = [join(folder, "raw"), join(folder, "image")];
    writeFileSync(from, raw);
    const args = ["convert", "-f", "raw", "-O", format, from, to];
    execFileSync("qemu-img", options === "" ? args : [...args, "-o", options], {
      stdio: "pipe",
    });
    return readFileSync(to);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
