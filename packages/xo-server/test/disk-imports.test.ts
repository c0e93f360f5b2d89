import { Readable } from "node:stream";
import type { Xapi } from "@xo-server/xen-api";
import t from "tap";
import {
  diskImport,
  srImportVdi,
} from "../src/methods/storage/disk-transfer.js";
import type { PoolObject } from "../src/objects/pool-objects.js";
import { receiveDisk, type KeptDisk } from "../src/transfers/new-disk.js";

/** A pool that has received all bytes of an upload, and the calls that follow. */
function fakePool() {
  const calls: string[] = [];
  const xapi = {
    call: async (method: string) => {
      calls.push(method);
      if (method === "VDI.get_uuid") return "uuid of the disk";
      return method === "task.create" ? "OpaqueRef:task" : "success";
    },
    callAsync: async (method: string) => void calls.push(method),
    putStream: async (body: Readable) => {
      await body.toArray();
      return { status: 200, headers: new Map() };
    },
    watchTask: async () => undefined,
  } as unknown as Xapi;
  const storage = { xapi } as PoolObject;
  const objects = { get: () => storage, classOf: () => "VDI" };
  return { calls, storage, objects };
}

/** Uploads a disk. @param persist see TransferTask.persistState */
function upload(
  { storage }: ReturnType<typeof fakePool>,
  persist: (state: KeptDisk) => Promise<void>,
) {
  const bytes = Buffer.alloc(1024);
  return receiveDisk(
    storage,
    { body: Readable.from([bytes]), length: bytes.length },
    { format: "raw", name: "d", create: async () => "OpaqueRef:disk" },
    {
      signal: new AbortController().signal,
      progress: () => undefined,
      persistState: persist,
    },
  );
}

t.test(
  "a server that continues the task of an import keeps the disk if it was complete",
  async (t) => {
    const pool = fakePool();
    const states: KeptDisk[] = [];
    await upload(pool, async (state) => void states.push(state));
    t.equal(states.length, 2);
    const resume = (state: KeptDisk, { resume: run } = srImportVdi) =>
      run!(
        { ...state, sr: "s" } as never,
        { objects: pool.objects } as never,
        {} as never,
      );
    pool.calls.length = 0;
    t.equal(await resume(states[1]!), "uuid of the disk");
    t.equal(await resume(states[1]!, diskImport), "uuid of the disk");
    t.notOk(pool.calls.includes("VDI.destroy"));
    await t.rejects(Promise.resolve(resume(states[0]!)), {
      code: "INTERRUPTED",
    });
    t.ok(pool.calls.includes("VDI.destroy"), "an incomplete one is deleted");
  },
);

t.test(
  "a disk is deleted if its state cannot be stored before the upload, and left to the server that has adopted the task after it",
  async (t) => {
    for (const [stored, isDeleted] of [
      [0, true],
      [1, false],
    ] as const) {
      const pool = fakePool();
      let count = 0;
      const receiving = upload(pool, async () => {
        if (count++ >= stored) throw new Error("gone");
      });
      await t.rejects(receiving, { message: "gone" });
      t.equal(pool.calls.includes("VDI.destroy"), isDeleted);
    }
  },
);
