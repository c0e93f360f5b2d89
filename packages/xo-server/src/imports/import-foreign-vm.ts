import { PassThrough, pipeline, type Readable } from "node:stream";
import type {
  ForeignPlan,
  ForeignVm,
  ImportOperation,
  Worker,
} from "@xo-server/backup";
import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { Workers } from "../backups/repositories/workers.js";
import { writeOva } from "../backups/restore/write-ova.js";
import type { PoolObject } from "../objects/pool-objects.js";
import type { TransferTask } from "../transfers/transfer.js";
import { sendToXapi } from "../transfers/xapi-streams.js";
import { addVm } from "../vms/destroy-vm.js";
import { createInterface } from "../vms/drives/new-vbds.js";
import { withRollback, type Rollback } from "../vms/rollback.js";
import { toImportError } from "./import-error.js";
import { chooseNetworks, type VifChoice } from "./network-choices.js";
import { planForeignVm, type ForeignVmChanges } from "./plan-foreign-vm.js";
import type { PoolScope } from "../vms/pool-scope.js";

export interface ForeignImport {
  readonly source: ImportOperation["source"];
  /** What the worker reads; absent: it reads the source itself. */
  readonly body?: Readable;
  readonly storage: PoolObject;
  /** For clean-up, not cancelled with the task. */
  readonly cleanupXapi: Xapi;
  /** Name of the XAPI task. */
  readonly label: string;
  /** See networkChoices. */
  readonly networks: readonly string[];
  readonly changes?: ForeignVmChanges;
  readonly scope: PoolScope;
  readonly workers: Pick<Workers, "run">;
  readonly onProgress?: (figures: Readonly<Record<string, number>>) => void;
}

/** Persisted for `resume`. */
export interface KeptImport {
  readonly sr?: string;
  /** Absent: XAPI has not completed it, and deletes it itself. */
  readonly vm?: Ref;
  /** It has its VIFs. */
  readonly isWhole?: boolean;
}

/**
 * Imports a VM of another product: a worker reads it and writes an XVA, which XAPI imports
 * at the same time; then its VIFs are created. A VM that is not complete is deleted.
 * @returns the opaque reference of the VM
 * @throws XoError INVALID_PARAMETERS: the source is not valid, or a NIC has no network;
 * IMPORT_SOURCE_FAILED, LEFT_BEHIND, ABORTED; XapiError
 */
export async function importForeignVm(
  run: ForeignImport,
  work: TransferTask,
): Promise<Ref> {
  const { storage, cleanupXapi, label } = run;
  const reading = readSource(run, work);
  const vifs = await reading.planned;
  return withRollback(cleanupXapi, async (rollback) => {
    const vm = await sendImage(storage, reading, { label, work, rollback });
    const kept: KeptImport = { sr: storage.id, vm };
    await work.persistState(kept);
    await createVifs(storage.xapi, vm, vifs);
    await work.persistState({ ...kept, isWhole: true });
    return vm;
  });
}

interface Reading {
  /** The VIFs of the VM; the image follows. */
  readonly planned: Promise<readonly VifChoice[]>;
  readonly image: () => Readable;
  /** The worker has read all, and the source is valid. */
  readonly finished: Promise<void>;
  /** Aborted when the worker fails, or by `stop`. */
  readonly signal: AbortSignal;
  readonly stop: () => void;
}

function readSource(run: ForeignImport, work: TransferTask): Reading {
  const { source, body, networks, changes, scope, workers, onProgress } = run;
  const ended = new AbortController();
  const signal = AbortSignal.any([work.signal, ended.signal]);
  let worker: Worker | undefined;
  let plan: (vifs: readonly VifChoice[]) => void = () => undefined;
  let refuse: (error: unknown) => void = () => undefined;
  const answered = new Promise<readonly VifChoice[]>((resolve, reject) => {
    plan = resolve;
    refuse = reject;
  });
  const answer = async (question: unknown): Promise<ForeignPlan> => {
    const vm = question as ForeignVm;
    try {
      const vifs = chooseNetworks(vm.nics, networks, scope);
      const { text, folders } = writeOva(planForeignVm(vm, changes));
      plan(vifs);
      return { ova: text, folders: Object.fromEntries(folders) };
    } catch (error) {
      refuse(error);
      throw error;
    }
  };
  const finished = workers
    .run(
      { operation: { type: "import", source } },
      {
        signal,
        onProgress,
        onQuestion: answer,
        onStart(started) {
          worker = started;
          const { input } = started;
          if (body !== undefined && input !== undefined)
            // The worker reports that its input has ended early; the body has its own error.
            pipeline(body, input, () => undefined);
        },
      },
    )
    .then(
      () => undefined,
      (error: unknown) => {
        const failure = toImportError(error);
        refuse(failure);
        worker?.output?.destroy();
        ended.abort();
        throw failure;
      },
    );
  // Both are awaited later.
  finished.catch(() => undefined);
  answered.catch(() => undefined);
  return {
    planned: answered,
    image: () => endingWith(worker!.output!, finished),
    finished,
    signal,
    stop: () => ended.abort(),
  };
}

/** The same bytes; they end when the promise is resolved, and fail when it is rejected. */
function endingWith(bytes: Readable, finished: Promise<void>): Readable {
  const image = new PassThrough({
    highWaterMark: IMAGE_BYTES,
    flush(done) {
      finished.then(
        () => done(),
        (error: Error) => done(error),
      );
    },
  });
  // Errors of one are those of the other; who reads the image reports them.
  pipeline(bytes, image, () => undefined);
  return image;
}

/** Bytes that wait for the pool. */
const IMAGE_BYTES = 256 * 1024;

async function sendImage(
  { xapi, ref }: PoolObject,
  { image, finished, signal, stop }: Reading,
  context: {
    readonly label: string;
    readonly work: TransferTask;
    readonly rollback: Rollback;
  },
): Promise<Ref> {
  const { label, work, rollback } = context;
  const sent = sendToXapi(
    xapi,
    {
      path: "/import",
      query: { sr_id: ref },
      label,
      body: image(),
      length: undefined,
      resultType: "VM ref set",
    },
    { ...work, signal },
  ).then((made) => {
    const [vm] = made as readonly Ref[];
    if (vm === undefined)
      throw new XoError("INTERNAL", { reason: "the pool has imported no VM" });
    addVm(rollback, vm);
    return vm;
  });
  try {
    const [vm] = await Promise.all([sent, finished]);
    return vm;
  } catch (error) {
    stop();
    // The first failure is the reason of the second.
    await sent.catch(() => undefined);
    throw error;
  }
}

async function createVifs(
  xapi: Xapi,
  vm: Ref,
  vifs: readonly VifChoice[],
): Promise<void> {
  for (const [i, vif] of vifs.entries())
    await createInterface(xapi, { ...vif, vm, device: String(i) });
}
