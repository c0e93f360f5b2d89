import type { IncomingMessage, ServerResponse } from "node:http";
import t, { type Test } from "tap";
import {
  Repository,
  RepositoryError,
  S3Storage,
  verifyRepository,
  writeBackup,
} from "../src/index.js";
import { startFakeS3, type FakeS3 } from "./fake-s3-server.js";
import { MemoryDisk, halfRandom } from "./memory-disk.js";
import { seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

/*
 * One answer of an object store is wrong, and the next one right. Whatever answer of whatever
 * request that is, nothing fails and no damage is reported.
 */

const KIB = 1024;
const fast = { delay: async () => undefined };
const options = { passphrase: "p", scryptN: 16, parity: false };

/** Makes an answer wrong. @returns whether there is one of this request */
type WrongAnswer = (
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

/** The others are repeated by the client of the store, whatever reads. */
const VERIFIED = new Set([
  "a status 404 of an object that exists",
  "a wrong byte",
  "a wrong size",
]);

const XML_ERROR = `<?xml version="1.0"?>\n<Error><Code>InternalError</Code></Error>`;

const wrongAnswers: Readonly<Record<string, WrongAnswer>> = {
  "status 500": (_, response) => {
    response.writeHead(500).end(XML_ERROR);
    return true;
  },
  "status 200 with an error in the body": (request, response) => {
    if (request.method === "HEAD") return false;
    response.writeHead(200).end(XML_ERROR);
    return true;
  },
  "a status 404 of an object that exists": (request, response) => {
    if (!isRead(request)) return false;
    response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
    return true;
  },
  "the connection closed within the body": (request, response) =>
    isRead(request) &&
    changeBody(response, (body) => {
      response.setHeader("content-length", body.length);
      response.write(body.subarray(0, body.length / 2), () =>
        request.socket.destroy(),
      );
      return undefined;
    }),
  "a body that is cut as if it were complete": (request, response) =>
    isRead(request) &&
    changeBody(response, (body) => body.subarray(0, body.length / 2)),
  "a wrong byte": (request, response) =>
    isRead(request) &&
    changeBody(response, (body) => {
      const changed = Buffer.from(body);
      changed[changed.length >> 1]! ^= 1;
      return changed;
    }),
  "a wrong size": (request, response) => {
    if (request.method !== "HEAD") return false;
    response.writeHead(200, { "content-length": 12_345 }).end();
    return true;
  },
};

/** Of an object; a list is not. */
function isRead({ method, url }: IncomingMessage): boolean {
  return method === "GET" && !url!.includes("list-type");
}

/** The answer that comes next has another body. @returns true */
function changeBody(
  response: ServerResponse,
  change: (body: Buffer) => Buffer | undefined,
): true {
  const end = response.end.bind(response) as (body?: Buffer) => ServerResponse;
  response.end = ((body?: Buffer | string) => {
    const changed = change(Buffer.from(body ?? ""));
    return changed === undefined ? response : end(changed);
  }) as ServerResponse["end"];
  return true;
}

/**
 * Repeats an operation; each time one of its requests, the first, the second and so on, gets a wrong answer.
 * @returns how many answers were wrong
 */
async function eachAnswerWrong(
  fake: FakeS3,
  wrong: WrongAnswer,
  operation: (where: string) => Promise<void>,
): Promise<number> {
  let injected = 0;
  for (let nth = 0; ; nth++) {
    let before = 0;
    let where = "";
    fake.fault = (request, response) => {
      if (before++ !== nth) return false;
      where = `${request.method} ${request.url}`;
      if (!wrong(request, response)) return false;
      injected++;
      return response.writableEnded;
    };
    await operation(`request ${nth}`);
    fake.fault = () => false;
    if (where === "") return injected;
  }
}

async function createBackup(t: Test) {
  const fake = await startFakeS3(t);
  const storage = () => new S3Storage(fake.location, fast);
  const disk = new MemoryDisk(256 * KIB);
  disk.write(0, halfRandom(seededRandom(1), 192 * KIB));
  const repository = await Repository.create(storage(), options);
  const disks = [{ name: "disk", source: disk }];
  const { id } = await writeBackup(repository, { disks });
  return { fake, storage, disk, id, disks };
}

for (const [name, wrong] of Object.entries(wrongAnswers)) {
  t.test(`a restore after one answer with ${name}`, async (t) => {
    const { fake, storage, disk, id } = await createBackup(t);
    const count = await eachAnswerWrong(fake, wrong, async (where) => {
      const repository = await Repository.open(storage(), options);
      const bytes = await readBackupDisk(repository, id);
      if (!bytes.equals(disk.bytes)) t.fail(`other bytes, ${where}`);
    });
    t.ok(count > 0, `${count} wrong answers`);
  });

  if (VERIFIED.has(name))
    t.test(`a verification after one answer with ${name}`, async (t) => {
      const { fake, storage } = await createBackup(t);
      const before = new Map(fake.objects);
      const count = await eachAnswerWrong(fake, wrong, async (where) => {
        const repository = await Repository.open(storage(), options);
        const { findings } = await verifyRepository(repository, {
          repair: true,
        });
        if (findings.length > 0) t.same(findings, [], where);
      });
      t.ok(count > 0, `${count} wrong answers`);
      t.same([...fake.objects.keys()], [...before.keys()], "nothing was moved");
    });
}

t.test("a backup after one answer with an error", async (t) => {
  const { fake, storage, disk, disks } = await createBackup(t);
  const before = [...fake.objects];
  disk.write(0, halfRandom(seededRandom(2), 64 * KIB));
  const wrong = wrongAnswers["status 200 with an error in the body"]!;
  const count = await eachAnswerWrong(fake, wrong, async (where) => {
    fake.objects.clear();
    for (const [key, bytes] of before) fake.objects.set(key, bytes);
    const repository = await Repository.open(storage(), options);
    const { id } = await writeBackup(repository, { disks });
    fake.fault = () => false;
    const fresh = await Repository.open(storage(), options);
    const bytes = await readBackupDisk(fresh, id);
    if (!bytes.equals(disk.bytes)) t.fail(`other bytes, ${where}`);
  });
  t.ok(count > 0, `${count} wrong answers`);
});

t.test("answers that stay wrong are errors, and never bytes", async (t) => {
  const { fake, storage, id } = await createBackup(t);
  const read = async () => {
    const repository = await Repository.open(storage(), options);
    return readBackupDisk(repository, id);
  };
  const isPack = ({ url }: IncomingMessage) => url!.includes("/packs/");
  const wrong = wrongAnswers["a wrong byte"]!;
  let reads = 0;
  fake.fault = (request, response) => {
    if (isPack(request) && wrong(request, response)) reads++;
    return false;
  };
  await t.rejects(read(), RepositoryError, "damaged");
  t.ok(reads < 30, `${reads} reads`);
  const error = wrongAnswers["status 200 with an error in the body"]!;
  fake.fault = (request, response) =>
    isPack(request) && error(request, response);
  await t.rejects(read(), {
    code: "storage-failed",
    message: /status 200, InternalError: an error in the body/,
  });
});
