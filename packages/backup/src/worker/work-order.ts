import { sign, verify, type KeyObject } from "node:crypto";
import { RepositoryError } from "../errors.js";
import type { Anchor } from "../log/repository-log.js";
import type { Range } from "../write/block-runs.js";

/** What a worker does. Sizes and offsets in bytes, times in milliseconds. */
export type WorkOperation =
  | {
      readonly type: "create";
      readonly passphrase: string;
      readonly parity: boolean;
    }
  | {
      readonly type: "backup";
      readonly properties: Readonly<Record<string, unknown>>;
      /** Id of the backup that `changed` refers to. */
      readonly base?: string;
      readonly disks: readonly {
        readonly name: string;
        /** Path of a raw image or a block device. */
        readonly image: string;
        /** Needed for block devices. */
        readonly size?: number;
        readonly changed?: readonly Range[];
        readonly allocated?: readonly Range[];
        readonly properties?: Readonly<Record<string, unknown>>;
      }[];
    }
  | {
      readonly type: "restore";
      readonly backup: string;
      readonly disk: string;
      /** Path of a file or a block device. */
      readonly target: string;
      /** `new` creates a sparse file, `differences` changes an existing target. */
      readonly mode: "new" | "differences";
    }
  | {
      readonly type: "verify";
      readonly repair: boolean;
      /** Bytes of packs at most. */
      readonly budget?: number;
      /** `next` of the last run. */
      readonly after?: string;
    }
  | { readonly type: "remove"; readonly backups: readonly string[] }
  | { readonly type: "collect"; readonly graceMs?: number };

export interface WorkOrder {
  readonly version: 1;
  /** ISO 8601: a worker refuses it afterwards. */
  readonly expires: string;
  /** Path of the folder of the repository. */
  readonly folder: string;
  /** Opens the repository; not used by `create`. */
  readonly passphrase?: string;
  readonly recoveryKey?: string;
  readonly anchor?: Anchor;
  readonly operation: WorkOperation;
}

/** An order as it is sent: the signature is over exactly this text. */
export interface SignedWorkOrder {
  /** JSON of the order. */
  readonly order: string;
  /** Ed25519, base64. */
  readonly signature: string;
}

/** @param key an Ed25519 private key */
export function signWorkOrder(
  order: WorkOrder,
  key: KeyObject,
): SignedWorkOrder {
  const text = JSON.stringify(order);
  const signature = sign(null, Buffer.from(text), key).toString("base64");
  return { order: text, signature };
}

/**
 * @param signed what was received, of any shape
 * @param options.key the Ed25519 public key of who may give orders
 * @param options.now milliseconds since the epoch
 * @throws RepositoryError `invalid` if it is not signed by this key, or too old
 */
export function openWorkOrder(
  signed: unknown,
  { key, now }: { key: KeyObject; now: number },
): WorkOrder {
  const { order, signature } = (signed ?? {}) as Partial<SignedWorkOrder>;
  if (
    typeof order !== "string" ||
    typeof signature !== "string" ||
    !verify(null, Buffer.from(order), key, Buffer.from(signature, "base64"))
  )
    throw new RepositoryError("invalid", "work order: wrong signature");
  const parsed = JSON.parse(order) as WorkOrder;
  if (parsed.version !== 1)
    throw new RepositoryError(
      "unsupported",
      `work order: version ${String(parsed.version)} is not supported, only 1`,
    );
  if (!(Date.parse(parsed.expires) > now))
    throw new RepositoryError(
      "invalid",
      `work order: it has expired at ${parsed.expires}`,
    );
  return parsed;
}
