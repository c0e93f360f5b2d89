import type { WallClock } from "@xo-server/kit";
import { randomUUID } from "node:crypto";
import type { Audit } from "../operations/audit.js";
import type { CallContext } from "../operations/operation.js";
import type { ConsoleTraffic } from "./console-connection.js";
import type { ConsoleKind } from "./console-target.js";

/** The caller, and the object whose console is opened. */
interface ConsoleSubject {
  readonly id: string;
  /** Such as `VM`. */
  readonly type: string;
  readonly kind: ConsoleKind;
  readonly context: CallContext;
}

/** Writes a console session to the audit log: when it begins or is refused, and when it ends. */
export class ConsoleRecord {
  readonly #audit: Audit;
  readonly #subject: ConsoleSubject;
  readonly #clock: Pick<WallClock, "now">;
  /** Id that links both entries. */
  readonly #connection = randomUUID();
  readonly #begun: number;

  constructor(
    audit: Audit,
    subject: ConsoleSubject,
    clock: Pick<WallClock, "now">,
  ) {
    this.#audit = audit;
    this.#subject = subject;
    this.#clock = clock;
    this.#begun = clock.now();
  }

  begun(): Promise<void> {
    return this.#write("console.open", {}, { result: true });
  }

  refused(error: Error): Promise<void> {
    return this.#write("console.open", {}, { error });
  }

  ended(reason: string, traffic: ConsoleTraffic): Promise<void> {
    const seconds = (this.#clock.now() - this.#begun) / 1000;
    const params = { reason, seconds, ...traffic };
    return this.#write("console.close", params, { result: true });
  }

  #write(
    name: string,
    more: object,
    outcome: Parameters<Audit["write"]>[0]["outcome"],
  ): Promise<void> {
    const { id, type, kind, context } = this.#subject;
    const permission = {
      action: "read" as const,
      resource: type,
      id: () => id,
    };
    return this.#audit.write({
      operation: { name, permission },
      params: { type: kind, connection: this.#connection, ...more },
      context,
      outcome,
    });
  }
}
