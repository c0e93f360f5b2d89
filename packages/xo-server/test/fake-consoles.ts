import { FoundObject } from "../src/objects/found-object.js";
import { Duplex } from "node:stream";
import type { CatalogEntry } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { Consoles, type ConsolesOptions } from "../src/consoles/consoles.js";
import {
  toCallContext,
  type CallContext,
} from "../src/operations/operation.js";
import type { AuditedCall } from "../src/operations/audit.js";
import type { Client } from "../src/auth/sessions/client.js";
import type { Session } from "../src/auth/sessions/session.js";
import { Rights } from "../src/rights/rights.js";
import { createFakeAudit } from "./fake-audit.js";
import { FakeClock } from "./fake-clock.js";

type Records = Record<string, Record<string, Record<string, unknown>>>;

/** What a console was asked of: `host` undefined is the coordinator. */
export interface Asked {
  readonly host: string | undefined;
  readonly ref: string;
}

export const limits = {
  maxSessions: 5,
  maxSessionsPerUser: 3,
  maxSessionsPerObject: 2,
  connectTimeoutMs: 15_000,
  pingMs: 20_000,
};

/** A running VM and a halted one on a pool of two hosts, and its consoles. */
export class FakeConsoles {
  readonly clock = new FakeClock();
  readonly audited: AuditedCall[] = [];
  readonly hits: string[] = [];
  readonly asked: Asked[] = [];
  readonly streams: Duplex[] = [];
  /** What a host does; default: it opens the console. */
  answer: (asked: Asked) => Promise<Duplex> | undefined = () => undefined;
  setState: (name: string) => void = () => undefined;
  readonly consoles: Consoles;
  readonly records: Records = {
    host: {
      h1: { address: "192.0.2.1", control_domain: "dom0" },
      h2: { address: "192.0.2.2" },
    },
    VM: {
      dom0: { power_state: "Running", resident_on: "h1", consoles: ["c0"] },
      vm: { power_state: "Running", resident_on: "h2", consoles: ["c1", "c2"] },
      off: { power_state: "Halted", resident_on: "NULL", consoles: [] },
    },
    console: {
      c0: { protocol: "vt100", location: "https://192.0.2.1/console?ref=c0" },
      c1: { protocol: "vt100", location: "https://192.0.2.2/console?ref=c1" },
      c2: { protocol: "rfb", location: "https://192.0.2.2/console?ref=c2" },
    },
  };

  constructor(more: Partial<ConsolesOptions> = {}) {
    const types: Record<string, string> = { vm: "VM", off: "VM", h1: "host" };
    const fakes = {
      config: limits,
      findObject: (id: string) =>
        types[id] === undefined
          ? undefined
          : new FoundObject(entryOf(id, types[id])),
      inventory: {
        get: (_: string, className: string, ref: string) =>
          this.records[className]?.[ref],
        list: () =>
          Object.values(this.records["host"]!).map((host) => ({
            column: (name: string) => host[name],
          })),
      },
      pools: { xapi: () => this.#xapi() },
      sessions: {
        begin: (client: Client, session: Session) => {
          client.setSession(session);
        },
        remove: () => undefined,
      },
      audit: createFakeAudit({
        check: () => undefined,
        write: async (call: AuditedCall) => void this.audited.push(call),
      }),
      hits: { count: (name: string) => this.hits.push(name) },
      clock: this.clock,
    };
    this.consoles = new Consoles({
      ...(fakes as unknown as ConsolesOptions),
      ...more,
    });
  }

  /** Names and outcomes of what stands in the audit log. */
  get entries(): string[] {
    return this.audited.map(({ operation, outcome }) =>
      "error" in outcome
        ? `${operation.name} ${String(Reflect.get(outcome.error, "code"))}`
        : operation.name,
    );
  }

  #xapi() {
    return {
      onState: (listener: (state: { name: string }) => void) => {
        this.setState = (name) => {
          listener({ name });
        };
        return () => undefined;
      },
      connectStream: async ({
        host,
        query,
        signal,
      }: {
        host?: string;
        query: { ref: string };
        signal: AbortSignal;
      }) => {
        const asked = { host, ref: query.ref };
        this.asked.push(asked);
        const stream = (await this.answer(asked)) ?? new Silent();
        signal.addEventListener("abort", () => stream.destroy());
        this.streams.push(stream);
        return stream;
      },
    };
  }
}

/** A user with these rights on VMs and hosts. */
export function personWith(
  name: string,
  ...actions: readonly string[]
): CallContext & { session: { isOver: boolean } } {
  const privileges = actions.map((action) => ({
    effect: "allow" as const,
    resource: "*",
    action,
  }));
  const rights = new Rights(privileges);
  const person = { id: name, name, isAdmin: false, groups: [], rights };
  const session = {
    isOver: false,
    userId: name,
    user: () => (session.isOver ? undefined : person),
  };
  const client: Client = {
    session,
    setSession: () => undefined,
    trySend: () => false,
    close: () => undefined,
  };
  return { ...toCallContext(client, "192.0.2.99", "guest"), session };
}

export function failing(code: "HTTP_STATUS", status: number): Promise<Duplex> {
  const data = { address: "a host", status, text: "notified" };
  return Promise.reject(new XoError(code, data));
}

/** A console on which nothing happens. */
class Silent extends Duplex {
  override _read(): void {
    // Nothing comes.
  }

  override _write(_: Buffer, __: string, done: () => void): void {
    done();
  }
}

function entryOf(id: string, type: string): CatalogEntry {
  const object = { id, type, _xapiRef: id, name_label: `the ${id}` };
  const json = Buffer.from(JSON.stringify(object));
  return { id, type, pool: "pool", json };
}
