import { createMergePatch } from "@xo-server/kit";
import type { Status, VisibleStatus } from "./status.js";
import type { Audience } from "./visible-status.js";

/** The revisions of what one audience reads. */
export class StatusStream {
  readonly #audience: Audience;
  /** Shared by all streams, so that no revision is used twice. */
  readonly #nextRevision: () => number;
  revision: number;
  status: VisibleStatus;
  /** Patch from the previous revision; undefined: unchanged. */
  patch: Buffer | undefined;
  #snapshot: Buffer | undefined;

  constructor(audience: Audience, full: Status, nextRevision: () => number) {
    this.#audience = audience;
    this.#nextRevision = nextRevision;
    this.revision = nextRevision();
    this.status = audience.show(full);
  }

  /** Advances to the current status. */
  advance(full: Status): this {
    const next = this.#audience.show(full);
    const patch = createMergePatch(this.status, next);
    this.patch = undefined;
    if (patch === undefined) return this;
    const base = this.revision;
    const revision = this.#nextRevision();
    this.revision = revision;
    this.status = next;
    this.#snapshot = undefined;
    this.patch = encode({ revision, base, patch });
    return this;
  }

  /** The notification for a subscriber that has missed a revision. */
  snapshot(): Buffer {
    const { revision, status } = this;
    this.#snapshot ??= encode({ revision, status });
    return this.#snapshot;
  }
}

function encode(params: object): Buffer {
  return Buffer.from(
    JSON.stringify({ jsonrpc: "2.0", method: "status", params }),
  );
}
